// What the programs of peers on a GPU share: errors, buffers, and the light of a pixel from rays that a tracer casts.
#pragma once
#include "program.h"

#include <cuda_runtime.h>

#include <chrono>

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}
#define CHECK(call) check(call, #call)

template <class T>
T* allocate(size_t count) {
  void* found = nullptr;
  CHECK(cudaMalloc(&found, sizeof(T) * count));
  return static_cast<T*>(found);
}

template <class T>
std::vector<T> download(const T* source, size_t count) {
  std::vector<T> found(count);
  CHECK(cudaMemcpy(found.data(), source, sizeof(T) * count, cudaMemcpyDeviceToHost));
  return found;
}

struct View {
  Camera camera;
  Vec light;
  int width, height, work;
  uint32_t seed;
  const float4* spheres;
  float4* film;
  uint32_t* ids;  // with distances, null in frames that are timed
  float* distances;
};

// The picture of a scene: its film on the device, and ids and distances for answers.
class Picture {
 public:
  explicit Picture(const Arguments& given)
      : pixels_(given.pixels()),
        film_(allocate<float4>(pixels_)),
        ids_(allocate<uint32_t>(pixels_)),
        distances_(allocate<float>(pixels_)) {}

  View view(const Arguments& given, const float4* spheres, Work work, bool answers) const {
    return {given.camera,
            given.light,
            given.width,
            given.height,
            work,
            given.seed,
            spheres,
            film_,
            answers ? ids_ : nullptr,
            answers ? distances_ : nullptr};
  }

  Answer answer() const {
    Answer found{download(ids_, pixels_), download(distances_, pixels_), std::vector<float>(4 * pixels_)};
    CHECK(cudaMemcpy(found.film.data(), film_, sizeof(float4) * pixels_, cudaMemcpyDeviceToHost));
    return found;
  }

 private:
  size_t pixels_;
  float4* film_;
  uint32_t* ids_;
  float* distances_;
};

// Seconds of work on the device between two events.
class Stopwatch {
 public:
  Stopwatch() { CHECK(cudaEventCreate(&start_)), CHECK(cudaEventCreate(&stop_)); }

  template <class Launch>
  double time(Launch launch) {
    CHECK(cudaEventRecord(start_));
    launch();
    CHECK(cudaEventRecord(stop_));
    CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t start_, stop_;
};

// Seconds by the clock of the host, until the device has done the work: what our builds are timed by.
template <class Work>
double time_host(Work work) {
  CHECK(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  work();
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Centres after a step of at most a tenth of the radius along each axis, beside the radii: (x, y, z, radius).
inline std::vector<float> step(const Arguments& given) {
  std::vector<float> moved(given.spheres);
  uint32_t state = given.seed;
  for (size_t i = 0; i < given.count(); ++i)
    for (int axis = 0; axis < 3; ++axis) moved[4 * i + axis] += 0.1f * moved[4 * i + 3] * (2.0f * draw(state) - 1.0f);
  return moved;
}

#ifdef __CUDACC__
struct Found {
  uint32_t id;
  float distance;
};

// One pixel. TRACER has `Found closest(Vec origin, Vec direction)` and `bool passes(Vec origin, Vec direction, float far)`.
template <class Tracer>
__device__ void shade_pixel(const View& view, const Tracer& tracer, int column, int row) {
  const float offset = 1e-3f;  // of rays from a surface, in radii
  const int pixel = row * view.width + column;
  uint32_t state = mix(static_cast<uint32_t>(pixel) ^ mix(view.seed));
  Vec direction = view.camera.direction(column, row, view.width, view.height), origin = view.camera.eye;
  Found found = tracer.closest(origin, direction);
  const bool hit = found.id != kNothing;
  if (view.ids) view.ids[pixel] = found.id, view.distances[pixel] = hit ? found.distance : INFINITY;
  float grey = 0.0f;
  if (hit) {
    Vec point, normal;
    float radius;
    auto land = [&] {
      const float4 sphere = view.spheres[found.id];
      point = origin + found.distance * direction;
      normal = normalize(point - Vec{sphere.x, sphere.y, sphere.z});
      radius = sphere.w;
    };
    land();
    if (view.work == kOcclusion) {
      int open = 0;
      for (int ray = 0; ray < kOcclusionRays; ++ray)
        open += tracer.passes(point + offset * radius * normal, draw_cosine(normal, state), 1e16f);
      grey = static_cast<float>(open) / kOcclusionRays;
    } else if (view.work == kPath) {
      float weight = kAlbedo;
      for (int bounce = 0; bounce < kBounces; ++bounce, weight *= kAlbedo) {
        origin = point + offset * radius * normal, direction = draw_cosine(normal, state);
        found = tracer.closest(origin, direction);
        if (found.id == kNothing) {
          grey = weight;
          break;
        }
        land();
      }
    } else {
      origin = point + offset * radius * normal;
      const Vec to = view.light - origin;
      const float distance = sqrtf(dot(to, to)), cosine = dot(normal, to) / distance;
      bool open = cosine > 0.0f;
      if (open && view.work == kShadow) open = tracer.passes(origin, (1.0f / distance) * to, distance);
      grey = kAmbient + (open ? kDiffuse * cosine : 0.0f);
    }
  }
  view.film[pixel] = make_float4(grey, grey, grey, hit ? 1.0f : 0.0f);
}
#endif
