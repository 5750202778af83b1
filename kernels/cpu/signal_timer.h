// Reminds running work, at intervals, to look for signals of Python.
#pragma once
#include "cancel.h"

namespace rt {

// While it lives, `cancel` is asked to check every 50 ms. For the thread that runs Python's signal handlers alone;
// timers of calls within calls (a handler that renders) are ended in the order of a stack.
//
// One thread serves all calls, so that a call neither starts a thread nor waits for one to end. It starts with the
// first call, sleeps between calls, and ends (joined) before the process forks or exits; a call after a fork
// starts it again. All signals are blocked in it.
class SignalTimer {
 public:
  explicit SignalTimer(Cancel& cancel);
  ~SignalTimer();
  SignalTimer(const SignalTimer&) = delete;

 private:
  Cancel* outer_;  // of the call around this one; null without
};

}  // namespace rt
