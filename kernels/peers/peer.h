// What a peer defines: a file of kernels/peers/OP that calls a library of the CUDA toolkit. The bench compiles it with
// nvcc, loads it, and checks and times it beside the kernels of the operation (raytracer/benchmark/peers.py). The
// functions for Python follow from `version` and `prepare`; what they throw becomes the reason of a row.
#pragma once
#include <cuda_runtime.h>

#include <memory>
#include <stdexcept>
#include <string>

// The arguments of a launch, as those of a kernel.
struct Call {
  void* const* arrays;  // on the device: inputs, then outputs
  const long long* sizes;
  const char* dtype;  // of the operation
  cudaStream_t stream;

  template <class T> T* array(int number) const { return static_cast<T*>(arrays[number]); }
};

struct Peer {
  virtual ~Peer() = default;
  virtual void launch(const Call& call) = 0;  // queues the work
};

std::string version();                             // of the library
std::unique_ptr<Peer> prepare(const Call& call);   // allocates memory, and may try several ways to compute

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Memory of the device.
class Scratch {
 public:
  explicit Scratch(size_t bytes) { check(cudaMalloc(&address_, bytes > 0 ? bytes : 1)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { cudaFree(address_); }
  void* get() const { return address_; }

 private:
  void* address_ = nullptr;
};

static std::string fault;  // of the last call

// Returns what an action throws; "" if it throws nothing.
template <class Action> static const char* caught(Action action) {
  fault.clear();
  try {
    action();
  } catch (const std::exception& error) { fault = std::string("the library fails: ") + error.what(); }
  return fault.c_str();
}

extern "C" {
const char* peer_version() {
  static const std::string text = version();
  return text.c_str();
}
const char* peer_prepare(const Call* call, Peer** peer) {
  return caught([&] { *peer = prepare(*call).release(); });
}
const char* peer_launch(Peer* peer, const Call* call) {
  return caught([&] { peer->launch(*call); });
}
void peer_finish(Peer* peer) { delete peer; }
}
