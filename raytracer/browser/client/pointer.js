// Pointer: drags, clicks, wheel and two fingers. Movements are added up and sent once per picture
// of the screen, in heights of the picture; positions are fractions of it.

const CLICK_DISTANCE = 4; // CSS pixels that a click may move
const DOUBLE_CLICK_MS = 350;
const WHEEL_LINE = 40; // CSS pixels of a line, of devices that count lines
const WHEEL_STEP = 120; // CSS pixels of a notch

class Pointer {
  // send: takes messages. stage: the element of the picture.
  constructor(stage, send) {
    this.stage = stage;
    this.send = send;
    this.pointers = new Map(); // number of a pointer to its last place
    this.press = null; // where a click began, until it is a drag
    this.clicked = { time: -Infinity, x: 0, y: 0 };
    this.box = null; // where a box began, as fractions of the picture
    this.frame = element("div", "rt-box", stage, { hidden: true });
    this.sums = new Map(); // kind of a movement to what is not sent yet
    this.flush = new PerPicture(() => this.sendSums());
    const listen = (name, act) => stage.addEventListener(name, act, { passive: false });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.up(event));
    listen("pointercancel", (event) => this.leave(event));
    listen("wheel", (event) => this.wheel(event));
    listen("contextmenu", (event) => event.preventDefault());
  }

  down(event) {
    if (event.target.closest("button, input, select, a, .rt-help")) return;
    const canvas = this.stage.querySelector("canvas[tabindex]"); // that of an exported figure has none
    (canvas || this.stage).focus({ preventScroll: true });
    this.stage.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    const alone = this.pointers.size === 1;
    const single = alone && event.button === 0;
    this.press = single ? { x: event.clientX, y: event.clientY } : null;
    this.box = single && selects(event) ? this.placeOf(event) : null;
    event.preventDefault();
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    if (this.press && distance(this.press, event) <= CLICK_DISTANCE) return;
    this.press = null;
    if (this.box) this.drawBox(event);
    else if (this.pointers.size === 2) this.pinch(before, event);
    else this.drag(kindOf(event), event.clientX - before.clientX, event.clientY - before.clientY);
    this.pointers.set(event.pointerId, event);
  }

  up(event) {
    if (this.press && this.pointers.has(event.pointerId)) this.click(event);
    else if (this.box) this.select(event);
    this.leave(event);
  }

  leave(event) {
    this.pointers.delete(event.pointerId);
    this.press = this.box = null;
    this.frame.hidden = true;
  }

  click(event) {
    const { time, x, y } = this.clicked;
    const near = Math.hypot(event.clientX - x, event.clientY - y) <= CLICK_DISTANCE;
    const go = near && event.timeStamp - time < DOUBLE_CLICK_MS;
    this.clicked = { time: go ? -Infinity : event.timeStamp, x: event.clientX, y: event.clientY };
    const [across, down] = this.placeOf(event);
    this.send({ type: "pick", x: across, y: down, go, add: event.shiftKey });
  }

  placeOf(event) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height];
  }

  drawBox(event) {
    const [low, high] = corners(this.box, this.placeOf(event));
    const percent = (share) => `${100 * share}%`;
    Object.assign(this.frame.style, {
      left: percent(low[0]), top: percent(low[1]),
      width: percent(high[0] - low[0]), height: percent(high[1] - low[1]),
    });
    this.frame.hidden = false;
  }

  select(event) {
    const [low, high] = corners(this.box, this.placeOf(event));
    this.send({ type: "box", low, high });
  }

  drag(kind, x, y) {
    const height = this.stage.clientHeight || 1;
    this.add(kind, x / height, -y / height);
  }

  // Two fingers: their distance moves nearer, their middle moves sideways.
  pinch(before, event) {
    const other = [...this.pointers.values()].find((each) => each.pointerId !== event.pointerId);
    const span = (each) => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY);
    this.add("dolly", Math.log(Math.max(span(before), 1) / Math.max(span(event), 1)), 0);
    this.drag("pan", (event.clientX - before.clientX) / 2, (event.clientY - before.clientY) / 2);
  }

  wheel(event) {
    if (event.target.closest(".rt-help")) return;
    event.preventDefault();
    const unit = [1, WHEEL_LINE, this.stage.clientHeight][event.deltaMode] / WHEEL_STEP;
    const sideways = event.shiftKey ? 0 : event.deltaX;
    const amount = event.deltaY || (event.shiftKey ? event.deltaX : 0);
    if (amount) this.add(event.shiftKey ? "zoom" : "dolly", 0.12 * amount * unit, 0);
    if (sideways) this.add("orbit", -0.04 * sideways * unit, 0);
  }

  add(kind, x, y) {
    const sum = this.sums.get(kind) || [0, 0];
    this.sums.set(kind, [sum[0] + x, sum[1] + y]);
    this.flush.request();
  }

  sendSums() {
    for (const [kind, [x, y]] of this.sums) this.send({ type: "drag", kind, x, y });
    this.sums.clear();
  }
}

function kindOf(event) {
  if (event.ctrlKey || event.metaKey) return "light";
  return event.shiftKey || event.buttons & 6 ? "pan" : "orbit";
}

// Ctrl and Shift with the left button: a box that selects.
function selects(event) {
  return (event.ctrlKey || event.metaKey) && event.shiftKey;
}

// Upper left and lower right corner of the box between two places, within the picture.
function corners(a, b) {
  const within = (share) => Math.min(Math.max(share, 0), 1);
  const pick = (choose) => [0, 1].map((i) => within(choose(a[i], b[i])));
  return [pick(Math.min), pick(Math.max)];
}

function distance(place, event) {
  return Math.abs(event.clientX - place.x) + Math.abs(event.clientY - place.y);
}
