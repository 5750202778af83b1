// Panel: fields and buttons for the actions of the session; it shows the state that the server sends.

class Panel {
  // act: takes the name of an action and its arguments. save: starts saving a picture.
  constructor(parent, act, save) {
    this.act = act;
    this.save = save;
    this.root = element("aside", "rt-panel", parent);
    this.fields = []; // functions that take the state
    this.picks = this.section("Picked");
    this.pickText = element("pre", "rt-picks", this.picks);
    this.makeLook();
    this.makeColor();
    this.makeSolids();
    this.makeSelection();
    this.makeView();
    this.makeMotion();
    this.makePicture();
  }

  show(state) {
    for (const field of this.fields) field(state);
    const texts = state.picks.map((pick) => pick.lines.join("\n"));
    if (state.measure) texts.push(state.measure);
    this.pickText.textContent = texts.join("\n\n");
    this.picks.hidden = texts.length === 0;
  }

  makeLook() {
    const part = this.section("Look");
    this.choice(part, "Look", "set-look", "name", (state) => [state.look, state.looks]);
    this.choice(part, "Background", "set-background", "name",
      (state) => [state.background, state.backgrounds]);
    const ground = this.row(part, "Ground");
    this.toggle(ground, "toggle-shadow-catcher", "its shadows alone",
      (state) => state.shadow_catcher);
    this.fields.push((state) => { ground.hidden = state.shadow_catcher === null; });
    const glass = this.row(part, "Priority");
    this.button(glass, "−", "less of the picked glass where glass overlaps", "change-priority",
      { step: -1 });
    const priority = element("output", "rt-value", glass);
    this.button(glass, "+", "more of the picked glass where glass overlaps", "change-priority",
      { step: 1 });
    this.fields.push((state) => {
      glass.hidden = state.priority === null;
      priority.textContent = state.priority ?? "";
    });
    const exposure = this.row(part, "Exposure");
    this.button(exposure, "−", "darker by 1/3 stop", "expose", { stops: -1 / 3 });
    const shown = element("output", "rt-value", exposure);
    this.button(exposure, "+", "brighter by 1/3 stop", "expose", { stops: 1 / 3 });
    this.button(exposure, "auto", "automatic exposure", "toggle-automatic");
    this.fields.push((state) => { shown.textContent = stops(state.exposure); });
    const tone = this.row(part, "Tone");
    const curve = this.button(tone, "", "next tone curve", "next-curve");
    this.button(tone, "light here", "light from the viewer's upper left", "light-from-viewer");
    this.fields.push((state) => { curve.textContent = state.tone; });
  }

  makeColor() {
    const part = this.section("Colour");
    this.choice(part, "By", "color-by", "by", ({ color }) =>
      [color.by, withOwn(color.by, color.columns)], "the scene's own");
    this.choice(part, "Map", "set-map", "name", ({ color }) => [color.map, color.maps], "default");
    this.choice(part, "Scale", "set-scale", "name",
      ({ color }) => [color.scale, color.scales], "default");
    this.text(part, "Range", "set-range", "ends", "low,high or p1,p99",
      ({ color }) => rangeText(color));
    const legend = this.row(part, "Legend");
    this.toggle(legend, "toggle-legend", "draw a legend", (state) => state.color.legend);
  }

  makeSolids() {
    const part = this.section("Bonds and arrows");
    this.choice(part, "Style", "set-style", "name",
      ({ solids }) => [solids.style, solids.styles], "the scene's");
    const bonds = this.row(part, "");
    this.toggle(bonds, "toggle-bonds", "show bonds", (state) => state.solids.has_bonds);
    this.text(part, "Bonds", "set-bonds", "which", "auto, none, 2.4 or Si-O=2",
      ({ solids }) => String(solids.bonds ?? ""));
    this.choice(part, "Arrows", "set-arrows", "vector",
      ({ solids }) => [solids.arrows, withOwn(solids.arrows, ["", ...solids.vectors])]);
    this.choice(part, "Trails", "set-trails", "last",
      ({ solids }) => [solids.trails, solids.trail_lengths]);
    this.choice(part, "Contacts", "set-contacts", "which",
      ({ solids }) => [solids.contacts, solids.kinds_of_contacts]);
    this.choice(part, "Shape", "set-shape", "kind",
      ({ solids }) => [solids.shape, solids.shapes]);
    const box = this.row(part, "Box");
    this.toggle(box, "toggle-box", "show the box", (state) => state.solids.box);
    this.fields.push(({ solids }) => { box.hidden = !solids.knows_box; });
  }

  makeSelection() {
    const part = this.section("Select");
    this.text(part, "Where", "select", "condition", "type == 'O' and z > 3",
      ({ selection }) => selection.condition || "");
    const actions = this.row(part, "");
    const count = element("output", "rt-value", actions);
    this.button(actions, "hide", "hide what is selected", "hide-selected");
    this.button(actions, "isolate", "hide the rest", "hide-rest");
    this.button(actions, "fade rest", "fade the rest", "fade-rest");
    this.button(actions, "show all", "show all particles", "show-all");
    this.fields.push(({ selection, hidden }) => {
      count.textContent = selection.count ? selection.count.toLocaleString("en") : "";
      count.title = hidden ? `${hidden.toLocaleString("en")} hidden` : "";
    });
    this.makeSlice(part);
  }

  makeSlice(part) {
    const row = this.row(part, "Slice");
    const axis = element("select", "", row, { title: "axis of a slice" });
    options(axis, ["", "x", "y", "z"], "none");
    const place = element("input", "rt-slice", row,
      { type: "range", min: 0, max: 1, step: 0.005, value: 0.5, title: "position of the slice" });
    const apply = () => this.act("slice", { axis: axis.value || null, position: +place.value });
    axis.addEventListener("change", apply);
    const later = new PerPicture(apply);
    place.addEventListener("input", () => later.request());
    this.fields.push(({ slice }) => {
      axis.value = slice ? slice.axis : "";
      place.disabled = !slice;
      if (slice && place !== deepFocus(place)) place.value = slice.position;
    });
  }

  makeView() {
    const part = this.section("View");
    const fits = this.row(part, "");
    this.button(fits, "fit", "show all spheres except a ground ball", "fit-all");
    this.button(fits, "to picked", "go to the picked sphere", "fit-picked");
    this.button(fits, "reset", "reset to the scene", "reset");
    const axes = this.row(part, "");
    for (const name of ["x", "-x", "y", "-y", "z", "-z", "iso"]) {
      this.button(axes, name, `view ${name}`, "view", { name });
    }
    const kept = this.row(part, "Kept");
    const keep = button("keep", kept, "keep this view", () =>
      this.act("keep-view", { name: this.free }));
    const places = element("span", "", kept);
    this.fields.push(({ views }) => this.showKept(keep, places, views));
    const kinds = this.row(part, "");
    const kind = this.button(kinds, "", "perspective or orthographic", "toggle-projection");
    this.fields.push((state) => { kind.textContent = state.projection; });
    this.toggle(kinds, "toggle-turntable", "turntable", (state) => state.turning);
    const steps = this.row(part, "");
    const undo = this.button(steps, "undo", "undo", "undo");
    const redo = this.button(steps, "redo", "redo", "redo");
    this.fields.push((state) => {
      undo.disabled = !state.can_undo;
      redo.disabled = !state.can_redo;
    });
  }

  // Views that were kept have a button each; browsers keep Ctrl with digits for their tabs.
  showKept(keep, places, views) {
    const names = views.filter((name) => /^[1-9]$/.test(name));
    keep.hidden = names.length === 9;
    this.free = "123456789".split("").find((digit) => !names.includes(digit));
    if (places.dataset.names === names.join()) return;
    places.dataset.names = names.join();
    places.replaceChildren();
    for (const name of names) this.button(places, name, `kept view ${name}`, "view", { name });
  }

  // Keyframes and movies; the server makes the files.
  makeMotion() {
    const part = this.section("Motion");
    const row = this.row(part, "Camera");
    this.button(row, "keyframe", "keep this camera at this time", "keyframe");
    const count = element("output", "rt-value", row);
    const clear = this.button(row, "clear", "forget all keyframes", "clear-keyframes");
    const files = this.row(part, "");
    this.button(files, "animate", "render a movie", "animate");
    const written = this.button(files, "export", "write a scene file with the keyframes",
      "export-keyframes");
    this.fields.push(({ keyframes }) => {
      count.textContent = keyframes || "";
      clear.disabled = written.disabled = !keyframes;
    });
  }

  makePicture() {
    const part = this.section("Picture");
    const size = this.row(part, "Size");
    const number = (title, least, most) =>
      element("input", "", size,
        { type: "number", name: title.split(" ")[0], title, min: least, max: most, step: 1 });
    this.width = number("width in pixels", 1, 16384);
    element("span", "", size, { textContent: "×" });
    this.height = number("height in pixels", 1, 16384);
    this.samples = number("samples per pixel", 1, 1e6);
    const keep = this.row(part, "");
    const save = button("save PNG", keep, "render a picture and download it", () => this.ask());
    this.button(keep, "copy camera", "copy the camera as TOML for a scene file", "print-camera");
    const cancel = this.button(keep, "cancel", "cancel the picture", "cancel");
    this.fields.push(({ saving, size: shown, samples }) => {
      save.disabled = saving !== null;
      cancel.hidden = saving === null;
      save.textContent = saving === null ? "save PNG" : `${Math.floor(100 * saving)}%`;
      this.width.placeholder = shown[0];
      this.height.placeholder = shown[1];
      this.samples.placeholder = samples;
    });
  }

  ask() {
    const value = (field) => (field.value === "" ? null : Math.trunc(+field.value));
    this.save(value(this.width), value(this.height), value(this.samples));
  }

  // Open the section of a field and go to it.
  focus(name) {
    const field = this.root.querySelector(`[name="${name}"]`);
    field.closest("details").open = true;
    field.focus();
  }

  // Parts

  section(title) {
    const part = element("details", "rt-section", this.root, { open: title !== "Motion" });
    element("summary", "", part, { textContent: title });
    return part;
  }

  row(part, label) {
    const row = element("div", "rt-row", part);
    element("span", "rt-label", row, { textContent: label });
    return row;
  }

  button(parent, text, title, name, values = {}) {
    return button(text, parent, title, () => this.act(name, values));
  }

  toggle(parent, name, label, read) {
    const box = element("label", "rt-toggle", parent);
    const input = element("input", "", box, { type: "checkbox" });
    box.append(label);
    input.addEventListener("change", () => this.act(name, {}));
    this.fields.push((state) => { input.checked = Boolean(read(state)); });
  }

  // read: returns the current value and the values to choose from. own: what null is called.
  choice(part, label, name, argument, read, own = null) {
    const select = element("select", "", this.row(part, label), { title: label, name });
    let known = "";
    select.addEventListener("change", () => {
      this.act(name, { [argument]: own !== null && select.value === "" ? null : select.value });
    });
    this.fields.push((state) => {
      const [value, values] = read(state);
      const all = own === null ? values : ["", ...values];
      if (known !== JSON.stringify(all)) options(select, all, own);
      known = JSON.stringify(all);
      select.value = value || "";
    });
  }

  // A text that is sent by Enter or when the field is left.
  text(part, label, name, argument, placeholder, read) {
    const input = element("input", "rt-wide", this.row(part, label),
      { type: "text", placeholder, title: label, name, spellcheck: false, autocomplete: "off" });
    let sent = "";
    const send = () => {
      if (input.value === sent) return;
      sent = input.value;
      this.act(name, { [argument]: input.value.trim() || null });
    };
    input.addEventListener("change", send);
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });
    this.fields.push((state) => {
      if (input === deepFocus(input)) return; // it is being written
      input.value = sent = read(state);
    });
  }
}

function options(select, values, own) {
  select.replaceChildren(...values.map((value) =>
    element("option", "", null, { value, textContent: value === "" ? own ?? "none" : value })));
}

// The element that has the focus, inside of a shadow root too, where notebooks may put the view.
function deepFocus(within) {
  return within.getRootNode().activeElement;
}

function withOwn(by, columns) {
  return by && !columns.includes(by) ? [by, ...columns] : columns;
}

function rangeText({ range, low, high }) {
  if (typeof range === "string" && range) return range;
  if (low === null || low === undefined) return "";
  return `${short(low)},${short(high)}`;
}

function short(value) {
  return String(+Number(value).toPrecision(6));
}

function stops(exposure) {
  return typeof exposure === "number" ? `${exposure >= 0 ? "+" : "−"}${Math.abs(exposure).toFixed(2)}` : "auto";
}
