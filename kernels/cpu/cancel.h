// How running work is stopped. Python runs signal handlers on its main thread alone, and only when that thread
// asks for them. The main thread is one of those that work, and asks at its polls.
// No std types here: this header is compiled once per instruction set.
#pragma once
#include "../core/compat.h"

namespace rt {

class Cancel {
 public:
  // check: called every 50 ms, at a poll of the thread that made this object; true stops the work.
  // null: the work is never stopped.
  explicit Cancel(bool (*check)(void*) = nullptr, void* context = nullptr);
  Cancel(const Cancel&) = delete;

  // Whether to stop. Polled between packets and rays, so that even the slowest tile stops within a fraction
  // of a second.
  RT_HD bool requested() { return __atomic_load_n(&state_, __ATOMIC_RELAXED) != kRun && decide(); }

 private:
  enum State : int32_t { kRun, kCheck, kStop };
  bool decide();

  int32_t state_;
  const void* owner_;
  int64_t next_;  // milliseconds, of the next check
  bool (*check_)(void*);
  void* context_;
};

}  // namespace rt
