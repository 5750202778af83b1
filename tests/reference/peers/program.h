// What the programs of peers share: their arguments, and the commands that turns.py sends them.
//
//   PROGRAM SPHERES WIDTH HEIGHT THREADS EYE RIGHT UP FORWARD LIGHT SEED
//
// SPHERES is a file of float32 x, y, z, radius; the vectors are three numbers each. The ray through the centre of pixel
// (column, row) has the direction forward + x right + y up, x and y from -1 to 1 over the picture. The first line that a
// program prints is its name and version; then it answers each line of its standard input by one line:
//
//   time WORK MODE SECONDS   seconds of each repetition, for at least so long, after one that is not timed
//   answer WORK MODE FILE    writes ids (uint32), distances (float32) and the linear film (float32, 4 a pixel); prints ok
//
// A line that begins with "error" is a failure, and ends the program.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define PEER_BOTH __host__ __device__ __forceinline__
#else
#define PEER_BOTH inline
#endif

constexpr uint32_t kNothing = 0xffffffffu;  // id of a ray without a hit
constexpr float kAmbient = 0.05f, kDiffuse = 0.9f;  // of the works primary and shadow, reference/peers/scenes.py
constexpr float kAlbedo = 0.7f;  // of the work path
constexpr int kOcclusionRays = 8, kBounces = 4;  // of the works ao and path

struct Vec {
  float x, y, z;
};
PEER_BOTH Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
PEER_BOTH Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
PEER_BOTH Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
PEER_BOTH float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
PEER_BOTH Vec normalize(Vec a) { return (1.0f / sqrtf(dot(a, a))) * a; }

// Weyl sequence, mixed by the finalizer lowbias32 of C. Wellons: numbers from 0 to 1 of a pixel.
PEER_BOTH uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
PEER_BOTH float draw(uint32_t& state) {
  state += 0x9e3779b9u;
  return static_cast<float>(mix(state) >> 8) * (1.0f / 16777216.0f);
}

// A direction with the density cosine / pi about a normal: a point of the unit sphere around its tip.
PEER_BOTH Vec draw_cosine(Vec normal, uint32_t& state) {
  const float z = 1.0f - 2.0f * draw(state), angle = 6.28318531f * draw(state);
  const float r = sqrtf(fmaxf(1.0f - z * z, 0.0f));
  const Vec sum = normal + Vec{r * cosf(angle), r * sinf(angle), z};
  return dot(sum, sum) > 1e-12f ? normalize(sum) : normal;
}

struct Camera {
  Vec eye, right, up, forward;

  PEER_BOTH Vec direction(int column, int row, int width, int height) const {
    const float x = 2.0f * (static_cast<float>(column) + 0.5f) / static_cast<float>(width) - 1.0f;
    const float y = 1.0f - 2.0f * (static_cast<float>(row) + 0.5f) / static_cast<float>(height);
    return normalize(forward + x * right + y * up);
  }
};

struct Arguments {
  std::vector<float> spheres;  // x, y, z, radius, and one more of zeros, which readers of 16 bytes may touch
  int width, height, threads;
  Camera camera;
  Vec light;
  uint32_t seed;

  size_t count() const { return spheres.size() / 4 - 1; }
  size_t pixels() const { return static_cast<size_t>(width) * static_cast<size_t>(height); }
};

enum Work { kPrimary, kShadow, kOcclusion, kPath };

struct Answer {
  std::vector<uint32_t> ids;
  std::vector<float> distances, film;
};

[[noreturn]] inline void fail(const std::string& text) {
  std::printf("error: %s\n", text.c_str());
  std::exit(1);
}

// The work of a frame by its name.
inline Work work_of(const std::string& name) {
  const char* const names[] = {"primary", "shadow", "ao", "path"};
  for (int i = 0; i < 4; ++i)
    if (name == names[i]) return static_cast<Work>(i);
  fail("there is no work " + name);
}

inline Arguments parse(int argc, char** argv) {
  if (argc != 21) fail("the program takes 20 arguments; program.h lists them");
  Arguments found{};
  std::ifstream file(argv[1], std::ios::binary | std::ios::ate);
  if (!file) fail(std::string(argv[1]) + " cannot be read");
  const auto bytes = static_cast<size_t>(file.tellg());
  if (bytes == 0 || bytes % 16 != 0) fail(std::string(argv[1]) + " is not x, y, z, radius in float32");
  found.spheres.resize(bytes / 4 + 4);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(found.spheres.data()), static_cast<std::streamsize>(bytes));
  found.width = std::atoi(argv[2]), found.height = std::atoi(argv[3]), found.threads = std::atoi(argv[4]);
  if (found.width < 1 || found.height < 1 || found.threads < 1) fail("width, height and threads are 1 or more");
  Vec* vectors[] = {&found.camera.eye, &found.camera.right, &found.camera.up, &found.camera.forward, &found.light};
  for (int i = 0; i < 5; ++i)
    *vectors[i] = {std::strtof(argv[5 + 3 * i], nullptr), std::strtof(argv[6 + 3 * i], nullptr),
                   std::strtof(argv[7 + 3 * i], nullptr)};
  found.seed = static_cast<uint32_t>(std::strtoul(argv[20], nullptr, 10));
  return found;
}

template <class T>
void write(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(sizeof(T) * values.size()));
}

// serve(PEER): answers commands until the input ends. PEER has `std::string name()`, `double run(work, mode)`, which
// returns seconds, and `Answer answer(work, mode)`.
template <class Peer>
int serve(Peer& peer) {
  std::cout << peer.name() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, work, mode, last;
    words >> command >> work >> mode >> last;
    if (command == "time") {
      peer.run(work, mode);
      const double enough = std::stod(last);
      for (double sum = 0.0; sum == 0.0 || sum < enough;) {
        const double seconds = peer.run(work, mode);
        if (!(seconds > 0.0)) fail(work + " took no time");
        std::printf(sum == 0.0 ? "%.9g" : " %.9g", seconds);
        sum += seconds;
      }
      std::printf("\n");
    } else if (command == "answer") {
      const Answer found = peer.answer(work, mode);
      std::ofstream file(last, std::ios::binary);
      write(file, found.ids), write(file, found.distances), write(file, found.film);
      file.close();
      if (!file) fail(last + " cannot be written");
      std::printf("ok\n");
    } else {
      fail("there is no command " + command);
    }
    std::fflush(stdout);
  }
  return 0;
}
