// Renderer: draws spheres and rods by WebGL 2, with shadows, and adds samples of a view that rests.

const SHADOW_SIDES = [512, 2048]; // least and most texels of the shadows of a light
const MAX_SHADOWS = 4;
const SHADOW_UNIT = 3; // of textures
const GUARD = 48; // pixels around the picture in which points of spheres may have their centres
const MAX_POINT = 2 * GUARD; // pixels of a point; larger spheres are drawn as quads
const TARGET_MS = 40; // of a frame while the view moves
const FEW = 50000; // spheres that are always drawn
const SAMPLES = 32; // of a view that rests; a quarter from MANY spheres on
const MANY = 500000;

class Renderer {
  constructor(canvas, head, spheres, rods) {
    this.head = head;
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", {
      alpha: !head.background, antialias: false, depth: false, preserveDrawingBuffer: true,
      powerPreference: "high-performance",
    });
    if (!gl) throw new Error("this browser has no WebGL 2, which the figure is drawn with");
    this.gl = gl;
    const floats = gl.getExtension("EXT_color_buffer_float");
    if (!floats && !gl.getExtension("EXT_color_buffer_half_float")) {
      throw new Error("this browser cannot draw to half floats, which the figure needs");
    }
    gl.getExtension("EXT_conservative_depth"); // fewer pixels are computed where it is known
    this.bounds = boundsOf(head, spheres, rods);
    this.shadowed = head.lights.map((light) => head.shadows && light.shadow && light.directional);
    this.programs = {
      points: this.program(SPHERE_VERTEX(true), SPHERE_FRAGMENT),
      quads: this.program(SPHERE_VERTEX(false), SPHERE_FRAGMENT),
      rods: this.program(ROD_VERTEX, ROD_FRAGMENT),
      shade: this.program(FILM_VERTEX, SHADE_FRAGMENT),
      show: this.program(FILM_VERTEX, SHOW_FRAGMENT),
    };
    this.points = this.sphereArrays(spheres, 0);
    this.quads = this.sphereArrays(null, 1);
    this.rods = rods.count ? this.rodArrays(rods) : null;
    this.nothing = gl.createVertexArray();
    this.share = 1; // of the spheres that are drawn while the view moves
    this.samples = head.spheres > MANY ? SAMPLES / 4 : SAMPLES;
    this.added = 0;
    this.drawing = null; // until the last sample is drawn
  }

  program(vertex, fragment) {
    const { gl } = this;
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
        throw new Error(`a shader cannot be compiled: ${gl.getShaderInfoLog(shader)}`);
      }
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
      throw new Error(`shaders cannot be linked: ${gl.getProgramInfoLog(made)}`);
    }
    const places = {};
    const count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i += 1) {
      const name = gl.getActiveUniform(made, i).name.replace("[0]", "");
      places[name] = gl.getUniformLocation(made, name);
    }
    return { made, places };
  }

  // Set uniforms by name; those that a program does not use are left out.
  set(program, values) {
    const { gl } = this;
    for (const [name, value] of Object.entries(values)) {
      const place = program.places[name];
      if (place === undefined) continue;
      const list = Array.isArray(value) || ArrayBuffer.isView(value);
      if (typeof value === "boolean") gl.uniform1i(place, value);
      else if (value instanceof Int32Array) gl.uniform1iv(place, value);
      else if (value instanceof Uint32Array) gl.uniform1ui(place, value[0]);
      else if (value instanceof Vectors) gl[`uniform${value.length}fv`](place, value.numbers);
      else if (list) gl[`uniform${value.length}fv`](place, value);
      else gl.uniform1f(place, value);
    }
  }

  // Spheres in a shuffled order, of which the first ones are drawn while the view moves.
  sphereArrays(spheres, divisor) {
    const { gl } = this;
    if (spheres) this.buffers = this.sphereBuffers(spheres);
    const arrays = gl.createVertexArray();
    gl.bindVertexArray(arrays);
    for (const [place, { buffer, parts, kind, normalized }] of this.buffers.entries()) {
      if (!buffer) continue; // the same for all
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, parts, kind, normalized, 0, 0);
      gl.vertexAttribDivisor(place, divisor);
    }
    return arrays;
  }

  // Shuffled, with spheres that see no sky after all others: few of them are seen from outside.
  order(spheres) {
    const order = shuffled(spheres.count);
    const sees = (row) => spheres.sky[4 * row] > 0;
    const first = order.filter(sees);
    this.open = first.length;
    order.set(order.filter((row) => !sees(row)), this.open);
    order.set(first, 0);
    return order;
  }

  sphereBuffers(spheres) {
    const { gl } = this;
    const order = this.order(spheres);
    const put = (values, parts, kind, normalized) => {
      const sorted = new values.constructor(values.length);
      for (let i = 0; i < order.length; i += 1) {
        for (let part = 0; part < parts; part += 1) {
          sorted[parts * i + part] = values[parts * order[i] + part];
        }
      }
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, sorted, gl.STATIC_DRAW);
      return { buffer, parts, kind, normalized };
    };
    const codes = spheres.place instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.FLOAT;
    const made = [
      put(spheres.place, 4, codes, false), put(spheres.colors, 4, gl.UNSIGNED_BYTE, true),
      put(spheres.sky, 4, gl.UNSIGNED_BYTE, false),
    ];
    const one = this.head.materials.length < 2;
    made.push(one ? { buffer: null } : put(spheres.material, 1, gl.UNSIGNED_BYTE, false));
    return made;
  }

  rodArrays(rods) {
    const { gl } = this;
    const kinds = new Uint8Array(4 * rods.count);
    for (let row = 0; row < rods.count; row += 1) {
      kinds.set([rods.form[row], rods.material[row], rods.sky[row]], 4 * row);
    }
    const arrays = gl.createVertexArray();
    gl.bindVertexArray(arrays);
    const put = (values, places) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      for (const [place, parts, kind, normalized, stride, offset] of places) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, parts, kind, normalized, stride, offset);
        gl.vertexAttribDivisor(place, 1);
      }
    };
    put(rods.numbers, [
      [0, 3, gl.FLOAT, false, 28, 0], [1, 3, gl.FLOAT, false, 28, 12],
      [2, 1, gl.FLOAT, false, 28, 24],
    ]);
    put(rods.colors, [[3, 4, gl.UNSIGNED_BYTE, true, 4, 0]]);
    put(rods.endColors, [[4, 4, gl.UNSIGNED_BYTE, true, 4, 0]]);
    put(kinds, [[5, 3, gl.UNSIGNED_BYTE, false, 4, 0]]);
    return arrays;
  }

  // One layer of depths for each directional light that casts shadows.
  shadowLayers() {
    const { gl } = this;
    const count = Math.min(this.shadowed.filter(Boolean).length, MAX_SHADOWS);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    const [least, most] = SHADOW_SIDES;
    const pixels = Math.max(this.canvas.width, this.canvas.height);
    // a sampler needs a texture of its kind even where there are no shadows
    const side = count ? Math.min(Math.max(2 ** Math.ceil(Math.log2(pixels)), least), most) : 1;
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.DEPTH_COMPONENT32F, side, side, Math.max(count, 1));
    for (const [name, value] of [
      ["COMPARE_MODE", "COMPARE_REF_TO_TEXTURE"], ["COMPARE_FUNC", "LEQUAL"],
      ["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"],
      ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"],
    ]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl[`TEXTURE_${name}`], gl[value]);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.drawBuffers([gl.NONE]);
    return { texture, frame, count, side };
  }

  resize(width, height) {
    const { gl } = this;
    if (this.canvas.width === width && this.canvas.height === height && this.film) return;
    this.canvas.width = width;
    this.canvas.height = height;
    for (const target of this.film ? [this.surface, this.film] : []) {
      target.textures.forEach((texture) => gl.deleteTexture(texture));
      gl.deleteFramebuffer(target.frame);
    }
    if (this.shadows) {
      gl.deleteTexture(this.shadows.texture);
      gl.deleteFramebuffer(this.shadows.frame);
    }
    this.shadows = this.shadowLayers();
    this.surface = this.target(["RGBA16F", "RGBA8", "DEPTH_COMPONENT32F"]);
    this.film = this.target(["RGBA16F"]);
  }

  // Textures of the size of the picture, and a frame that draws to them.
  target(formats) {
    const { gl } = this;
    const made = { textures: [], frame: gl.createFramebuffer() };
    gl.bindFramebuffer(gl.FRAMEBUFFER, made.frame);
    gl.activeTexture(gl.TEXTURE0);
    for (const [number, format] of formats.entries()) {
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl[format], this.canvas.width, this.canvas.height);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      const place = format.startsWith("DEPTH") ? gl.DEPTH_ATTACHMENT : gl.COLOR_ATTACHMENT0 + number;
      gl.framebufferTexture2D(gl.FRAMEBUFFER, place, gl.TEXTURE_2D, texture, 0);
      made.textures.push(texture);
    }
    const colors = formats.filter((format) => !format.startsWith("DEPTH"));
    gl.drawBuffers(colors.map((_, number) => gl.COLOR_ATTACHMENT0 + number));
    return made;
  }

  // How much of the picture the frame of the first view is: sides of the picture in frames.
  get frameShare() {
    const { width, height } = this.canvas;
    const fit = Math.min(width / this.head.size[0], height / this.head.size[1]);
    return [width / (fit * this.head.size[0]), height / (fit * this.head.size[1])];
  }

  // A frame while the view moves: one sample of as many spheres as there is time for.
  move(camera) {
    const { gl } = this;
    const start = performance.now();
    this.added = 0;
    this.sample(camera, Math.ceil(this.share * this.open));
    this.show();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the end
    const spent = performance.now() - start;
    const best = (this.share * TARGET_MS) / spent;
    const least = Math.min(FEW / Math.max(this.open, 1), 1);
    // in steps, because a frame that was quick by chance is followed by a slow one
    this.share = Math.min(Math.max(best, 0.5 * this.share, least), 1.5 * this.share, 1);
    return spent;
  }

  // One more sample of a view that rests, when the one before is drawn; whether more work is left
  refine(camera) {
    const { gl } = this;
    if (this.drawing) {
      if (gl.getSyncParameter(this.drawing, gl.SYNC_STATUS) !== gl.SIGNALED) return true;
      gl.deleteSync(this.drawing);
      this.drawing = null;
    }
    if (this.added >= this.samples) return false;
    this.sample(camera, this.head.spheres);
    this.show();
    this.drawing = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    return true;
  }

  restart() {
    this.added = 0;
  }

  // Add a sample of the first `count` spheres to the film, or begin one.
  sample(camera, count) {
    const { gl, head, added } = this;
    const view = camera.view(this.frameShare);
    const lights = this.lightsOf(camera, added);
    const size = [this.canvas.width, this.canvas.height];
    const jitter = this.jitterOf(added);
    // fewer spheres are larger, so that they cover as much
    const grow = count < this.open ? Math.min((this.open / count) ** (1 / 3), 2) : 1;
    const shadows = this.drawShadows(lights, view, Math.min(count, this.open), grow);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.surface.frame);
    gl.viewport(0, 0, ...size);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.COLOR, 1, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.DEPTH, 0, [1]);
    this.drawSolids(view, size, jitter, count, grow);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.film.frame);
    if (added) gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.pass(this.programs.shade, {
      ...this.viewValues(view, size, jitter), ...this.lightValues(lights, view, shadows),
      u_ambient: head.ambient, u_materials: new Vectors(4, head.materials.flat()),
    }, { u_normal: 0, u_color: 1, u_depth: 2 }, this.surface.textures);
    gl.disable(gl.BLEND);
    this.added += 1;
  }

  // u_ values of lights, which are relative to the eye.
  lightValues(lights, view, shadows) {
    const layers = new Int32Array(8).fill(-1);
    for (const [layer, { light }] of shadows.entries()) layers[light] = layer;
    const vectors = lights.flatMap((light) => {
      if (light.directional) return [...light.towards, 0];
      return [...add(light.towards, view.eye, -1), light.square ? 2 : 1];
    });
    const of = (name) => new Vectors(3, shadows.flatMap((each) => each[name]));
    return {
      u_light: new Vectors(4, vectors),
      u_light_color: new Vectors(3, lights.flatMap((light) => light.color)),
      u_layer: layers,
      u_shadow_origin: of("origin"), u_shadow_right: of("right"), u_shadow_up: of("up"),
      u_shadow_forward: of("forward"),
      u_shadow_range: new Vectors(2, shadows.flatMap((each) => each.range)),
      u_bias: new Vectors(1, shadows.map((each) => each.bias)),
      u_lights: new Int32Array([lights.length]),
    };
  }

  // Lights with the camera, or in the scene; those with an angle from another direction each time.
  lightsOf(camera, number) {
    const { head } = this;
    const frame = [unit(head.camera.right), unit(head.camera.up), unit(head.camera.forward)];
    const axes = [camera.right, camera.up, camera.forward];
    return head.lights.map((light) => {
      let towards = light.vector;
      if (light.directional && head.placement === "camera") {
        const parts = frame.map((axis) => dot(axis, towards));
        towards = parts.reduce((sum, part, i) => add(sum, axes[i], part), [0, 0, 0]);
      }
      if (light.spread > 0) {
        const [u, v] = evenPoint(number + 1);
        const radius = light.spread * Math.sqrt(u);
        const side = unit(cross(towards, Math.abs(towards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
        const up = cross(side, towards);
        const angle = 2 * Math.PI * v;
        towards = add(add(towards, side, radius * Math.cos(angle)), up, radius * Math.sin(angle));
        towards = unit(towards);
      }
      return { ...light, towards };
    });
  }

  // Where the ray of a sample goes within its pixel, in halves of the picture.
  jitterOf(number) {
    const { sigma, filter } = this.head;
    const [u, v] = evenPoint(number);
    let offset = [(2 * u - 1) * sigma, (2 * v - 1) * sigma];
    if (filter === "gaussian") {
      const radius = sigma * Math.sqrt(-2 * Math.log(1 - u * (1 - Math.exp(-4.5))));
      offset = [radius * Math.cos(2 * Math.PI * v), radius * Math.sin(2 * Math.PI * v)];
    }
    return [(2 * offset[0]) / this.canvas.width, (2 * offset[1]) / this.canvas.height];
  }

  drawShadows(lights, view, count, grow) {
    const { gl, shadows } = this;
    const { side } = shadows;
    const found = [];
    for (const [light, { towards }] of lights.entries()) {
      if (!this.shadowed[light] || found.length >= shadows.count) continue;
      const from = this.lightView(towards, view, this.viewRange(view));
      gl.bindFramebuffer(gl.FRAMEBUFFER, shadows.frame);
      gl.framebufferTextureLayer(
        gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, shadows.texture, 0, found.length,
      );
      gl.viewport(0, 0, side, side);
      gl.depthMask(true);
      gl.clearBufferfv(gl.DEPTH, 0, [1]);
      const [u, v] = evenPoint(this.added);
      const jitter = [(2 * u - 1) / side, (2 * v - 1) / side];
      this.drawSolids(from, [side, side], jitter, count, grow);
      const shift = add(scaled(from.right, jitter[0]), from.up, jitter[1]);
      found.push({
        light,
        origin: add(add(from.eye, shift), view.eye, -1), right: from.right, up: from.up,
        forward: from.forward, range: this.viewRange(from), bias: (3 * lengthOf(from.right)) / side,
      });
    }
    return found;
  }

  // Parallel rays of a light that cover what is seen, from outside of all that may be in their way.
  lightView(towards, view, range) {
    const { center, radius } = this.bounds;
    const forward = scaled(towards, -1);
    const right = unit(cross(forward, Math.abs(forward[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0]));
    const up = cross(right, forward);
    const corners = [];
    for (const depth of range) {
      for (const [x, y] of [[-1, -1], [1, -1], [-1, 1], [1, 1]]) {
        const aside = add(scaled(view.right, x), view.up, y);
        corners.push(add(add(view.eye, view.forward, depth), aside, view.parallel ? 1 : depth));
      }
    }
    const [low, high] = [right, up].map((axis) => {
      const all = corners.map((corner) => dot(axis, add(corner, center, -1)));
      return [Math.max(Math.min(...all), -radius), Math.min(Math.max(...all), radius)];
    }).reduce(([a, b], [c, d]) => [[...a, c], [...b, d]], [[], []]);
    const halves = [0, 1].map((i) => Math.max((high[i] - low[i]) / 2, 1e-6 * radius));
    let eye = add(add(center, right, (low[0] + high[0]) / 2), up, (low[1] + high[1]) / 2);
    eye = add(eye, forward, -1.01 * radius);
    return {
      parallel: true, eye, forward, right: scaled(right, halves[0]), up: scaled(up, halves[1]),
    };
  }

  // Depths between which everything is.
  viewRange(view) {
    const { center, radius } = this.bounds;
    const middle = dot(add(center, view.eye, -1), view.forward);
    const far = Math.max(middle + 1.01 * radius, 1e-4 * radius);
    const least = view.parallel ? 0 : 1e-5 * far;
    return [Math.max(middle - 1.01 * radius, least), far];
  }

  drawSolids(view, size, jitter, count, grow) {
    const { gl, head } = this;
    const { grid } = head;
    gl.enable(gl.DEPTH_TEST);
    const all = {
      ...this.viewValues(view, size, jitter),
      u_low: add(grid.low, view.eye, -1), u_step: grid.step, u_least: grid.least,
      u_octave: grid.octave, u_grow: grow, u_height: size[1], u_levels: head.levels,
      u_sample: new Uint32Array([this.added]),
    };
    const range = all.u_range;
    if (count) {
      const largest = this.bounds.largest * grow;
      const nearest = view.parallel ? 1 : Math.max(range[0] - largest, 1e-9);
      const pixels = (2 * largest * size[1]) / (lengthOf(view.up) * nearest);
      const points = pixels < Math.min(MAX_POINT, this.maxPoint());
      const guard = points ? GUARD : 0;
      gl.viewport(-guard, -guard, size[0] + 2 * guard, size[1] + 2 * guard);
      all.u_guard = size.map((side) => side / (side + 2 * guard));
      const program = points ? this.programs.points : this.programs.quads;
      gl.useProgram(program.made);
      this.set(program, all);
      gl.bindVertexArray(points ? this.points : this.quads);
      gl.vertexAttrib1f(3, 0);
      if (points) gl.drawArrays(gl.POINTS, 0, count);
      else gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    }
    gl.viewport(0, 0, ...size);
    if (this.rods) {
      all.u_guard = [1, 1];
      gl.useProgram(this.programs.rods.made);
      this.set(this.programs.rods, all);
      gl.enable(gl.CULL_FACE);
      gl.cullFace(gl.FRONT);
      gl.bindVertexArray(this.rods);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 14, head.rods);
      gl.disable(gl.CULL_FACE);
    }
  }

  // u_ values of a view
  viewValues(view, size, jitter) {
    return {
      u_forward: view.forward, u_right: view.right, u_up: view.up, u_parallel: view.parallel,
      u_range: this.viewRange(view), u_jitter: jitter, u_size: size, u_eye: view.eye,
      u_guard: [1, 1],
    };
  }

  maxPoint() {
    const { gl } = this;
    this.limit ??= gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE)[1];
    return this.limit;
  }

  show() {
    const { gl, head } = this;
    const [bottom, top] = head.background || [[0, 0, 0], [0, 0, 0]];
    const height = this.canvas.height / this.frameShare[1];
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.pass(this.programs.show, {
      u_samples: this.added, u_scale: 2 ** head.tone.exposure, u_white: head.tone.white,
      u_curve: new Int32Array([["linear", "reinhard", "aces", "agx"].indexOf(head.tone.curve)]),
      u_bottom: bottom, u_top: top, u_transparent: !head.background,
      u_rows: [(this.canvas.height - height) / 2, height],
    }, { u_film: 0 }, this.film.textures);
  }

  // Compute each pixel. units: of textures, by the name of their uniforms; shadows have the last one
  pass(program, values, units, textures) {
    const { gl } = this;
    gl.disable(gl.DEPTH_TEST);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.useProgram(program.made);
    for (const [number, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + number);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    }
    gl.activeTexture(gl.TEXTURE0 + SHADOW_UNIT);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.shadows.texture);
    const numbers = Object.entries({ ...units, u_shadow: SHADOW_UNIT });
    this.set(program, values);
    this.set(program, Object.fromEntries(numbers.map(([name, number]) => [name, new Int32Array([number])])));
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

// Numbers of an array of vectors.
class Vectors {
  constructor(length, numbers) {
    this.length = length;
    this.numbers = new Float32Array(numbers.length ? numbers : length);
  }
}

// A point of the unit square, even in every stretch of numbers (R2, M. Roberts 2018).
function evenPoint(number) {
  return [(0.5 + 0.7548776662466927 * number) % 1, (0.5 + 0.5698402909980532 * number) % 1];
}

// A ball around everything, and the largest radius of a sphere.
function boundsOf(head, spheres, rods) {
  const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  const { grid } = head;
  let code = 0;
  const reach = (axis, value, r) => {
    low[axis] = Math.min(low[axis], value - r);
    high[axis] = Math.max(high[axis], value + r);
  };
  for (let row = 0; row < spheres.count; row += 1) code = Math.max(code, spheres.place[4 * row + 3]);
  const largest = grid.least * 2 ** (grid.octave * code);
  for (let axis = 0; axis < 3 && spheres.count; axis += 1) {
    let [least, most] = [Infinity, -Infinity];
    for (let i = axis; i < spheres.place.length; i += 4) {
      if (spheres.place[i] < least) least = spheres.place[i];
      if (spheres.place[i] > most) most = spheres.place[i];
    }
    reach(axis, grid.low[axis] + grid.step * least, largest);
    reach(axis, grid.low[axis] + grid.step * most, largest);
  }
  for (let row = 0; row < rods.count; row += 1) {
    for (let part = 0; part < 6; part += 1) {
      reach(part % 3, rods.numbers[7 * row + part], rods.numbers[7 * row + 6]);
    }
  }
  const center = low.map((x, i) => (x + high[i]) / 2);
  return { center, radius: lengthOf(add(high, low, -1)) / 2, largest };
}
