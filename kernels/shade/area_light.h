// Area lights: a sphere about a point, a cone of directions, a rectangle, a disk. Rays pass through them
// and take their light along.
//
// The colour of a rectangle or disk is its radiance. That of a point or direction is pi times less than the
// irradiance of a surface that faces it, as for lights without extent, whatever the extent is.
#pragma once
#include "../core/sampling.h"
#include "light.h"

namespace RT_NS {

constexpr float kInvPi = 0.318309886f;

// What a ray meets in a light.
template <class F>
struct LightHit {
  F t;         // negative: the ray misses
  F radiance;  // factor on the light's colour
  F pdf;       // of sampling this direction from the ray's origin, per solid angle
};

// The cone of directions in which a point sees a light. sin2: square of the sine of half its angle.
template <class F>
struct LightCone {
  Vec3<F> axis;
  F distance;       // to the light's centre
  F sin2, versine;  // versine: 1 - cosine, without cancellation
  F attenuation;    // factor on the colour of a light without extent
};

template <class F> RT_HD LightCone<F> light_cone(const rt::Light& light, Vec3<F> position) {
  const LightSample<F> center = light_sample(light, position);
  F sin2(light.extent);
  if (light.kind == kLightPoint) {
    const F part = sin2 / center.distance;
    sin2 = min_(part * part, F(1.0f));
  }
  return {center.wi, center.distance, sin2, sin2 / (F(1.0f) + sqrt_(max_(F(1.0f) - sin2, F(0.0f)))),
          center.attenuation};
}

// t at which a ray at the angle with this sine, squared, to the axis of the cone meets its light
template <class F> RT_HD F cone_distance(const rt::Light& light, const LightCone<F>& c, F sin2, F cosine) {
  if (light.kind == kLightDirectional) return F(kInfinity);
  const F half2 = fma_(F(light.extent), F(light.extent), F(0.0f) - c.distance * c.distance * sin2);
  return max_(fma_(c.distance, cosine, F(0.0f) - sqrt_(max_(half2, F(0.0f)))), F(0.0f));
}

// Density of cone_direction, per solid angle.
template <class F> RT_HD F cone_pdf(F versine) { return F(0.5f * kInvPi) / versine; }

// A direction of a cone, and cosine and square of the sine of its angle to the axis.
template <class F>
struct ConeDirection {
  Vec3<F> wi;
  F cosine, sin2;
};

// versine: 1 - cosine of half the angle of the cone; u: a point of the unit square
template <class F> RT_HD ConeDirection<F> cone_direction(Vec3<F> axis, F versine, const Sample2d<F>& u) {
  const F down = u.u * versine, cosine = F(1.0f) - down;
  const F sin2 = down * (F(2.0f) - down), sine = sqrt_(sin2);
  const SinCos<F> phi = sincos_turns(u.v);
  return {normalize(basis_about(axis).to_world({sine * phi.cos, sine * phi.sin, cosine})), cosine, sin2};
}

template <class F>
RT_HD LightSample<F> sample_cone(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  const LightCone<F> c = light_cone(light, position);
  const ConeDirection<F> to = cone_direction(c.axis, c.versine, u);
  return {to.wi, cone_distance(light, c, to.sin2, to.cosine), c.attenuation * F(2.0f) / (F(2.0f) - c.versine),
          cone_pdf(c.versine)};
}

template <class F>
RT_HD LightHit<F> hit_cone(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  const LightCone<F> c = light_cone(light, position);
  const Vec3<F> across = wi - c.axis;
  const F down = F(0.5f) * dot(across, across);  // 1 - cosine
  const F t = cone_distance(light, c, down * (F(2.0f) - down), F(1.0f) - down);
  return {select(down < c.versine, t, F(-1.0f)), c.attenuation / c.sin2, cone_pdf(c.versine)};
}

RT_HD bool is_flat(const rt::Light& light) { return light.kind == kLightRectangle || light.kind == kLightDisk; }

// A rectangle or disk nearer than this many of its longer half sides or radii is sampled by solid angle; one that is
// farther by area, which there is nearly the same: float32 knows the solid angle of a rectangle to about 3e-7 of this.
constexpr float kNearLight = 32.0f;

// Least height above the plane of a light, in half sides or radii: no point is on it, on an edge or on a corner.
constexpr float kLeastHeight = 1e-9f;

// A rectangle or disk as a point sees it. x and y: unit axes along its sides, x the longer one; z points from the point
// to its plane, against its normal. Lengths are in units of `unit`, half the longer side or the radius.
template <class F>
struct FlatView {
  Vec3<float> x, y;
  float unit, width;  // width: half the shorter side
  Vec3<F> center;     // z: at least kLeastHeight
  MaskOf<F> shines;   // whether the point is in front
  MaskOf<F> is_near;  // whether it is sampled by solid angle
};

template <class F> RT_HD FlatView<F> flat_view(const rt::Light& light, Vec3<F> position) {
  const Vec3<float> u = splat3<float>(light.u), v = splat3<float>(light.v);
  const float length_u = sqrt_(dot(u, u)), length_v = sqrt_(dot(v, v));
  const bool swapped = length_v > length_u;
  FlatView<F> view;
  view.x = swapped ? (1.0f / length_v) * v : (1.0f / length_u) * u;
  view.y = swapped ? (1.0f / length_u) * u : (1.0f / length_v) * v;
  view.unit = max_(length_u, length_v);
  view.width = min_(length_u, length_v) / view.unit;
  const Vec3<F> to = F(1.0f / view.unit) * (splat3<F>(light.vector) - position);
  const F z = F(0.0f) - dot(to, splat3<F>(light.normal));
  view.shines = z > F(0.0f);
  view.is_near = dot(to, to) <= F(kNearLight * kNearLight);
  view.center = {dot(to, splat3<F>(view.x)), dot(to, splat3<F>(view.y)), max_(z, F(kLeastHeight))};
  return view;
}

// ---- rectangles: Ureña, Fajardo, King, "An Area-Preserving Parametrization for Spherical Rectangles" (2013): the
// part of the solid angle left of x selects x, and the sine of the latitude selects y. Their differences of angles
// lose all digits of a narrow rectangle; here angles are those of triangles that reach from x to infinity, by the formula of
// van Oosterom and Strackee (1983), without cancellation.

// y0 to y1 at the height z, mirrored so that |y0| <= y1.
template <class F>
struct Strip {
  F y0, y1, z, height;  // height: y1 - y0
  F sum;                // of y0 and y1
};

// y1 R0 - y0 R1, where R0 and R1 are the distances of (x, y0, z) and (x, y1, z); r2: square of the distance of (x, 0, z)
template <class F> RT_HD F strip_cross(const Strip<F>& s, F r2, F distance0, F distance1) {
  const F a = s.y1 * distance0, b = s.y0 * distance1;
  return select(s.y0 > F(0.0f), r2 * s.height * s.sum / (a + b), a - b);
}

// R0 R1 + y0 y1
template <class F> RT_HD F strip_dot(const Strip<F>& s, F r2, F distance0, F distance1) {
  const F product = s.y0 * s.y1, whole = distance0 * distance1;
  const F less = r2 * (fma_(s.y0, s.y0, fma_(s.y1, s.y1, r2)) / (whole - product));
  return select(product < F(0.0f), less, whole + product);
}

// Solid angle of the part of a strip from x to infinity, for x of at least 0.
template <class F> RT_HD F strip_beyond(const Strip<F>& s, F x) {
  const F r2 = fma_(x, x, s.z * s.z);
  const F distance0 = sqrt_(fma_(s.y0, s.y0, r2)), distance1 = sqrt_(fma_(s.y1, s.y1, r2));
  const F below = fma_(x, distance0 + distance1, strip_dot(s, r2, distance0, distance1) + r2);
  return F(2.0f) * atan_quotient(s.z * s.height, below);
}

// A rectangle, mirrored so that |x0| <= x1 and |y0| <= y1.
template <class F>
struct SphericalRectangle {
  F x0, x1;
  Strip<F> strip;
  F half, beyond;  // solid angles of the strip from x = 0 and from x1 to infinity
  F solid_angle;
};

template <class F> RT_HD SphericalRectangle<F> spherical_rectangle(const FlatView<F>& view) {
  const F x = abs_(view.center.x), y = abs_(view.center.y), width(view.width);
  SphericalRectangle<F> r;
  r.x0 = x - F(1.0f), r.x1 = x + F(1.0f);
  r.strip = {y - width, y + width, view.center.z, width + width, y + y};
  r.half = strip_beyond(r.strip, F(0.0f));
  r.beyond = strip_beyond(r.strip, r.x1);
  const F before = strip_beyond(r.strip, abs_(r.x0));
  const F parts = select(r.x0 < F(0.0f), (r.half - before) + (r.half - r.beyond), before - r.beyond);
  r.solid_angle = max_(parts, F(0.0f));
  return r;
}

// The x beyond which the strip has that solid angle, at most r.half: Napier's rules for the triangle from there to infinity.
template <class F> RT_HD F strip_place(const Strip<F>& s, F beyond) {
  const F distance0 = sqrt_(fma_(s.y0, s.y0, s.z * s.z)), distance1 = sqrt_(fma_(s.y1, s.y1, s.z * s.z));
  const F sin0 = s.y0 / distance0, cos0 = s.z / distance0, sin1 = s.y1 / distance1, cos1 = s.z / distance1;
  const F sine = cos0 * (s.height / distance1), cosine = fma_(sin0, sin1, cos0 * cos1);  // of the angle between them
  const SinCos<F> part = sincos_turns(beyond * F(0.25f * kInvPi));                        // half of `beyond`
  const F twice = F(2.0f) * part.sin;
  const F within = fma_(sine, fma_(F(0.0f) - twice, part.sin, F(1.0f)), F(0.0f) - cosine * (twice * part.cos));
  const F rest = part.sin * fma_(sine, part.cos, F(0.0f) - cosine * part.sin);
  const F sides = fma_(cos1, part.cos, sin1 * part.sin) * fma_(cos0, part.cos, F(0.0f) - sin0 * part.sin);
  const F tangent = max_(within, F(0.0f)) / (F(2.0f) * sqrt_(max_(rest, F(1e-37f))) * sqrt_(max_(sides, F(1e-37f))));
  return s.z * tangent;
}

// The y of a strip at x below which it has the part v of its solid angle there.
template <class F> RT_HD F strip_height(const Strip<F>& s, F x, F v) {
  const F r2 = fma_(x, x, s.z * s.z);
  const F distance0 = sqrt_(fma_(s.y0, s.y0, r2)), distance1 = sqrt_(fma_(s.y1, s.y1, r2));
  const F step = v * (strip_cross(s, r2, distance0, distance1) / (distance0 * distance1));
  const F sine0 = s.y0 / distance0, cosine0 = sqrt_(r2) / distance0;
  const F cosine2 = fma_(cosine0, cosine0, F(0.0f) - step * fma_(F(2.0f), sine0, step));
  return sqrt_(r2) * (sine0 + step) / sqrt_(max_(cosine2, F(1e-37f)));
}

// The place on the light of a direction of uniform solid angle, and that solid angle. Coordinates are those of FlatView.
template <class F>
struct FlatSample {
  Vec3<F> place;
  F solid_angle;
};

template <class F> RT_HD FlatSample<F> sample_rectangle(const FlatView<F>& view, const Sample2d<F>& u) {
  const SphericalRectangle<F> r = spherical_rectangle(view);
  const F beyond = fma_(F(1.0f) - u.u, r.solid_angle, r.beyond);
  const MaskOf<F> is_left = beyond > r.half;
  const F right = strip_place(r.strip, select(is_left, F(2.0f) * r.half - beyond, beyond));
  const F x = min_(max_(select(is_left, F(0.0f) - right, right), r.x0), r.x1);
  const F y = min_(max_(strip_height(r.strip, x, u.v), r.strip.y0), r.strip.y1);
  return {
      {select(view.center.x < F(0.0f), F(0.0f) - x, x), select(view.center.y < F(0.0f), F(0.0f) - y, y), view.center.z},
      r.solid_angle};
}

// ---- disks: a disk is seen as a spherical ellipse, sampled by the radial map of Guillén et al., "Area-Preserving
// Parameterizations for Spherical Ellipses" (2017): the part of the solid angle before an azimuth selects it, and the
// cosine to the axis is uniform up to the boundary. With the boundary as (sin a cos t, sin b sin t, q(t)) for the half
// angles a >= b, the solid angle is the integral of sin a sin b / (1 + q) over t. This is between half of its maximum and
// the maximum, so that quadratures by parabolas take the place of their elliptic integrals: the error of the solid angle
// is below 2e-5, from circles to ellipses without width.
template <class F>
struct SphericalEllipse {
  F sin_a, sin_b, cos_b;
  F ratio;           // cos a / cos b
  F axis_r, axis_z;  // its middle, a unit vector across to the light's axis and towards its plane
};

template <class F> RT_HD SphericalEllipse<F> spherical_ellipse(F aside, F z) {
  const F one(1.0f);
  const F nearest = sqrt_(fma_(aside - one, aside - one, z * z)),
          farthest = sqrt_(fma_(aside + one, aside + one, z * z));
  const F sum = nearest + farthest, product = nearest * farthest;
  // b is half the angle between the nearest and the farthest point of the edge
  const F cosine = min_(max_(fma_(aside, aside, fma_(z, z, F(-1.0f))) / product, F(-1.0f)), one);
  const F larger = sqrt_(F(0.5f) * (one + abs_(cosine))), smaller = z / (product * larger);
  const MaskOf<F> is_wide = cosine < F(0.0f);
  SphericalEllipse<F> e;
  e.sin_a = min_(F(2.0f) / sum, one);
  e.sin_b = select(is_wide, larger, smaller), e.cos_b = select(is_wide, smaller, larger);
  e.ratio = min_(F(2.0f) * sqrt_(product) / sum, one);
  const F outside = fma_(aside - one, farthest, (aside + one) * nearest);  // the middle halves that angle
  const F inside = F(4.0f) * aside * z * z / fma_(one - aside, farthest, (aside + one) * nearest);
  const F r = select(aside < one, inside, outside), up = z * sum, scale = one / sqrt_(fma_(r, r, up * up));
  e.axis_r = scale * r, e.axis_z = scale * up;
  return e;
}

// q, where the square of the sine of t is sine2
template <class F> RT_HD F ellipse_cosine(const SphericalEllipse<F>& e, F sine2) {
  const F ratio2 = e.ratio * e.ratio;
  return e.cos_b * sqrt_(fma_(F(1.0f) - ratio2, sine2, ratio2));
}

// Parabolas of 1 / (1 + q) on a quarter of a turn of t, on parts that end at (i / kEllipseParts)^2 quarters: q has its
// sharpest bend at 0.
constexpr int kEllipseParts = 6;

template <class F>
struct EllipseQuarter {
  F value[2 * kEllipseParts + 1];  // at the ends and middles of the parts
  F integral;                      // over t in quarters
};

template <class F> RT_HD F part_integral(const EllipseQuarter<F>& quarter, int part) {
  const F* f = quarter.value + 2 * part;
  const float width = (float)(2 * part + 1) / (float)(kEllipseParts * kEllipseParts);
  return F(width / 6.0f) * fma_(F(4.0f), f[1], f[0] + f[2]);
}

template <class F> RT_HD EllipseQuarter<F> ellipse_quarter(const SphericalEllipse<F>& e) {
  // squares of sines
  const float sine2[2 * kEllipseParts + 1] = {
      0.0f,         4.75889209e-4f, 1.90265095e-3f, 1.18519964e-2f, 3.01536896e-2f, 7.83042771e-2f,
      0.146446609f, 0.269125693f,   0.413175911f,   0.608219807f,   0.786788218f,   0.943505417f,
      1.0f};
  EllipseQuarter<F> quarter;
  for (int i = 0; i <= 2 * kEllipseParts; ++i) quarter.value[i] = F(1.0f) / (F(1.0f) + ellipse_cosine(e, F(sine2[i])));
  quarter.integral = F(0.0f);
  for (int i = 0; i < kEllipseParts; ++i) quarter.integral = quarter.integral + part_integral(quarter, i);
  return quarter;
}

template <class F> RT_HD F ellipse_solid_angle(const SphericalEllipse<F>& e, const EllipseQuarter<F>& quarter) {
  return F(2.0f / kInvPi) * (e.sin_a * e.sin_b) * quarter.integral;
}

// The t in quarters, 0 to 1, before which the integral is that part of the whole.
template <class F> RT_HD F ellipse_angle(const EllipseQuarter<F>& quarter, F part) {
  const F wanted = part * quarter.integral;
  F before(0.0f), begin(0.0f), f0 = quarter.value[0], f1 = quarter.value[1], f2 = quarter.value[2];
  F width(1.0f / (float)(kEllipseParts * kEllipseParts)), end = part_integral(quarter, 0);
  for (int i = 1; i < kEllipseParts; ++i) {
    const MaskOf<F> beyond = wanted > end;
    const F* f = quarter.value + 2 * i;
    before = select(beyond, end, before), begin = select(beyond, begin + width, begin);
    width = select(beyond, F((float)(2 * i + 1) / (float)(kEllipseParts * kEllipseParts)), width);
    f0 = select(beyond, f[0], f0), f1 = select(beyond, f[1], f1), f2 = select(beyond, f[2], f2);
    end = select(beyond, end + part_integral(quarter, i), end);
  }
  // Newton's method for the integral of the parabola from `begin`, from that of a constant
  const F linear = fma_(F(4.0f), f1, F(0.0f) - fma_(F(3.0f), f0, f2));
  const F square = F(2.0f) * (fma_(F(-2.0f), f1, f0) + f2), rest = (wanted - before) / width;
  F x = rest / f1;
  for (int i = 0; i < 3; ++i) {
    const F integral = x * fma_(x, fma_(x, F(1.0f / 3.0f) * square, F(0.5f) * linear), f0);
    x = x - (integral - rest) / fma_(x, fma_(x, square, linear), f0);
  }
  return fma_(min_(max_(x, F(0.0f)), F(1.0f)), width, begin);
}

// The middle of a disk in the plane of its light: its distance aside of the point, and the direction to it.
template <class F>
struct Aside {
  F distance, x, y;
};

template <class F> RT_HD Aside<F> disk_aside(const FlatView<F>& view) {
  const F x = view.center.x, y = view.center.y, distance = sqrt_(fma_(x, x, y * y));
  const MaskOf<F> is_below = distance < F(kLeastHeight);
  const F scale = F(1.0f) / max_(distance, F(kLeastHeight));
  return {distance, select(is_below, F(1.0f), scale * x), select(is_below, F(0.0f), scale * y)};
}

template <class F> RT_HD FlatSample<F> sample_disk(const FlatView<F>& view, const Sample2d<F>& u) {
  const Aside<F> aside = disk_aside(view);
  const F z = view.center.z, one(1.0f);
  const SphericalEllipse<F> e = spherical_ellipse(aside.distance, z);
  const EllipseQuarter<F> quarter = ellipse_quarter(e);
  // quarters 1 and 3 go back, so that the ends of neighbours meet
  const UintOf<F> number = to_uint(F(4.0f) * u.v);
  const F forth = fma_(F(4.0f), u.v, F(0.0f) - to_float(number));
  const auto goes_back = (number & UintOf<F>(1u)) == UintOf<F>(1u);
  const F t = ellipse_angle(quarter, select(goes_back, one - forth, forth));
  const SinCos<F> at = sincos_turns(F(0.25f) * t);
  const F sine = e.sin_b * at.sin, cosine = e.sin_a * at.cos, q = ellipse_cosine(e, at.sin * at.sin);
  const F down = u.u * fma_(sine, sine, cosine * cosine) / (one + q);  // 1 - cosine to the axis
  const F out = sqrt_(u.u * (F(2.0f) - down) / (one + q));
  const UintOf<F> sign_a = ((number + UintOf<F>(1u)) & UintOf<F>(2u)) << 30, sign_b = (number & UintOf<F>(2u)) << 30;
  const F a = as_float(as_uint(out * cosine) ^ sign_a), b = as_float(as_uint(out * sine) ^ sign_b);
  // from the axes of the ellipse to those of the view, and on to the plane of the light
  const F r = fma_(one - down, e.axis_r, b * e.axis_z);
  const F up = max_(fma_(one - down, e.axis_z, F(0.0f) - b * e.axis_r), F(1e-12f));
  const F scale = min_(z / up, aside.distance + z + one);
  return {{scale * fma_(r, aside.x, F(0.0f) - a * aside.y), scale * fma_(r, aside.y, a * aside.x), z},
          ellipse_solid_angle(e, quarter)};
}

// ---- both

// The solid angle of a light that is near.
template <class F> RT_CALLED F flat_solid_angle(const rt::Light& light, const FlatView<F>& view) {
  if (light.kind == kLightRectangle) return spherical_rectangle(view).solid_angle;
  const SphericalEllipse<F> e = spherical_ellipse(disk_aside(view).distance, view.center.z);
  return ellipse_solid_angle(e, ellipse_quarter(e));
}

// Density of samples by area, per solid angle. cosine: to the normal of the light
template <class F> RT_HD F flat_area_pdf(const rt::Light& light, F distance2, F cosine) {
  const F seen = cosine * F(light.extent);
  return select(seen > F(1e-30f), min_(distance2 / seen, F(kInfinity)), F(0.0f));
}

template <class F>
RT_HD LightSample<F> sample_flat_area(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  F a = fma_(u.u, F(2.0f), F(-1.0f)), b = fma_(u.v, F(2.0f), F(-1.0f));
  if (light.kind == kLightDisk) {
    const SinCos<F> phi = sincos_turns(u.v);
    a = sqrt_(u.u) * phi.cos, b = sqrt_(u.u) * phi.sin;
  }
  const Vec3<F> to = fma3(a, splat3<F>(light.u), fma3(b, splat3<F>(light.v), splat3<F>(light.vector))) - position;
  const F distance2 = dot(to, to), distance = sqrt_(distance2);
  const Vec3<F> wi = (F(1.0f) / distance) * to;
  const F cosine = max_(F(0.0f) - dot(wi, splat3<F>(light.normal)), F(0.0f));  // 0 behind the light
  const F pdf = flat_area_pdf(light, distance2, cosine);
  return {wi, distance, select(pdf > F(0.0f), F(kInvPi) / pdf, F(0.0f)), pdf};
}

template <class F>
RT_HD LightSample<F> sample_flat_angle(const rt::Light& light, const FlatView<F>& view, const Sample2d<F>& u) {
  const FlatSample<F> s = light.kind == kLightRectangle ? sample_rectangle(view, u) : sample_disk(view, u);
  const F distance = sqrt_(dot(s.place, s.place));
  const Vec3<F> to = (F(1.0f) / distance) * s.place;
  const Vec3<F> wi = fma3(to.x, splat3<F>(view.x), to.y * splat3<F>(view.y)) - to.z * splat3<F>(light.normal);
  const MaskOf<F> shines = view.shines & (s.solid_angle > F(0.0f));
  const F solid_angle = select(shines, s.solid_angle, F(1.0f));
  return {normalize(wi), F(view.unit) * distance, select(shines, F(kInvPi) * solid_angle, F(0.0f)),
          select(shines, F(1.0f) / solid_angle, F(0.0f))};
}

template <class F>
RT_CALLED LightSample<F> sample_flat(const rt::Light& light, Vec3<F> position, Sample2d<F> u) {
  const FlatView<F> view = flat_view(light, position);
  const MaskOf<F> near = view.is_near;
  if (!any(near)) return sample_flat_area(light, position, u);
  const LightSample<F> a = sample_flat_angle(light, view, u);
  if (!any(!near)) return a;
  const LightSample<F> b = sample_flat_area(light, position, u);
  return {select3(near, a.wi, b.wi), select(near, a.distance, b.distance), select(near, a.attenuation, b.attenuation),
          select(near, a.pdf, b.pdf)};
}

// Density of sample_flat in a direction that meets the light at t. cosine: to its normal, above 0
template <class F> RT_HD F flat_pdf(const rt::Light& light, Vec3<F> position, F t, F cosine) {
  const FlatView<F> view = flat_view(light, position);
  F pdf = flat_area_pdf(light, t * t, cosine);
  if (any(view.is_near)) {
    const F solid_angle = flat_solid_angle(light, view);
    const F uniform = select(solid_angle > F(0.0f), F(1.0f) / solid_angle, F(0.0f));
    pdf = select(view.is_near, uniform, pdf);
  }
  return pdf;
}

template <class F>
RT_HD LightHit<F> hit_flat(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  const Vec3<F> u = splat3<F>(light.u), v = splat3<F>(light.v), to = splat3<F>(light.vector) - position;
  const F cosine = F(0.0f) - dot(wi, splat3<F>(light.normal));
  const F t = F(0.0f) - dot(to, splat3<F>(light.normal)) / max_(cosine, F(1e-20f));
  const Vec3<F> at = fma3(t, wi, F(-1.0f) * to);
  const F a = dot(at, u) / dot(u, u), b = dot(at, v) / dot(v, v);
  const MaskOf<F> within =
      light.kind == kLightDisk ? fma_(a, a, b * b) <= F(1.0f) : (abs_(a) <= F(1.0f)) & (abs_(b) <= F(1.0f));
  const MaskOf<F> hit = within & (cosine > F(0.0f)) & (t > F(0.0f));
  const F pdf = any(hit) ? flat_pdf(light, position, t, cosine) : F(0.0f);
  return {select(hit, t, F(-1.0f)), F(1.0f), select(hit, pdf, F(0.0f))};
}

RT_HD bool is_area_light(const rt::Light& light) { return light.extent > 0.0f; }

// A direction to an area light.
template <class F>
RT_HD LightSample<F> area_light_sample(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  return is_flat(light) ? sample_flat(light, position, u) : sample_cone(light, position, u);
}

// An area light, as a ray from `position` meets it.
template <class F> RT_HD LightHit<F> area_light_hit(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  return is_flat(light) ? hit_flat(light, position, wi) : hit_cone(light, position, wi);
}

}  // namespace RT_NS
