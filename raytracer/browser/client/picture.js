// Picture: decodes frames and draws them; of frames that arrive while one is decoded, the last.

class Picture {
  // stage: the element that the canvas fills. shown: called with the header of each drawn frame.
  constructor(stage, shown) {
    this.canvas = element("canvas", "rt-canvas", stage, { tabIndex: 0 });
    this.canvas.setAttribute("role", "application");
    this.ring = svg("svg", { class: "rt-ring", "aria-hidden": "true" });
    stage.append(this.ring);
    this.context = this.canvas.getContext("2d");
    this.shown = shown;
    this.next = null;
    this.busy = false;
    this.drawn = false;
  }

  receive(header, bytes) {
    this.next = { header, bytes };
    if (!this.busy) this.drawAll();
  }

  async drawAll() {
    this.busy = true;
    while (this.next) {
      const { header, bytes } = this.next;
      this.next = null;
      try {
        const bitmap = await createImageBitmap(new Blob([bytes], { type: header.mime }));
        this.draw(bitmap, header);
        bitmap.close();
      } catch (error) {
        console.error("a frame cannot be decoded", error);
      }
      this.shown(header);
    }
    this.busy = false;
  }

  // A draft is enlarged to the size of the finished picture, whose pixels are those of the screen.
  draw(bitmap, header) {
    const [width, height] = header.full;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.context.imageSmoothingEnabled = bitmap.width !== width;
    this.context.imageSmoothingQuality = "medium";
    this.context.globalCompositeOperation = "copy";
    this.context.drawImage(bitmap, 0, 0, width, height);
    this.drawn = true;
    this.drawRings(header.rings);
  }

  // rings: corners of polygons, as fractions of the picture from its upper left.
  drawRings(rings) {
    const { width, height } = this.canvas;
    this.ring.setAttribute("viewBox", `0 0 ${width} ${height}`); // as wide as the picture
    this.ring.replaceChildren();
    for (const ring of rings) {
      const points = ring.map(([x, y]) => `${x * width},${y * height}`).join(" ");
      for (const name of ["rt-ring-edge", "rt-ring-line"]) {
        this.ring.append(svg("polygon", { class: name, points }));
      }
    }
  }

  // What is shown as a PNG in base64 of at most so many pixels, with its size on the screen; null
  // before the first picture.
  still(most) {
    const { width, height } = this.canvas;
    if (!this.drawn) return null;
    const scale = Math.min(1, Math.sqrt(most / (width * height)));
    const [across, down] = [width, height].map((side) => Math.max(1, Math.floor(scale * side)));
    const copy = element("canvas", "", null, { width: across, height: down });
    copy.getContext("2d").drawImage(this.canvas, 0, 0, across, down);
    const png = copy.toDataURL("image/png").split(",")[1];
    const density = window.devicePixelRatio || 1;
    return { png, width: Math.round(width / density), height: Math.round(height / density) };
  }
}
