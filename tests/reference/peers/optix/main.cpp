// Times the round linear curves of OptiX, one segment each: capsules.
//   app device.optixir capsules.bin out.ppm [width height]
// capsules.bin: float32 start x, y, z, radius, end x, y, z, 0 of each. Camera and light are those of
// raytracer/benchmark/peer_scenes.py; in the picture misses are green.
#include "params.h"
// after the types of params.h
#include <optix_function_table_definition.h>
#include <optix_stubs.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#define CUDA_OK(call)                                       \
  do {                                                      \
    cudaError_t e = (call);                                 \
    if (e != cudaSuccess) {                                 \
      std::printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      std::exit(1);                                         \
    }                                                       \
  } while (0)
#define OPTIX_OK(call)                                      \
  do {                                                      \
    OptixResult e = (call);                                 \
    if (e != OPTIX_SUCCESS) {                               \
      std::printf("%s: %s\n", #call, optixGetErrorName(e)); \
      std::exit(1);                                         \
    }                                                       \
  } while (0)

constexpr int kFrames = 60, kDropped = 15, kBuilds = 3;

struct alignas(OPTIX_SBT_RECORD_ALIGNMENT) Record {
  char header[OPTIX_SBT_RECORD_HEADER_SIZE];
};

static std::vector<char> read_file(const char* path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}
static float3 cross3(float3 a, float3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static float3 unit(float3 a) {
  const float l = std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
  return {a.x / l, a.y / l, a.z / l};
}
template <class T> static T* on_device(size_t count, const T* from = nullptr) {
  T* p;
  CUDA_OK(cudaMalloc((void**)&p, std::max(count, (size_t)1) * sizeof(T)));
  if (from) CUDA_OK(cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

struct Timer {
  cudaEvent_t begin, end;
  Timer() { cudaEventCreate(&begin), cudaEventCreate(&end); }
  template <class Work> float milliseconds(Work work) {
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    CUDA_OK(cudaEventSynchronize(end));
    float ms;
    cudaEventElapsedTime(&ms, begin, end);
    return ms;
  }
};

int main(int argc, char** argv) {
  if (argc < 4) return std::printf("app device.optixir capsules.bin out.ppm [width height]\n"), 2;
  const std::vector<char> ir = read_file(argv[1]), raw = read_file(argv[2]);
  const size_t n = raw.size() / 32;
  const int width = argc > 5 ? std::atoi(argv[4]) : 1920, height = argc > 5 ? std::atoi(argv[5]) : 1080;
  CUDA_OK(cudaFree(0));
  OPTIX_OK(optixInit());
  OptixDeviceContext context;
  OptixDeviceContextOptions context_options{};
  OPTIX_OK(optixDeviceContextCreate(0, &context_options, &context));
  Timer timer;

  // geometry: two vertices and one segment for each capsule
  float4* points = on_device(2 * n, (const float4*)raw.data());
  std::vector<float> widths(2 * n);
  std::vector<unsigned> first(n);
  for (size_t i = 0; i < n; ++i) {
    widths[2 * i] = widths[2 * i + 1] = ((const float4*)raw.data())[2 * i].w;
    first[i] = (unsigned)(2 * i);
  }
  CUdeviceptr vertices = (CUdeviceptr)points, radii = (CUdeviceptr)on_device(2 * n, widths.data());
  OptixBuildInput input{};
  input.type = OPTIX_BUILD_INPUT_TYPE_CURVES;
  OptixBuildInputCurveArray& curves = input.curveArray;
  curves.curveType = OPTIX_PRIMITIVE_TYPE_ROUND_LINEAR;
  curves.numPrimitives = (unsigned)n;
  curves.vertexBuffers = &vertices, curves.numVertices = (unsigned)(2 * n);
  curves.vertexStrideInBytes = sizeof(float4);
  curves.widthBuffers = &radii, curves.widthStrideInBytes = sizeof(float);
  curves.indexBuffer = (CUdeviceptr)on_device(n, first.data()), curves.indexStrideInBytes = sizeof(unsigned);
  curves.flag = OPTIX_GEOMETRY_FLAG_DISABLE_ANYHIT;
  curves.endcapFlags = OPTIX_CURVE_ENDCAP_DEFAULT;
  OptixAccelBuildOptions build{};
  build.buildFlags = OPTIX_BUILD_FLAG_PREFER_FAST_TRACE | OPTIX_BUILD_FLAG_ALLOW_COMPACTION;
  build.operation = OPTIX_BUILD_OPERATION_BUILD;
  OptixAccelBufferSizes sizes;
  OPTIX_OK(optixAccelComputeMemoryUsage(context, &build, &input, 1, &sizes));
  CUdeviceptr scratch = (CUdeviceptr)on_device<char>(sizes.tempSizeInBytes);
  CUdeviceptr tree = (CUdeviceptr)on_device<char>(sizes.outputSizeInBytes);
  size_t* compacted_size = on_device<size_t>(1);
  OptixAccelEmitDesc emit{(CUdeviceptr)compacted_size, OPTIX_PROPERTY_TYPE_COMPACTED_SIZE};
  OptixTraversableHandle handle;
  float build_ms = 0;
  for (int i = 0; i < kBuilds; ++i)
    build_ms = timer.milliseconds([&] {
      OPTIX_OK(optixAccelBuild(context, 0, &build, &input, 1, scratch, sizes.tempSizeInBytes, tree,
                               sizes.outputSizeInBytes, &handle, &emit, 1));
    });
  size_t tree_bytes;
  CUDA_OK(cudaMemcpy(&tree_bytes, compacted_size, sizeof tree_bytes, cudaMemcpyDeviceToHost));
  CUdeviceptr compacted = (CUdeviceptr)on_device<char>(tree_bytes);
  OPTIX_OK(optixAccelCompact(context, 0, handle, compacted, tree_bytes, &handle));
  CUDA_OK(cudaDeviceSynchronize());

  // pipeline
  OptixModuleCompileOptions module_options{};
  module_options.optLevel = OPTIX_COMPILE_OPTIMIZATION_LEVEL_3;
  OptixPipelineCompileOptions options{};
  options.traversableGraphFlags = OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_GAS;
  options.numPayloadValues = 2, options.numAttributeValues = 1;
  options.pipelineLaunchParamsVariableName = "params";
  options.usesPrimitiveTypeFlags = OPTIX_PRIMITIVE_TYPE_FLAGS_ROUND_LINEAR;
  OptixModule own, curve;
  char log[4096];
  size_t log_size = sizeof log;
  OPTIX_OK(optixModuleCreate(context, &module_options, &options, ir.data(), ir.size(), log, &log_size, &own));
  OptixBuiltinISOptions builtin{};
  builtin.builtinISModuleType = OPTIX_PRIMITIVE_TYPE_ROUND_LINEAR;
  builtin.buildFlags = build.buildFlags;
  builtin.curveEndcapFlags = OPTIX_CURVE_ENDCAP_DEFAULT;
  OPTIX_OK(optixBuiltinISModuleGet(context, &module_options, &options, &builtin, &curve));
  OptixProgramGroupDesc kinds[4]{};
  kinds[0].kind = OPTIX_PROGRAM_GROUP_KIND_RAYGEN, kinds[0].raygen = {own, "__raygen__rg"};
  kinds[1].kind = OPTIX_PROGRAM_GROUP_KIND_MISS, kinds[1].miss = {own, "__miss__ms"};
  kinds[2].kind = OPTIX_PROGRAM_GROUP_KIND_MISS, kinds[2].miss = {own, "__miss__shadow"};
  kinds[3].kind = OPTIX_PROGRAM_GROUP_KIND_HITGROUP;
  kinds[3].hitgroup.moduleCH = own, kinds[3].hitgroup.entryFunctionNameCH = "__closesthit__ch";
  kinds[3].hitgroup.moduleIS = curve;
  OptixProgramGroup groups[4];
  OptixProgramGroupOptions group_options{};
  Record records[4];
  for (int i = 0; i < 4; ++i) {
    log_size = sizeof log;
    OPTIX_OK(optixProgramGroupCreate(context, &kinds[i], 1, &group_options, log, &log_size, &groups[i]));
    OPTIX_OK(optixSbtRecordPackHeader(groups[i], &records[i]));
  }
  OptixPipelineLinkOptions link{};
  link.maxTraceDepth = 1;
  OptixPipeline pipeline;
  log_size = sizeof log;
  OPTIX_OK(optixPipelineCreate(context, &options, &link, groups, 4, log, &log_size, &pipeline));
  const CUdeviceptr table = (CUdeviceptr)on_device(4, records);
  OptixShaderBindingTable bindings{};
  bindings.raygenRecord = table;
  bindings.missRecordBase = table + sizeof(Record), bindings.missRecordStrideInBytes = sizeof(Record);
  bindings.missRecordCount = 2;
  bindings.hitgroupRecordBase = table + 3 * sizeof(Record);
  bindings.hitgroupRecordStrideInBytes = sizeof(Record), bindings.hitgroupRecordCount = 1;

  // frames: without shadow rays, then with
  Params p{};
  p.width = width, p.height = height, p.points = points, p.handle = handle;
  p.image = on_device<uchar4>((size_t)width * height);
  p.eye = {1.1f, 0.8f, 1.6f}, p.light = {2, 3, 2};
  const float3 forward = unit({-p.eye.x, -p.eye.y, -p.eye.z}), right = unit(cross3(forward, {0, 1, 0}));
  const float3 up = cross3(right, forward);
  const float half = std::tan(0.5f * 40.f * 3.14159265f / 180.f), wide = half * (float)width / (float)height;
  p.w = forward;
  p.u = {right.x * wide, right.y * wide, right.z * wide};
  p.v = {up.x * half, up.y * half, up.z * half};
  Params* params = on_device<Params>(1);
  std::vector<uchar4> image((size_t)width * height);
  for (int shadows = 0; shadows < 2; ++shadows) {
    p.shadows = shadows;
    CUDA_OK(cudaMemcpy(params, &p, sizeof p, cudaMemcpyHostToDevice));
    std::vector<float> times;
    for (int i = 0; i < kFrames; ++i) {
      const float ms = timer.milliseconds(
          [&] { OPTIX_OK(optixLaunch(pipeline, 0, (CUdeviceptr)params, sizeof p, &bindings, width, height, 1)); });
      if (i >= kDropped) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    std::printf("optix N=%zu %dx%d shadows=%d: %.4f ms  build %.2f ms  bvh %.1f MB (%.1f B/sphere)\n", n, width, height,
                shadows, times[times.size() / 2], build_ms, (double)tree_bytes / 1e6, (double)tree_bytes / (double)n);
  }
  CUDA_OK(cudaMemcpy(image.data(), p.image, image.size() * sizeof(uchar4), cudaMemcpyDeviceToHost));
  std::FILE* f = std::fopen(argv[3], "wb");
  if (!f) return std::printf("%s: cannot be written\n", argv[3]), 1;
  std::fprintf(f, "P6\n%d %d\n255\n", width, height);
  for (const uchar4& q : image) std::fwrite(&q, 1, 3, f);
  std::fclose(f);
}
