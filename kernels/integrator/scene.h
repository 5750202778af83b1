// What shading reads of a scene, on both sides: tables by number. How rays find spheres is not here.
#pragma once
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
};

}  // namespace rt

namespace RT_NS {

// linear RGB of a sphere, or of a row of colours
template <class F> RT_HD Vec3<F> load_albedo(const rt::SceneTables& s, UintOf<F> sphere) {
  if (s.frame->scene.color_mode == kColorUniform) return gather3<F>(s.color, UintOf<F>(0u));
  return gather3<F>(s.color, s.frame->scene.color_mode == kColorPerSphere ? sphere : gather(s.color_id, sphere));
}

// The BSDF at a point of the sphere at leaf position `prim`.
template <class F> RT_HD Bsdf<F> load_bsdf(const rt::SceneTables& s, UintOf<F> prim) {
  const bool uniform = s.frame->scene.color_mode == kColorUniform && s.frame->scene.material_mode == kMaterialUniform;
  const UintOf<F> sphere = uniform ? prim : gather(s.order, prim);  // with one look for all, no number is needed
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
