// Spheres of a scene that move: their records, and a tree that follows them, in memory that is allocated once.
#pragma once
#include <memory>
#include <optional>

#include "bvh/build.h"
#include "place_spheres.h"

namespace rt {

// The arrays of a scene as they were packed and built; they are copied.
struct BuiltTree {
  const Node* nodes;
  int64_t node_count;
  const float* records;  // leaf order
  int64_t record_count;  // with the rows of numbers of solids behind those of `count` primitives
  const int32_t* order;
  int64_t count;
  const int32_t* apart;  // as for BuildOptions
  int64_t apart_count;
};

class MovingSpheres {
 public:
  virtual ~MovingSpheres() = default;
  // records of kSphereFloats or kSolidFloats
  static std::unique_ptr<MovingSpheres> make(int floats, const BuiltTree& built, int threads);

  // Moves spheres and refits the tree around them. Where what it has grown (bvh/refit.h), added over all calls since it
  // was built, is above `limit`, or where equal primitives are in no slot, it is built anew. Returns whether it was
  // built; nothing, and all stays as it was, where a sphere is not finite, or too long for float32 in render space.
  virtual std::optional<bool> move(const SphereMotion& motion, double limit, int threads, Cancel* cancel) = 0;

  // of the tree at its last refit
  virtual double growth() const = 0;
  virtual const Node* nodes() const = 0;
  virtual int64_t node_count() const = 0;
  virtual const float* records() const = 0;
  virtual const int32_t* order() const = 0;
  virtual int64_t nbytes() const = 0;
};

}  // namespace rt
