// The ray-triangle test of Woop, Benthin, Wald 2013 (JCGT 2(1)), which is watertight. Corners are sheared so that the ray
// becomes the z axis, and the signs of three edge functions in the plane across it say on which sides it passes. A
// corner is sheared alike for all triangles that share it, and the signs are exact, so that no ray passes between
// triangles. One on an edge hits both.
//
// A triangle is a surface, and no solid: it is seen from both sides, and nothing is inside of it.
#pragma once
#include "sphere.h"

namespace RT_NS {

template <class F>
struct Triangle {
  Vec3<F> a, b, c;
};

// Where a line crosses a triangle.
template <class F>
struct TriangleHit {
  F t;
  Vec3<F> weights;  // of the corners: their sum is 1
  MaskOf<F> misses;
};

constexpr float kLeastArea = 1e-37f;  // as sheared, twice: less is nothing, and has no finite inverse
constexpr float kLeastEdge = 1e-30f;

// a b - c d with the right sign where fma_ is fused (Kahan; Jeannerod, Louvet, Muller 2013), or else 0 instead of it
template <class F> RT_HD F difference_of_products(F a, F b, F c, F d) {
  const F cd = c * d;
  return fma_(a, b, F(0.0f) - cd) + fma_(F(0.0f) - c, d, cd);
}

template <class F> RT_HD Vec3<F> precise_cross(Vec3<F> a, Vec3<F> b) {
  return {difference_of_products(a.y, b.z, a.z, b.y), difference_of_products(a.z, b.x, a.x, b.z),
          difference_of_products(a.x, b.y, a.y, b.x)};
}

template <class F> RT_HD TriangleHit<F> triangle_hit(const Triangle<F>& t, Vec3<F> origin, Vec3<F> direction) {
  const F zero(0.0f), one(1.0f);
  const F x = abs_(direction.x), y = abs_(direction.y), z = abs_(direction.z);
  const MaskOf<F> along_x = (x >= y) & (x >= z), along_y = (!along_x) & (y >= z);
  // the axes in turn, so that z is the one along which the ray is longest
  const auto turned = [&](Vec3<F> v) {
    return select3(along_x, Vec3<F>{v.y, v.z, v.x}, select3(along_y, Vec3<F>{v.z, v.x, v.y}, v));
  };
  const Vec3<F> d = turned(direction), a = turned(t.a - origin), b = turned(t.b - origin), c = turned(t.c - origin);
  const F depth = one / d.z, shear_x = zero - d.x * depth, shear_y = zero - d.y * depth;
  const F ax = fma_(shear_x, a.z, a.x), ay = fma_(shear_y, a.z, a.y);
  const F bx = fma_(shear_x, b.z, b.x), by = fma_(shear_y, b.z, b.y);
  const F cx = fma_(shear_x, c.z, c.x), cy = fma_(shear_y, c.z, c.y);
  const F u = difference_of_products(cx, by, cy, bx), v = difference_of_products(ax, cy, ay, cx),
          w = difference_of_products(bx, ay, by, ax);
  const F least = min_(u, min_(v, w)), most = max_(u, max_(v, w)), area = u + v + w;
  const MaskOf<F> misses = ((least < zero) & (most > zero)) | !(abs_(area) > F(kLeastArea));
  const F inverse = one / select(misses, one, area);
  const Vec3<F> weights = {u * inverse, v * inverse, w * inverse};
  return {depth * dot(weights, Vec3<F>{a.z, b.z, c.z}), weights, misses};
}

// Unit vector perpendicular to the triangle, on the side from which its corners are seen counterclockwise.
template <class F> RT_HD Vec3<F> triangle_normal(const Triangle<F>& t) {
  const Vec3<F> ab = t.b - t.a, ac = t.c - t.a;
  const F scale = F(1.0f) / max_(max_(max_abs(ab), max_abs(ac)), F(kLeastEdge));
  const Vec3<F> across = precise_cross(scale * ab, scale * ac);
  const F largest = max_(max_abs(across), F(kLeastEdge));  // thin ones have squares that are no float32
  const Vec3<F> normal = F(1.0f) / largest * across;
  return (F(1.0f) / sqrt_(max_(dot(normal, normal), F(kLeastEdge)))) * normal;
}

// Weights of the corners at a point of the triangle, or of those nearest to one beside it.
template <class F> RT_HD Vec3<F> corner_weights(const Triangle<F>& t, Vec3<F> position) {
  const Vec3<F> ab = t.b - t.a, ac = t.c - t.a;
  const F scale = F(1.0f) / max_(max_(max_abs(ab), max_abs(ac)), F(kLeastEdge));
  const Vec3<F> e = scale * ab, f = scale * ac, p = scale * (position - t.a);
  const Vec3<F> across = precise_cross(e, f);
  const F inverse = F(1.0f) / max_(dot(across, across), F(kLeastEdge));
  const F zero(0.0f), one(1.0f);
  const F b = max_(zero, min_(inverse * dot(precise_cross(p, f), across), one));
  const F c = max_(zero, min_(inverse * dot(precise_cross(e, p), across), one - b));
  return {one - b - c, b, c};
}

// A unit vector of two numbers of 16 bits: a point of the octahedron unfolded into a square (Cigolle et al. 2014).
template <class F> RT_HD Vec3<F> unpack_normal(UintOf<F> packed) {
  using U = UintOf<F>;
  const F zero(0.0f), unit(1.0f / 32767.0f);
  const F x = unit * (to_float(packed & U(0xffffu)) - F(32767.0f)), y = unit * (to_float(packed >> 16) - F(32767.0f));
  const F z = F(1.0f) - abs_(x) - abs_(y), fold = max_(zero - z, zero);
  return normalize(Vec3<F>{select(x < zero, x + fold, x - fold), select(y < zero, y + fold, y - fold), z});
}

// The normal by which a surface is shaded, between the normals of its corners: bent towards the viewer as far as
// needed for a mirror to show what is before the surface. outward: of the triangle, faces the viewer; ray: arrives there
template <class F> RT_HD Vec3<F> visible_normal(Vec3<F> normal, Vec3<F> outward, Vec3<F> ray) {
  constexpr float kLeastRise = 0.01f;
  const Vec3<F> mirrored = fma3(F(-2.0f) * dot(normal, ray), normal, ray);
  const F seen = F(0.0f) - dot(ray, outward), rise = dot(mirrored, outward);
  const F needed = min_(F(0.9f) * seen, F(kLeastRise));
  if (!any(rise < needed)) return normal;
  const Vec3<F> raised = normalize(fma3(needed - rise, outward, mirrored)) - ray;
  const F length2 = dot(raised, raised);
  return select3((rise < needed) & (length2 > F(kLeastEdge)), F(1.0f) / sqrt_(max_(length2, F(kLeastEdge))) * raised,
                 normal);
}

// A point of the curved surface that smooth normals stand for, from which rays to lights see past the flat triangles
// around (Hanika, "Hacking the Shadow Terminator", Ray Tracing Gems II, 2021). normals: of the corners, on one side
template <class F>
RT_HD Vec3<F> curved_point(const Triangle<F>& t, const Triangle<F>& normals, Vec3<F> weights, Vec3<F> p) {
  const F a = weights.x * min_(dot(p - t.a, normals.a), F(0.0f)),
          b = weights.y * min_(dot(p - t.b, normals.b), F(0.0f)),
          c = weights.z * min_(dot(p - t.c, normals.c), F(0.0f));
  return p - fma3(a, normals.a, fma3(b, normals.b, c * normals.c));
}

// Surface point of a triangle with normals at its corners; flat: that of the triangle without.
template <class F>
RT_HD SurfacePoint<F> smooth_point(const Triangle<F>& t, const Triangle<F>& normals, Vec3<F> weights,
                                   const SurfacePoint<F>& flat, Vec3<F> ray) {
  const Vec3<F> sum = fma3(weights.x, normals.a, fma3(weights.y, normals.b, weights.z * normals.c));
  const F side = select(dot(sum, flat.normal) < F(0.0f), F(-1.0f), F(1.0f)), length2 = dot(sum, sum);
  const Vec3<F> between = side / sqrt_(max_(length2, F(kLeastEdge))) * sum;
  const Vec3<F> normal = select3(length2 > F(kLeastEdge), between, flat.normal);
  const Triangle<F> facing = {side * normals.a, side * normals.b, side * normals.c};
  return {curved_point(t, facing, weights, flat.position), visible_normal(normal, flat.normal, ray), flat.inside};
}

}  // namespace RT_NS
