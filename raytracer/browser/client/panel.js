// Panel: fields and buttons for the actions of the session, as the rows that the server sends say.

const PANEL = "panel "; // start of the keys of the state that have the rows of a section

class Panel {
  // act: takes the name of an action and its arguments. save: starts saving a picture. leave: gives
  // the keys back to the picture.
  constructor(parent, act, save, leave) {
    this.act = act;
    this.save = save;
    this.leave = leave;
    this.typed = null; // the field and the text that were sent last
    this.root = element("section", "rt-panel", parent);
    this.root.setAttribute("aria-label", "panel");
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.sections = new Map(); // by key of the state
    this.picks = this.section("Picked");
    this.pickText = element("pre", "rt-picks", this.picks);
    this.makePicture();
  }

  show(state) {
    for (const [key, rows] of Object.entries(state)) {
      if (key.startsWith(PANEL)) this.showSection(key, rows);
    }
    const texts = state.picks.map((pick) => pick.lines.join("\n"));
    if (state.measure) texts.push(state.measure);
    this.pickText.textContent = texts.join("\n\n");
    this.picks.hidden = texts.length === 0;
    this.showPicture(state);
  }

  onKey(event) {
    if (event.key === "Escape") this.leave();
    if (event.key !== "Enter" || event.target.type !== "number") return;
    this.ask();
    this.leave();
  }

  // The text that was sent last is refused: it stays in its field, to be corrected.
  refuse() {
    if (!this.typed) return;
    const { input, value } = this.typed;
    Object.assign(input, { value, hidden: false });
    input.setAttribute("aria-invalid", "true");
    input.focus();
    this.typed = null;
  }

  showSection(key, rows) {
    if (!this.sections.has(key)) {
      const part = this.section(key.slice(PANEL.length));
      this.root.insertBefore(part, this.picture);
      this.sections.set(key, { part, made: new Map() });
    }
    const section = this.sections.get(key);
    const names = rows.map((row, index) => row.label || index);
    for (const [name, { root }] of section.made) root.hidden = !names.includes(name);
    rows.forEach((row, index) => {
      let made = section.made.get(names[index]);
      if (!made) {
        made = this.makeRow(section.part, row);
        section.made.set(names[index], made);
        const after = names.slice(index + 1).find((name) => section.made.has(name));
        if (after !== undefined) section.part.insertBefore(made.root, section.made.get(after).root);
      }
      made.update(row);
    });
  }

  makeRow(part, row) {
    const root = this.row(part, row.label);
    const makers = { choice: choice, text: text, switch: toggle, share: slider };
    const maker = makers[row.kind] || buttons;
    const made = { root };
    const set = (value) => {
      const { action, argument, fixed } = made.now;
      this.act(action, argument ? { ...fixed, [argument]: value } : {});
    };
    const update = maker(root, row, set, this);
    made.update = (now) => {
      made.now = now;
      update(now);
    };
    return made;
  }

  makePicture() {
    this.picture = this.section("Picture");
    const size = this.row(this.picture, "Size");
    const number = (title, least, most, row = size) =>
      named(element("input", "", row,
        { type: "number", name: title.split(" ")[0], title, min: least, max: most, step: 1 }), title);
    this.width = number("width in pixels", 1, 16384);
    element("span", "", size, { textContent: "×" });
    this.height = number("height in pixels", 1, 16384);
    this.samples = number("samples per pixel", 1, 1e6, this.row(this.picture, "Samples"));
    const keep = this.row(this.picture, "");
    this.saver = button("save PNG", keep, "render a picture and download it", () => this.ask());
    button("copy camera", keep, "copy the camera as TOML for a scene file", () =>
      this.act("print-camera"));
    this.cancel = button("cancel", keep, "cancel the picture", () => this.act("cancel"));
  }

  showPicture({ saving, size, samples }) {
    this.saver.disabled = saving !== null;
    this.cancel.hidden = saving === null;
    this.saver.textContent = saving === null ? "save PNG" : `${Math.floor(100 * saving)}%`;
    [this.width.placeholder, this.height.placeholder] = size;
    this.samples.placeholder = samples;
  }

  ask() {
    const value = (field) => (field.value === "" ? null : Math.trunc(+field.value));
    this.save(value(this.width), value(this.height), value(this.samples));
  }

  // Open the section of a field and go to it; to that of a text, if it has one.
  focus(name) {
    const find = (tag) => this.root.querySelector(`${tag}[name="${name}"]`);
    const field = find("input") || find("select");
    if (!field) return;
    field.closest("details").open = true;
    field.hidden = false;
    field.focus();
  }

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
}

// Makers of the fields of a row. set: takes a new value. Each returns what shows a row's values.

function choice(root, { label, action, example }, set, panel) {
  const select = named(element("select", "", root, { title: label, name: action }), label);
  const field = example ? { label, action, hint: example } : null;
  const shown = field && text(root, field, set, panel);
  const input = field && root.lastChild; // hidden until something else is to be typed
  if (field) {
    input.hidden = true;
    input.addEventListener("blur", () => { input.hidden = !input.hasAttribute("aria-invalid"); });
  }
  let [choices, chosen] = [[], 0];
  select.addEventListener("change", () => {
    if (select.selectedIndex < choices.length) {
      set(choices[select.selectedIndex]);
      return;
    }
    select.selectedIndex = chosen;
    panel.focus(action);
  });
  return (row) => {
    if (JSON.stringify(row.choices) !== JSON.stringify(choices)) {
      choices = row.choices;
      select.replaceChildren(...choices.map((each) => element("option", "", null,
        { value: each ?? "", textContent: each === null ? row.hint : each || "none" })));
      if (field) element("option", "", select, { textContent: "type another …" });
    }
    select.selectedIndex = chosen = choices.indexOf(row.value);
    if (field) shown({ value: row.value || "" });
  };
}

// A text that is sent by Enter or when the field is left. Enter and Escape give the keys back to the
// picture; a text that is refused stays, until Escape or another value.
function text(root, { label, action, hint }, set, panel) {
  const input = named(element("input", "rt-wide", root, { type: "text", placeholder: hint,
    title: label, name: action, spellcheck: false, autocomplete: "off" }), label);
  let [sent, known] = ["", ""];
  const show = (value) => {
    input.value = sent = known = value;
    input.removeAttribute("aria-invalid");
  };
  const send = () => {
    if (input.value === sent) return;
    sent = input.value;
    input.removeAttribute("aria-invalid");
    set(input.value.trim() || null);
    panel.typed = { input, value: input.value };
  };
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(known);
    if (event.key !== "Enter") return;
    send();
    panel.leave();
  });
  return ({ value }) => {
    if (value === known) return;
    known = value;
    if (input !== deepFocus(input)) show(value); // else it is being written
  };
}

function toggle(root, { label, hint = "" }, set) {
  const box = element("label", "rt-toggle", root);
  const input = named(element("input", "", box, { type: "checkbox" }), hint || label);
  box.append(hint);
  input.addEventListener("change", () => set(input.checked));
  return ({ value }) => { input.checked = value; };
}

function slider(root, { label }, set) {
  const input = named(element("input", "rt-wide", root,
    { type: "range", min: 0, max: 1, step: 0.005, title: label }), label);
  const later = new PerPicture(() => set(+input.value));
  input.addEventListener("input", () => later.request());
  return ({ value }) => { if (input !== deepFocus(input)) input.value = value; };
}

// The value, if there is one, is behind the first button.
function buttons(root, { value }, _, { act }) {
  const output = value === null ? null : element("output", "rt-value", root);
  const made = [];
  return (row) => {
    while (made.length > row.buttons.length) made.pop().remove();
    row.buttons.forEach((each, i) => {
      if (!made[i]) made[i] = button("", root, "", () => act(made[i].call.action, made[i].call.values));
      const { text: textContent, help: title, active } = each;
      Object.assign(made[i], { call: each, textContent, title, disabled: !active });
    });
    if (!output) return;
    output.textContent = row.value;
    made[0].after(output);
  };
}

// The element that has the focus, inside of a shadow root too, where notebooks may put the view.
function deepFocus(within) {
  return within.getRootNode().activeElement;
}
