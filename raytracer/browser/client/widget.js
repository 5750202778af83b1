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

function render({ model, el }) {
  const comm = new Comm(model);
  const root = element("div", "", el);
  root.style.height = `${model.get("height")}px`;
  // Keys of the view are no shortcuts of the notebook: of JupyterLab, and of others.
  root.dataset.lmSuppressShortcuts = "true";
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const view = new View(root, comm);
  root.raytracerView = view; // for measurements
  const take = (message, buffers) => {
    view.receive(message, buffers && buffers.length ? bytesOf(buffers[0]) : null);
  };
  model.on("msg:custom", take);
  const resize = () => { root.style.height = `${model.get("height")}px`; };
  model.on("change:height", resize);
  comm.send({ type: "open" });
  view.connected(true);
  return () => {
    model.off("msg:custom", take);
    model.off("change:height", resize);
    comm.send({ type: "close" });
    comm.closed = true;
    view.close();
  };
}

export default { render };
