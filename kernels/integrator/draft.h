// The ambient occlusion of drafts: pictures of one sample per pixel that are soon replaced.
//
// One occlusion ray is blocked or not, so that a draft of such rays is black pepper. Here they leave every second row of
// pixels alone, and the ambient light of a pixel is that of the rays around it, on surfaces that face the same way at a
// similar depth: a joint bilateral filter (Petschnigg et al. 2004; Eisemann, Durand 2004) of what the rays found, guided
// by normals and depths. A GPU and a CPU render the film without this light, keep planes of the first surfaces, and add it.
#pragma once
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

// Whether the occlusion ray was open; depth in units of kDraftReach, kNoSurface where there is none; normal; what the
// surface shows of the whole sky. All are 0 beyond the film.
enum DraftPlane : int { kDraftOpen, kDraftDepth, kDraftNormal, kDraftAmbient = kDraftNormal + 3 };

// Pixels by which surfaces in neighbouring pixels differ in depth until they count half: spheres curve, and the gaps
// between them are deeper.
constexpr float kDraftReach = 8.0f;

// Its square is a float with a quotient: quotient() is no division of infinities.
constexpr float kNoSurface = 1e15f;

// Weight of the belief that half of the sky is open, where no other surface is like that of a pixel.
constexpr float kOpenPrior = 1e-3f;

RT_HD int64_t draft_stride(int32_t width) { return (int64_t)(width + 2 * rt::kDraftMargin); }
RT_HD int64_t draft_plane(int32_t width, int32_t height) {
  return draft_stride(width) * (int64_t)(height + 2 * rt::kDraftMargin);
}
// Place of a pixel of the film in a plane.
RT_HD int64_t draft_place(int32_t width, int32_t x, int32_t y) {
  return (int64_t)(y + rt::kDraftMargin) * draft_stride(width) + (int64_t)(x + rt::kDraftMargin);
}

// Whether occlusion rays leave a row of the film: half of them pay for the filter.
template <class U> RT_HD auto traces_row(U y) { return (y & U(1u)) == U(0u); }

// at(plane, dx, dy), here and below: of a pixel beside another one
template <class F, class At> RT_HD Vec3<F> draft_normal(const At& at, int dx, int dy) {
  return {at(kDraftNormal, dx, dy), at(kDraftNormal + 1, dx, dy), at(kDraftNormal + 2, dx, dy)};
}

template <class F> RT_HD MaskOf<F> is_surface(F depth) { return depth < F(kNoSurface); }

// The ambient light of a surface, in a row that rays leave or in one between.
template <class F, bool kTraced, class At> RT_HD Vec3<F> draft_ambient(const At& at) {
  constexpr int kX = kTraced ? 3 : 2, kY = kTraced ? 2 : 3;  // about as many rays either way
  const Vec3<F> normal = draft_normal<F>(at, 0, 0);
  const F depth = at(kDraftDepth, 0, 0);
  F open(0.5f * kOpenPrior), weights(kOpenPrior);
  for (int dy = -kY; dy <= kY; dy += 2)
    for (int dx = -kX; dx <= kX; ++dx) {
      const F cosine = max_(dot(normal, draft_normal<F>(at, dx, dy)), F(0.0f)), apart = at(kDraftDepth, dx, dy) - depth;
      const F weight = quotient(cosine * cosine, fma_(apart, apart, F(1.0f)));
      open = fma_(weight, at(kDraftOpen, dx, dy), open);
      weights = weights + weight;
    }
  return quotient(open, weights) *
         Vec3<F>{at(kDraftAmbient, 0, 0), at(kDraftAmbient + 1, 0, 0), at(kDraftAmbient + 2, 0, 0)};
}

}  // namespace RT_NS
