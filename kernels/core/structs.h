// Every struct that Python and the kernels share, listed once: type, name, count. Kinds and modes: enums.h.
// Sizes are multiples of 16; padding is named. layout.h turns the lists into offsets, Python into dtypes.
//
// What a scene says of camera, light, materials and integrators is listed at the head of the header that reads it, so
// that a new value is declared beside its use. Those headers include this one, and this one takes their lists alone.
#pragma once
#include "compat.h"

#define RT_FIELD_LISTS
#include "../geom/clip.h"
#include "../integrator/camera.h"
#include "../integrator/exposure.h"
#include "../integrator/integrators.h"
#include "../integrator/interior.h"
#include "../shade/background.h"
#include "../shade/bsdf.h"
#include "../shade/light.h"
#include "../shade/environment_map.h"
#undef RT_FIELD_LISTS

// The parameters of all kinds are in the same place, float32 each.
#define RT_FIELDS_Material(F) RT_MATERIAL_PARAMETERS(F) F(int32_t, kind, 1)

// kind: IntegratorKind
#define RT_INTEGRATOR_FIELDS(F) F(int32_t, kind, 1) F(int32_t, max_depth, 1) RT_INTEGRATOR_SETTINGS(F)
#define RT_FIELDS_Integrator(F) RT_INTEGRATOR_FIELDS(F) F(int32_t, pad, kIntegratorPad)

// the picture and the rectangle of it that is rendered, x1 and y1 exclusive; pixels
#define RT_FIELDS_Film(F)                                                                                \
  F(int32_t, width, 1) F(int32_t, height, 1) F(int32_t, x0, 1) F(int32_t, y0, 1)                  \
  F(int32_t, x1, 1) F(int32_t, y1, 1) F(int32_t, pad, 2)

#define RT_FIELDS_Sampler(F)                                                                             \
  F(int32_t, sample_begin, 1) F(int32_t, sample_count, 1) F(uint32_t, seed, 1)                    \
  F(int32_t, filter, 1)                        /* FilterKind */                                   \
  F(float, filter_radius, 1) F(float, pad, 3)  /* in pixels */

// how the tables of the scene are read
#define RT_FIELDS_SceneInfo(F)                                                                           \
  F(int32_t, light_count, 1) F(int32_t, material_count, 1)                                        \
  F(int32_t, color_mode, 1) F(int32_t, material_mode, 1) /* ColorMode, MaterialMode */            \
  F(int32_t, large_count, 1)                   /* spheres beside the tree */                      \
  F(int32_t, emitter_count, 1) F(float, emitter_scale, 1) /* one by the sum of their weights */   \
  F(int32_t, has_alpha, 1)                   /* whether any surface is not opaque */               \
  F(float, emitter_reach, 1) F(float, scene_pad, 3)  /* radius that an emitter has at most when one is chosen */

#define RT_FIELDS_Frame(F)                                                                               \
  F(Film, film, 1) F(Sampler, sampler, 1) F(Integrator, integrator, 1)                            \
  F(Environment, environment, 1) F(SceneInfo, scene, 1) F(Clip, clip, 1)   \
  F(EnvironmentMap, environment_map, 1) F(Media, media, 1)

// what a CUDA launch receives by value: device pointers, then the part of the picture it renders
#define RT_FIELDS_RenderArgs(F)                                                                          \
  F(uint64_t, nodes, 1) F(uint64_t, spheres, 1) F(uint64_t, order, 1) F(uint64_t, color, 1)       \
  F(uint64_t, color_id, 1) F(uint64_t, material_id, 1) F(uint64_t, emitters, 1)                   \
  F(uint64_t, film, 1)                                                                            \
  F(int64_t, sphere_count, 1) F(int32_t, tile_begin, 1) F(int32_t, tile_end, 1)                   \
  F(int32_t, sample_begin, 1) F(int32_t, sample_count, 1) F(int32_t, tiles_x, 1) F(int32_t, pad, 1) \
  F(uint64_t, opacity, 1) F(uint64_t, sky, 1)                                                     \
  F(uint64_t, draft, 1) F(uint64_t, images, 1) /* planes of a draft, or 0; ImageLattice, or 0 */

// A sphere too large for a float32 centre and radius, as geom/large_sphere.h tests it; prim: its leaf position
#define RT_FIELDS_LargeSphere(F)                                                                         \
  F(float, normal, 3) F(float, curvature, 1) F(float, height, 1)                                  \
  F(uint32_t, prim, 1)                                                                            \
  F(float, fade_begin, 1) F(float, fade_end, 1) /* distances from O between which it fades; 0: it does not */

// A sphere that sends out light. It is chosen with probability `share` by Walker's alias method: entry i of the table
// stands for itself below `threshold` and above for entry `alias`.
#define RT_FIELDS_Emitter(F)                                                                             \
  F(float, center, 3) F(float, radius, 1)      /* in render space */                              \
  F(float, radiance, 3) F(float, share, 1)     /* linear RGB */                                   \
  F(float, threshold, 1) F(uint32_t, alias, 1)                                                    \
  F(uint32_t, sphere, 1) F(uint32_t, opacity, 1) /* its number; as SceneTables::opacity */

// 8-wide node, boxes quantised to 8 bits on a power-of-two grid (after Ylitie, Karras, Laine 2017).
// exponent: cell size 2^(e-127); bit i of `inner`: slot i is a node; its index is child_base + rank
// of the bit; slot i's spheres end at sphere_base + leaf_end[i] and start where slot i-1's end.
#define RT_FIELDS_Node(F)                                                                                \
  F(float, origin, 3) F(uint8_t, exponent, 3) F(uint8_t, inner, 1)                                \
  F(uint32_t, child_base, 1) F(uint32_t, sphere_base, 1) F(uint8_t, leaf_end, 8)                  \
  F(uint8_t, lo_x, 8) F(uint8_t, hi_x, 8) F(uint8_t, lo_y, 8) F(uint8_t, hi_y, 8)                 \
  F(uint8_t, lo_z, 8) F(uint8_t, hi_z, 8)

// what the ray through a pixel's centre meets first. depth: along the ray, 3e38 without a hit; the normal
// faces the viewer; id: number of the sphere in the input, 2^32 - 1 without a hit
#define RT_FIELDS_FirstHit(F)                                                                            \
  F(float, normal, 3) F(float, depth, 1) F(float, albedo, 3) F(uint32_t, id, 1)                   \
  F(float, position, 3) F(float, pad, 1)

// how a film becomes a picture, and where: the addresses are used on CUDA alone. exposure in stops
#define RT_FIELDS_ToneArgs(F)                                                                            \
  F(uint64_t, film, 1) F(uint64_t, out, 1)     /* float4 sums, row 0 on top; RGBA codes, or planes of a draft */ \
  F(uint64_t, histogram, 1) F(uint64_t, scratch, 1) /* histogram 0: nothing is counted */       \
  F(int32_t, width, 1) F(int32_t, height, 1)                                                      \
  F(int32_t, x0, 1) F(int32_t, y0, 1)          /* the film's place in the picture, for dither */  \
  F(int32_t, samples, 1) F(int32_t, bits, 1)   /* 8 or 16 a channel */                            \
  F(int32_t, curve, 1) F(int32_t, dither, 1)   /* ToneCurve; whether */                           \
  F(float, exposure, 1) F(float, white, 1)     /* exposure: unless automatic */                   \
  F(int32_t, automatic, 1) F(int32_t, meter_all, 1)                                               \
  F(float, meter_low, 1) F(float, meter_high, 1) /* percent */                                    \
  F(int32_t, stage, 1) F(int32_t, picture_height, 1) /* stage: of tone_passes; rows of the full picture */ \
  F(float, background_bottom, 3) F(int32_t, opaque, 1) /* what an opaque film's sums hold where nothing was hit */ \
  F(float, background_top, 3) F(float, neighbor_weight, 1) /* weight of the samples of a pixel beside another, of drafts */

// Statistics of a film: the histogram of film/histogram.h, sums and extremes.
#define RT_FIELDS_FilmHistogram(F)                                                                      \
  F(uint32_t, bins, 256)                                                                          \
  F(double, luminance_sum, 1) F(double, log2_sum, 1) /* of all finite pixels; of those in bins of light */ \
  F(float, darkest, 1) F(float, brightest, 1)  /* in bins of light; 3e38 and 0 where there are none */ \
  F(float, exposure, 1)                        /* that metering asks for, in stops */             \
  F(uint32_t, clipped, 1) F(uint32_t, black, 1) F(uint32_t, pad, 3) /* covered pixels of the picture */

// An array as another library laid it out. kind: NumberKind; strides in bytes; no columns: there is none
#define RT_FIELDS_StridedArray(F)                                                                       \
  F(uint64_t, data, 1) F(int64_t, row_stride, 1) F(int64_t, column_stride, 1)                     \
  F(int32_t, kind, 1) F(int32_t, columns, 1)

// Arrays of spheres on a GPU, and where they become records (geom/pack_sphere.h) and colours (shade/pack_color.h).
#define RT_FIELDS_PackArgs(F)                                                                           \
  F(StridedArray, positions, 1) F(StridedArray, radii, 1) /* none: as in the records */           \
  F(StridedArray, colors, 1)                   /* three columns of colours, or one of values */   \
  F(double, linear, 9) F(double, offset, 3)    /* by rows: positions to render space */           \
  F(double, radius_factor, 1)                                                                     \
  F(double, value_low, 1) F(double, value_span, 1) F(double, value_factor, 1) /* ends of a scale, after the factor */ \
  F(double, value_threshold, 1) F(double, value_decade, 1) /* of ValueScale kScaleSymlog */       \
  F(uint64_t, table, 1)                        /* linear RGB of a colour map, float (table_rows + 1, 3) */ \
  F(uint64_t, records, 1) F(uint64_t, color, 1) F(uint64_t, info, 1) /* float4, float (N, 3), PackInfo */ \
  F(int64_t, count, 1)                                                                            \
  F(int32_t, color_source, 1) F(int32_t, value_scale, 1) /* ColorSource, ValueScale */            \
  F(int32_t, table_rows, 1) F(float, radius, 1) /* of all in render space, where above 0 */       \
  F(int32_t, record_words, 1) F(int32_t, pad, 1) /* float4 of a record: with solids there are two */

// What was packed: each word is the least of all spheres, and all ones before the launch. Numbers are keys
// (core/float_key.h), high and max_radius those of the opposite numbers.
#define RT_FIELDS_PackInfo(F)                                                                           \
  F(uint32_t, low, 3) F(uint32_t, min_radius, 1) F(uint32_t, high, 3) F(uint32_t, max_radius, 1)  \
  F(uint32_t, first_wrong, 4)                  /* rows, by PackError */

// Records of spheres, what is asked of them, and where a block leaves its SphereReach (cuda/sphere_reach.cu). Directions
// have three numbers each; spheres count whose nearest point is within `limit` of the centre.
#define RT_FIELDS_ReachArgs(F)                                                                                       \
  F(uint64_t, records, 1) F(uint64_t, parts, 1) /* float4 (count), SphereReach of each block */               \
  F(uint64_t, rows, 1) F(uint64_t, picked, 1) /* int64 (row_count): spheres of which records are copied here */ \
  F(double, normals, 24) F(double, center, 3) F(double, limit, 1)                                             \
  F(int64_t, count, 1) F(int32_t, row_count, 1) F(int32_t, normal_count, 1)

// How far the spheres of a block reach (cpu/reach.h): max(n . c + r) for each direction, the spheres beyond the limit, and
// the first of the farthest; the lowest numbers without any.
#define RT_FIELDS_SphereReach(F)                                                                                     \
  F(double, reached, 8) F(double, distance, 1) F(int64_t, far, 1) F(int64_t, farthest, 1) F(int64_t, pad, 1)

// what the kernels that build and refit a tree receive: addresses of device memory, where arrays that are dead share
// memory with later ones (backends/cuda/tree.py says which)
#define RT_FIELDS_BuildArgs(F)                                                                                       \
  F(uint64_t, records, 1)                    /* of the primitives, in the order of the input */               \
  F(uint64_t, nodes, 1) F(uint64_t, spheres, 1) F(uint64_t, order, 1) /* the tree */                          \
  F(uint64_t, keys, 1) F(uint64_t, values, 1)         /* uint64, uint32: to be sorted; N each */              \
  F(uint64_t, keys_b, 1) F(uint64_t, values_b, 1)     /* the other pair of the sort */                        \
  F(uint64_t, lookback, 1)                   /* uint64: 256 for each tile of the sort */                      \
  F(uint64_t, parents, 1)                    /* uint32 (N): the other end of a range, or ~0 */                \
  F(uint64_t, clusters, 1) F(uint64_t, sizes, 1) /* Cluster (N), uint8 (N): primitives and kinds of children */ \
  F(uint64_t, queue, 1)                      /* uint32: cluster of each node, in the order of the nodes */    \
  F(uint64_t, status, 1)                     /* uint64: of each tile of nodes, a prefix of sums */            \
  F(uint64_t, boxes, 1)                      /* NodeBox of each node: for a refit */                          \
  F(uint64_t, state, 1)                      /* BuildState */                                                 \
  F(int64_t, count, 1)                       /* primitives in the tree */                                     \
  F(int32_t, apart_count, 1)                 /* primitives beside the tree, the last ones in leaf order */    \
  F(int32_t, step, 1)                        /* pass of the sort, level of the nodes, whether packing */        \
  F(uint64_t, apart, 1)                      /* uint32: their numbers, ascending */                           \
  F(uint64_t, unused, 1)

// what builds and refits leave for the host. refits: since the build. growth: how many times as costly the nodes are as
// when they were built, summed in parts of 2^-20 over the nodes; that of the last refit is at `refits & 1`
#define RT_FIELDS_TreeResult(F)                                                          \
  F(uint32_t, node_count, 1) F(uint32_t, too_deep, 1) F(uint32_t, refits, 1)      \
  F(uint32_t, unused, 1) F(uint64_t, growth, 2)

// Images along a lattice (bvh/images.h), in render space. Its numbers have four bytes, so that its layout is that of any
// compiler, and kernels of scenes without images do not list it. row_bits, step_bits: of a position, for the position in
// the cell, and for the steps along each edge.
#define RT_FIELDS_ImageLattice(F)                                                                                    \
  F(float, edges, 9) F(float, low, 3) F(float, high, 3) /* vectors of the lattice; box of the cell's primitives */ \
  F(int32_t, counts, 3) F(int32_t, step_bits, 3) F(int32_t, row_bits, 1)                                      \
  F(int32_t, primitives, 1) F(uint32_t, ground, 1) /* of the cell; number of the ground */                    \
  F(int32_t, pad, 4)

// every struct, whose list is RT_FIELDS_ and its name, for code that walks all of them
#define RT_VIEW_STRUCTS(S) S(Camera) S(Light)
#define RT_SCENE_STRUCTS(S)                                                                       \
  S(Film) S(Sampler) S(Integrator) S(Environment) S(SceneInfo) S(Clip) S(EnvironmentMap) S(EnvironmentTexel) \
  S(EnvironmentQuad) S(Media) S(Frame) S(RenderArgs) S(Node) S(LargeSphere) S(Emitter) S(BuildArgs) \
  S(TreeResult) S(StridedArray) S(FirstHit) S(Exposure) S(ToneArgs) S(FilmHistogram) S(PackArgs)  \
  S(PackInfo) S(ReachArgs) S(SphereReach)
#define RT_STRUCTS(S) RT_VIEW_STRUCTS(S) RT_MATERIAL_STRUCTS(S) S(Material) RT_SCENE_STRUCTS(S)

#define RT_FIELD(type, name, count) rt::FieldOf<type, count>::Type name;

#define RT_COUNT(type, name, count) +count  // numbers of 4 bytes in a list

namespace rt {
// pixels of a tile, one to a thread of a warp; RenderArgs numbers tiles by rows of these
constexpr int32_t kWarpTileWidth = 8, kWarpTileHeight = 4;
// bytes at ToneArgs::scratch; zero before the first launch
constexpr int32_t kHistogramScratchBytes = 1 << 17;
// bytes at BuildArgs::state (cuda/bvh/state.cuh): PackInfo of the packing before, TreeResult, and what is between the
// kernels; all but the first is zero before a build
constexpr int32_t kBuildStateBytes = 10 << 10;
// Planes of float32 that a draft keeps of the surfaces in its pixels (integrator/draft.h), and pixels around them: more
// than the filter, or a packet of camera rays, reaches beyond the picture
constexpr int32_t kDraftPlanes = 8, kDraftMargin = 16;

constexpr int32_t kIntegratorPad = 4 - (0 RT_INTEGRATOR_FIELDS(RT_COUNT)) % 4;

template <class T, int kCount>
struct FieldOf {
  using Type = T[kCount];
};
template <class T>
struct FieldOf<T, 1> {
  using Type = T;
};

#define RT_STRUCT(S) struct S { RT_FIELDS_##S(RT_FIELD) };
#define RT_PADDED(S) static_assert(sizeof(S) % 16 == 0, #S ": its padding is not named");
RT_VIEW_STRUCTS(RT_STRUCT)
RT_MATERIAL_STRUCTS(RT_STRUCT)
union MaterialParameters {
  RT_MATERIAL_PARAMETERS(RT_FIELD)
};
constexpr int32_t kMaterialFloats = (int32_t)(sizeof(MaterialParameters) / sizeof(float)) | 3;  // and the kind: 4 k
struct Material {
  union {
    RT_MATERIAL_PARAMETERS(RT_FIELD)
    float parameters[kMaterialFloats];
  };
  int32_t kind;  // MaterialKind
};
RT_SCENE_STRUCTS(RT_STRUCT)
RT_STRUCT(ImageLattice)
RT_VIEW_STRUCTS(RT_PADDED)
RT_SCENE_STRUCTS(RT_PADDED)
RT_PADDED(Material)
RT_PADDED(ImageLattice)
static_assert(sizeof(Node) == 80, "five words of a GPU");
}  // namespace rt
