// Notebook: the file of a notebook keeps the last picture of a view, which needs no kernel.
//
// JupyterLab writes the shared model of a cell. For the time of a save, the output in it is a picture;
// the output area must not hear of that, because it would draw the view anew. When a notebook is
// opened and its kernel still has the view, the picture becomes the view again.

const VIEW_TYPE = "application/vnd.jupyter.widget-view+json";
const SILENT = "silent-change"; // origin of changes of which the shared model tells nobody
const OWN = "raytracer"; // key in the metadata of an output that keeps what VIEW_TYPE had

class NotebookFile {
  // context: of JupyterLab's document. id: of the model of the view.
  // picture: returns the last picture as { png, width, height }, or null.
  constructor(context, id, picture) {
    this.context = context;
    this.id = id;
    this.picture = picture;
    this.onSave = (_, state) => (state === "started" ? this.replace() : this.restore());
    context.saveState.connect(this.onSave);
    this.revive();
  }

  // The outputs that show the view: their cell, their place in it and their JSON.
  outputs() {
    const found = [];
    for (const cell of this.context.model.cells) {
      for (let index = 0; index < (cell.outputs?.length ?? 0); index++) {
        const output = cell.outputs.get(index);
        const view = output.data[VIEW_TYPE] || output.metadata[OWN];
        if (view?.model_id === this.id) found.push({ cell, index, output: output.toJSON() });
      }
    }
    return found;
  }

  // Changes each of these outputs, and leaves it as it was whether the notebook has to be saved.
  change(act) {
    const { model } = this.context;
    const { dirty } = model;
    for (const place of this.outputs()) act(place);
    model.dirty = dirty;
  }

  write(convert) {
    this.change(({ cell, index, output }) => {
      cell.sharedModel.updateOutputs(index, index + 1, [convert(output)], SILENT);
    });
  }

  replace() {
    const picture = this.picture();
    this.write((output) => asPicture(output, picture));
  }

  restore() {
    this.write((output) => output);
  }

  revive() {
    this.change(({ cell, index, output }) => {
      const { [OWN]: view, ...metadata } = output.metadata;
      if (!view) return;
      cell.outputs.get(index).setData({ data: { ...output.data, [VIEW_TYPE]: view }, metadata });
    });
  }

  // The view has been closed: its last picture stays in the notebook.
  close() {
    this.context.saveState.disconnect(this.onSave);
    const picture = this.picture();
    for (const { cell, index, output } of this.outputs()) {
      const { data, metadata } = asPicture(output, picture);
      cell.outputs.get(index).setData({ data, metadata });
    }
  }
}

// An output with a picture in place of the view; as it is if there is none.
function asPicture(output, picture) {
  const { [VIEW_TYPE]: view, ...data } = output.data;
  const metadata = { ...output.metadata, [OWN]: view };
  if (picture) {
    data["image/png"] = picture.png;
    metadata["image/png"] = { width: picture.width, height: picture.height };
  }
  return view && data["image/png"] ? { ...output, data, metadata } : output;
}
