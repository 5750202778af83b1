// Primitives out of the records of a scene, which lie in leaf order.
#pragma once
#include "../geom/primitive.h"
#include "scene_view.h"
#include "wide.h"

namespace RT_NS {

static_assert(kPrimitiveWords == 1 || kPrimitiveWords == 2);

RT_HD Primitive<float> load_primitive(const rt::SceneView& s, uint32_t prim) {
  float record[kPrimitiveFloats];
  memcpy(record, s.spheres + kPrimitiveFloats * (size_t)prim, sizeof record);
  return unpack_primitive(record, s.spheres);
}

// one for each lane, by leaf positions
RT_HD Primitive<FW> gather_rows(const rt::SceneView& s, UW row) {
  const UW at = row << (kPrimitiveWords == 1 ? 2 : 3);
  FW record[kPrimitiveFloats];
  for (int k = 0; k < kPrimitiveFloats; ++k) record[k] = gather(s.spheres + k, at);
  return unpack_primitive(record, s.spheres);
}

#if RT_IMAGES
// Not inlined, because few scenes have images.
RT_COLD Primitive<FW> gather_in_images(const rt::SceneView& s, UW prim) {
  return in_image(s, gather_rows(s, row_of(s, prim)), prim);
}
#endif

RT_HD Primitive<FW> gather_primitives(const rt::SceneView& s, UW prim) {
#if RT_IMAGES
  if (s.images) return gather_in_images(s, prim);
#endif
  return gather_rows(s, prim);
}

// the eight from `begin` on
RT_HD Primitive<F8> load_primitives(const rt::SceneView& s, uint32_t begin) {
  const float* records = s.spheres + kPrimitiveFloats * (size_t)begin;
  float tail[8 * kPrimitiveFloats];
  if (begin + 8 > s.sphere_count) {  // eight records are read, whatever the slot holds
    memset(tail, 0, sizeof tail);
    memcpy(tail, records, sizeof(float) * kPrimitiveFloats * (size_t)(s.sphere_count - begin));
    records = tail;
  }
  F8 record[kPrimitiveFloats];
  for (int w = 0; w < kPrimitiveWords; ++w) {
    const float* words = records;
    float column[32];
    if (kPrimitiveWords > 1) {  // word w of each record, one after another
      for (int i = 0; i < 8; ++i) memcpy(column + 4 * i, records + kPrimitiveFloats * i + 4 * w, 16);
      words = column;
    }
    load_transposed(words, record[4 * w], record[4 * w + 1], record[4 * w + 2], record[4 * w + 3]);
  }
  return unpack_primitive(record, s.spheres);
}

}  // namespace RT_NS
