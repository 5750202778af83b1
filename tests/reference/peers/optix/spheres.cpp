// OptiX's built-in spheres on the GPU. OPTIX_IR names the device programs (device.cu, compiled with -optix-ir); ../program.h
// has the arguments and commands. Modes of frames: trace and traverse (device.cu), over a compacted tree for fast tracing.
// Modes of builds: fast-trace and fast-build, by the flags of their names, and default; compaction is not in the time.
#include "parameters.h"

#include <optix_function_table_definition.h>
#include <optix_stubs.h>

#include <iterator>

namespace {
void check(OptixResult result, const char* what) {
  if (result != OPTIX_SUCCESS) fail(std::string(what) + ": " + optixGetErrorName(result));
}

struct alignas(OPTIX_SBT_RECORD_ALIGNMENT) Record {
  char header[OPTIX_SBT_RECORD_HEADER_SIZE];
};

// Memory that grows, so that repeated builds allocate nothing.
struct Memory {
  CUdeviceptr at = 0;
  size_t bytes = 0;

  CUdeviceptr reserve(size_t needed) {
    if (needed > bytes) {
      if (at) CHECK(cudaFree(reinterpret_cast<void*>(at)));
      at = reinterpret_cast<CUdeviceptr>(allocate<char>(bytes = needed));
    }
    return at;
  }
};

struct Tree {
  OptixTraversableHandle handle = 0;
  Memory memory;
};

class Spheres {
 public:
  explicit Spheres(Arguments given) : arguments_(std::move(given)), picture_(arguments_) {
    CHECK(cudaFree(nullptr));
    CHECK(optixInit());
    OptixDeviceContextOptions options{};
    CHECK(optixDeviceContextCreate(nullptr, &options, &context_));
    const std::vector<float> moved = step(arguments_);
    const float* const states[] = {arguments_.spheres.data(), moved.data()};
    for (int i = 0; i < 2; ++i) {
      spheres_[i] = allocate<float4>(arguments_.count());
      CHECK(cudaMemcpy(spheres_[i], states[i], 16 * arguments_.count(), cudaMemcpyHostToDevice));
    }
    make_pipeline();
    build(frame_tree_, OPTIX_BUILD_FLAG_PREFER_FAST_TRACE | OPTIX_BUILD_FLAG_ALLOW_COMPACTION);
    compact(frame_tree_);
    parameters_ = allocate<Parameters>(1);
  }

  std::string name() {
    const int version = OPTIX_VERSION;
    return "OptiX " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }

  double run(const std::string& work, const std::string& mode) {
    if (work == "build") return time_host([&] { build(other_tree_, flags_of(mode)); });
    if (work == "refit") return refit(flags_of(mode));
    return frame(work_of(work), mode, false);
  }

  Answer answer(const std::string& work, const std::string& mode) {
    frame(work_of(work), mode, true);
    return picture_.answer();
  }

 private:
  static unsigned flags_of(const std::string& mode) {
    if (mode == "default") return OPTIX_BUILD_FLAG_NONE;
    if (mode == "fast-trace") return OPTIX_BUILD_FLAG_PREFER_FAST_TRACE;
    if (mode == "fast-build") return OPTIX_BUILD_FLAG_PREFER_FAST_BUILD;
    fail("there is no mode " + mode);
  }

  void build(Tree& tree, unsigned flags, int state = 0, bool updates = false) {
    CUdeviceptr centers = reinterpret_cast<CUdeviceptr>(spheres_[state]), radii = centers + 12;
    const unsigned geometry_flags = OPTIX_GEOMETRY_FLAG_DISABLE_ANYHIT;
    OptixBuildInput input{};
    input.type = OPTIX_BUILD_INPUT_TYPE_SPHERES;
    input.sphereArray.vertexBuffers = &centers, input.sphereArray.radiusBuffers = &radii;
    input.sphereArray.vertexStrideInBytes = input.sphereArray.radiusStrideInBytes = 16;
    input.sphereArray.numVertices = static_cast<unsigned>(arguments_.count());
    input.sphereArray.flags = &geometry_flags, input.sphereArray.numSbtRecords = 1;
    OptixAccelBuildOptions options{};
    options.buildFlags = flags;
    options.operation = updates ? OPTIX_BUILD_OPERATION_UPDATE : OPTIX_BUILD_OPERATION_BUILD;
    OptixAccelBufferSizes sizes;
    CHECK(optixAccelComputeMemoryUsage(context_, &options, &input, 1, &sizes));
    const size_t needed = updates ? sizes.tempUpdateSizeInBytes : sizes.tempSizeInBytes;
    compacted_ = compacted_ ? compacted_ : reinterpret_cast<CUdeviceptr>(allocate<size_t>(1));
    const OptixAccelEmitDesc emitted{compacted_, OPTIX_PROPERTY_TYPE_COMPACTED_SIZE};
    const bool compacts = flags & OPTIX_BUILD_FLAG_ALLOW_COMPACTION;
    const CUdeviceptr target = updates ? tree.memory.at : tree.memory.reserve(sizes.outputSizeInBytes);
    CHECK(optixAccelBuild(context_, nullptr, &options, &input, 1, scratch_.reserve(needed), needed, target,
                          tree.memory.bytes, &tree.handle, compacts ? &emitted : nullptr, compacts ? 1 : 0));
  }

  void compact(Tree& tree) {
    size_t bytes = 0;
    CHECK(cudaMemcpy(&bytes, reinterpret_cast<void*>(compacted_), sizeof bytes, cudaMemcpyDeviceToHost));
    Memory smaller;
    CHECK(optixAccelCompact(context_, nullptr, tree.handle, smaller.reserve(bytes), bytes, &tree.handle));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(reinterpret_cast<void*>(tree.memory.at)));
    tree.memory = smaller;
  }

  double refit(unsigned flags) {
    flags |= OPTIX_BUILD_FLAG_ALLOW_UPDATE;
    if (!refitted_.handle || refit_flags_ != flags) build(refitted_, refit_flags_ = flags);
    state_ = 1 - state_;
    return time_host([&] { build(refitted_, flags, state_, true); });
  }

  double frame(Work work, const std::string& mode, bool answers) {
    if (mode != "trace" && mode != "traverse") fail("there is no mode " + mode);
    const Parameters now{picture_.view(arguments_, spheres_[0], work, answers), frame_tree_.handle};
    CHECK(cudaMemcpy(parameters_, &now, sizeof now, cudaMemcpyHostToDevice));
    OptixShaderBindingTable& table = tables_[mode == "traverse"];
    return stopwatch_.time([&] {
      CHECK(optixLaunch(pipeline_, nullptr, reinterpret_cast<CUdeviceptr>(parameters_), sizeof now, &table,
                        static_cast<unsigned>(arguments_.width), static_cast<unsigned>(arguments_.height), 1));
    });
  }

  void make_pipeline() {
    const char* path = std::getenv("OPTIX_IR");
    std::ifstream file(path ? path : "", std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    if (code.empty()) fail("OPTIX_IR is not set to the compiled device programs");
    OptixModuleCompileOptions compile{};
    compile.optLevel = OPTIX_COMPILE_OPTIMIZATION_LEVEL_3;
    OptixPipelineCompileOptions common{};
    common.traversableGraphFlags = OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_GAS;
    common.numPayloadValues = 2, common.numAttributeValues = 1;
    common.pipelineLaunchParamsVariableName = "parameters";
    common.usesPrimitiveTypeFlags = OPTIX_PRIMITIVE_TYPE_FLAGS_SPHERE;
    char log[4096];
    size_t length = sizeof log;
    OptixModule programs, spheres;
    CHECK(optixModuleCreate(context_, &compile, &common, code.data(), code.size(), log, &length, &programs));
    OptixBuiltinISOptions builtin{};
    builtin.builtinISModuleType = OPTIX_PRIMITIVE_TYPE_SPHERE;
    builtin.buildFlags = OPTIX_BUILD_FLAG_PREFER_FAST_TRACE | OPTIX_BUILD_FLAG_ALLOW_COMPACTION;
    CHECK(optixBuiltinISModuleGet(context_, &compile, &common, &builtin, &spheres));
    OptixProgramGroupDesc kinds[4]{};
    kinds[0].kind = kinds[1].kind = OPTIX_PROGRAM_GROUP_KIND_RAYGEN;
    kinds[0].raygen = {programs, "__raygen__trace"}, kinds[1].raygen = {programs, "__raygen__traverse"};
    kinds[2].kind = OPTIX_PROGRAM_GROUP_KIND_MISS, kinds[2].miss = {programs, "__miss__miss"};
    kinds[3].kind = OPTIX_PROGRAM_GROUP_KIND_HITGROUP;
    kinds[3].hitgroup.moduleCH = programs, kinds[3].hitgroup.entryFunctionNameCH = "__closesthit__hit";
    kinds[3].hitgroup.moduleIS = spheres;
    const OptixProgramGroupOptions group_options{};
    OptixProgramGroup groups[4];
    for (int i = 0; i < 4; ++i) {
      length = sizeof log;
      CHECK(optixProgramGroupCreate(context_, &kinds[i], 1, &group_options, log, &length, &groups[i]));
    }
    OptixPipelineLinkOptions link{};
    link.maxTraceDepth = 1;
    length = sizeof log;
    CHECK(optixPipelineCreate(context_, &common, &link, groups, 4, log, &length, &pipeline_));
    Record records[4];
    for (int i = 0; i < 4; ++i) CHECK(optixSbtRecordPackHeader(groups[i], &records[i]));
    const auto at = reinterpret_cast<CUdeviceptr>(allocate<Record>(4));
    CHECK(cudaMemcpy(reinterpret_cast<void*>(at), records, sizeof records, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; ++i) {
      tables_[i].raygenRecord = at + i * sizeof(Record);
      tables_[i].missRecordBase = at + 2 * sizeof(Record), tables_[i].hitgroupRecordBase = at + 3 * sizeof(Record);
      tables_[i].missRecordStrideInBytes = tables_[i].hitgroupRecordStrideInBytes = sizeof(Record);
      tables_[i].missRecordCount = tables_[i].hitgroupRecordCount = 1;
    }
  }

  Arguments arguments_;
  Picture picture_;
  Stopwatch stopwatch_;
  OptixDeviceContext context_ = nullptr;
  OptixPipeline pipeline_ = nullptr;
  OptixShaderBindingTable tables_[2]{};
  Parameters* parameters_ = nullptr;
  float4* spheres_[2]{};
  int state_ = 0;
  Tree frame_tree_, other_tree_, refitted_;
  unsigned refit_flags_ = 0;
  Memory scratch_;
  CUdeviceptr compacted_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  Spheres spheres(parse(argc, argv));
  return serve(spheres);
}
