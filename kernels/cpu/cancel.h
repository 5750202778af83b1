// How running work is stopped. Python runs signal handlers on its main thread alone, and only when that thread
// asks for them. The main thread is one of those that work, so every poll can be told to ask first.
// No std types here: this header is compiled once per instruction set.
#pragma once
#include "../core/compat.h"

namespace rt {

class Cancel {
 public:
  // check: called by the thread that made this object, at its first poll after ask(); true stops the work.
  // null: the work is never stopped.
  explicit Cancel(bool (*check)(void*) = nullptr, void* context = nullptr);
  Cancel(const Cancel&) = delete;

  // Have the owner's thread call `check` at its next poll. Any thread may call this.
  void ask();

  // Whether to stop. Polled between packets and rays, so that even the slowest tile stops within a fraction
  // of a second: one load while nothing was asked.
  RT_HD bool requested() { return __atomic_load_n(&state_, __ATOMIC_RELAXED) != kRun && decide(); }

 private:
  enum State : int32_t { kRun, kCheck, kStop };
  bool decide();

  int32_t state_ = kRun;
  const void* owner_;
  bool (*check_)(void*);
  void* context_;
};

}  // namespace rt
