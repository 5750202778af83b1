// Embree's sphere points on the CPU. EMBREE_LIBRARY names libembree4; program.h has the arguments and commands.
// Modes: packets of 1, 4, 8 and 16 rays of neighbouring pixels, 16-high with a tree of high quality. A block of pixels is traced and shaded at once, blocks
// of a tile one after another, tiles by the threads that are free.
#include "../program.h"
#include "api.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace {
using embree::kCoherent;
using embree::kNoGeometry;
using embree::QueryArguments;
using embree::RayHits;
using embree::Rays;

constexpr int kTile = 32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kOffset = 1e-3f;  // of rays from a surface, in radii

template <int K>
constexpr int kColumns = K == 1   ? 1
                         : K == 4 ? 2
                                  : 4;

// Points of surfaces: a lane without one is not active.
template <int K>
struct Surface {
  Vec point[K], normal[K];
  float radius[K];
  bool active[K];
};

class Spheres {
 public:
  explicit Spheres(Arguments given) : arguments_(std::move(given)), film_(4 * arguments_.pixels()) {
    const char* path = std::getenv("EMBREE_LIBRARY");
    if (!path) fail("EMBREE_LIBRARY is not set to the path of libembree4");
    if (const char* missing = library_.open(path)) fail(std::string("libembree4: ") + missing);
    device_ = library_.NewDevice(("threads=" + std::to_string(arguments_.threads)).c_str());
    if (!device_) fail("Embree has made no device");
  }

  std::string name() {
    auto part = [&](int property) { return std::to_string(library_.GetDeviceProperty(device_, property)); };
    return "Embree " + part(embree::kVersionMajor) + "." + part(embree::kVersionMinor) + "." +
           part(embree::kVersionPatch);
  }

  double run(const std::string& work, const std::string& mode) {
    if (work != "build") prepare(mode);
    const auto start = std::chrono::steady_clock::now();
    void* const built = work == "build" ? build(quality_of(mode)) : nullptr;
    if (!built) frame(work_of(work), mode);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (built) library_.ReleaseScene(built);
    return spent.count();
  }

  Answer answer(const std::string& work, const std::string& mode) {
    prepare(mode);
    Answer found{std::vector<uint32_t>(arguments_.pixels()), std::vector<float>(arguments_.pixels()), {}};
    found_ = &found;
    frame(work_of(work), mode);
    found_ = nullptr;
    found.film = film_;
    return found;
  }

 private:
  static int quality_of(const std::string& name) {
    if (name == "low") return embree::kLow;
    if (name == "medium") return embree::kMedium;
    if (name == "high") return embree::kHigh;
    fail("there is no quality " + name);
  }

  // The tree of a mode of frames: PACKET, of medium quality, or PACKET-QUALITY.
  void prepare(const std::string& mode) {
    const size_t dash = mode.find('-');
    const int quality = dash == std::string::npos ? embree::kMedium : quality_of(mode.substr(dash + 1));
    if (scene_ && quality == quality_) return;
    if (scene_) library_.ReleaseScene(scene_);
    scene_ = build(quality_ = quality);
  }

  void* build(int quality) {
    void* const scene = library_.NewScene(device_);
    library_.SetSceneBuildQuality(scene, quality);
    void* const geometry = library_.NewGeometry(device_, embree::kSpherePoint);
    if (!geometry) fail("this libembree4 was built without points");
    library_.SetGeometryBuildQuality(geometry, quality);
    library_.SetSharedGeometryBuffer(geometry, embree::kVertex, 0, embree::kFloat4, arguments_.spheres.data(), 0, 16,
                                     arguments_.count());
    library_.CommitGeometry(geometry);
    library_.AttachGeometry(scene, geometry);
    library_.ReleaseGeometry(geometry);
    library_.CommitScene(scene);
    if (const int error = library_.GetDeviceError(device_)) fail("Embree's error " + std::to_string(error));
    return scene;
  }

  void frame(Work work, const std::string& mode) {
    switch (std::atoi(mode.c_str())) {
      case 1:
        return trace<1>(work);
      case 4:
        return trace<4>(work);
      case 8:
        return trace<8>(work);
      case 16:
        return trace<16>(work);
      default:
        fail("there is no mode " + mode);
    }
  }

  template <int K>
  void trace(Work work) {
    const int across = (arguments_.width + kTile - 1) / kTile, down = (arguments_.height + kTile - 1) / kTile;
    std::atomic<int> next{0};
    auto run = [&] {
      _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);  // as Embree's manual asks of threads that trace
      _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
      for (int tile; (tile = next++) < across * down;) {
        const int left = tile % across * kTile, top = tile / across * kTile;
        for (int y = top; y < std::min(top + kTile, arguments_.height); y += K / kColumns<K>)
          for (int x = left; x < std::min(left + kTile, arguments_.width); x += kColumns<K>) block<K>(work, x, y);
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < arguments_.threads; ++i) threads.emplace_back(run);
    run();
    for (auto& thread : threads) thread.join();
  }

  template <int K>
  static void set(Rays<K>& rays, int lane, Vec origin, Vec direction, float far) {
    rays.org_x[lane] = origin.x, rays.org_y[lane] = origin.y, rays.org_z[lane] = origin.z;
    rays.dir_x[lane] = direction.x, rays.dir_y[lane] = direction.y, rays.dir_z[lane] = direction.z;
    rays.tnear[lane] = 0.0f, rays.tfar[lane] = far, rays.time[lane] = 0.0f;
    rays.mask[lane] = ~0u, rays.id[lane] = rays.flags[lane] = 0;
  }

  // Fills the lanes that were hit with points and normals that face the ray; the others are not active afterwards.
  template <int K>
  void closest(RayHits<K>& rays, Surface<K>& surface, bool coherent) {
    alignas(64) int valid[K];
    for (int i = 0; i < K; ++i) {
      valid[i] = surface.active[i] ? -1 : 0;
      rays.hit.geometry[i] = rays.hit.instance[i] = kNoGeometry;
    }
    QueryArguments query;
    query.flags = coherent ? kCoherent : embree::kIncoherent;
    library_.intersect<K>(valid, scene_, rays, query);
    for (int i = 0; i < K; ++i) {
      surface.active[i] = surface.active[i] && rays.hit.geometry[i] != kNoGeometry;
      if (!surface.active[i]) continue;
      const Vec direction{rays.ray.dir_x[i], rays.ray.dir_y[i], rays.ray.dir_z[i]};
      const Vec normal = normalize({rays.hit.normal_x[i], rays.hit.normal_y[i], rays.hit.normal_z[i]});
      surface.normal[i] = dot(normal, direction) > 0.0f ? -1.0f * normal : normal;
      surface.point[i] = Vec{rays.ray.org_x[i], rays.ray.org_y[i], rays.ray.org_z[i]} + rays.ray.tfar[i] * direction;
      surface.radius[i] = arguments_.spheres[4 * size_t{rays.hit.primitive[i]} + 3];
    }
  }

  // Rays that nothing stops: `active` says which are cast, `open` which of them pass.
  template <int K>
  void pass(Rays<K>& rays, const bool (&active)[K], bool (&open)[K], bool coherent) {
    alignas(64) int valid[K];
    bool any = false;
    for (int i = 0; i < K; ++i) valid[i] = active[i] ? -1 : 0, any |= active[i];
    QueryArguments query;
    query.flags = coherent ? kCoherent : embree::kIncoherent;
    if (any) library_.occluded<K>(valid, scene_, rays, query);
    for (int i = 0; i < K; ++i) open[i] = active[i] && rays.tfar[i] >= 0.0f;
  }

  template <int K>
  void block(Work work, int x0, int y0) {
    alignas(64) RayHits<K> rays{};
    Surface<K> surface{};
    bool inside[K];
    uint32_t states[K];
    for (int i = 0; i < K; ++i) {
      const int x = x0 + i % kColumns<K>, y = y0 + i / kColumns<K>;
      inside[i] = surface.active[i] = x < arguments_.width && y < arguments_.height;
      states[i] = mix(static_cast<uint32_t>(y * arguments_.width + x) ^ mix(arguments_.seed));
      set(rays.ray, i, arguments_.camera.eye, arguments_.camera.direction(x, y, arguments_.width, arguments_.height),
          kInfinity);
    }
    closest(rays, surface, true);
    if (found_) store(rays, inside, x0, y0);
    bool hit[K];
    float grey[K];
    for (int i = 0; i < K; ++i) hit[i] = surface.active[i], grey[i] = 0.0f;
    if (work == kPath)
      path(rays, surface, states, grey);
    else if (work == kOcclusion)
      occlusion(surface, states, grey);
    else
      direct(work, surface, grey);
    for (int i = 0; i < K; ++i) {
      if (!inside[i]) continue;
      const int x = x0 + i % kColumns<K>, y = y0 + i / kColumns<K>;
      float* pixel =
          &film_[4 * (static_cast<size_t>(y) * static_cast<size_t>(arguments_.width) + static_cast<size_t>(x))];
      pixel[0] = pixel[1] = pixel[2] = hit[i] ? grey[i] : 0.0f;
      pixel[3] = hit[i] ? 1.0f : 0.0f;
    }
  }

  template <int K>
  void direct(Work work, const Surface<K>& surface, float (&grey)[K]) {
    alignas(64) Rays<K> rays{};
    bool faces[K], open[K];
    float cosine[K];
    for (int i = 0; i < K; ++i) {
      faces[i] = false, cosine[i] = 0.0f;
      if (!surface.active[i]) continue;
      const Vec origin = surface.point[i] + kOffset * surface.radius[i] * surface.normal[i];
      const Vec to = arguments_.light - origin;
      const float distance = std::sqrt(dot(to, to));
      cosine[i] = dot(surface.normal[i], to) / distance;
      faces[i] = cosine[i] > 0.0f;
      set(rays, i, origin, (1.0f / distance) * to, distance);
    }
    if (work == kShadow)
      pass(rays, faces, open, true);
    else
      std::copy(faces, faces + K, open);
    for (int i = 0; i < K; ++i) grey[i] = kAmbient + (open[i] ? kDiffuse * cosine[i] : 0.0f);
  }

  template <int K>
  void occlusion(const Surface<K>& surface, uint32_t (&states)[K], float (&grey)[K]) {
    for (int ray = 0; ray < kOcclusionRays; ++ray) {
      alignas(64) Rays<K> rays{};
      bool open[K];
      for (int i = 0; i < K; ++i)
        if (surface.active[i])
          set(rays, i, surface.point[i] + kOffset * surface.radius[i] * surface.normal[i],
              draw_cosine(surface.normal[i], states[i]), kInfinity);
      pass(rays, surface.active, open, false);
      for (int i = 0; i < K; ++i) grey[i] += open[i] ? 1.0f / kOcclusionRays : 0.0f;
    }
  }

  template <int K>
  void path(RayHits<K>& rays, Surface<K>& surface, uint32_t (&states)[K], float (&grey)[K]) {
    float weight = kAlbedo;
    for (int bounce = 0; bounce < kBounces; ++bounce, weight *= kAlbedo) {
      bool before[K], any = false;
      for (int i = 0; i < K; ++i) {
        before[i] = surface.active[i], any |= surface.active[i];
        if (surface.active[i])
          set(rays.ray, i, surface.point[i] + kOffset * surface.radius[i] * surface.normal[i],
              draw_cosine(surface.normal[i], states[i]), kInfinity);
      }
      if (!any) return;
      closest(rays, surface, false);
      for (int i = 0; i < K; ++i)
        if (before[i] && !surface.active[i]) grey[i] = weight;
    }
  }

  template <int K>
  void store(const RayHits<K>& rays, const bool (&inside)[K], int x0, int y0) {
    for (int i = 0; i < K; ++i) {
      if (!inside[i]) continue;
      const auto pixel = static_cast<size_t>(y0 + i / kColumns<K>) * static_cast<size_t>(arguments_.width) +
                         static_cast<size_t>(x0 + i % kColumns<K>);
      const bool hit = rays.hit.geometry[i] != kNoGeometry;
      found_->ids[pixel] = hit ? rays.hit.primitive[i] : kNothing;
      found_->distances[pixel] = hit ? rays.ray.tfar[i] : kInfinity;
    }
  }

  embree::Library library_;
  Arguments arguments_;
  std::vector<float> film_;
  void *device_ = nullptr, *scene_ = nullptr;
  int quality_ = embree::kMedium;
  Answer* found_ = nullptr;
};
}  // namespace

int main(int argc, char** argv) {
  Spheres spheres(parse(argc, argv));
  return serve(spheres);
}
