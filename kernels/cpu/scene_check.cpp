#include "scene_check.h"

#include <algorithm>
#include <vector>

#include "../bvh/node.h"
#include "../core/enums.h"
#include "../geom/clip.h"
#include "../geom/primitive.h"

namespace rt {
namespace {

constexpr int kMaxMapSize = 2048;
constexpr int kFarthest = 1 << 24;  // pixels from the origin, in both directions

// One more than the largest number, as unsigned; without a branch for each, so that the loop is vectorised.
int64_t numbers_asked(const int32_t* ids, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, (uint32_t)ids[i]);
  return count ? (int64_t)largest + 1 : 0;
}

// The leaf slots of a node: their ends ascend and lie within the spheres.
bool leaves_fit(const Node& n, int64_t spheres) {
  int begin = 0;
  for (int i = 0; i < 8; ++i) {
    if (n.leaf_end[i] < begin) return false;
    begin = n.leaf_end[i];
  }
  return (int64_t)n.sphere_base + begin <= spheres;
}

// The numbers in the records of solids that are indices.
struct SolidIndices {
  int64_t color_rows;  // one more than the largest row of colours
  bool rows_fit;       // rows of numbers are behind the records
};

SolidIndices solid_indices(const SceneView& s, int64_t records) {
  uint32_t largest = 0;
  bool fit = true;
  for (int64_t i = 0; i < s.sphere_count; ++i) {
    uint32_t tag, row;
    const float* record = s.spheres + kSolidFloats * i;
    memcpy(&row, record + 3, sizeof row);
    memcpy(&tag, record + kSolidFloats - 1, sizeof tag);
    const bool is_flat = tag >> (kFormShift - 1) == kTriangleForm;
    const int64_t rows = is_flat ? kTriangleRows : tag >> kFormShift >= kConeForm ? 1 : 0;
    if (rows) fit &= row >= s.sphere_count && row + rows <= records;
    if (!is_flat) largest = std::max(largest, tag & kColorRows);
    if (!is_flat || !fit || !(tag & kCornerColors)) continue;
    uint32_t colors[3];
    memcpy(colors, s.spheres + kSolidFloats * (int64_t)row + 12, sizeof colors);
    for (uint32_t color : colors) largest = std::max(largest, color);
  }
  return {(int64_t)largest + 1, fit};
}

// Whether positions have room for the steps along the lattice, and no primitive is kNoPrim.
bool images_fit(const ImageLattice& l, int64_t spheres) {
  int64_t bits = l.row_bits;
  if (l.row_bits < 0 || l.row_bits > 30 || spheres > (int64_t)1 << l.row_bits) return false;
  for (int a = 0; a < 3; ++a) {
    if (l.step_bits[a] < 0 || l.step_bits[a] > 10 || l.counts[a] < 1 || l.counts[a] > 1 << l.step_bits[a]) return false;
    bits += l.step_bits[a];
  }
  return bits < 31;
}

const char* nodes_problem(const SceneView& s, int64_t count) {
  std::vector<uint8_t> level((size_t)count, 0);  // as seen from the root, which is 0
  for (int64_t i = 0; i < count; ++i) {
    const Node& n = s.nodes[i];
    if (!leaves_fit(n, s.sphere_count)) return "nodes: a leaf holds spheres that do not exist";
    int64_t first = n.child_base, children = __builtin_popcount(n.inner);
    if (!children) continue;
    if (first <= i || first + children > count) return "nodes: a child is not among the nodes after its parent";
    if (level[(size_t)i] + 1 >= kMaxLevels) return "nodes: the hierarchy is deeper than the stack of a walk";
    for (int64_t c = first; c < first + children; ++c)
      level[(size_t)c] = std::max(level[(size_t)c], (uint8_t)(level[(size_t)i] + 1));
  }
  return nullptr;
}

}  // namespace

const char* view_problem(const Frame& f, const SceneLengths& n, int64_t lights, int64_t materials) {
  if (f.film.width < 1 || f.film.height < 1) return "frame: a picture has pixels";
  // A pixel outside of the picture is a ray like any other; sums of coordinates must not overflow.
  if (std::min(f.film.x0, f.film.y0) < -kFarthest || std::max(f.film.x1, f.film.y1) > kFarthest)
    return "frame: the crop is far outside of the picture";
  if (f.film.x1 <= f.film.x0 || f.film.y1 <= f.film.y0) return "frame: the crop is empty";
  if (f.sampler.sample_begin < 0 || f.sampler.sample_count < 0 ||
      (int64_t)f.sampler.sample_begin + f.sampler.sample_count > INT32_MAX)
    return "frame: an int32 numbers the samples";
  if (f.scene.color_mode < 0 || f.scene.color_mode >= kColorModeCount || f.scene.material_mode < 0 ||
      f.scene.material_mode >= kMaterialModeCount)
    return "frame: there is no such mode of colours or materials";
  if (f.scene.light_count < 0 || lights < f.scene.light_count) return "lights: fewer than the frame says";
  if (f.scene.large_count < 0 || n.large < f.scene.large_count) return "large: fewer than the frame says";
  if (f.scene.emitter_count < 0 || n.emitters < f.scene.emitter_count) return "emitters: fewer than the frame says";
  if (f.scene.material_count < 0 || materials < std::max(f.scene.material_count, 1))
    return "materials: fewer than the frame says";
  const int64_t rows = std::max(n.spheres, n.color_rows);
  if (n.colors < (f.scene.color_mode == kColorPerSphere ? rows : 1)) return "color: fewer than the frame says";
  if (f.scene.color_mode == kColorIndexed && n.color_ids < rows) return "color_id: fewer than spheres";
  if (f.scene.material_mode == kMaterialIndexed && n.material_ids < n.spheres) return "material_id: fewer than spheres";
  if (f.scene.material_mode == kMaterialIndexed && materials < n.materials)
    return "material_id: points behind the materials";
  if (n.opacities && n.opacities < n.spheres) return "opacity: fewer than spheres";
  const int64_t side = f.environment_map.map_size;
  const int64_t corners = (side + 1) * (2 * side + 1), quads = 2 * ((side * side - 1) / 3) + 1;
  if (side < 0 || side > kMaxMapSize || (side & (side - 1)) || (side && corners + quads > n.texels))
    return "sky: fewer texels than the frame says, or rows that are no power of two";
  if (f.clip.clip_count < 0 || f.clip.clip_count > kMaxClipPlanes) return "clip: more planes than there is room for";
  return nullptr;
}

const char* scene_problem(const SceneView& s, SceneLengths& n) {
  if (s.sphere_count >= (1 << 29)) return "the CPU backend renders fewer than 2^29 spheres";
  if (s.has_capsules && n.records >= (1 << 28))
    return "the CPU backend renders fewer than 2^28 capsules, cones, ellipsoids and spheres";
  if (s.sphere_count && !n.nodes) return "nodes: spheres without a hierarchy";
  if (numbers_asked(s.order, s.sphere_count) > s.sphere_count) return "order: points behind the spheres";
  if (numbers_asked(s.color_id, n.color_ids) > n.colors) return "color_id: points behind the colours";
  n.materials = numbers_asked(s.material_id, n.material_ids);
  if (n.materials > INT32_MAX) return "material_id: points behind the materials";
  if (s.images && (s.has_capsules || !images_fit(*s.images, s.sphere_count))) return "images: more than positions hold";
  for (int64_t i = 0; i < n.large; ++i)
    if (s.large[i].prim >= s.sphere_count) return "large: points behind the spheres";
  for (int64_t i = 0; i < n.emitters; ++i)
    if (s.emitters[i].alias >= n.emitters) return "emitters: an alias points behind the emitters";
  if (s.has_capsules) {
    const SolidIndices indices = solid_indices(s, n.records);
    n.color_rows = indices.color_rows;
    if (!indices.rows_fit) return "spheres: a solid points behind the records";
  }
  return nodes_problem(s, n.nodes);
}

}  // namespace rt
