// Times the round linear curves of Embree 3 or 4, one segment each: capsules.
//
//   embree_capsules SCENE [--size W H] [--mode 1|4|8|16] [--threads T] [--reps R]
//
// SCENE.cfg and SCENE.f32 are written by raytracer/benchmark/peer_scenes.py: float32 start x, y, z, radius, end
// x, y, z, 0 of each capsule. One sample per pixel and one point light; a frame traces primary and shadow rays tile
// by tile. Prints one line of JSON.
#ifdef USE_EMBREE4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;
static double ms_since(Clock::time_point a) {
  return std::chrono::duration<double, std::milli>(Clock::now() - a).count();
}

// The calls whose form differs between Embree 3 and 4.
#if RTC_VERSION_MAJOR >= 4
struct Query {
  RTCIntersectArguments intersect;
  RTCOccludedArguments occluded;
};
static Query coherent_query() {
  Query q;
  rtcInitIntersectArguments(&q.intersect);
  rtcInitOccludedArguments(&q.occluded);
  q.intersect.flags = q.occluded.flags = RTC_RAY_QUERY_FLAG_COHERENT;
  return q;
}
#define ON_HIT(q) &(q)->intersect
#define ON_SHADOW(q) &(q)->occluded
#define IN_CONTEXT(call, scene, q, ray, side) call(scene, ray, side(q))
#define IN_CONTEXT_N(call, valid, scene, q, ray, side) call(valid, scene, ray, side(q))
#else
using Query = RTCIntersectContext;
static Query coherent_query() {
  Query q;
  rtcInitIntersectContext(&q);
  q.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  return q;
}
#define IN_CONTEXT(call, scene, q, ray, side) call(scene, q, ray)
#define IN_CONTEXT_N(call, valid, scene, q, ray, side) call(valid, scene, q, ray)
#endif

struct V3 {
  float x, y, z;
};
static V3 operator+(V3 a, V3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static V3 operator*(V3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
static float dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static V3 unit(V3 a) { return a * (1.0f / std::sqrt(dot(a, a))); }

struct Scene {
  V3 eye{}, at{}, up{}, light{};
  float vertical_fov = 45;
  std::vector<float> points;  // x, y, z, radius: two a capsule, and one that Embree may read beyond the last
  size_t count = 0;
};

static Scene load(const std::string& base) {
  Scene s;
  std::ifstream file(base + ".cfg");
  if (!file) std::fprintf(stderr, "no %s.cfg\n", base.c_str()), std::exit(2);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    auto read = [&](V3& v) { words >> v.x >> v.y >> v.z; };
    if (key == "capsules") words >> s.count;
    if (key == "eye") read(s.eye);
    if (key == "at" || key == "look_at") read(s.at);
    if (key == "up") read(s.up);
    if (key == "light") read(s.light);
    if (key == "vfov") words >> s.vertical_fov;
  }
  s.points.resize(8 * s.count + 4);
  std::ifstream raw(base + ".f32", std::ios::binary);
  raw.read((char*)s.points.data(), (std::streamsize)(32 * s.count));
  if ((size_t)raw.gcount() != 32 * s.count) std::fprintf(stderr, "short %s.f32\n", base.c_str()), std::exit(2);
  for (size_t i = 0; i < s.count; ++i) s.points[8 * i + 7] = s.points[8 * i + 3];  // the radius of the end
  return s;
}

struct Hit {
  float t;
  V3 normal;
  unsigned geometry;
};

constexpr int kTile = 32;
constexpr float kOffset = 1e-5f;

struct Frame {
  int width, height;
  V3 eye, dx, dy, corner, light;
  std::vector<Hit> hit;
  std::vector<float> film;
  V3 direction(int x, int y) const { return unit(corner + dx * ((float)x + 0.5f) + dy * ((float)y + 0.5f)); }
};

struct Tile {
  int x0, y0, x1, y1;
};

// A packet of K rays covers a block of pixels.
template <int K> struct Packet;
#define PACKET(K, W, H)                                                                  \
  template <> struct Packet<K> {                                                         \
    using RayHit = RTCRayHit##K;                                                         \
    using Ray = RTCRay##K;                                                               \
    static constexpr int width = W, height = H;                                          \
    static void intersect(const int* valid, RTCScene s, Query* q, RayHit* r) {           \
      IN_CONTEXT_N(rtcIntersect##K, valid, s, q, r, ON_HIT);                             \
    }                                                                                    \
    static void occluded(const int* valid, RTCScene s, Query* q, Ray* r) {               \
      IN_CONTEXT_N(rtcOccluded##K, valid, s, q, r, ON_SHADOW);                           \
    }                                                                                    \
  };
PACKET(4, 2, 2)
PACKET(8, 4, 2)
PACKET(16, 4, 4)

static bool shadow_ray(const Frame& f, int x, int y, V3& origin, V3& direction, float& distance, float& cosine) {
  const Hit& h = f.hit[(size_t)y * (size_t)f.width + (size_t)x];
  if (h.geometry == RTC_INVALID_GEOMETRY_ID) return false;
  origin = f.eye + f.direction(x, y) * h.t + h.normal * kOffset;
  direction = f.light - origin;
  distance = std::sqrt(dot(direction, direction));
  direction = direction * (1.0f / distance);
  cosine = dot(h.normal, direction);
  return cosine > 0;
}

static void put_hit(Frame& f, int x, int y, V3 direction, float t, V3 normal, unsigned geometry) {
  Hit& h = f.hit[(size_t)y * (size_t)f.width + (size_t)x];
  h.geometry = geometry;
  if (geometry == RTC_INVALID_GEOMETRY_ID) return;
  V3 n = unit(normal);
  h = {t, dot(n, direction) > 0 ? n * -1.0f : n, geometry};
}

static void put_pixel(Frame& f, int x, int y, float lit) {
  const size_t at = (size_t)y * (size_t)f.width + (size_t)x;
  f.film[at] = f.hit[at].geometry == RTC_INVALID_GEOMETRY_ID ? 0.0f : 0.05f + 0.9f * lit;
}

template <int K> static void trace_primary(Frame& f, RTCScene s, Query* q, Tile t) {
  const float infinity = std::numeric_limits<float>::infinity();
  if constexpr (K == 1) {
    for (int y = t.y0; y < t.y1; ++y)
      for (int x = t.x0; x < t.x1; ++x) {
        const V3 d = f.direction(x, y);
        RTCRayHit r;
        r.ray = {f.eye.x, f.eye.y, f.eye.z, 0.f, d.x, d.y, d.z, 0.f, infinity, ~0u, 0u, 0u};
        r.hit.geomID = r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        IN_CONTEXT(rtcIntersect1, s, q, &r, ON_HIT);
        put_hit(f, x, y, d, r.ray.tfar, {r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z}, r.hit.geomID);
      }
  } else {
    using P = Packet<K>;
    for (int by = t.y0; by < t.y1; by += P::height)
      for (int bx = t.x0; bx < t.x1; bx += P::width) {
        alignas(64) int valid[K];
        alignas(64) typename P::RayHit r;
        for (int i = 0; i < K; ++i) {
          const int x = bx + i % P::width, y = by + i / P::width;
          const V3 d = f.direction(x, y);
          valid[i] = x < f.width && y < f.height ? -1 : 0;
          r.ray.org_x[i] = f.eye.x, r.ray.org_y[i] = f.eye.y, r.ray.org_z[i] = f.eye.z;
          r.ray.dir_x[i] = d.x, r.ray.dir_y[i] = d.y, r.ray.dir_z[i] = d.z;
          r.ray.tnear[i] = 0, r.ray.tfar[i] = infinity, r.ray.time[i] = 0;
          r.ray.mask[i] = ~0u, r.ray.id[i] = 0, r.ray.flags[i] = 0;
          r.hit.geomID[i] = r.hit.instID[0][i] = RTC_INVALID_GEOMETRY_ID;
        }
        P::intersect(valid, s, q, &r);
        for (int i = 0; i < K; ++i)
          if (valid[i])
            put_hit(f, bx + i % P::width, by + i / P::width, {r.ray.dir_x[i], r.ray.dir_y[i], r.ray.dir_z[i]},
                    r.ray.tfar[i], {r.hit.Ng_x[i], r.hit.Ng_y[i], r.hit.Ng_z[i]}, r.hit.geomID[i]);
      }
  }
}

// returns how many reached the light
template <int K> static long trace_shadows(Frame& f, RTCScene s, Query* q, Tile t) {
  long lit = 0;
  if constexpr (K == 1) {
    for (int y = t.y0; y < t.y1; ++y)
      for (int x = t.x0; x < t.x1; ++x) {
        V3 o, d;
        float distance, cosine;
        if (!shadow_ray(f, x, y, o, d, distance, cosine)) {
          put_pixel(f, x, y, 0);
          continue;
        }
        RTCRay r = {o.x, o.y, o.z, 0.f, d.x, d.y, d.z, 0.f, distance, ~0u, 0u, 0u};
        IN_CONTEXT(rtcOccluded1, s, q, &r, ON_SHADOW);
        lit += r.tfar >= 0;
        put_pixel(f, x, y, r.tfar >= 0 ? cosine : 0);
      }
  } else {
    using P = Packet<K>;
    for (int by = t.y0; by < t.y1; by += P::height)
      for (int bx = t.x0; bx < t.x1; bx += P::width) {
        alignas(64) int valid[K];
        alignas(64) typename P::Ray r;
        float cosine[K];
        bool any = false;
        for (int i = 0; i < K; ++i) {
          const int x = bx + i % P::width, y = by + i / P::width;
          V3 o{}, d{1, 0, 0};
          float distance = 0;
          const bool casts = x < f.width && y < f.height && shadow_ray(f, x, y, o, d, distance, cosine[i]);
          valid[i] = casts ? -1 : 0;
          any |= casts;
          r.org_x[i] = o.x, r.org_y[i] = o.y, r.org_z[i] = o.z;
          r.dir_x[i] = d.x, r.dir_y[i] = d.y, r.dir_z[i] = d.z;
          r.tnear[i] = 0, r.tfar[i] = distance, r.time[i] = 0;
          r.mask[i] = ~0u, r.id[i] = 0, r.flags[i] = 0;
        }
        if (any) P::occluded(valid, s, q, &r);
        for (int i = 0; i < K; ++i) {
          const int x = bx + i % P::width, y = by + i / P::width;
          if (x >= f.width || y >= f.height) continue;
          const bool visible = valid[i] && r.tfar[i] >= 0;
          lit += visible;
          put_pixel(f, x, y, visible ? cosine[i] : 0);
        }
      }
  }
  return lit;
}

template <class Body> static void over_tiles(const Frame& f, int threads, Body&& body) {
  const int across = (f.width + kTile - 1) / kTile, down = (f.height + kTile - 1) / kTile;
  std::atomic<int> next{0};
  auto work = [&] {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
    for (int i; (i = next++) < across * down;) {
      const int x = (i % across) * kTile, y = (i / across) * kTile;
      body(Tile{x, y, std::min(x + kTile, f.width), std::min(y + kTile, f.height)});
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Result {
  double primary, frame;
  long hits, lit;
};

template <int K> static Result run(Frame& f, RTCScene s, int threads, int reps) {
  std::vector<double> primary, frame;
  long lit = 0;
  for (int rep = -1; rep < reps; ++rep) {  // the first one warms up
    Clock::time_point start = Clock::now();
    over_tiles(f, threads, [&](Tile t) {
      Query q = coherent_query();
      trace_primary<K>(f, s, &q, t);
    });
    if (rep >= 0) primary.push_back(ms_since(start));
    std::atomic<long> sum{0};
    start = Clock::now();
    over_tiles(f, threads, [&](Tile t) {
      Query q = coherent_query();
      trace_primary<K>(f, s, &q, t);
      sum += trace_shadows<K>(f, s, &q, t);
    });
    if (rep >= 0) frame.push_back(ms_since(start));
    lit = sum;
  }
  long hits = 0;
  for (const Hit& h : f.hit) hits += h.geometry != RTC_INVALID_GEOMETRY_ID;
  return {median(primary), median(frame), hits, lit};
}

static std::atomic<long> bytes{0};

int main(int argc, char** argv) {
  std::string base, mode = "16";
  int width = 1024, height = 1024, threads = (int)std::thread::hardware_concurrency(), reps = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--size" && i + 2 < argc)
      width = std::atoi(argv[++i]), height = std::atoi(argv[++i]);
    else if (a == "--mode" && i + 1 < argc)
      mode = argv[++i];
    else if (a == "--threads" && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else if (a == "--reps" && i + 1 < argc)
      reps = std::atoi(argv[++i]);
    else
      base = a;
  }
  const Scene scene = load(base);
  RTCDevice device = rtcNewDevice(("threads=" + std::to_string(threads)).c_str());
  rtcSetDeviceErrorFunction(
      device, [](void*, RTCError e, const char* m) { std::fprintf(stderr, "embree %d: %s\n", (int)e, m); }, nullptr);
  rtcSetDeviceMemoryMonitorFunction(
      device,
      [](void*, ssize_t b, bool) {
        bytes += b;
        return true;
      },
      nullptr);
  std::vector<unsigned> first(scene.count);
  for (size_t i = 0; i < scene.count; ++i) first[i] = (unsigned)(2 * i);
  std::vector<double> builds;
  RTCScene tree = nullptr;
  for (int b = 0; b < std::max(1, std::min(reps, 5)); ++b) {
    if (tree) rtcReleaseScene(tree);
    const Clock::time_point start = Clock::now();
    tree = rtcNewScene(device);
    rtcSetSceneBuildQuality(tree, RTC_BUILD_QUALITY_MEDIUM);
    RTCGeometry g = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE);
    rtcSetGeometryBuildQuality(g, RTC_BUILD_QUALITY_MEDIUM);
    rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, scene.points.data(), 0, 16,
                               2 * scene.count);
    rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT, first.data(), 0, 4, scene.count);
    rtcCommitGeometry(g);
    rtcAttachGeometry(tree, g);
    rtcReleaseGeometry(g);
    rtcCommitScene(tree);
    builds.push_back(ms_since(start));
  }
  Frame f;
  f.width = width, f.height = height, f.eye = scene.eye, f.light = scene.light;
  const V3 forward = unit(scene.at - scene.eye), right = unit(cross(forward, scene.up)), up = cross(right, forward);
  const float half = std::tan(scene.vertical_fov * (float)M_PI / 360.f), pixel = 2 * half / (float)height;
  f.dx = right * pixel, f.dy = up * -pixel;
  f.corner = forward - right * (half * (float)width / (float)height) + up * half;
  f.hit.resize((size_t)width * (size_t)height), f.film.resize(f.hit.size());
  const Result r = mode == "1"   ? run<1>(f, tree, threads, reps)
                   : mode == "4" ? run<4>(f, tree, threads, reps)
                   : mode == "8" ? run<8>(f, tree, threads, reps)
                                 : run<16>(f, tree, threads, reps);
  std::printf(
      "{\"peer\":\"embree-%s round linear curves\",\"n\":%zu,\"mode\":\"%s\",\"threads\":%d,\"build_ms\":%.2f,"
      "\"bvh_mb\":%.1f,\"primary_ms\":%.2f,\"frame_ms\":%.2f,\"hits\":%ld,\"lit\":%ld}\n",
      RTC_VERSION_STRING, scene.count, mode.c_str(), threads, median(builds), (double)bytes / 1e6, r.primary, r.frame,
      r.hits, r.lit);
  rtcReleaseScene(tree);
  rtcReleaseDevice(device);
}
