// cuBQL's trees on the GPU, and rays through spheres in them; ../program.h has the arguments and commands.
// Modes: the builders sah, median, radix and rebin. Rays are queries that shrink with each hit; those to the light, which
// any sphere stops, shrink to nothing.
#include "../cuda_program.h"

#define CUBQL_GPU_BUILDER_IMPLEMENTATION 1
#include <cuBQL/bvh.h>
#include <cuBQL/builder/cuda.h>
#include <cuBQL/builder/cuda/radix.h>
#include <cuBQL/builder/cuda/rebinMortonBuilder.h>
#include <cuBQL/traversal/rayQueries.h>

namespace {
using Boxes = cuBQL::box_t<float, 3>;
using Tree = cuBQL::bvh3f;

__device__ cuBQL::vec3f vector(Vec a) { return {a.x, a.y, a.z}; }

// The distance to a sphere from outside within (0, far), or `far`.
__device__ float distance_to(float4 sphere, Vec origin, Vec direction, float far) {
  const Vec to = Vec{sphere.x, sphere.y, sphere.z} - origin;
  const float along = dot(to, direction);
  const Vec beside = to - along * direction;
  const float inside = sphere.w * sphere.w - dot(beside, beside);
  if (inside < 0.0f) return far;
  const float half = sqrtf(inside), first = along - half, second = along + half;
  const float found = first > 0.0f ? first : second;
  return found > 0.0f && found < far ? found : far;
}

struct Tracer {
  Tree tree;
  const float4* spheres;

  __device__ Found closest(Vec origin, Vec direction) const {
    Found found{kNothing, INFINITY};
    cuBQL::ray3f ray(vector(origin), vector(direction), 0.0f, INFINITY);
    const float4* const all = spheres;
    auto visit = [&](uint32_t id) {
      const float at = distance_to(all[id], origin, direction, ray.tMax);
      if (at < ray.tMax) ray.tMax = at, found = {id, at};
      return ray.tMax;
    };
    cuBQL::shrinkingRayQuery::forEachPrim(visit, tree, ray);
    return found;
  }

  __device__ bool passes(Vec origin, Vec direction, float far) const {
    bool open = true;
    cuBQL::ray3f ray(vector(origin), vector(direction), 0.0f, far);
    const float4* const all = spheres;
    auto visit = [&](uint32_t id) {
      if (distance_to(all[id], origin, direction, far) < far) open = false, ray.tMax = -1.0f;
      return ray.tMax;
    };
    cuBQL::shrinkingRayQuery::forEachPrim(visit, tree, ray);
    return open;
  }
};

__global__ void fill_boxes(const float4* spheres, Boxes* boxes, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 s = spheres[i];
  boxes[i] = Boxes({s.x - s.w, s.y - s.w, s.z - s.w}, {s.x + s.w, s.y + s.w, s.z + s.w});
}

__global__ void render(View view, Tracer tracer) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (column < view.width && row < view.height) shade_pixel(view, tracer, column, row);
}

class Spheres {
 public:
  explicit Spheres(Arguments given) : arguments_(std::move(given)), picture_(arguments_) {
    const unsigned count = this->count();
    const std::vector<float> moved = step(arguments_);
    const float* const states[] = {arguments_.spheres.data(), moved.data()};
    for (int i = 0; i < 2; ++i) {
      spheres_[i] = allocate<float4>(count);
      CHECK(cudaMemcpy(spheres_[i], states[i], 16 * static_cast<size_t>(count), cudaMemcpyHostToDevice));
    }
    boxes_ = allocate<Boxes>(count);
    CHECK(cudaStreamCreate(&stream_));
  }

  std::string name() {
    const char* revision = std::getenv("CUBQL_REVISION");
    return revision ? std::string("cuBQL ") + revision : "cuBQL";
  }

  double run(const std::string& work, const std::string& mode) {
    if (work == "build") {
      Tree built{};
      const double seconds = time_host([&] { build(built, mode, 0); });
      cuBQL::cuda::free(built, stream_);
      return seconds;
    }
    prepare(mode, work == "refit");
    if (work == "refit") {
      state_ = 1 - state_;
      return time_host([&] {
        fill(state_);
        cuBQL::gpuBuilder_impl::refit(tree_, boxes_, stream_, cuBQL::defaultGpuMemResource());
      });
    }
    return frame(work_of(work), false);
  }

  Answer answer(const std::string& work, const std::string& mode) {
    prepare(mode, false);
    frame(work_of(work), true);
    return picture_.answer();
  }

 private:
  unsigned count() const { return static_cast<unsigned>(arguments_.count()); }

  // The boxes belong to the work: ours makes its own from spheres, too.
  void fill(int state) { fill_boxes<<<(count() + 255) / 256, 256, 0, stream_>>>(spheres_[state], boxes_, count()); }

  void build(Tree& tree, const std::string& mode, int state) {
    fill(state);
    cuBQL::BuildConfig config;
    if (mode == "sah")
      cuBQL::cuda::sahBuilder(tree, boxes_, count(), config, stream_);
    else if (mode == "radix")
      cuBQL::cuda::radixBuilder(tree, boxes_, count(), config, stream_);
    else if (mode == "rebin")
      cuBQL::cuda::rebinRadixBuilder(tree, boxes_, count(), config, stream_);
    else if (mode == "median")
      cuBQL::gpuBuilder(tree, boxes_, count(), config, stream_);
    else
      fail("there is no mode " + mode);
  }

  // The tree of frames and refits; one that was refitted to moved spheres is refitted again, and not used for frames.
  void prepare(const std::string& mode, bool for_refit) {
    if (mode == mode_ && (for_refit || state_ == 0)) return;
    if (!mode_.empty()) cuBQL::cuda::free(tree_, stream_);
    build(tree_, mode_ = mode, state_ = 0);
    CHECK(cudaDeviceSynchronize());
  }

  double frame(Work work, bool answers) {
    const dim3 block(8, 4), grid((arguments_.width + 7) / 8, (arguments_.height + 3) / 4);
    const View view = picture_.view(arguments_, spheres_[0], work, answers);
    return stopwatch_.time([&] { render<<<grid, block>>>(view, Tracer{tree_, spheres_[0]}); });
  }

  Arguments arguments_;
  Picture picture_;
  Stopwatch stopwatch_;
  float4* spheres_[2]{};
  Boxes* boxes_ = nullptr;
  cudaStream_t stream_ = nullptr;
  Tree tree_{};
  std::string mode_;
  int state_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  Spheres spheres(parse(argc, argv));
  return serve(spheres);
}
