// Light from all around by an image, sampled as a light: the unit square of a sample is warped to the density of the light
// (hierarchical sample warping: Clarberg et al., "Wavelet Importance Sampling", ACM TOG 24(3), 2005), half by half, and
// within the last block by the inverse of a linear density. Neighbours in the square stay neighbours on the sphere, so
// that points which are even in one are even in the other.
//
// The image is the unit sphere folded open as an octahedron (Praun, Hoppe 2003): a square without trigonometry, whose
// cells all have solid angles of the same order. Radiance and density are given at the corners of the cells and linear
// between them.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// map_x, background_up and their cross product are the image's axes; map_highlights: whether the map is even and there are
// Phong's highlights, which no path finds
#define RT_ENVIRONMENTMAP(F)                                                                                 \
  F(float, map_x, 3) F(int32_t, map_size, 1)   /* unit; cells of a side, a power of two; 0: there is no image */ \
  F(int32_t, map_visible, 1) F(int32_t, map_even, 1) /* whether the camera sees it; whether no part is much brighter */ \
  F(int32_t, map_shadow, 1) F(int32_t, map_highlights, 1) /* whether spheres cast shadows in its light; see above */

// A corner of cells, by rows of map_size + 1. density: of samples in the unit square of the map; its mean is 1
#define RT_ENVIRONMENTTEXEL(F) F(float, radiance, 3) F(float, density, 1) /* linear RGB */

// Probabilities of the halves of a block of 2 x 2 blocks: of the rows on top, and of the left column in each row. They
// follow the corners in the same array: the whole map first, then the blocks of each size, the four parts of block i being
// 4 i + 1 to 4 i + 4; the last ones consist of cells.
#define RT_ENVIRONMENTQUAD(F) F(float, top, 1) F(float, left, 2) F(float, pad, 1)

#elif !defined(RT_SHADE_ENVIRONMENT_MAP_H)
#define RT_SHADE_ENVIRONMENT_MAP_H
#include "../core/sampling.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

constexpr uint32_t kEnvironmentTexelFloats = sizeof(rt::EnvironmentTexel) / sizeof(float);

// A direction on the folded-open octahedron.
template <class F>
struct OctahedralPoint {
  F u, v;      // in [0, 1]
  F distance;  // of the point of the octahedron from its centre: the solid angle of an area is area / distance^3
};

template <class F> RT_HD F with_sign(F magnitude, F of) { return select(of < F(0.0f), F(0.0f) - magnitude, magnitude); }

// The part of the map below the equator is folded outwards over its edges; z: above if positive.
template <class F> RT_HD void fold_octahedron(F z, F& x, F& y) {
  const F folded_x = with_sign(F(1.0f) - abs_(y), x), folded_y = with_sign(F(1.0f) - abs_(x), y);
  x = select(z < F(0.0f), folded_x, x), y = select(z < F(0.0f), folded_y, y);
}

// direction: unit, in the axes of the map
template <class F> RT_HD OctahedralPoint<F> octahedral_point(Vec3<F> direction) {
  const F distance = F(1.0f) / (abs_(direction.x) + abs_(direction.y) + abs_(direction.z));
  F x = direction.x * distance, y = direction.y * distance;
  fold_octahedron(direction.z, x, y);
  return {fma_(x, F(0.5f), F(0.5f)), fma_(y, F(0.5f), F(0.5f)), distance};
}

template <class F> RT_HD Vec3<F> octahedral_direction(F u, F v) {
  F x = fma_(u, F(2.0f), F(-1.0f)), y = fma_(v, F(2.0f), F(-1.0f));
  const F z = F(1.0f) - abs_(x) - abs_(y);
  fold_octahedron(z, x, y);
  return normalize(Vec3<F>{x, y, z});
}

// The axes of the image.
template <class F> RT_HD Basis<F> environment_basis(const rt::Frame& frame) {
  const Vec3<F> x = splat3<F>(frame.environment_map.map_x), up = splat3<F>(frame.environment.background_up);
  return {x, {up.y * x.z - up.z * x.y, up.z * x.x - up.x * x.z, up.x * x.y - up.y * x.x}, up};
}

// What is known of a point of the map.
template <class F>
struct EnvironmentPoint {
  Vec3<F> radiance;
  F density;
};

template <class F> RT_HD EnvironmentPoint<F> environment_texel(const rt::EnvironmentTexel* texels, UintOf<F> number) {
  const float* fields = (const float*)texels;
  const UintOf<F> at = number * UintOf<F>(kEnvironmentTexelFloats);
  return {{gather(fields, at), gather(fields + 1, at), gather(fields + 2, at)}, gather(fields + 3, at)};
}

// between a (part: 0) and b (1)
template <class F> RT_HD EnvironmentPoint<F> mix(const EnvironmentPoint<F>& a, const EnvironmentPoint<F>& b, F part) {
  return {fma3(part, b.radiance - a.radiance, a.radiance), fma_(part, b.density - a.density, a.density)};
}

// The corners of a cell: on top left and right, below left and right.
template <class F>
struct EnvironmentCell {
  EnvironmentPoint<F> a, b, c, d;

  // x to the right and y down, in [0, 1]
  RT_HD EnvironmentPoint<F> at(F x, F y) const { return mix(mix(a, b, x), mix(c, d, x), y); }
};

template <class F>
RT_HD EnvironmentCell<F> environment_cell(const rt::EnvironmentTexel* texels, int32_t size, UintOf<F> column,
                                          UintOf<F> row) {
  const UintOf<F> one(1u), stride((uint32_t)size + 1u), top = row * stride + column, below = top + stride;
  return {environment_texel<F>(texels, top), environment_texel<F>(texels, top + one),
          environment_texel<F>(texels, below), environment_texel<F>(texels, below + one)};
}

// What comes from a direction.
template <class F>
struct EnvironmentLight {
  Vec3<F> radiance;
  F pdf;  // of environment_light_sample, per solid angle
};

// distance: of an OctahedralPoint
template <class F> RT_HD EnvironmentLight<F> environment_light(const EnvironmentPoint<F>& p, F distance) {
  return {p.radiance, F(0.25f) * p.density * (distance * distance * distance)};
}

template <class F> RT_HD EnvironmentLight<F> environment_light(const rt::EnvironmentTexel* texels,
                                                               const rt::Frame& frame, Vec3<F> direction) {
  using U = UintOf<F>;
  const int32_t size = frame.environment_map.map_size;
  const OctahedralPoint<F> p = octahedral_point(environment_basis<F>(frame).to_local(direction));
  const F last((float)size), zero(0.0f);
  const F x = min_(max_(p.u * last, zero), last), y = min_(max_(p.v * last, zero), last);
  const U most((uint32_t)(size - 1)), x0 = to_uint(x), y0 = to_uint(y);
  const U column = select(x0 < most, x0, most), row = select(y0 < most, y0, most);
  const EnvironmentCell<F> cell = environment_cell<F>(texels, size, column, row);
  return environment_light(cell.at(x - to_float(column), y - to_float(row)), p.distance);
}

// Which of two parts a number in [0, 1) falls into, whether the second, and where in that part. first: probability of
// the first part
template <class F> RT_HD MaskOf<F> choose_part(F& u, F first) {
  const MaskOf<F> second = !(u < first);
  const F part = quotient(u - select(second, first, F(0.0f)), select(second, F(1.0f) - first, first));
  u = min_(part, F(0.99999994f));
  return second;
}

// A point of [0, 1] with a density that is linear from a to b; u: in [0, 1)
template <class F> RT_HD F sample_linear(F a, F b, F u) {
  const F root = sqrt_(max_(fma_(u, b * b - a * a, a * a), F(0.0f)));
  return min_(u * (a + b) / max_(a + root, F(1e-30f)), F(1.0f));
}

template <class F>
struct EnvironmentLightSample {
  Vec3<F> wi;
  EnvironmentLight<F> light;
};

template <class F>
RT_HD EnvironmentLightSample<F> environment_light_sample(const rt::EnvironmentTexel* texels, const rt::Frame& frame,
                                                         const Sample2d<F>& point) {
  using U = UintOf<F>;
  const uint32_t size = (uint32_t)frame.environment_map.map_size;
  const float* quads = (const float*)(texels + (size + 1) * (size + 1));
  const U zero(0u), one(1u);
  U column = zero, row = zero, block = zero;
  F u = point.u, v = point.v;
  for (uint32_t blocks = 1; blocks < size; blocks *= 2) {
    const U at = block * U(kEnvironmentTexelFloats);
    const U below = select(choose_part(v, gather(quads, at)), one, zero);
    const U right = select(choose_part(u, gather(quads + 1, at + below)), one, zero);
    row = row + row + below, column = column + column + right;
    block = block * U(4u) + below + below + right + one;
  }
  const EnvironmentCell<F> cell = environment_cell<F>(texels, (int32_t)size, column, row);
  const F y = sample_linear(cell.a.density + cell.b.density, cell.c.density + cell.d.density, v);
  const F x = sample_linear(fma_(y, cell.c.density - cell.a.density, cell.a.density),
                            fma_(y, cell.d.density - cell.b.density, cell.b.density), u);
  const F scale(1.0f / (float)size);
  const Vec3<F> local = octahedral_direction((to_float(column) + x) * scale, (to_float(row) + y) * scale);
  const F distance = F(1.0f) / (abs_(local.x) + abs_(local.y) + abs_(local.z));
  return {normalize(environment_basis<F>(frame).to_world(local)), environment_light(cell.at(x, y), distance)};
}

}  // namespace RT_NS
#endif
