// Light from all around by an image, sampled as a light: the unit square of a sample is warped to the density of the light
// (hierarchical sample warping: Clarberg et al., "Wavelet Importance Sampling", ACM TOG 24(3), 2005), half by half, and
// within the last block by the inverse of a linear density. Neighbours in the square stay neighbours on the sphere, so
// that points which are even in one are even in the other.
//
// The map is equirectangular: the first choice, of rows, is one of heights, so that what lies below the horizon and the
// cosine to the up axis divide the square along straight lines. Radiance and density are given at the corners of the
// cells and linear between them.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// map_x, background_up and their cross product are the image's axes; map_highlights: whether the map is even and there are
// Phong's highlights, which no path finds
#define RT_FIELDS_EnvironmentMap(F)                                                                                 \
  F(float, map_x, 3) F(int32_t, map_size, 1)   /* unit; rows of cells, a power of two; 0: no image */ \
  F(int32_t, map_visible, 1) F(int32_t, map_even, 1) /* whether the camera sees it; whether no part is much brighter */ \
  F(int32_t, map_shadow, 1) F(int32_t, map_highlights, 1) /* whether spheres cast shadows in its light; see above */

// A corner of cells, by rows of 2 map_size + 1 from the zenith down. density: of samples in the map as a unit square; its
// mean is 1
#define RT_FIELDS_EnvironmentTexel(F) F(float, radiance, 3) F(float, density, 1) /* linear RGB */

// Probabilities of the halves of a block of 2 x 2 blocks: of the rows on top, and of the left column in each row. They
// follow the corners in the same array: for the left half of the map, a square, then for the right one, first the whole
// half, then the blocks of each size, the four parts of block i being 4 i + 1 to 4 i + 4; the last ones consist of cells.
// At the end comes the probability of the left half of the map, as that of the rows on top.
#define RT_FIELDS_EnvironmentQuad(F) F(float, top, 1) F(float, left, 2) F(float, pad, 1)

#elif !defined(RT_SHADE_ENVIRONMENT_MAP_H)
#define RT_SHADE_ENVIRONMENT_MAP_H
#include "../core/sampling.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

constexpr float kInvTwoPiSquared = 0.0506605918f;
constexpr uint32_t kEnvironmentTexelFloats = sizeof(rt::EnvironmentTexel) / sizeof(float);

// A direction on the map.
template <class F>
struct EnvironmentPlace {
  F u, v;  // in [0, 1], from left to right and from the zenith down
  F sine;  // of the angle to the up axis: the solid angle of an area is area * 2 pi^2 * sine
};

// Angle of the point x, y from the x axis, in turns, in [-1/2, 1/2]; absolute error below 2e-7: a polynomial for the
// arc tangent of [0, 1], fitted by least squares on Chebyshev points.
template <class F> RT_HD F turns_of(F x, F y) {
  const F wide = abs_(x), high = abs_(y), largest = max_(wide, high);
  const F r = quotient(min_(wide, high), max_(largest, F(1e-20f))), r2 = r * r;
  F p = fma_(r2, F(-0.00074305835f), F(0.00384616852f));
  p = fma_(r2, p, F(-0.00944856755f));
  p = fma_(r2, p, F(0.0157660429f));
  p = fma_(r2, p, F(-0.0223080879f));
  p = fma_(r2, p, F(0.0317820252f));
  p = fma_(r2, p, F(-0.0530494615f));
  const F eighth = r * fma_(r2, p, F(0.159154927f));
  const F quarter = select(high > wide, F(0.25f) - eighth, eighth);
  const F half = select(x < F(0.0f), F(0.5f) - quarter, quarter);
  return select(y < F(0.0f), F(0.0f) - half, half);
}

// direction: unit, in the axes of the map
template <class F> RT_HD EnvironmentPlace<F> environment_place(Vec3<F> direction) {
  const F sine = sqrt_(fma_(direction.x, direction.x, direction.y * direction.y));
  // seen from inside: the right half is on the side of -y
  return {F(0.5f) - turns_of(direction.x, direction.y), F(2.0f) * turns_of(direction.z, sine), sine};
}

// A direction in the axes of the map, and the sine of its angle to the up axis.
template <class F>
struct EnvironmentDirection {
  Vec3<F> direction;
  F sine;
};

// down, up: v and 1 - v. The sine is that of the lesser: near the nadir 1 - v would have lost it.
template <class F> RT_HD EnvironmentDirection<F> environment_direction(F u, F down, F up) {
  const SinCos<F> phi = sincos_turns(u), theta = sincos_turns(F(0.5f) * min_(down, up));
  const F z = select(up < down, F(0.0f) - theta.cos, theta.cos);
  return {{F(0.0f) - theta.sin * phi.cos, theta.sin * phi.sin, z}, theta.sin};
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
RT_HD EnvironmentCell<F> environment_cell(const rt::EnvironmentTexel* texels, uint32_t size, UintOf<F> column,
                                          UintOf<F> row) {
  const UintOf<F> one(1u), stride(2u * size + 1u), top = row * stride + column, below = top + stride;
  return {environment_texel<F>(texels, top), environment_texel<F>(texels, top + one),
          environment_texel<F>(texels, below), environment_texel<F>(texels, below + one)};
}

// What comes from a direction.
template <class F>
struct EnvironmentLight {
  Vec3<F> radiance;
  F pdf;  // of environment_light_sample, per solid angle
};

// sine: of an EnvironmentPlace. At zenith and nadir, which are points, the density is 0, and so it is nowhere infinite
template <class F> RT_HD EnvironmentLight<F> environment_light(const EnvironmentPoint<F>& p, F sine) {
  const MaskOf<F> is_pole = !(sine > F(0.0f));
  return {p.radiance, select(is_pole, F(0.0f), F(kInvTwoPiSquared) * p.density / select(is_pole, F(1.0f), sine))};
}

template <class F> RT_HD EnvironmentLight<F> environment_light(const rt::EnvironmentTexel* texels,
                                                               const rt::Frame& frame, Vec3<F> direction) {
  using U = UintOf<F>;
  const uint32_t size = (uint32_t)frame.environment_map.map_size;
  const EnvironmentPlace<F> p = environment_place(environment_basis<F>(frame).to_local(direction));
  const F rows((float)size), columns(2.0f * (float)size), zero(0.0f);
  const F x = min_(max_(p.u * columns, zero), columns), y = min_(max_(p.v * rows, zero), rows);
  const U last_column(2u * size - 1u), last_row(size - 1u), x0 = to_uint(x), y0 = to_uint(y);
  const U column = select(x0 < last_column, x0, last_column), row = select(y0 < last_row, y0, last_row);
  const EnvironmentCell<F> cell = environment_cell<F>(texels, size, column, row);
  return environment_light(cell.at(x - to_float(column), y - to_float(row)), p.sine);
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
  const F sum = a + root;  // 0: the density is 0 at that end
  return select(sum > F(0.0f), min_(u * (a + b) / select(sum > F(0.0f), sum, F(1.0f)), F(1.0f)), F(0.0f));
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
  const float* quads = (const float*)(texels + (size + 1) * (2 * size + 1));
  const uint32_t half = (size * size - 1) / 3;  // quads of a half of the map
  const U zero(0u), one(1u);
  F u = point.u, v = point.v;
  U column = select(choose_part(u, F(load_global(quads + 2 * half * kEnvironmentTexelFloats))), one, zero), row = zero;
  const U first = column * U(half);
  U block = zero;
  for (uint32_t blocks = 1; blocks < size; blocks *= 2) {
    const U at = (first + block) * U(kEnvironmentTexelFloats);
    const U below = select(choose_part(v, gather(quads, at)), one, zero);
    const U right = select(choose_part(u, gather(quads + 1, at + below)), one, zero);
    row = row + row + below, column = column + column + right;
    block = block * U(4u) + below + below + right + one;
  }
  const EnvironmentCell<F> cell = environment_cell<F>(texels, size, column, row);
  const F y = sample_linear(cell.a.density + cell.b.density, cell.c.density + cell.d.density, v);
  const F x = sample_linear(fma_(y, cell.c.density - cell.a.density, cell.a.density),
                            fma_(y, cell.d.density - cell.b.density, cell.b.density), u);
  const F width(0.5f / (float)size), height(1.0f / (float)size);
  const F rows_below = F((float)(size - 1)) - to_float(row);
  const EnvironmentDirection<F> to = environment_direction((to_float(column) + x) * width, (to_float(row) + y) * height,
                                                           (rows_below + (F(1.0f) - y)) * height);
  return {normalize(environment_basis<F>(frame).to_world(to.direction)), environment_light(cell.at(x, y), to.sine)};
}

}  // namespace RT_NS
#endif
