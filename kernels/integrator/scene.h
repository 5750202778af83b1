// What shading reads of a scene, on both sides: tables by number. How rays find spheres is not here.
#pragma once
#include "../bvh/images.h"
#include "../core/enums.h"
#include "../geom/primitive.h"
#include "../shade/bsdf.h"

namespace rt {

// On a GPU order, colours, their numbers and emitters lie in global memory, the rest in constant memory.
struct SceneTables {
  const int32_t* order;     // leaf position -> sphere
  const float* color;       // linear RGB
  const int32_t* color_id;
  const int32_t* material_id;
  const Camera* camera;
  const Light* lights;
  const Material* materials;
  const LargeSphere* large;  // Frame::scene.large_count of them; the last spheres in leaf order
  const Emitter* emitters;  // Frame::scene.emitter_count of them
  const EnvironmentTexel* sky;      // as shade/environment_map.h says, for Frame::environment_map.map_size
  const uint16_t* opacity;  // of each surface, 65535: opaque; null: all are
  const Frame* frame;
  float* draft;             // planes of a draft (draft.h) of Frame::film; null: the picture is none
#if RT_IMAGE_FIELD
  const ImageLattice* images;  // null: there are none
#endif
};

}  // namespace rt

namespace RT_NS {

// Position in leaf order of a primitive, which may be in an image.
template <class U> RT_HD U row_of(const rt::SceneTables& s, U prim) {
#if RT_IMAGES
  if (s.images) return leaf_position(*s.images, prim);
#endif
  return prim;
}

// Number of a primitive in the input of which an image has the looks.
template <class U> RT_HD U surface_of(const rt::SceneTables& s, U prim) { return gather(s.order, row_of(s, prim)); }

// The number that is shown of a primitive: those of an image follow those of the image before. surface: surface_of
template <class U> RT_HD U number_of(const rt::SceneTables& s, U prim, U surface) {
#if RT_IMAGES
  if (s.images) {
    const rt::ImageLattice& l = *s.images;
    const ImageSteps<U> steps = image_steps(l, prim);
    const U image = (steps.a * U((uint32_t)l.counts[1]) + steps.b) * U((uint32_t)l.counts[2]) + steps.c;
    const U primitives((uint32_t)l.primitives);
    return select(surface == primitives, U(l.ground), image * primitives + surface);
  }
#endif
  return surface;
}

#if RT_IMAGES
// A primitive of the cell, where its image is.
template <class F>
RT_HD Primitive<F> in_image(const rt::SceneTables& s, const Primitive<F>& primitive, UintOf<F> prim) {
  if (!s.images) return primitive;
  return relative_to(primitive, F(-1.0f) * image_vector<F>(*s.images, image_steps(*s.images, prim)));
}
#endif

// linear RGB of a sphere, or of a row of colours
template <class F> RT_HD Vec3<F> load_albedo(const rt::SceneTables& s, UintOf<F> sphere) {
  if (s.frame->scene.color_mode == kColorUniform) return gather3<F>(s.color, UintOf<F>(0u));
  return gather3<F>(s.color, s.frame->scene.color_mode == kColorPerSphere ? sphere : gather(s.color_id, sphere));
}

// The BSDF at a point of the sphere at leaf position `prim`.
template <class F> RT_HD Bsdf<F> load_bsdf(const rt::SceneTables& s, UintOf<F> prim) {
  const bool uniform = s.frame->scene.color_mode == kColorUniform && s.frame->scene.material_mode == kMaterialUniform;
  const UintOf<F> sphere = uniform ? prim : surface_of(s, prim);  // with one look for all, no number is needed
  const Vec3<F> albedo = load_albedo<F>(s, sphere);
  if (s.frame->scene.material_mode == kMaterialUniform) return load_bsdf<F>(s.materials, albedo);
  return load_bsdf<F>(s.materials, gather(s.material_id, sphere), albedo);
}

#if RT_SOLIDS  // without, the code for spheres alone is to the bit what it was before there were capsules

// linear RGB at a point of the primitive with that number, whose colours at its ends or corners may differ
template <class F>
RT_HD Vec3<F> albedo_at(const rt::SceneTables& s, const Primitive<F>& primitive, const SurfacePoint<F>& point,
                        UintOf<F> number) {
  const ColorRows<F> rows = color_rows(primitive, point, number);
  Vec3<F> albedo = load_albedo<F>(s, rows.first);
  const MaskOf<F> has_three = is_triangle_with(primitive, kCornerColors);
  if (any(has_three)) {
    const CornerColors<F> c = corner_colors(primitive, point);
    const Vec3<F> at_a = load_albedo<F>(s, select(has_three, c.a, number)),
                  at_b = load_albedo<F>(s, select(has_three, c.b, number)),
                  at_c = load_albedo<F>(s, select(has_three, c.c, number));
    const Vec3<F> mixed = fma3(c.shares.x, at_a, fma3(c.shares.y, at_b, c.shares.z * at_c));
    albedo = select3(has_three, mixed, albedo);
  }
  if (!any(rows.share > F(0.0f))) return albedo;
  return fma3(rows.share, load_albedo<F>(s, rows.second) - albedo, albedo);
}

// The same at a point of the primitive.
template <class F>
RT_HD Bsdf<F> load_bsdf(const rt::SceneTables& s, UintOf<F> prim, const Primitive<F>& primitive,
                        const SurfacePoint<F>& point) {
  const UintOf<F> number = gather(s.order, prim);
  const Vec3<F> albedo = albedo_at(s, primitive, point, number);
  if (s.frame->scene.material_mode == kMaterialUniform) return load_bsdf<F>(s.materials, albedo);
  return load_bsdf<F>(s.materials, gather(s.material_id, number), albedo);
}

#endif

}  // namespace RT_NS
