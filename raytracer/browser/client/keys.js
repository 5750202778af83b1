// Keys: the actions of keys, from the list that the server sends.

const KEY_NAMES = {
  ArrowLeft: "LEFT", ArrowRight: "RIGHT", ArrowUp: "UP", ArrowDown: "DOWN", "+": "PLUS",
  "=": "EQUAL", "-": "MINUS", " ": "SPACE",
  Home: "HOME", End: "END", Escape: "ESCAPE", ",": "COMMA", ".": "PERIOD", "[": "BRACKETLEFT",
  "]": "BRACKETRIGHT", "/": "SLASH",
};
const SCROLLS = /^(Arrow|Page|Home$|End$| $)/; // keys that move a text
const MAX_STEP = 0.1; // seconds of a held key per message
const TAP = 0.04; // seconds of a key that is down for less than a picture of the screen

class Keys {
  // act: takes a control and its amounts.
  constructor(stage, act) {
    this.act = act;
    this.controls = new Map(); // name of a key to its control
    this.held = new Map(); // code of a key that is down to its control
    this.last = 0;
    this.tick = new PerPicture((now) => this.step(now));
    stage.addEventListener("keydown", (event) => this.down(event));
    stage.addEventListener("keyup", (event) => this.held.delete(event.code));
    stage.addEventListener("focusout", () => this.held.clear());
  }

  set(controls) {
    this.controls.clear();
    for (const control of controls) {
      for (const name of control.keys) this.controls.set(name, control);
    }
  }

  down(event) {
    if (event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.target.closest(".rt-help") && SCROLLS.test(event.key)) return;
    const name = namesOf(event).find((each) => this.controls.has(each));
    const control = this.controls.get(name);
    if (!control) return;
    event.preventDefault();
    if (!control.held) {
      if (!event.repeat) this.act(control, control.amount);
    } else if (!this.held.has(event.code)) {
      this.held.set(event.code, control);
      this.hold(control, TAP);
      this.last = performance.now();
      this.tick.request();
    }
  }

  step(now) {
    if (!this.held.size) return;
    const seconds = Math.min(Math.max((now - this.last) / 1000, 0), MAX_STEP);
    this.last = now;
    if (seconds) {
      for (const control of this.held.values()) this.hold(control, seconds);
    }
    this.tick.request();
  }

  hold(control, seconds) {
    this.act(control, control.amount.map((each) => each * seconds));
  }
}

// Names of a key, of which the first that has an action counts: a layout may need Shift for "/".
function namesOf(event) {
  const control = event.ctrlKey || event.metaKey ? "CTRL+" : "";
  const digit = /^[0-9]$/.test(event.key) ? `_${event.key}` : null;
  const name = KEY_NAMES[event.key] || digit || event.key.toUpperCase();
  const names = [control + (event.shiftKey ? "SHIFT+" : "") + name];
  if (event.shiftKey && /^[^a-z ]$/i.test(event.key)) names.push(control + name);
  return names;
}
