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
    const data = buffers && buffers[0];
    view.receive(message, data ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : null);
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
