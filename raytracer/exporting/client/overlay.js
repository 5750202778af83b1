// Overlay: what is drawn over the picture: texts and legend as they are, scale bar and axes for the
// view, a ring around what is picked. Coordinates are pixels of the frame.

class Overlay {
  constructor(parent, head) {
    this.head = head;
    const [width, height] = head.size;
    const box = element("div", "rt-drawn", parent);
    box.innerHTML = head.overlay;
    this.drawn = box.querySelector("svg");
    const attributes = { viewBox: `0 0 ${width} ${height}` };
    this.moving = svg("svg", attributes);
    box.append(this.moving);
    for (const each of box.querySelectorAll("svg")) {
      each.removeAttribute("width");
      each.removeAttribute("height");
    }
  }

  draw(camera, ring) {
    const shapes = [];
    if (this.head.bar) shapes.push(...this.bar(camera));
    if (this.head.axes) shapes.push(...this.axes(camera));
    if (ring) shapes.push(...this.ring(camera, ring));
    this.moving.replaceChildren(...shapes);
  }

  // Of the same length in the scene where it fits, else of a round one.
  bar(camera) {
    const { bar, camera: first, size: [width] } = this.head;
    this.first ??= new Camera(this.head).distance;
    const halves = lengthOf(first.right) / camera.halves[0];
    const perUnit = bar.perUnit * halves * (camera.parallel ? 1 : this.first / camera.distance);
    const most = (bar.share * width) / perUnit;
    const power = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].map((step) => step * power).find((length) => length <= most * (1 + 1e-9));
    const given = bar.length && bar.length * perUnit < 0.5 * width && bar.length * perUnit > 0.02 * width;
    const length = given ? bar.length : round;
    const long = length * perUnit;
    const thick = Math.max(Math.round(bar.thick * bar.size), 1);
    let left = bar.x + (bar.width - long) / 2;
    if (bar.place.endsWith("left")) left = bar.x;
    if (bar.place.endsWith("right")) left = bar.x + bar.width - long;
    const y = Math.round(bar.y + 1.3 * bar.size) + thick / 2;
    const rim = 2 * Math.max(Math.round(0.06 * bar.size), 1);
    const shapes = [];
    if (bar.rim) shapes.push(line([left - rim / 2, y], [left + long + rim / 2, y], thick + rim, bar.rim));
    shapes.push(line([left, y], [left + long, y], thick, bar.ink));
    const text = `${Number(length.toPrecision(6))} ${bar.unit}`.trim();
    const place = [left + long / 2, y - thick / 2 - 0.42 * bar.size];
    return [...shapes, label(text, place, bar.size, bar.ink, bar.rim)];
  }

  axes(camera) {
    const { axes } = this.head;
    const { length, size: letters, beyond } = axes;
    const directions = [0, 1, 2].map((axis) => (
      [camera.right[axis], camera.up[axis], -camera.forward[axis]]
    ));
    const low = [0, 1].map((i) => Math.min(...directions.map((each) => each[i]), 0));
    const high = [0, 1].map((i) => Math.max(...directions.map((each) => each[i]), 0));
    let { x, y } = axes;
    if (axes.place.includes("left")) x -= (1 + low[0]) * axes.reach;
    else if (axes.place.includes("right")) x += (1 - high[0]) * axes.reach;
    if (axes.place.startsWith("top")) y -= (1 - high[1]) * axes.reach;
    else if (axes.place.startsWith("bottom")) y += (1 + low[1]) * axes.reach;
    const order = [0, 1, 2].sort((a, b) => directions[a][2] - directions[b][2]);
    return order.flatMap((axis) => {
      const color = axes.colors[axis];
      const [across, down] = [directions[axis][0] * length, -directions[axis][1] * length];
      const long = Math.hypot(across, down);
      const thick = Math.max(axes.shaft * length, 1);
      const [ux, uy] = long > 1 ? [across / long, down / long] : [Math.SQRT1_2, Math.SQRT1_2];
      const tip = [x + across, y + down];
      const name = [x + ux * (long + beyond * letters), y + uy * (long + beyond * letters)];
      name[1] += (axes.cap * letters) / 2;
      const text = label(axes.names[axis] || "", name, letters, color, axes.rim);
      if (long < 0.02 * length) return [svg("circle", { cx: x, cy: y, r: thick, fill: color }), text];
      const head = Math.min(axes.head * length, long);
      const neck = [tip[0] - ux * head, tip[1] - uy * head];
      const half = (axes.head * length / 2 + thick) / 2;
      const points = [
        tip, [neck[0] - uy * half, neck[1] + ux * half], [neck[0] + uy * half, neck[1] - ux * half],
      ];
      const arrow = svg("polygon", { points: points.map((p) => p.join()).join(" "), fill: color });
      return [line([x, y], neck, thick, color, "round"), arrow, text];
    });
  }

  ring(camera, { center, radius }) {
    const [width, height] = this.head.size;
    const [x, y, depth] = camera.place(center);
    if (!camera.parallel && depth <= 0) return [];
    const by = camera.parallel ? 1 : Math.sqrt(Math.max(depth * depth - radius * radius, 1e-12));
    const attributes = {
      cx: ((x + 1) / 2) * width, cy: ((1 - y) / 2) * height,
      r: Math.max((radius / by / camera.halves[1] / 2) * height, 3), fill: "none",
      "vector-effect": "non-scaling-stroke",
    };
    return [
      svg("circle", { ...attributes, class: "rt-ring-edge" }),
      svg("circle", { ...attributes, class: "rt-ring-line" }),
    ];
  }
}

function line(from, to, width, color, cap = "butt") {
  return svg("line", {
    x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: color, "stroke-width": width,
    "stroke-linecap": cap,
  });
}

function label(text, [x, y], letters, color, rim) {
  const attributes = {
    x, y, "font-size": letters, fill: color, "text-anchor": "middle",
    "font-family": "'Source Sans Pro', 'Source Sans 3', 'Open Sans', Helvetica, Arial, sans-serif",
  };
  if (rim) {
    Object.assign(attributes, {
      stroke: rim, "stroke-width": 0.18 * letters, "stroke-linejoin": "round",
      "paint-order": "stroke",
    });
  }
  const made = svg("text", attributes);
  made.textContent = text;
  return made;
}
