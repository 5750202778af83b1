// Images of a scene along a lattice, as of a periodic box: records and tree are those of one cell, and a ray meets an
// image where the ray moved back by the image's vector meets the cell.
//
// A ray finds the images that it may meet by bisection of the lattice, nearer halves first: a range of images lies in
// the box of the cell, stretched by the vectors at the range's ends. So cells may have any shape, and primitives may
// lie outside of their cell. The number of tests grows with the logarithm of the number of images.
#pragma once
#include "../core/vec.h"
#include "node.h"

namespace RT_NS {

// Leaf position of a primitive: below the steps to its image, along the first edge in the highest bits.
template <class U> RT_HD U leaf_position(const rt::ImageLattice& l, U prim) {
  return prim & U((1u << l.row_bits) - 1u);
}

template <class U>
struct ImageSteps {
  U a, b, c;  // along the edges
};

template <class U> RT_HD ImageSteps<U> image_steps(const rt::ImageLattice& l, U prim) {
  const int c = l.row_bits, b = c + l.step_bits[2], a = b + l.step_bits[1];
  return {prim >> a, (prim >> b) & U((1u << l.step_bits[1]) - 1u), (prim >> c) & U((1u << l.step_bits[2]) - 1u)};
}

// Vector of an image, or of the image of a primitive, from the cell.
template <class F> RT_HD Vec3<F> image_vector(const rt::ImageLattice& l, const ImageSteps<UintOf<F>>& steps) {
  const F a = to_float(steps.a), b = to_float(steps.b), c = to_float(steps.c);
  const auto along = [&](int k) { return fma_(a, F(l.edges[k]), fma_(b, F(l.edges[3 + k]), c * F(l.edges[6 + k]))); };
  return {along(0), along(1), along(2)};
}

// Images from `begin` to `end` - 1 along each edge.
struct ImageRange {
  uint16_t begin[3], end[3];
};

// One waits at each bisection: of at most 1,024 images along each of three edges.
constexpr int kMaxImageRanges = 32;

struct Image {
  uint32_t bits;  // of the positions of its primitives
  Vec3<float> vector;
};

// The images whose boxes a ray enters, nearer ones first where boxes do not overlap.
struct ImageWalk {
  const rt::ImageLattice& lattice;
  Vec3<float> origin, direction, inverse;
  int top;
  ImageRange stack[kMaxImageRanges];

  RT_HD ImageWalk(const rt::ImageLattice& l, Vec3<float> o, Vec3<float> d)
      : lattice(l),
        origin(o),
        direction(d),
        inverse(vec3(safe_inverse(d.x), safe_inverse(d.y), safe_inverse(d.z))),
        top(1) {
    for (int a = 0; a < 3; ++a) stack[0].begin[a] = 0, stack[0].end[a] = (uint16_t)l.counts[a];
  }

  // Whether the ray enters the box of a range before t_max; as the boxes of nodes it is wider by the error of hits.
  RT_HD bool enters(const ImageRange& r, float t_max) const {
    const float o[3] = {origin.x, origin.y, origin.z}, inv[3] = {inverse.x, inverse.y, inverse.z};
    float low[3], high[3], reach = 0.0f;
    for (int k = 0; k < 3; ++k) {
      low[k] = lattice.low[k], high[k] = lattice.high[k];
      for (int a = 0; a < 3; ++a) {
        const float edge = lattice.edges[3 * a + k];
        const float first = edge * (float)r.begin[a], last = edge * (float)(r.end[a] - 1);
        low[k] += min_(first, last), high[k] += max_(first, last);
      }
      reach = max_(reach, abs_(o[k]) + max_(abs_(low[k]), abs_(high[k])));
    }
    const float error = kBoxError * reach;
    float enter = 0.0f, leave = t_max;
    for (int k = 0; k < 3; ++k) {
      const float t0 = (low[k] - error - o[k]) * inv[k], t1 = (high[k] + error - o[k]) * inv[k];
      enter = max_(enter, min_(t0, t1)), leave = min_(leave, max_(t0, t1));
    }
    return enter <= leave;
  }

  // The next image before t_max; false: there is none.
  RT_HD bool next(float t_max, Image& image) {
    while (top) {
      const ImageRange r = stack[--top];
      if (!enters(r, t_max)) continue;
      int axis = 0, most = 0;
      for (int a = 0; a < 3; ++a) {
        const int n = r.end[a] - r.begin[a];
        if (n > most) axis = a, most = n;
      }
      if (most == 1) {
        const ImageSteps<uint32_t> steps = {r.begin[0], r.begin[1], r.begin[2]};
        const uint32_t bits = ((steps.a << lattice.step_bits[1] | steps.b) << lattice.step_bits[2] | steps.c)
                              << lattice.row_bits;
        image = {bits, image_vector<float>(lattice, steps)};
        return true;
      }
      const float* e = lattice.edges + 3 * axis;
      const bool is_along = direction.x * e[0] + direction.y * e[1] + direction.z * e[2] >= 0.0f;
      ImageRange low = r, high = r;
      low.end[axis] = high.begin[axis] = (uint16_t)(r.begin[axis] + most / 2);
      stack[top++] = is_along ? high : low;
      stack[top++] = is_along ? low : high;
    }
    return false;
  }
};

// The primitive in one image that a ray is not tested with; none: that of another image.
RT_HD uint32_t self_in_image(const rt::ImageLattice& l, uint32_t self, uint32_t image) {
  const uint32_t row = leaf_position(l, self);
  return self == (image | row) ? row : kNoPrim;
}

// Nearest hit in all images, as in one tree: trace(image, origin, self, t, prim) is that of the tree of the cell.
template <class Trace>
RT_HD void images_intersect_closest(const rt::ImageLattice& l, Vec3<float> o, Vec3<float> d, uint32_t self, float& t,
                                    uint32_t& prim, const Trace& trace) {
  ImageWalk walk(l, o, d);
  for (Image image; walk.next(t, image);) {
    float nearest = t;
    uint32_t row = kNoPrim;
    trace(image.bits, o - image.vector, self_in_image(l, self, image.bits), nearest, row);
    const uint32_t found = image.bits | row;
    if (row != kNoPrim && (nearest < t || found < prim)) t = nearest, prim = found;
  }
}

// Whether anything is in (0, t_max) in any image: trace(image, origin, self) says it of the tree of the cell.
template <class Trace>
RT_HD bool images_occlude(const rt::ImageLattice& l, Vec3<float> o, Vec3<float> d, uint32_t self, float t_max,
                          const Trace& trace) {
  ImageWalk walk(l, o, d);
  for (Image image; walk.next(t_max, image);)
    if (trace(image.bits, o - image.vector, self_in_image(l, self, image.bits))) return true;
  return false;
}

}  // namespace RT_NS
