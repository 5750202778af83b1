// title: one core of the CPU, with the copy of the keys
#include "../peer.h"

// Memory of the host that stays where it is, so that copies need no buffer of the driver.
class Locked {
 public:
  explicit Locked(size_t bytes) { check(cudaMallocHost(&address_, bytes > 0 ? bytes : 1)); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { cudaFreeHost(address_); }
  template <class T> T* as() const { return static_cast<T*>(address_); }

 private:
  void* address_ = nullptr;
};

// The loop that a GPU is compared with: one thread adds one to the bin of each key. The keys are on the device, as for the
// kernels, and are copied first.
struct OneCore : Peer {
  Locked keys, bins;

  explicit OneCore(const Call& call) : keys(call.sizes[0]), bins(256 * sizeof(unsigned)) {}

  void launch(const Call& call) override {
    const long long n = call.sizes[0];
    check(cudaMemcpyAsync(keys.as<void>(), call.array<void>(0), n, cudaMemcpyDeviceToHost, call.stream));
    check(cudaStreamSynchronize(call.stream));  // also for the copy of the bins of the launch before
    const unsigned char* key = keys.as<unsigned char>();
    unsigned* count = bins.as<unsigned>();
    for (int bin = 0; bin < 256; bin++) count[bin] = 0;
    for (long long i = 0; i < n; i++) count[key[i]]++;
    check(cudaMemcpyAsync(call.array<void>(1), count, 256 * sizeof(unsigned), cudaMemcpyHostToDevice, call.stream));
  }
};

std::string version() { return "C++ " + std::to_string(__cplusplus); }

std::unique_ptr<Peer> prepare(const Call& call) { return std::make_unique<OneCore>(call); }
