// Elements: short forms of what the document offers.

function element(tag, name, parent, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  if (name) made.className = name;
  if (parent) parent.append(made);
  return made;
}

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Gives an element a name for those who hear it.
function named(made, name) {
  made.setAttribute("aria-label", name);
  return made;
}

function button(text, parent, title, act) {
  const made = element("button", "", parent, { type: "button", textContent: text, title });
  made.addEventListener("click", act);
  return made;
}

// Calls `act` at most once per picture of the screen, with what was added up since the last call.
class PerPicture {
  constructor(act) {
    this.act = act;
    this.waiting = false;
  }

  request() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => {
      this.waiting = false;
      this.act(now);
    });
  }
}
