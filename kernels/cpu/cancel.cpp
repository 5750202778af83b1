#include "cancel.h"

#include <chrono>
#include <ctime>

namespace rt {
namespace {

// Its address tells threads apart. A poll is too short for the call that finds the storage of other models.
[[gnu::tls_model("initial-exec")]] thread_local char this_thread;

constexpr int64_t kInterval = 50;  // milliseconds between checks

int64_t milliseconds() {
#if defined(CLOCK_MONOTONIC_COARSE)  // never a system call, as the exact clock of a virtual machine can be
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
#else
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch()).count();
#endif
}

}  // namespace

Cancel::Cancel(bool (*check)(void*), void* context)
    : state_(check ? kCheck : kRun),
      owner_(&this_thread),
      next_(milliseconds() + kInterval),
      check_(check),
      context_(context) {}

bool Cancel::decide() {
  if (__atomic_load_n(&state_, __ATOMIC_RELAXED) == kStop) return true;
  if (owner_ != &this_thread) return false;
  const int64_t now = milliseconds();
  if (now < next_) return false;
  next_ = now + kInterval;
  if (!check_(context_)) return false;
  __atomic_store_n(&state_, (int32_t)kStop, __ATOMIC_RELAXED);
  return true;
}

}  // namespace rt
