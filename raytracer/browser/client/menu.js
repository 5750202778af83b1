// Menu: what one can do at a place of the picture. The server says what, when it is asked.

const LONG_PRESS_MS = 500; // of a finger, in place of the right button
const CLICKS = ["Enter", " "]; // keys by which a browser clicks a button
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

class Menu {
  // parent: the element that it stays within. ask: asks the server. take: takes an item.
  // done: called when it is closed.
  constructor(parent, ask, take, done) {
    Object.assign(this, { parent, ask, take, done });
    this.root = element("div", "rt-menu", parent, { hidden: true });
    this.root.setAttribute("role", "menu");
    this.wanted = null; // where it was asked for, until it comes
    this.number = 0; // of the latest menu of the server
    for (const name of ["pointerdown", "pointerup", "wheel"]) {
      this.root.addEventListener(name, (event) => event.stopPropagation());
    }
    this.root.addEventListener("pointerdown", () => { this.pressed = true; });
    this.root.addEventListener("keydown", (event) => this.key(event));
    const beside = ({ target }) => { if (!this.root.contains(target)) this.close(); };
    parent.addEventListener("pointerdown", beside, { capture: true });
  }

  // x, y: CSS pixels from the upper left; null is the middle, with what is picked.
  request(x, y) {
    const { clientWidth, clientHeight } = this.parent;
    this.wanted = x === null ? [clientWidth / 2, clientHeight / 2] : [x, y];
    this.ask(x === null ? null : [x / clientWidth, y / clientHeight]);
  }

  show({ number, items }) {
    const isNew = number !== this.number;
    this.number = number;
    if (isNew && this.wanted && items.length) this.open(items);
  }

  open(items) {
    [this.x, this.y] = this.wanted;
    this.wanted = null;
    this.pressed = false;
    this.items = items;
    this.root.hidden = false;
    this.fill(items, null);
  }

  // within: the item whose own menu this is.
  fill(items, within) {
    this.within = within;
    this.root.replaceChildren();
    if (within) this.add("‹ back", "", () => this.fill(this.items, null));
    for (const item of items) {
      if (!item.label) element("hr", "", this.root);
      else if (item.items.length) this.add(item.label, "›", () => this.fill(item.items, item));
      else if (item.action) this.add(mark(item) + item.label, keyOf(item), () => this.choose(item));
      else element("div", "rt-menu-head", this.root, { textContent: item.label });
    }
    this.place();
    this.root.querySelector("button").focus({ preventScroll: true });
  }

  // A finger that opened the menu ends on it with a click, which is for no row.
  add(text, key, act) {
    const row = button(text, this.root, "", ({ detail }) => {
      if (this.pressed || !detail) act(); // keys click without a press
    });
    row.setAttribute("role", "menuitem");
    element("kbd", "", row, { textContent: key });
  }

  place() {
    const room = [this.parent.clientWidth, this.parent.clientHeight];
    const size = [this.root.offsetWidth, this.root.offsetHeight];
    const [left, top] = [this.x, this.y].map((at, i) =>
      Math.max(Math.min(at, room[i] - size[i] - 4), 4));
    Object.assign(this.root.style, { left: `${left}px`, top: `${top}px` });
  }

  choose(item) {
    this.close();
    this.take(item);
  }

  close() {
    if (this.root.hidden) return;
    const had = this.root.contains(this.root.getRootNode().activeElement);
    this.root.hidden = true;
    this.done();
    if (had) this.parent.focus({ preventScroll: true });
  }

  key(event) {
    const rows = [...this.root.querySelectorAll("button")];
    const now = rows.indexOf(this.root.getRootNode().activeElement);
    const step = { ArrowDown: 1, ArrowUp: rows.length - 1 }[event.key];
    if (step) rows[(now + step) % rows.length].focus();
    else if (event.key === "ArrowRight" && now >= 0) rows[now].click();
    else if (event.key === "Escape" || event.key === "ArrowLeft") this.back();
    else if (!CLICKS.includes(event.key)) {
      if (!MODIFIERS.includes(event.key)) this.close(); // and the key does what it does without it
      return;
    }
    if (!CLICKS.includes(event.key)) event.preventDefault();
    event.stopPropagation();
  }

  back() {
    if (this.within) this.fill(this.items, null);
    else this.close();
  }
}

// Tab goes from field to field here.
function keyOf({ action, key }) {
  return action === "toggle-panel" ? "I" : key;
}

function mark({ chosen }) {
  return chosen ? "• " : "";
}
