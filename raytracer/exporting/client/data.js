// Data: arrays of the page, from letters to numbers. raytracer/exporting/sections.py writes them.

class Data {
  constructor(head) {
    this.about = head.sections;
  }

  has(name) {
    return name in this.about;
  }

  // The numbers of a section, `count` of them although a section of equal numbers has one.
  async read(name, Type, count) {
    if (Type.BYTES_PER_ELEMENT === 8) return this.readHalves(name, Type, count);
    const { rows, planes, delta } = this.about[name];
    const place = document.getElementById(`data-${name}`);
    const letters = place.textContent;
    place.remove(); // its text takes more memory than its numbers
    const read = await inflate(bytesOf(letters));
    const words = new WORDS[Type.BYTES_PER_ELEMENT](rows === count ? rows : 1);
    let sum = 0;
    for (let row = 0; row < words.length; row += 1) {
      let word = 0;
      for (let plane = 0; plane < planes; plane += 1) word |= read[plane * rows + row] << (8 * plane);
      if (delta) {
        sum = (sum + ((word >>> 1) ^ -(word & 1))) | 0;
        word = sum;
      }
      words[row] = word;
    }
    const values = new Type(words.buffer);
    return rows === count ? values : new Type(count).fill(values[0]);
  }

  // Numbers of eight bytes, whose halves are two sections.
  async readHalves(name, Type, count) {
    const words = new Uint32Array(2 * count);
    for (const [half, part] of ["low", "high"].entries()) {
      const read = await this.read(`${name}_${part}`, Uint32Array, count);
      for (let row = 0; row < count; row += 1) words[2 * row + half] = read[row];
    }
    return new Type(words.buffer);
  }
}

const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

function bytesOf(letters) {
  const text = atob(letters);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Colours of rows: their distinct ones by number, or their channels.
async function readColors(data, name, count) {
  const colors = new Uint8Array(4 * count);
  if (data.has(`${name}_table`)) {
    const table = await data.read(`${name}_table`, Uint32Array, data.about[`${name}_table`].rows);
    const Type = table.length > 256 ? Uint16Array : Uint8Array;
    const ids = await data.read(name, Type, count);
    const words = new Uint32Array(colors.buffer);
    for (let row = 0; row < count; row += 1) words[row] = table[ids[row]];
    return colors;
  }
  for (let part = 0; part < 4; part += 1) {
    const channel = await data.read(`${name}_${"rgba"[part]}`, Uint8Array, count);
    for (let row = 0; row < count; row += 1) colors[4 * row + part] = channel[row];
  }
  return colors;
}

// Spheres by number: place (codes of x, y, z and radius), colors, sky, material.
async function readSpheres(data, head) {
  const count = head.spheres;
  const Type = head.grid.bits > 16 ? Float32Array : Uint16Array;
  const Codes = head.grid.bits > 16 ? Uint32Array : Uint16Array;
  const place = new Type(4 * count);
  const sky = new Uint8Array(4 * count);
  if (!count) return { count, place, sky, colors: new Uint8Array(0), material: new Uint8Array(0) };
  for (const [part, name] of [..."xyz", "radius"].entries()) {
    const codes = await data.read(name, name === "radius" ? Uint16Array : Codes, count);
    for (let row = 0; row < count; row += 1) place[4 * row + part] = codes[row];
  }
  for (let part = 0; part < 4; part += 1) {
    const levels = await data.read(`sky${part}`, Uint8Array, count);
    for (let row = 0; row < count; row += 1) sky[4 * row + part] = levels[row];
  }
  const colors = await readColors(data, "color", count);
  const material = await data.read("material", Uint8Array, count);
  return { count, place, sky, colors, material };
}

// Rods: start and end (x, y, z each), radius, colors of both ends, form, material, sky.
async function readRods(data, head) {
  const count = head.rods;
  const numbers = new Float32Array(7 * count); // start, end, radius
  const rods = { count, numbers };
  if (!count) return rods;
  const names = ["start_x", "start_y", "start_z", "end_x", "end_y", "end_z", "radius"];
  for (const [part, name] of names.entries()) {
    const column = await data.read(`rod_${name}`, Float32Array, count);
    for (let row = 0; row < count; row += 1) numbers[7 * row + part] = column[row];
  }
  rods.colors = await readColors(data, "rod_color", count);
  rods.endColors = await readColors(data, "rod_end_color", count);
  for (const name of ["form", "material", "sky"]) {
    rods[name] = await data.read(`rod_${name}`, Uint8Array, count);
  }
  return rods;
}

// An order of `count` numbers in which every beginning is spread over all (Fisher and Yates).
function shuffled(count) {
  const order = new Uint32Array(count);
  let state = 0x9e3779b9;
  for (let i = 0; i < count; i += 1) {
    state ^= state << 13; // xorshift (Marsaglia 2003)
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  return order;
}
