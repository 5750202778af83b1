#include "launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <string_view>

#include "../integrator/integrators.h"
#include "floats.h"
#include "threads.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define RT_ISA_ROW(name)                                                               \
  {#name,                                                                              \
   {{rt_##name::render_tile, rt_##name##_capsules::render_tile},                       \
    {rt_##name##_filtered::render_tile, rt_##name##_filtered_capsules::render_tile},   \
    {rt_##name##_paths::render_tile, rt_##name##_capsule_paths::render_tile}},         \
   {rt_##name::first_hit_rows, rt_##name##_capsules::first_hit_rows},                  \
   {rt_##name::exposure_rows, rt_##name##_capsules::exposure_rows},                    \
   rt_##name::measure_rows,                                                            \
   rt_##name::tone_map_rows,                                                           \
   rt_##name::clean_rows}

namespace rt {
namespace {

// Python may set it from one thread while another renders.
std::atomic<const Isa*> chosen{nullptr};

// What a thread works in. It goes back to the system when the thread is done: an allocator keeps what is freed,
// for each thread that there was.
class Workspace {
 public:
  explicit Workspace(int lights) {
    const size_t queues = (size_t)std::clamp(lights, 1, kShadowQueues);
    size_ = sizeof(Scratch) + queues * sizeof(ShadowQueue);
    pages_ = take(size_);
    scratch_ = new (pages_) Scratch;  // not value-initialised
    scratch_->shadow = new (static_cast<char*>(pages_) + sizeof(Scratch)) ShadowQueue[queues];
  }
  ~Workspace() { give_back(pages_, size_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  Scratch& scratch() { return *scratch_; }

 private:
#if defined(__linux__)
  static void* take(size_t size) {
    void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return pages;
  }
  static void give_back(void* pages, size_t size) { munmap(pages, size); }
#else
  static void* take(size_t size) { return ::operator new(size, std::align_val_t(alignof(Scratch))); }
  static void give_back(void* pages, size_t) { ::operator delete(pages, std::align_val_t(alignof(Scratch))); }
#endif

  size_t size_;
  void* pages_;
  Scratch* scratch_;
};

// the crop in tiles
struct Tiles {
  const Film& f;
  int64_t across() const { return ((int64_t)f.x1 - f.x0 + kTileSide - 1) / kTileSide; }
  int64_t down() const { return ((int64_t)f.y1 - f.y0 + kTileSide - 1) / kTileSide; }
  int64_t count() const { return across() * down(); }
  TileRect at(int64_t index) const {
    int x = f.x0 + (int)(index % across()) * kTileSide, y = f.y0 + (int)(index / across()) * kTileSide;
    return {x, y, std::min(x + kTileSide, (int)f.x1), std::min(y + kTileSide, (int)f.y1)};
  }
};

}  // namespace

const char* processor_isa() {
#if RT_X86
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
  }
#endif
  return "portable";
}

const Isa* usable_isas(int* count) {
  static Isa list[3];
  static int n = [] {
    int k = 0;
    [[maybe_unused]] const std::string_view best = processor_isa();
#if defined(RT_HAVE_AVX512)
    if (best == "avx512") list[k++] = RT_ISA_ROW(avx512);
#endif
#if defined(RT_HAVE_AVX2)
    if (best != "portable") list[k++] = RT_ISA_ROW(avx2);
#endif
    list[k++] = RT_ISA_ROW(portable);
    return k;
  }();
  *count = n;
  return list;
}

const Isa& current_isa() {
  int n;
  const Isa* isa = chosen;
  return isa ? *isa : *usable_isas(&n);
}

bool use_isa(const char* name) {
  int n;
  const Isa* list = usable_isas(&n);
  for (int i = 0; i < n; ++i)
    if (!std::strcmp(list[i].name, name)) return chosen = list + i, true;
  return false;
}

int64_t tile_count(const Film& f) { return Tiles{f}.count(); }

int64_t render(const SceneView& scene, int64_t first, double budget, int threads) {
  using Clock = std::chrono::steady_clock;
  const Tiles tiles{scene.frame->film};
  const int64_t count = tiles.count();
  const bool paths = needs_path_tracing(*scene.frame, *scene.camera, scene.lights, scene.materials);
  const int kind = paths ? 2 : filters_hits(*scene.frame);
  const auto render_tile = current_isa().render[kind][scene.has_capsules];
  const auto start = Clock::now();
  std::atomic<int64_t> next{first};
  auto work = [&](int) {
    FlushDenormals mode;
    Workspace space(scene.frame->scene.light_count);
    while (std::chrono::duration<double>(Clock::now() - start).count() < budget) {
      int64_t i = next.fetch_add(1);
      if (i >= count || is_cancelled(scene)) break;
      render_tile(scene, space.scratch(), tiles.at(i));
    }
  };
  ThreadPool(useful_threads(count - first, threads), scene.cancel).run(work);
  return std::min(next.load(), count);
}

void first_hits(const SceneView& scene, FirstHits out, int threads) {
  const Film& f = scene.frame->film;
  const auto rows = current_isa().first_hits[scene.has_capsules];
  const int64_t blocks = ((int64_t)f.y1 - f.y0 + kBlockRows - 1) / kBlockRows;
  ThreadPool(useful_threads(blocks, threads), scene.cancel).each(blocks, [&](int64_t row, int) {
    FlushDenormals mode;
    rows(scene, out, (int)row);
  });
}

void exposures(const SceneView& scene, Exposure* out, int64_t count, int threads) {
  constexpr int64_t kStretch = 64;  // spheres of a unit of work
  const auto rows = current_isa().exposures[scene.has_capsules];
  const int64_t stretches = (scene.sphere_count + kStretch - 1) / kStretch;
  ThreadPool(useful_threads(stretches, threads), scene.cancel).each(stretches, [&](int64_t i, int) {
    FlushDenormals mode;
    rows(scene, out, count, i * kStretch, std::min(scene.sphere_count, (i + 1) * kStretch));
  });
}

}  // namespace rt
