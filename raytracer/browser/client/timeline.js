// Time line: play, step, scrub and speed of a trajectory; hidden for a single frame.

class Timeline {
  constructor(parent, act) {
    this.act = act;
    this.root = element("div", "rt-time", parent);
    this.root.hidden = true;
    button("‹", this.root, "one frame back", () => act("step", { count: -1 }));
    this.play = button("play", this.root, "play or pause", () => act("play", {}));
    button("›", this.root, "one frame on", () => act("step", { count: 1 }));
    this.slider = named(element("input", "rt-frames", this.root,
      { type: "range", min: 0, step: 1, value: 0, title: "frame" }), "frame");
    const later = new PerPicture(() => act("frame", { number: +this.slider.value }));
    this.slider.addEventListener("pointerdown", () => { this.scrubs = true; });
    this.slider.addEventListener("pointerup", () => { this.scrubs = false; });
    this.slider.addEventListener("change", () => { this.scrubs = false; });
    this.slider.addEventListener("input", () => { this.label(); later.request(); });
    this.number = element("output", "rt-value", this.root);
    this.speed = named(element("select", "", this.root, { title: "speed" }), "speed");
    for (const speed of [0.1, 0.2, 0.5, 1, 2, 5, 10]) {
      element("option", "", this.speed, { value: speed, textContent: `${speed}×` });
    }
    this.speed.addEventListener("change", () => act("set-speed", { factor: +this.speed.value }));
    this.scrubs = false;
  }

  show({ frame }) {
    this.root.hidden = !frame || frame.count < 2;
    if (this.root.hidden) return;
    this.slider.max = frame.count - 1;
    if (!this.scrubs) this.slider.value = frame.number;
    this.play.textContent = frame.playing ? "pause" : "play";
    this.speed.value = frame.speed;
    this.label();
  }

  label() {
    this.number.textContent = `${+this.slider.value} of ${+this.slider.max}`;
  }
}
