// Widget: the view in a cell of a notebook, over the messages of anywidget.

class Comm {
  constructor(model) {
    this.model = model;
    this.closed = false;
  }

  send(message) {
    if (!this.closed) this.model.send(message);
  }
}

// The bytes of a buffer of a message: notebooks give a DataView, an ArrayBuffer or a typed array.
function bytesOf(buffer) {
  if (!ArrayBuffer.isView(buffer)) return new Uint8Array(buffer);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

// Whether a key is the notebook's: it saves, runs the cell, opens the palette of commands, or leaves
// a view that has nothing to cancel; of keys with Alt the view has none. All others are the view's,
// also those that do nothing in it, because most letters change the cells of a notebook.
function isOfNotebook(event, view) {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey) return true;
  if (event.key === "Enter") return control || event.shiftKey;
  if (event.key === "Escape") return view.stage.contains(event.target) && !view.cancels;
  const key = event.key.toLowerCase();
  return control && (key === "s" || (key === "c" && event.shiftKey));
}

// Gives the notebook its keys, and keeps from it those of the view; returns how to end that.
function shareKeys(root, view) {
  const take = (event) => {
    if (!root.contains(event.target)) return;
    const given = isOfNotebook(event, view);
    // JupyterLab takes keys at the document, before the view, unless this attribute is there.
    root.toggleAttribute("data-lm-suppress-shortcuts", !given);
    if (given && event.key === "Escape") focusCell(root);
  };
  window.addEventListener("keydown", take, true);
  // Others take keys that nobody stops.
  root.addEventListener("keydown", (event) => {
    if (root.hasAttribute("data-lm-suppress-shortcuts")) event.stopPropagation();
  });
  return () => window.removeEventListener("keydown", take, true);
}

// The keyboard goes to the cell, as by Escape in its text.
function focusCell(root) {
  const cell = root.closest("[tabindex]");
  if (cell) cell.focus({ preventScroll: true });
  else document.activeElement.blur();
}

function render({ model, el }) {
  const comm = new Comm(model);
  const root = element("div", "rt-cell", el);
  root.style.height = `${model.get("height")}px`;
  const view = new View(root, comm);
  root.raytracerView = view; // for measurements
  const shareNoMore = shareKeys(root, view);
  const take = (message, buffers) => {
    view.receive(message, buffers && buffers.length ? bytesOf(buffers[0]) : null);
  };
  model.on("msg:custom", take);
  const resize = () => { root.style.height = `${model.get("height")}px`; };
  model.on("change:height", resize);
  comm.send({ type: "open" });
  view.connected(true);
  const close = () => {
    model.off("msg:custom", take);
    model.off("change:height", resize);
    shareNoMore();
    comm.send({ type: "close" });
    comm.closed = true;
    view.close();
  };
  return { view, close };
}

// Called once for each model, which may have views in several cells.
export default () => {
  let view = null; // the last one
  return {
    initialize({ model }) {
      const context = model.widget_manager?.context;
      if (!context?.saveState) return undefined; // only JupyterLab has it
      const picture = () => view && view.picture.still(model.get("still_pixels"));
      const file = new NotebookFile(context, model.get("view_id"), picture);
      return () => file.close();
    },
    render(place) {
      const shown = render(place);
      view = shown.view;
      return shown.close;
    },
  };
};
