// Shaders: spheres and rods as impostors, whose surface each pixel finds by its ray, and the film.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArrayShadow;
`;

const FRAGMENT_HEAD = HEAD.replace("precision", "#extension GL_EXT_conservative_depth : enable\nprecision");

// Positions are relative to the eye, so that they stay exact where it is close. u_right and u_up:
// half of the picture, in perspective at distance 1.
const CAMERA = `
uniform vec3 u_forward, u_right, u_up;
uniform bool u_parallel;
uniform vec2 u_range;  // distances between which depth is resolved
uniform vec2 u_jitter; // of this sample, in halves of the picture
uniform vec2 u_guard;  // part of the viewport that is the picture

vec2 across(vec3 p) {
  return vec2(dot(p, u_right) / dot(u_right, u_right), dot(p, u_up) / dot(u_up, u_up));
}

float depth_of(float z) {
  float near = u_range.x, far = u_range.y;
  return u_parallel ? (z - near) / (far - near) : far / (far - near) * (1.0 - near / z);
}

// All of an impostor has the depth of the nearest point of its solid, z: pixels that are hidden by
// then need not be computed, where the driver knows that theirs is greater.
vec4 project(vec3 p, float z) {
  float w = u_parallel ? 1.0 : dot(p, u_forward);
  float depth = clamp(depth_of(max(z, u_range.x)), 0.0, 1.0);
  return vec4((across(p) - u_jitter * w) * u_guard, (2.0 * depth - 1.0) * w, w);
}
`;

const SPHERE_VERTEX = (points) => `${HEAD}${points ? "#define POINTS" : ""}${CAMERA}
layout(location = 0) in vec4 a_place; // codes of x, y, z and the radius
layout(location = 1) in vec4 a_color; // sRGB, opacity
layout(location = 2) in vec4 a_sky;
layout(location = 3) in float a_material;
uniform vec3 u_low;
uniform float u_step, u_least, u_octave, u_grow, u_height, u_levels;
flat out vec4 v_ball, v_color, v_sky;
flat out float v_code;

// Farthest that the outline of a sphere is from its centre, in one direction of the picture.
float reach(float x, float z, float r) {
  float root = r * sqrt(max(x * x + z * z - r * r, 0.0)), below = z * z - r * r, middle = x / z;
  return max(abs((x * z + root) / below - middle), abs((x * z - root) / below - middle));
}

void main() {
  vec3 center = u_low + u_step * a_place.xyz;
  float r = u_least * exp2(u_octave * a_place.w) * u_grow;
  v_ball = vec4(center, r);
  v_color = a_color;
  // A sphere that was visible from nowhere is dark, and not black: it may be seen between others.
  v_sky = vec4(a_sky.x > 0.0 ? a_sky.x : 0.25 * u_levels, 2.0 * a_sky.yzw - u_levels) / u_levels;
  v_code = (a_material + 1.0) / 255.0;
  float z = dot(center, u_forward), far = length(center);
  bool hidden = u_parallel ? z + r < u_range.x : z + r < u_range.x || far <= r * 1.0001;
#ifdef POINTS
  float half_height = length(u_up);
  vec2 size = vec2(r / half_height);
  if (!u_parallel) {
    float x = dot(center, u_right) / length(u_right), y = dot(center, u_up) / half_height;
    size = vec2(reach(x, z, r), reach(y, z, r)) / half_height;
  }
  gl_Position = project(center, z - r);
  gl_PointSize = max(size.x, size.y) * u_height + 1.0;
#else
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vec3 side, up;
  float size = r;
  if (u_parallel) {
    side = normalize(u_right);
    up = normalize(u_up);
  } else {
    vec3 ahead = center / far;
    side = normalize(cross(ahead, u_up));
    up = cross(side, ahead);
    size = r * far / sqrt(max(far * far - r * r, 1e-12 * far * far));
  }
  gl_Position = project(center + size * (corner.x * side + corner.y * up), z - r);
#endif
  if (hidden) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

// A box around the rod, of which the back is drawn: it covers the rod wherever the eye is.
const ROD_VERTEX = `${HEAD}${CAMERA}
layout(location = 0) in vec3 a_start;
layout(location = 1) in vec3 a_end;
layout(location = 2) in float a_radius;
layout(location = 3) in vec4 a_color;
layout(location = 4) in vec4 a_end_color;
layout(location = 5) in vec3 a_kind; // form, material, sky
uniform vec3 u_eye;
uniform float u_levels;
flat out vec4 v_middle, v_axis, v_color, v_end_color;
flat out float v_sky, v_code;
flat out int v_form;

const int STRIP[14] = int[14](3, 7, 1, 5, 4, 7, 6, 3, 2, 1, 0, 4, 2, 6);

void main() {
  vec3 middle = 0.5 * (a_start + a_end) - u_eye, axis = 0.5 * (a_end - a_start);
  float half_length = length(axis), r = a_radius;
  v_middle = vec4(middle, r);
  v_axis = vec4(axis, half_length);
  v_color = a_color;
  v_end_color = a_end_color;
  v_form = int(a_kind.x);
  v_code = (v_form & 4) != 0 ? 1.0 : (a_kind.y + 1.0) / 255.0;
  v_sky = a_kind.z / u_levels;
  vec3 along = half_length > 0.0 ? axis / half_length : vec3(0.0, 0.0, 1.0);
  vec3 other = abs(along.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0);
  vec3 side = normalize(cross(along, other)), up = cross(side, along);
  int corner = STRIP[gl_VertexID];
  vec3 c = vec3(corner & 1, (corner >> 1) & 1, corner >> 2) * 2.0 - 1.0;
  float z = dot(middle, u_forward) - half_length - r;
  gl_Position = project(middle + c.x * (half_length + r) * along + c.y * r * side + c.z * r * up, z);
}
`;

// What a pixel keeps of the surface that it shows: normal and share of the sky; sRGB and a code: 0 for
// nothing, 255 for lines without shade, else the number of the material and 1.
const SURFACE = `
#if defined(GL_EXT_conservative_depth)
layout(depth_greater) out float gl_FragDepth;
#endif
uniform vec2 u_size; // of the picture in pixels
uniform uint u_sample;
layout(location = 0) out vec4 normal_and_sky;
layout(location = 1) out vec4 color_and_code;

struct Ray { vec3 origin, direction; };

Ray camera_ray() {
  vec2 at = gl_FragCoord.xy / u_size * 2.0 - 1.0 + u_jitter;
  vec3 aside = at.x * u_right + at.y * u_up;
  if (u_parallel) return Ray(aside, u_forward);
  return Ray(vec3(0.0), normalize(u_forward + aside));
}

// Whether a surface of this opacity is there in this sample (PCG hash of M. Jarzynski, M. Olano 2020).
bool is_there(float opacity, vec3 seed) {
  if (opacity >= 1.0) return true;
  uvec3 v = uvec3(uvec2(gl_FragCoord.xy), u_sample) ^ floatBitsToUint(seed);
  v = v * 1664525u + 1013904223u;
  v += v.yzx * v.zxy;
  v ^= v >> 16u;
  v += v.yzx * v.zxy;
  return float(v.x) < opacity * 4294967296.0;
}

void finish(Ray ray, float t, vec3 normal, vec4 albedo, float sky, float code, vec3 seed) {
  float z = dot(ray.origin + t * ray.direction, u_forward);
  if (z < u_range.x || !is_there(albedo.a, seed)) discard;
  gl_FragDepth = clamp(depth_of(z), 0.0, 1.0);
  normal_and_sky = vec4(normal, sky);
  color_and_code = vec4(albedo.rgb, code);
}
`;

const SPHERE_FRAGMENT = `${FRAGMENT_HEAD}${CAMERA}${SURFACE}
flat in vec4 v_ball, v_color, v_sky;
flat in float v_code;

void main() {
  Ray ray = camera_ray();
  vec3 to_center = v_ball.xyz - ray.origin;
  float mid = dot(to_center, ray.direction);
  vec3 aside = to_center - mid * ray.direction;
  float half2 = v_ball.w * v_ball.w - dot(aside, aside);
  if (half2 < 0.0) discard;
  float t = mid - sqrt(half2);
  if (t < 0.0) discard;
  vec3 normal = (t * ray.direction - to_center) / v_ball.w;
  finish(ray, t, normal, v_color, v_sky.x + dot(v_sky.yzw, normal), v_code, v_ball.xyz);
}
`;

// Capsules by the sphere at which the ray enters (kernels/geom/capsule.h), and cylinders.
const ROD_FRAGMENT = `${FRAGMENT_HEAD}${CAMERA}${SURFACE}
flat in vec4 v_middle, v_axis, v_color, v_end_color;
flat in float v_sky, v_code;
flat in int v_form;

void main() {
  Ray ray = camera_ray();
  vec3 d = ray.direction, to_middle = v_middle.xyz - ray.origin, axis = v_axis.xyz;
  float r = v_middle.w, along = dot(axis, d), mid = dot(to_middle, d);
  float length2 = max(v_axis.w * v_axis.w, 1e-30);
  vec3 across_axis = axis - along * d, offset = to_middle - mid * d;
  float across2 = max(dot(across_axis, across_axis), 1e-30);
  float nearest = -dot(offset, across_axis) / across2;
  vec3 free_gap = offset + nearest * across_axis;
  float endless2 = r * r - dot(free_gap, free_gap);
  float t, s;
  vec3 normal;
  if ((v_form & 1) == 0) {
    float inside = clamp(nearest, -1.0, 1.0);
    vec3 gap = offset + inside * across_axis;
    if (r * r - dot(gap, gap) < 0.0) discard;
    float turn = sqrt(max(endless2, 0.0)) * along / sqrt(across2 * length2);
    s = clamp(nearest - turn, -1.0, 1.0);
    vec3 to_foot = to_middle + s * axis;
    float foot_mid = dot(to_foot, d);
    vec3 aside = to_foot - foot_mid * d;
    t = foot_mid - sqrt(max(r * r - dot(aside, aside), 0.0));
    normal = normalize(t * d - to_foot);
  } else {
    if (endless2 < 0.0) discard;
    // the slab between the flat ends, then the endless cylinder
    vec3 unit = axis / v_axis.w;
    float slope = dot(d, unit), height = -dot(to_middle, unit);
    float safe = abs(slope) < 1e-9 ? 1e-9 : slope;
    float slab_near = min((-v_axis.w - height) / safe, (v_axis.w - height) / safe);
    float slab_far = max((-v_axis.w - height) / safe, (v_axis.w - height) / safe);
    float sine2 = max(1.0 - slope * slope, 1e-9);
    float middle = mid + nearest * along, reach = sqrt(endless2 / sine2);
    float side_near = middle - reach, side_far = middle + reach;
    t = max(slab_near, side_near);
    if (t > min(slab_far, side_far)) discard;
    vec3 from = t * d - to_middle;
    float place = dot(from, unit);
    s = clamp(place / v_axis.w, -1.0, 1.0);
    normal = slab_near > side_near ? -sign(slope) * unit : normalize(from - place * unit);
  }
  if (t < 0.0) discard;
  bool is_even = (v_form & 2) != 0;
  float share = is_even ? 0.5 * s + 0.5 : step(0.0, s);
  vec4 albedo = mix(v_color, v_end_color, share);
  finish(ray, t, normal, albedo, v_sky, v_code, v_middle.xyz);
}
`;

const FILM_VERTEX = `${HEAD}
void main() {
  gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}
`;

// The light of the surface of each pixel (kernels/shade/phong.h, kernels/integrator/ao.h).
const SHADE_FRAGMENT = `${HEAD}${CAMERA}
const int MAX_LIGHTS = 8;
uniform vec2 u_size;
uniform int u_lights;
uniform vec4 u_light[MAX_LIGHTS];  // towards it; w 1: its place; 2: as the square of the distance
uniform vec3 u_light_color[MAX_LIGHTS];
uniform int u_layer[MAX_LIGHTS];   // of its shadows, or -1
uniform vec3 u_shadow_origin[4], u_shadow_right[4], u_shadow_up[4], u_shadow_forward[4];
uniform vec2 u_shadow_range[4];
uniform float u_bias[4];
uniform sampler2DArrayShadow u_shadow;
uniform sampler2D u_normal, u_color, u_depth;
uniform vec3 u_ambient;
uniform vec4 u_materials[32]; // ambient, diffuse, specular, shininess
out vec4 color;

vec3 linear_of(vec3 c) {
  return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), vec3(greaterThan(c, vec3(0.04045))));
}

float shadow_of(int layer, vec3 p, vec3 normal) {
  vec3 d = p + u_bias[layer] * normal - u_shadow_origin[layer];
  vec3 right = u_shadow_right[layer], up = u_shadow_up[layer];
  vec2 at = vec2(dot(d, right) / dot(right, right), dot(d, up) / dot(up, up)) * 0.5 + 0.5;
  vec2 range = u_shadow_range[layer];
  float depth = (dot(d, u_shadow_forward[layer]) - range.x) / (range.y - range.x);
  return texture(u_shadow, vec4(at, float(layer), depth));
}

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 known = texelFetch(u_color, at, 0);
  int code = int(known.a * 255.0 + 0.5);
  color = vec4(0.0);
  if (code == 0) return;
  vec3 albedo = linear_of(known.rgb);
  color = vec4(albedo, 1.0);
  if (code == 255) return;
  vec4 kept = texelFetch(u_normal, at, 0), material = u_materials[code - 1];
  vec3 normal = normalize(kept.xyz);
  float depth = texelFetch(u_depth, at, 0).r, near = u_range.x, far = u_range.y;
  vec2 where = gl_FragCoord.xy / u_size * 2.0 - 1.0 + u_jitter;
  vec3 aside = where.x * u_right + where.y * u_up;
  vec3 p = u_parallel ? aside + mix(near, far, depth) * u_forward
                      : near / (1.0 - depth * (far - near) / far) * (u_forward + aside);
  vec3 wo = u_parallel ? -u_forward : -normalize(p);
  color.rgb = material.x * clamp(kept.w, 0.0, 1.0) * u_ambient * albedo;
  for (int i = 0; i < MAX_LIGHTS; ++i) {
    if (i >= u_lights) break;
    vec3 wi = u_light[i].xyz;
    float power = 1.0;
    if (u_light[i].w > 0.0) {
      wi -= p;
      float far2 = dot(wi, wi);
      wi *= inversesqrt(far2);
      if (u_light[i].w > 1.0) power = 1.0 / far2;
    }
    float cosine = dot(normal, wi);
    if (cosine <= 0.0) continue;
    if (u_layer[i] >= 0) power *= shadow_of(u_layer[i], p, normal);
    float lobe = clamp(2.0 * cosine * dot(normal, wo) - dot(wi, wo), 0.0, 1.0);
    float shine = material.z > 0.0 ? material.z * pow(lobe, material.w) : 0.0;
    color.rgb += power * u_light_color[i] * (material.y * cosine * albedo + shine);
  }
}
`;

// The film to what is shown: background, exposure, curve, sRGB (raytracer/kernels: curves.h, srgb.h).
const SHOW_FRAGMENT = `${HEAD}
uniform sampler2D u_film;
uniform float u_samples, u_scale, u_white;
uniform int u_curve; // 0 linear, 1 reinhard, 2 aces, 3 agx
uniform vec3 u_bottom, u_top;
uniform bool u_transparent;
uniform vec2 u_rows; // lower edge and height of the frame in the picture, pixels
out vec4 color;

vec3 fit(vec3 v) {
  return (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
}

vec3 curve(vec3 c) {
  if (u_curve == 1) {
    float l = dot(c, vec3(0.2126, 0.7152, 0.0722));
    return c * (1.0 + l / (u_white * u_white)) / (1.0 + l);
  }
  if (u_curve == 2) {
    const mat3 to = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
    const mat3 back = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
    return back * fit(to * c);
  }
  if (u_curve == 3) {
    const mat3 to = mat3(0.842479062, 0.0423282423, 0.0423756549, 0.0784336, 0.878468636, 0.0784336,
                         0.0792237451, 0.0791661275, 0.879142974);
    const mat3 back = mat3(1.19687901, -0.0528968518, -0.0529716355, -0.0980208811, 1.15190313, -0.0980434501,
                           -0.0990297441, -0.0989611768, 1.15107367);
    vec3 x = (clamp(log2(max(to * c, vec3(1e-10))), -12.47393, 4.026069) + 12.47393) / 16.499999;
    vec3 p = (((((15.5 * x - 40.14) * x + 31.96) * x - 6.868) * x + 0.4298) * x + 0.1191) * x - 0.00232;
    return pow(clamp(back * p, 0.0, 1.0), vec3(2.2));
  }
  return c;
}

vec3 encoded(vec3 x) {
  x = clamp(x, 0.0, 1.0);
  return mix(12.92 * x, 1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, vec3(greaterThan(x, vec3(0.0031308))));
}

void main() {
  vec4 mean = texelFetch(u_film, ivec2(gl_FragCoord.xy), 0) / u_samples;
  float alpha = clamp(mean.a, 0.0, 1.0);
  if (u_transparent) {
    vec3 light = alpha > 0.0 ? mean.rgb / alpha : vec3(0.0);
    color = vec4(encoded(curve(min(light * u_scale, 65504.0))) * alpha, alpha);
    return;
  }
  float height = clamp((gl_FragCoord.y - u_rows.x) / u_rows.y, 0.0, 1.0);
  vec3 light = mean.rgb + (1.0 - alpha) * mix(u_bottom, u_top, height);
  color = vec4(encoded(curve(min(light * u_scale, 65504.0))), 1.0);
}
`;
