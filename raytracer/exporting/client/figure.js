// Figure: the page: the picture, what moves it, and the values of what is picked.

const POLL_MS = 2; // after which to look whether a sample is drawn
const TYPES = {
  i4: Int32Array, i8: BigInt64Array, u8: BigUint64Array, f4: Float32Array, f8: Float64Array,
  text: Uint32Array,
}; // of columns
const NUMBERS = new Intl.NumberFormat("en");

class Figure {
  // root: an empty element; data: sections of the page
  constructor(root, head, data) {
    this.root = root;
    this.head = head;
    this.data = data;
    this.columns = new Map();
    root.textContent = "";
    root.classList.add("rt-view", "rt-figure");
    this.stage = element("div", "rt-stage", root, { tabIndex: 0 });
    this.stage.setAttribute("role", "application");
    this.stage.setAttribute("aria-label", `${head.name}; H lists the keys`);
    this.canvas = element("canvas", "rt-canvas", this.stage);
    this.overlay = new Overlay(this.stage, head);
    this.status = element("div", "rt-status", this.stage);
    this.values = element("pre", "rt-picks", this.stage);
    this.help = element("div", "rt-help", this.stage, { hidden: true });
    const tools = element("div", "rt-tools", this.stage);
    button("reset", tools, "reset the view (R)", () => this.run("reset", []));
    button("full screen", tools, "fill the screen (F11)", () => this.run("toggle-full-screen", []));
    button("keys", tools, "keys and gestures (H)", () => this.run("toggle-help", []));
    this.fillHelp();
    this.camera = new Camera(head);
    this.busy = false; // whether the view moves
    this.frames = []; // milliseconds of frames while it moved
  }

  async load() {
    const start = performance.now();
    this.spheres = await readSpheres(this.data, this.head);
    this.rods = await readRods(this.data, this.head);
    this.renderer = new Renderer(this.canvas, this.head, this.spheres, this.rods);
    this.rows = this.data.has("rows")
      ? await this.data.read("rows", Uint32Array, this.head.spheres) : null;
    this.loaded = performance.now() - start;
    this.tick = new PerPicture(() => this.frame());
    this.pointer = new Pointer(this.stage, (message) => this.onPointer(message));
    this.keys = new Keys(this.stage, ({ action }, amount) => this.run(action, amount));
    this.keys.set(this.head.controls);
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.fail("the graphics driver has stopped: reload the page");
    });
    this.resizes = new ResizeObserver(() => this.measure());
    this.resizes.observe(this.stage);
    this.stage.focus({ preventScroll: true }); // for the keys
    this.measure();
    // Columns are read when the picture is there: one may pick much later.
    this.reading = this.readColumns();
  }

  async readColumns() {
    for (const [number, about] of this.head.columns.entries()) {
      const Type = TYPES[about.kind];
      const parts = [];
      for (let part = 0; part < about.parts; part += 1) {
        parts.push(await this.data.read(`column${number}_${part}`, Type, this.head.spheres));
      }
      this.columns.set(about.name, { about, parts });
    }
  }

  measure() {
    const density = window.devicePixelRatio || 1;
    const side = (css) => Math.max(Math.round(css * density), 1);
    this.renderer.resize(side(this.stage.clientWidth), side(this.stage.clientHeight));
    const share = this.renderer.frameShare;
    for (const each of this.stage.querySelectorAll(".rt-drawn > svg")) {
      Object.assign(each.style, {
        width: `${100 / share[0]}%`, height: `${100 / share[1]}%`,
        left: `${50 - 50 / share[0]}%`, top: `${50 - 50 / share[1]}%`,
      });
    }
    this.changed();
  }

  // The view has moved.
  changed() {
    this.busy = true;
    this.renderer.restart();
    delete this.root.dataset.finished;
    this.overlay.draw(this.camera, this.ring);
    this.tick.request();
  }

  frame() {
    if (this.busy) {
      this.busy = false;
      this.frames.push(this.renderer.move(this.camera));
      if (this.frames.length > 1000) this.frames.splice(0, 500);
      this.renderer.restart();
      clearTimeout(this.resting);
      // A view that moves on does not wait for a whole sample of millions of spheres.
      this.resting = setTimeout(() => this.tick.request(), this.renderer.share < 1 ? 250 : 0);
      return;
    }
    if (this.renderer.refine(this.camera)) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.tick.request(), POLL_MS);
    } else this.root.dataset.finished = "true";
  }

  onPointer(message) {
    if (message.type === "pick") this.pick(message.x, message.y, message.go);
    if (message.type !== "drag") return;
    const { kind, x, y } = message;
    if (kind === "orbit" || kind === "light") this.camera.orbit(-x * Math.PI, -y * Math.PI);
    else if (kind === "pan") this.camera.pan(-x, -y);
    else this.camera[kind](x);
    this.changed();
  }

  run(action, amount) {
    if (["orbit", "pan", "dolly", "zoom", "along"].includes(action)) this.camera[action](...amount);
    else if (action === "reset" || action === "fit-all") this.camera.reset();
    else if (action === "toggle-help") this.help.hidden = !this.help.hidden;
    else if (action === "cancel") this.cancel();
    else if (action === "toggle-full-screen") this.toggleFullScreen();
    this.changed();
    this.stage.focus({ preventScroll: true });
  }

  // What is at a place of the stage, in fractions of its sides: { kind, row } or null.
  at(x, y) {
    const ray = this.camera.ray(2 * x - 1, 1 - 2 * y, this.renderer.frameShare);
    return pickAlong(ray, this.head, this.spheres, this.rods);
  }

  cancel() {
    this.help.hidden = true;
    this.picked = this.ring = null;
    this.values.textContent = "";
  }

  async toggleFullScreen() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await this.root.requestFullscreen();
    } catch {
      this.tell("this page may not fill the screen");
    }
  }

  // x, y: fractions of the stage. go: put the pivot there too
  async pick(x, y, go) {
    const found = this.at(x, y);
    this.cancel();
    this.picked = found;
    if (found) {
      this.ring = this.ballOf(found);
      if (go) this.camera.pivot = this.ring.center;
    }
    this.overlay.draw(this.camera, this.ring);
    if (!found) return;
    await this.reading; // values may still be on their way
    if (this.picked === found) this.values.textContent = this.linesOf(found).join("\n");
  }

  ballOf({ kind, row }) {
    const { grid } = this.head;
    if (kind === "sphere") {
      const [x, y, z, code] = this.spheres.place.subarray(4 * row, 4 * row + 4);
      return { center: add(grid.low, [x, y, z], grid.step), radius: radiusOf(grid, code) };
    }
    const numbers = [...this.rods.numbers.subarray(7 * row, 7 * row + 7)];
    const [start, end] = [numbers.slice(0, 3), numbers.slice(3, 6)];
    return {
      center: scaled(add(start, end), 0.5),
      radius: lengthOf(add(end, start, -1)) / 2 + numbers[6],
    };
  }

  linesOf({ kind, row }) {
    const { center, scale, grid } = this.head;
    // digits that the grid has
    const digits = Math.max(Math.ceil(-Math.log10(grid.step * scale)), 0);
    const inScene = (point) => add(center, point, scale).map((v) => round(v, digits)).join(", ");
    if (kind === "capsule") {
      const numbers = [...this.rods.numbers.subarray(7 * row, 7 * row + 7)];
      return [
        `capsule ${NUMBERS.format(row)}`, `from ${inScene(numbers.slice(0, 3))}`,
        `to ${inScene(numbers.slice(3, 6))}`, `radius ${short(numbers[6] * scale, 5)}`,
      ];
    }
    const { center: place, radius } = this.ballOf({ kind, row });
    const lines = [
      `sphere ${NUMBERS.format(row)}`, `position ${inScene(place)}`, `radius ${short(radius * scale, 5)}`,
    ];
    if (this.rows) lines.splice(1, 0, `row ${NUMBERS.format(this.rows[row])}`);
    for (const [name, { about, parts }] of this.columns) {
      const values = parts.map((part) => part[row]);
      const { kind, words, digits } = about;
      const number = digits ? (value) => short(value, digits) : String; // integers have all digits
      const numbers = () => values.map(number).join(", ");
      const text = kind === "text" ? words[values[0]] : numbers();
      lines.push(`${name} ${text}${about.unit ? ` ${about.unit}` : ""}`);
    }
    return lines;
  }

  fillHelp() {
    const rows = [
      ["Drag, one finger", "turn"], ["Right drag, Shift drag, two fingers", "move sideways"],
      ["Scroll, two fingers apart", "nearer, farther"], ["Shift scroll", "field of view"],
      ["Click, tap", "values of a particle"], ["Double click", "turn about it"],
      ...this.head.controls.filter(({ help }) => help).map(({ label, help }) => [label, help]),
    ];
    const table = element("table", "", this.help);
    for (const [keys, help] of rows) {
      const row = table.insertRow();
      element("kbd", "", row.insertCell(), { textContent: keys });
      row.insertCell().textContent = help;
    }
  }

  tell(text) {
    this.status.textContent = text;
    this.root.classList.add("rt-busy");
    setTimeout(() => this.root.classList.remove("rt-busy"), 4000);
  }

  fail(text) {
    this.root.dataset.error = text;
    element("div", "rt-word", this.stage || this.root, { textContent: text });
  }
}

const short = (value, digits = 6) => String(Number(value.toPrecision(digits)));
const round = (value, digits) => String(Number(value.toFixed(Math.min(digits, 12))));

async function start() {
  const head = JSON.parse(document.getElementById("head").textContent);
  const root = document.getElementById("figure");
  const figure = new Figure(root, head, new Data(head));
  window.raytracerFigure = figure;
  try {
    await new Promise((done) => { requestAnimationFrame(done); }); // shows "loading …"
    await figure.load();
  } catch (error) {
    figure.fail(error.message);
    throw error;
  }
}

start();
