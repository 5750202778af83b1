// View: picture, panel, time line and texts of one session, over any transport.
//
// A transport has `send(message)`, and calls `receive(message, bytes)` and `connected(yes, why)` of
// the view. Messages are objects; those that carry a picture or a file come with their bytes.

const MAX_SIDE = 8192;
const NOTICE_MS = 5000;
const TOUCHES = [
  ["One finger", "turn about the pivot"], ["Two fingers", "move sideways; pinch: nearer, farther"],
  ["Tap", "pick the sphere there"], ["Double tap", "go to it"],
].map(([label, help]) => ({ group: "Touch screen", label, help }));
const OWN_HELP = { "toggle-overlay": "panel of colours and selection" }; // where a page differs
const FIELDS = { size: "width" }; // what is asked for, where the field of the panel has another name

class View {
  // root: an empty element that the view fills.
  constructor(root, transport) {
    this.transport = transport;
    this.full = [1, 1]; // pixels of the finished picture
    this.frames = []; // the last frames drawn: their headers and when
    this.root = root;
    root.classList.add("rt-view");
    this.stage = element("div", "rt-stage", root, { tabIndex: -1 });
    const act = (name, values) => this.act(name, values);
    this.picture = new Picture(this.stage, (header) => this.onDrawn(header));
    this.status = element("div", "rt-status", this.stage);
    this.notice = element("div", "rt-notice", this.stage);
    this.notice.setAttribute("role", "status");
    this.word = element("div", "rt-word", this.stage, { textContent: "connecting …" });
    this.alarm = element("div", "rt-alarm", this.stage);
    this.help = named(element("div", "rt-help", this.stage, { hidden: true, tabIndex: 0 }), "keys");
    this.help.setAttribute("role", "region");
    const tools = element("div", "rt-openers", this.stage);
    this.helper = button("? keys", tools, "keys and gestures (H)", () => this.toggleHelp());
    this.opener = button("☰ panel", tools, "panel (I)", () => this.togglePanel());
    root.classList.toggle("rt-closed", matchMedia("(max-width: 640px)").matches);
    const save = (width, height, samples) => this.save(width, height, samples);
    this.panel = new Panel(root, act, save, () => this.focus());
    this.timeline = new Timeline(this.stage, act);
    this.pointer = new Pointer(this.stage, (message) => this.onPointer(message));
    this.keys = new Keys(this.stage, (control, amount) => this.onKey(control, amount));
    this.resizes = new ResizeObserver((entries) => this.measure(entries[0]));
    try {
      this.resizes.observe(this.stage, { box: "device-pixel-content-box" });
    } catch {
      this.resizes.observe(this.stage); // Safari knows no device pixels
    }
  }

  send(message) {
    this.transport.send(message);
  }

  // The picture gets the keys.
  focus() {
    this.picture.canvas.focus({ preventScroll: true });
  }

  // From the server

  connected(yes, why = "") {
    this.lost = yes ? "" : why;
    this.showAlarm();
    this.root.classList.toggle("rt-lost", !yes);
    if (!this.header) this.word.textContent = yes ? "waiting for the first picture …" : why;
    if (yes) this.sendSize();
  }

  receive(message, bytes) {
    if (message.type === "coming") this.coming = performance.now();
    else if (message.type === "frame") this.take(message, bytes);
    else if (message.type === "state") this.show(message.state);
    else if (message.type === "hello") this.onHello(message);
    else if (message.type === "text") this.copy(message.text);
    else if (message.type === "file") this.download(message.name, message.mime, bytes);
    else if (message.type === "error") this.complain(message.sentence);
  }

  take(message, bytes) {
    message.ms = performance.now() - this.coming;
    this.picture.receive(message, bytes);
  }

  acknowledge({ serial, ms }) {
    this.send({ type: "ack", serial, ms });
  }

  onHello({ controls, mouse }) {
    // A browser closes its pages, and Tab goes from field to field.
    const own = controls.filter(({ action }) => action !== "close" && action !== "toggle-panel")
      .map((control) => ({ ...control, help: OWN_HELP[control.action] ?? control.help }));
    this.keys.set(own);
    this.fillHelp(own, mouse);
  }

  onDrawn(header) {
    this.full = header.full;
    this.acknowledge(header);
    this.word.hidden = true;
    this.frames.push({ at: performance.now(), ...header });
    if (this.frames.length > 1000) this.frames.splice(0, 500);
    this.header = header;
    this.showStatus();
    this.root.dataset.frame = header.number;
    this.root.dataset.finished = header.finished;
  }

  show(changes) {
    const state = { ...this.state, ...changes };
    const told = this.state ? this.state.notice : "";
    const picks = ({ picks }) => picks.map((pick) => pick.id).join();
    // While the camera moves, the rings of a picture come with it.
    if (!this.state || picks(state) !== picks(this.state)) this.picture.drawRings(state.rings);
    const refused = this.state && this.state.refused !== state.refused;
    this.state = state;
    this.panel.show(state);
    if (refused) this.panel.refuse();
    this.timeline.show(state);
    if (state.notice !== told) this.tell(state.notice);
    this.showAlarm();
    this.showStatus();
  }

  showAlarm() {
    this.alarm.textContent = this.lost || (this.state ? this.state.error : "");
  }

  showStatus() {
    const { state, header } = this;
    if (!state) return;
    const count = state.spheres.toLocaleString("en");
    const lines = [`${state.name}   ${count} ${state.spheres === 1 ? "sphere" : "spheres"}`];
    if (state.loading) lines.push("loading …");
    else if (header) lines.push(progressOf(header));
    this.status.textContent = lines.join("\n");
    named(this.picture.canvas, `picture of ${lines[0].replace(/ {3}/, ", ")}; H lists the keys`);
  }

  tell(text) {
    clearTimeout(this.telling);
    this.notice.textContent = text;
  }

  // A sentence that is no part of the state, which removes its own.
  complain(text) {
    if (this.state) this.panel.show(this.state); // fields show what holds, not what was refused
    this.panel.refuse();
    this.tell(text);
    this.telling = setTimeout(() => this.tell(""), NOTICE_MS);
  }

  // To the server

  act(name, values = {}) {
    this.panel.typed = null;
    this.send({ type: "act", name, values });
  }

  save(width, height, samples) {
    this.send({ type: "save", width, height, samples });
  }

  onPointer(message) {
    if (message.type === "pick") {
      const [x, y] = this.pixelOf([message.x, message.y]).map(Math.floor);
      const { go, add } = message;
      this.act("pick", { x, y, go, add, reach: Math.round(4 * this.density) });
      return;
    }
    if (message.type === "box") {
      const [x0, y0, x1, y1] = [message.low, message.high]
        .flatMap((place) => this.pixelOf(place).map(Math.round));
      this.act("select-box", { x0, y0, x1, y1 });
      return;
    }
    const { kind, x, y } = message;
    if (kind === "orbit") this.act("orbit", { right: -x * Math.PI, up: -y * Math.PI });
    else if (kind === "light") this.act("turn-light", { right: x * Math.PI, up: y * Math.PI });
    else if (kind === "pan") this.act("pan", { right: -x, up: -y });
    else this.act(kind, { amount: x });
  }

  // The pixel at fractions of the stage, in a picture of its size. The one that is shown may have the
  // proportions of another page; its height is what both have in common.
  pixelOf(place) {
    const size = this.size || this.full;
    const scale = Math.min(size[0] / this.full[0], size[1] / this.full[1]);
    const shown = this.full[1] * scale;
    return place.map((share, i) => size[i] / 2 + ((share - 0.5) * size[i] * size[1]) / shown);
  }

  onKey(control, amount) {
    const { action } = control;
    if (action === "ask") this.ask(FIELDS[amount[0]] || amount[0]);
    else if (action === "toggle-overlay") this.togglePanel();
    else if (action === "toggle-full-screen") this.toggleFullScreen();
    else if (action === "toggle-help" || (action === "cancel" && !this.help.hidden)) this.toggleHelp();
    else if (action !== "close") this.act(action, amount);
  }

  // Whether Escape has something to cancel.
  get cancels() {
    const { saving, picks, selection } = this.state || { saving: null, picks: [], selection: {} };
    const selects = selection.count || selection.condition;
    return Boolean(!this.help.hidden || saving !== null || picks.length || selects);
  }

  measure(entry) {
    this.density = window.devicePixelRatio || 1;
    const plain = [this.stage.clientWidth, this.stage.clientHeight].map((side) => side * this.density);
    const exact = entry.devicePixelContentBoxSize && entry.devicePixelContentBoxSize[0];
    const sides = exact ? [exact.inlineSize, exact.blockSize] : plain;
    // Where the two differ by more than rounding, the density is not that of the screen.
    const size = plain.map((side, i) => (Math.abs(side - sides[i]) < 2 ? sides[i] : side));
    this.size = size.map((side) => Math.min(Math.max(Math.round(side), 1), MAX_SIDE));
    clearTimeout(this.sizing);
    this.sizing = setTimeout(() => this.sendSize(), 60);
  }

  sendSize() {
    if (this.size) this.send({ type: "size", width: this.size[0], height: this.size[1] });
  }

  // Of this page alone

  togglePanel() {
    this.root.classList.toggle("rt-closed");
    this.focus();
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    if (this.help.hidden) this.focus();
    else this.help.focus({ preventScroll: true }); // so that keys move the text
  }

  async toggleFullScreen() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await this.root.requestFullscreen();
    } catch {
      this.complain("this page may not fill the screen");
    }
  }

  ask(field) {
    this.root.classList.remove("rt-closed");
    this.panel.focus(field);
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.complain("the camera was copied");
    } catch {
      this.download("camera.toml", "text/plain", text);
    }
  }

  // The link is within the view, because VS Code saves what links of its document point at.
  download(name, mime, bytes) {
    const href = URL.createObjectURL(new Blob([bytes], { type: mime }));
    const link = element("a", "", this.root, { href, download: name, hidden: true });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  }

  fillHelp(controls, mouse) {
    this.help.replaceChildren();
    const columns = element("div", "rt-columns", this.help);
    const groups = new Map();
    const [first, last] = matchMedia("(pointer: coarse)").matches ? [TOUCHES, []] : [[], TOUCHES];
    for (const { group, label, help } of [...first, ...mouse, ...controls, ...last]) {
      if (!help) continue;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push([label, help]);
    }
    for (const [group, rows] of groups) {
      const table = element("table", "", columns);
      element("caption", "", table, { textContent: group });
      for (const [label, help] of rows) {
        const row = table.insertRow();
        element("kbd", "", row.insertCell(), { textContent: label });
        row.insertCell().textContent = help;
      }
    }
  }

  close() {
    this.resizes.disconnect();
    this.root.replaceChildren();
  }
}

function progressOf({ finished, draft, reduced, samples, of }) {
  if (reduced) return "reduced for the slow connection";
  if (finished) return `${of} ${of === 1 ? "sample" : "samples"} per pixel, finished`;
  return draft ? "quick draft, samples follow" : `${samples} of ${of} samples per pixel`;
}
