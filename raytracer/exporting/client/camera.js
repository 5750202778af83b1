// Camera: where the eye is, in render space, and how it moves about a pivot.

const add = (a, b, scale = 1) => a.map((x, i) => x + scale * b[i]);
const scaled = (a, scale) => a.map((x) => scale * x);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const lengthOf = (a) => Math.sqrt(dot(a, a));
const unit = (a) => scaled(a, 1 / lengthOf(a));
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
];

// A vector turned about a unit axis (Rodrigues).
function turned(v, axis, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return add(add(scaled(v, c), cross(axis, v), s), axis, (1 - c) * dot(axis, v));
}

const NEAR_POLE = 0.01; // radians

class Camera {
  // head: of the page.
  constructor(head) {
    this.first = head;
    this.reset();
  }

  reset() {
    const { camera, pivot, upward } = this.first;
    this.parallel = camera.orthographic;
    this.origin = camera.origin;
    this.forward = unit(camera.forward);
    this.right = unit(camera.right);
    this.up = unit(camera.up);
    this.halves = [lengthOf(camera.right), lengthOf(camera.up)];
    this.pivot = pivot;
    this.pole = unit(upward);
  }

  // Half of a picture of more than the frame, as the shaders take it. share: of the frame's sides
  view(share) {
    return {
      parallel: this.parallel,
      eye: this.origin,
      forward: this.forward,
      right: scaled(this.right, this.halves[0] * share[0]),
      up: scaled(this.up, this.halves[1] * share[1]),
    };
  }

  get distance() {
    return Math.max(Math.abs(dot(add(this.pivot, this.origin, -1), this.forward)), 1e-6);
  }

  // Turn about the pivot, in radians, at most to the poles.
  orbit(right, up) {
    const angle = Math.acos(Math.min(Math.max(dot(this.forward, this.pole), -1), 1));
    const least = Math.min(angle, NEAR_POLE);
    const most = Math.max(angle, Math.PI - NEAR_POLE);
    this.turn(this.right, angle - Math.min(Math.max(angle + up, least), most));
    this.turn(this.pole, right);
  }

  turn(axis, angle) {
    for (const name of ["forward", "right", "up"]) this[name] = turned(this[name], axis, angle);
    const from = add(this.origin, this.pivot, -1);
    this.origin = add(this.pivot, turned(from, axis, angle));
    this.forward = unit(this.forward);
    this.right = unit(add(this.right, this.forward, -dot(this.right, this.forward)));
    this.up = cross(this.right, this.forward);
  }

  // right, up: in heights of the picture
  pan(right, up) {
    const height = 2 * this.halves[1] * (this.parallel ? 1 : this.distance);
    const step = add(scaled(this.right, right * height), this.up, up * height);
    this.origin = add(this.origin, step);
    this.pivot = add(this.pivot, step);
  }

  // The distance to the pivot times e to the `amount`; of parallel rays the height of the picture.
  dolly(amount) {
    const factor = Math.exp(amount);
    if (this.parallel) {
      this.halves = scaled(this.halves, factor);
      return;
    }
    const from = add(this.origin, this.pivot, -1);
    this.origin = add(this.pivot, from, factor);
  }

  zoom(amount) {
    this.halves = scaled(this.halves, Math.exp(amount));
  }

  // Look along an axis of the scene.
  along(x, y, z) {
    const forward = unit([x, y, z]);
    const far = lengthOf(add(this.origin, this.pivot, -1));
    let up = Math.abs(dot(forward, this.pole)) > 0.999 ? [0, 1, 0] : this.pole;
    if (Math.abs(dot(forward, up)) > 0.999) up = [1, 0, 0];
    this.forward = forward;
    this.right = unit(cross(forward, up));
    this.up = cross(this.right, forward);
    this.origin = add(this.pivot, forward, -far);
  }

  // The ray through a place of the picture; x, y: from -1 to 1, to the right and up
  ray(x, y, share) {
    const { right, up } = this.view(share);
    const aside = add(scaled(right, x), up, y);
    if (this.parallel) return { origin: add(this.origin, aside), direction: this.forward };
    return { origin: this.origin, direction: unit(add(this.forward, aside)) };
  }

  // Where a point is in the frame: x, y from -1 to 1, and its depth.
  place(point) {
    const d = add(point, this.origin, -1);
    const depth = dot(d, this.forward);
    const by = this.parallel ? 1 : depth;
    return [dot(d, this.right) / this.halves[0] / by, dot(d, this.up) / this.halves[1] / by, depth];
  }
}
