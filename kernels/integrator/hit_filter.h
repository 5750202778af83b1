// Which hits of a ray count: an argument of traversal, as the filter functions of other ray tracers.
//
// AllHits: all do. SampleHits leaves out what planes clip, and surfaces that are not there in this sample: with opacity
// a, a surface is there in a share a of a pixel's samples, for all rays of the sample alike (camera, shadow, mirrored).
// A sphere so stands for a layer through which a share 1 - a of the light passes, and no sorting is needed. In the same
// way rays to lights pass straight through glass where that is asked for (`transparent_shadows`): an approximation, since
// glass bends light and gathers it.
#pragma once
#include "../core/sampling.h"
#include "../geom/large_sphere.h"
#include "features.h"
#include "interior.h"
#include "scene.h"

namespace RT_NS {

constexpr uint32_t kOpaque = 65535;  // opacity 1
constexpr uint32_t kPresence = 0x80000000u;  // keys of presence, beyond those of numbers and shuffles

struct AllHits {
  static constexpr bool kAcceptsAll = true;
  template <class F, class Test> RT_HD F nearest(const Primitive<F>& p, const Test& test) const {
    return nearest_hit(p, test);
  }
  template <class F, class Test> RT_HD MaskOf<F> blocks(const Primitive<F>& p, const Test& test, F t_max) const {
    return occludes(p, test, t_max);
  }
  template <class F> RT_HD F nearest_large(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) const {
    return large_nearest(s, origin, direction).t;
  }
  RT_HD bool accepts(uint32_t) const { return true; }
  template <class F> RT_HD MaskOf<F> accepts_large(const rt::LargeSphere&, Vec3<F>) const {
    return splat_mask<F>(true);
  }
};

// The key by which surfaces are there or not in the samples of pixel (x, y).
template <class U> RT_HD U presence_key(const rt::Frame& frame, U x, U y) {
  return pixel_key(frame.sampler.seed, x, y, kPresence);
}

// Whether a surface of that opacity is there in sample s of the pixel with a presence_key: a pixel's samples are
// stratified.
template <class F> RT_HD MaskOf<F> is_present(UintOf<F> pixel, uint32_t s, UintOf<F> surface, UintOf<F> opacity) {
  using U = UintOf<F>;
  const U key = mix32(pixel ^ (surface * U(0x9e3779b9u)));
  const U index = reverse_bits(owen_scramble_reversed(U(reverse_bits(s)), mix32(key ^ U(kShuffle))));
  const F u = unit_float(reverse_bits(owen_scramble_reversed(index, key)));
  return u * F((float)kOpaque) < to_float(opacity);
}

// The part of a large sphere that has not faded at a point, in [0, 1].
template <class F> RT_HD F unfaded(const rt::LargeSphere& s, Vec3<F> position) {
  if (!(s.fade_end > 0.0f)) return F(1.0f);
  const F distance = sqrt_(dot(position, position));
  F x = (F(s.fade_end) - distance) * F(1.0f / max_(s.fade_end - s.fade_begin, 1e-20f));
  x = min_(max_(x, F(0.0f)), F(1.0f));
  return x * x * fma_(x, F(-2.0f), F(3.0f));
}

// Share of light that passes through a primitive of glass without bending: what two surfaces do not reflect, times the
// luminance of its colour. Not inlined: few rays ask, and traversal is smaller.
RT_COLD float straight_share(const rt::SceneTables& scene, uint32_t prim) {
#if RT_FULL_SHADING
  const Bsdf<float> b = load_bsdf<float>(scene, prim);
  if (!b.is_principled) return 0.0f;
  const float root = (b.principled.ior - 1.0f) / (b.principled.ior + 1.0f), passes = 1.0f - root * root;
  const Vec3<float> weights = vec3(0.2126f, 0.7152f, 0.0722f);
  return (1.0f - b.principled.metallic) * b.principled.transmission * passes * passes * dot(weights, b.albedo);
#else
  return 0.0f;
#endif
}

// Whether rays to lights pass straight through glass.
RT_HD bool passes_glass(const rt::Frame& frame) {
  return RT_ALL_MATERIALS && RT_LOCAL_INTEGRATORS && frame.integrator.transparent_shadows;
}

// Where on a ray hits may be; begin >= end: nowhere.
template <class F>
struct HitRange {
  F begin, end;
};

// For the rays of one sample; F: float for one ray, lanes for several.
template <class F>
struct SampleHits {
  static constexpr bool kAcceptsAll = false;
  const rt::SceneTables* scene;
  UintOf<F> pixel;  // presence_key
  uint32_t sample;  // kCenterSample: what is at least half opaque is there
  ClipSpan<F> span;
  bool to_light;  // a ray that asks whether a light is seen
#if RT_IMAGES
  uint32_t image = 0;  // bits of the image whose primitives are asked about
#endif

  template <class G> RT_HD ClipSpan<G> span_of() const { return {G(span.begin), G(span.end), G(span.last)}; }

  // what planes leave of the ray
  RT_HD HitRange<F> range() const {
    const F begin = select(span.begin > F(0.0f), F(0.0f), min_(span.end, F(1e30f)));  // times a cosine is finite
    return {begin, min_(span.last, F(kInfinity))};
  }
  template <class G, class Test> RT_HD G nearest(const Primitive<G>& p, const Test& test) const {
    if (!scene->frame->clip.clip_count) return nearest_hit(p, test);
    return clipped_nearest(p, test, span_of<G>());
  }
  template <class G, class Test> RT_HD MaskOf<G> blocks(const Primitive<G>& p, const Test& test, G t_max) const {
    if (!scene->frame->clip.clip_count) return occludes(p, test, t_max);
    const G t = clipped_nearest(p, test, span_of<G>());
    return (t > G(0.0f)) & (t < t_max);
  }
  RT_HD F nearest_large(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) const {
    if (!scene->frame->clip.clip_count) return large_nearest(s, origin, direction).t;
    return clipped_large(s, origin, direction, span).t;
  }
  RT_HD MaskOf<F> accepts(uint32_t prim) const {
    const bool through_glass = to_light && passes_glass(*scene->frame);
    if (!scene->opacity && !through_glass) return splat_mask<F>(true);
    const uint32_t surface = (uint32_t)scene->order[prim];
    uint32_t opacity = scene->opacity ? scene->opacity[surface] : kOpaque;
    if (through_glass) opacity = (uint32_t)((float)opacity * (1.0f - straight_share(*scene, prim)));
    if (opacity == kOpaque) return splat_mask<F>(true);
#if RT_IMAGES
    return is_there(number_of(*scene, prim | image, surface), UintOf<F>(opacity));
#else
    return is_there(surface, UintOf<F>(opacity));
#endif
  }
  RT_HD MaskOf<F> accepts_large(const rt::LargeSphere& s, Vec3<F> position) const {
    if (!scene->frame->scene.has_alpha) return splat_mask<F>(true);
    const uint32_t surface = (uint32_t)scene->order[s.prim];
    const F opacity((float)(scene->opacity ? scene->opacity[surface] : kOpaque));
    return is_there(number_of(*scene, s.prim, surface), to_uint(fma_(opacity, unfaded(s, position), F(0.5f))));
  }
  RT_HD MaskOf<F> is_there(uint32_t surface, UintOf<F> opacity) const {
    if (sample == kCenterSample) return to_float(opacity) >= F(0.5f * (float)kOpaque);
    return is_present<F>(pixel, sample, UintOf<F>(surface), opacity);
  }
};

// The filter for the primitives of an image.
template <class Filter> RT_HD Filter filter_in_image(const Filter& filter, uint32_t image) {
  Filter own = filter;
#if RT_IMAGES
  if constexpr (!Filter::kAcceptsAll) own.image = image;
#endif
  return own;
}

// The filter of a ray of a sample of the pixel with a presence_key.
template <class F>
RT_HD SampleHits<F> sample_hits(const rt::SceneTables& scene, UintOf<F> pixel, uint32_t sample, Vec3<F> origin,
                                Vec3<F> direction, bool to_light = false) {
  SampleHits<F> a = {&scene, pixel, sample, {F(kInfinity), F(kInfinity), F(kInfinity)}, to_light};
  if (scene.frame->clip.clip_count) a.span = clip_span(scene.frame->clip, origin, direction);
  return a;
}

// As SampleHits for one ray, without some primitives.
struct HitsExcept : SampleHits<float> {
  const uint32_t* except;  // kInteriorSolids primitives

  RT_HD bool is_excepted(uint32_t prim) const {
    bool found = false;
    for (int i = 0; i < kInteriorSolids; ++i) found |= except[i] == prim;
    return found;
  }
  RT_HD bool accepts(uint32_t prim) const { return !is_excepted(prim) && SampleHits<float>::accepts(prim); }
  RT_HD bool accepts_large(const rt::LargeSphere& s, Vec3<float> position) const {
    return !is_excepted(s.prim) && SampleHits<float>::accepts_large(s, position);
  }
};

// The filter of a ray where code knows opacity and clipping, and where it does not.
template <class F>
RT_HD auto ray_filter(const rt::SceneTables& scene, UintOf<F> pixel, uint32_t sample, Vec3<F> origin, Vec3<F> direction,
                      bool to_light = false) {
#if RT_ALPHA_CLIP
  return sample_hits<F>(scene, pixel, sample, origin, direction, to_light);
#else
  return AllHits();
#endif
}

// As above, for a sample of pixel (x, y).
template <class F>
RT_HD auto ray_filter(const rt::SceneTables& scene, UintOf<F> x, UintOf<F> y, uint32_t sample, Vec3<F> origin,
                      Vec3<F> direction, bool to_light = false) {
  return ray_filter<F>(scene, presence_key(*scene.frame, x, y), sample, origin, direction, to_light);
}

}  // namespace RT_NS
