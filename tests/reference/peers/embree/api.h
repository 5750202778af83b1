// The functions of Embree 4 that the program calls, declared here because wheels hold the library without its headers.
// Types and values are those of its documented C interface.
#pragma once
#include <cstddef>
#include <dlfcn.h>

namespace embree {
// K rays as the library takes them: lanes of each component; of one ray, its components.
template <int K>
struct alignas(K < 4 ? 16 : 4 * K) Rays {
  float org_x[K], org_y[K], org_z[K], tnear[K], dir_x[K], dir_y[K], dir_z[K], time[K], tfar[K];
  unsigned mask[K], id[K], flags[K];
};

template <int K>
struct alignas(K < 4 ? 16 : 4 * K) Hits {
  float normal_x[K], normal_y[K], normal_z[K], u[K], v[K];
  unsigned primitive[K], geometry[K], instance[K], instance_primitive[K];
};

template <int K>
struct RayHits {
  Rays<K> ray;
  Hits<K> hit;
};

enum : unsigned { kNoGeometry = ~0u, kAllFeatures = ~0u };
enum GeometryType { kSpherePoint = 50 };
enum BufferType { kVertex = 1 };
enum Format { kFloat4 = 0x9004 };
enum Quality { kLow = 0, kMedium = 1, kHigh = 2 };
enum Flags { kIncoherent = 0, kCoherent = 1 << 16 };
enum Property { kVersionMajor = 1, kVersionMinor = 2, kVersionPatch = 3 };

// RTCIntersectArguments and RTCOccludedArguments; the last member is read by builds with curves of a minimum width.
struct QueryArguments {
  int flags = kIncoherent;
  unsigned features = kAllFeatures;
  void *context = nullptr, *filter = nullptr, *function = nullptr;
  float min_width = 0.0f;
};

#define EMBREE_FUNCTIONS(F)                                                                                  \
  F(void*, NewDevice, (const char*))                                                                         \
  F(int, GetDeviceError, (void*))                                                                            \
  F(ptrdiff_t, GetDeviceProperty, (void*, int))                                                              \
  F(void*, NewScene, (void*))                                                                                \
  F(void, ReleaseScene, (void*))                                                                             \
  F(void, SetSceneBuildQuality, (void*, int))                                                                \
  F(void, CommitScene, (void*))                                                                              \
  F(void*, NewGeometry, (void*, int))                                                                        \
  F(void, ReleaseGeometry, (void*))                                                                          \
  F(void, SetGeometryBuildQuality, (void*, int))                                                             \
  F(void, SetSharedGeometryBuffer, (void*, int, unsigned, int, const void*, size_t, size_t, size_t))         \
  F(void, CommitGeometry, (void*))                                                                           \
  F(unsigned, AttachGeometry, (void*, void*))                                                                \
  F(void, Intersect1, (void*, void*, QueryArguments*))                                                       \
  F(void, Intersect4, (const int*, void*, void*, QueryArguments*))                                           \
  F(void, Intersect8, (const int*, void*, void*, QueryArguments*))                                           \
  F(void, Intersect16, (const int*, void*, void*, QueryArguments*))                                          \
  F(void, Occluded1, (void*, void*, QueryArguments*))                                                        \
  F(void, Occluded4, (const int*, void*, void*, QueryArguments*))                                            \
  F(void, Occluded8, (const int*, void*, void*, QueryArguments*))                                            \
  F(void, Occluded16, (const int*, void*, void*, QueryArguments*))

struct Library {
#define EMBREE_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  EMBREE_FUNCTIONS(EMBREE_MEMBER)
#undef EMBREE_MEMBER

  // Returns the name of what is missing, or null.
  const char* open(const char* path) {
    void* found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!found) return dlerror();
#define EMBREE_LOAD(result, name, parameters)                                 \
  name = reinterpret_cast<result(*) parameters>(dlsym(found, "rtc" #name)); \
  if (!name) return "rtc" #name;
    EMBREE_FUNCTIONS(EMBREE_LOAD)
#undef EMBREE_LOAD
    return nullptr;
  }

  template <int K>
  void intersect(const int* valid, void* scene, RayHits<K>& rays, QueryArguments& arguments) const {
    if constexpr (K == 1) Intersect1(scene, &rays, &arguments);
    if constexpr (K == 4) Intersect4(valid, scene, &rays, &arguments);
    if constexpr (K == 8) Intersect8(valid, scene, &rays, &arguments);
    if constexpr (K == 16) Intersect16(valid, scene, &rays, &arguments);
  }

  template <int K>
  void occluded(const int* valid, void* scene, Rays<K>& rays, QueryArguments& arguments) const {
    if constexpr (K == 1) Occluded1(scene, &rays, &arguments);
    if constexpr (K == 4) Occluded4(valid, scene, &rays, &arguments);
    if constexpr (K == 8) Occluded8(valid, scene, &rays, &arguments);
    if constexpr (K == 16) Occluded16(valid, scene, &rays, &arguments);
  }
};
}  // namespace embree
