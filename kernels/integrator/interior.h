// Solids of glass within and across each other (Schmidt, Budge 2002). A path keeps a list of the solids that it is
// inside of. Where several overlap, the one of the largest priority fills the place, and of equal priorities the one
// that comes last in the scene. The surfaces of the others are not there: paths cross them straight on, without a
// bounce, and so they do between two solids of the same glass.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// nested: whether paths keep the list; camera_*: solids of glass in which camera rays may begin, and spheres around
// them, in render space
#define RT_FIELDS_Media(F)                                                                               \
  F(int32_t, nested, 1) F(int32_t, camera_count, 1) F(int32_t, media_pad, 2)                   \
  F(uint32_t, camera_solid, 4) F(float, camera_sphere, 16)

#elif !defined(RT_INTEGRATOR_INTERIOR_H)
#define RT_INTEGRATOR_INTERIOR_H
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

constexpr int kInteriorSolids = 4;  // of the list; a path does not notice that it enters a fifth

// A solid is in the list by its number in the scene and 1; 0 is an empty place.
template <class F>
struct Interior {
  UintOf<F> solid[kInteriorSolids];
  F index_here, index_beyond;  // of refraction, before and behind the surface that the ray meets
};

// Adds a solid where `enters`, takes it out where `leaves`.
template <class F>
RT_HD void update_interior(Interior<F>& interior, UintOf<F> solid, MaskOf<F> enters, MaskOf<F> leaves) {
  const UintOf<F> none(0u);
  MaskOf<F> open = enters;
  for (int i = 0; i < kInteriorSolids; ++i) open = open & !(interior.solid[i] == solid);
  for (int i = 0; i < kInteriorSolids; ++i) {
    const MaskOf<F> here = interior.solid[i] == solid, free = open & (interior.solid[i] == none);
    interior.solid[i] = select(leaves & here, none, select(free, solid, interior.solid[i]));
    open = open & !free;
  }
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_INTERIOR_H
