// Picking: what a ray meets first, by testing all; of millions that takes some milliseconds.

// ray: in render space. Returns { kind, row } of the nearest sphere or rod, or null.
function pickAlong(ray, head, spheres, rods) {
  const { grid } = head;
  const [ox, oy, oz] = add(ray.origin, grid.low, -1);
  const [dx, dy, dz] = ray.direction;
  const { place } = spheres;
  let [best, found] = [Infinity, null];
  const radii = new Map(); // squares, by code
  for (let row = 0; row < spheres.count; row += 1) {
    const at = 4 * row;
    const x = grid.step * place[at] - ox;
    const y = grid.step * place[at + 1] - oy;
    const z = grid.step * place[at + 2] - oz;
    const code = place[at + 3];
    let square = radii.get(code);
    if (square === undefined) radii.set(code, square = radiusOf(grid, code) ** 2);
    const mid = x * dx + y * dy + z * dz;
    const half2 = square - (x * x + y * y + z * z - mid * mid);
    if (half2 < 0) continue;
    const t = mid - Math.sqrt(half2);
    if (t > 0 && t < best && spheres.colors[at + 3] > 0) [best, found] = [t, { kind: "sphere", row }];
  }
  for (let row = 0; row < rods.count; row += 1) {
    const t = rods.form[row] & 4 ? -1 : rodAlong(ray, rods.numbers.subarray(7 * row, 7 * row + 7));
    if (t > 0 && t < best) [best, found] = [t, { kind: "capsule", row }];
  }
  return found;
}

function radiusOf(grid, code) {
  return grid.least * 2 ** (grid.octave * code);
}

// Where a ray enters a rod with round ends; negative: it does not (the shader of rods).
function rodAlong({ origin, direction }, numbers) {
  const [start, end] = [[...numbers.subarray(0, 3)], [...numbers.subarray(3, 6)]];
  const r = numbers[6];
  const axis = scaled(add(end, start, -1), 0.5);
  const middle = add(scaled(add(start, end), 0.5), origin, -1);
  const along = dot(axis, direction);
  const mid = dot(middle, direction);
  const across = add(axis, direction, -along);
  const offset = add(middle, direction, -mid);
  const across2 = Math.max(dot(across, across), 1e-30);
  const nearest = -dot(offset, across) / across2;
  const clamp = (s) => Math.min(Math.max(s, -1), 1);
  const gap = add(offset, across, clamp(nearest));
  if (dot(gap, gap) > r * r) return -1;
  const free = add(offset, across, nearest);
  const endless = Math.max(r * r - dot(free, free), 0);
  const turn = (Math.sqrt(endless) * along) / Math.sqrt(across2 * Math.max(dot(axis, axis), 1e-30));
  const foot = add(middle, axis, clamp(nearest - turn));
  const footMid = dot(foot, direction);
  const half2 = r * r - (dot(foot, foot) - footMid * footMid);
  return footMid - Math.sqrt(Math.max(half2, 0));
}
