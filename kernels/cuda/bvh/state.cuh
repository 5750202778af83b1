// The state between the kernels of a build, and the clusters that they merge.
#pragma once
#include "../../bvh/node.h"
#include "../primitive_load.cuh"

namespace rt {

constexpr int kDigits = 256, kSortPasses = 8;
constexpr uint32_t kNone = ~0u;

// The byte of a cluster: its primitives, or kMaxSize of more; and which of its children are primitives.
constexpr uint32_t kMaxSize = 63, kLeftIsPrimitive = 64, kRightIsPrimitive = 128;

// Nodes [begin, end) of one level; its primitives in leaf order begin at `spheres`, its tiles at `tile`.
struct Level {
  uint32_t begin, end, spheres, tile;
};

struct BuildState {
  PackInfo packed;
  TreeResult result;
  uint32_t refit_ticket;
  uint32_t low[3], high[3];  // keys of the bounds of all centres, inverted: zero is the empty box
  uint32_t root;
  uint32_t histogram[kSortPasses][kDigits];
  uint32_t sort_ticket[kSortPasses];
  uint32_t level_ticket[kMaxLevels];
  Level level[kMaxLevels + 1];
};
static_assert(sizeof(BuildState) <= kBuildStateBytes);

struct Box3 {
  Vec3<float> lo, hi;
};
RT_DEVICE Box3 join(const Box3& a, const Box3& b) {
  return {vec3(fminf(a.lo.x, b.lo.x), fminf(a.lo.y, b.lo.y), fminf(a.lo.z, b.lo.z)),
          vec3(fmaxf(a.hi.x, b.hi.x), fmaxf(a.hi.y, b.hi.y), fmaxf(a.hi.z, b.hi.z))};
}
RT_DEVICE float half_area(const Box3& b) {
  const Vec3<float> d = b.hi - b.lo;
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

// An inner node of the binary tree. A child is the number of a cluster or of a primitive, as its byte says.
struct alignas(32) Cluster {
  float lo[3], hi[3];
  uint32_t left, right;
};

// four lanes x, y, z, (unused), for primitive_box
struct Float4 {
  float x, y, z, w;
};
RT_DEVICE Float4 operator+(Float4 a, Float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
RT_DEVICE Float4 operator-(Float4 a, Float4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
RT_DEVICE Float4 splat_w(Float4 a) { return {a.w, a.w, a.w, a.w}; }
RT_DEVICE Float4 abs4(Float4 a) { return {fabsf(a.x), fabsf(a.y), fabsf(a.z), fabsf(a.w)}; }

RT_DEVICE Box3 box_of(const PrimitiveRecord& r) {
  Float4 words[kPrimitiveWords];
#pragma unroll
  for (int w = 0; w < kPrimitiveWords; ++w) words[w] = {r.word[w].x, r.word[w].y, r.word[w].z, r.word[w].w};
  const PrimitiveBox<Float4> b = primitive_box(words);
  return {vec3(-b.neg_lo.x, -b.neg_lo.y, -b.neg_lo.z), vec3(b.hi.x, b.hi.y, b.hi.z)};
}

// What other blocks write in the same launch is read from the second-level cache, and not before a fence.
RT_DEVICE uint32_t load_fresh(const uint32_t* p) { return *(const volatile uint32_t*)p; }
RT_DEVICE uint64_t load_fresh(const uint64_t* p) { return *(const volatile uint64_t*)p; }
RT_DEVICE uint32_t load_fresh(const uint8_t* p) { return *(const volatile uint8_t*)p; }
RT_DEVICE float4 load_fresh(const float4* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

// The exact box of a node; `step`: the refit that wrote it; `first_cost`: of its slots, when it was built.
struct alignas(16) NodeBox {
  float lo[3], hi[3];
  uint32_t step;
  float first_cost;
};

// The arguments with their types.
struct Build {
  const BuildArgs& args;
  const PrimitiveRecord* records = (const PrimitiveRecord*)args.records;
  Node* nodes = (Node*)args.nodes;
  PrimitiveRecord* spheres = (PrimitiveRecord*)args.spheres;
  uint32_t* order = (uint32_t*)args.order;
  uint64_t* keys[2] = {(uint64_t*)args.keys, (uint64_t*)args.keys_b};
  uint32_t* values[2] = {(uint32_t*)args.values, (uint32_t*)args.values_b};
  uint64_t* lookback = (uint64_t*)args.lookback;
  uint32_t* parents = (uint32_t*)args.parents;
  Cluster* clusters = (Cluster*)args.clusters;
  uint8_t* sizes = (uint8_t*)args.sizes;
  uint32_t* queue = (uint32_t*)args.queue;
  uint64_t* status = (uint64_t*)args.status;
  NodeBox* boxes = (NodeBox*)args.boxes;  // null: no refit follows
  BuildState* state = (BuildState*)args.state;
  const uint32_t* apart = (const uint32_t*)args.apart;
  uint32_t count = (uint32_t)args.count, apart_count = (uint32_t)args.apart_count;

  // all primitives, those beside the tree too
  RT_DEVICE uint32_t total() const { return count + apart_count; }
  RT_DEVICE bool is_apart(uint32_t id) const {
    for (uint32_t k = 0; k < apart_count; ++k)
      if (apart[k] == id) return true;
    return false;
  }
  RT_DEVICE Box3 primitive_box_of(uint32_t id) const { return box_of(load_record(records + id)); }
};

}  // namespace rt
