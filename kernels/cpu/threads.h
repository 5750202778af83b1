// A pool of threads that lives for one call. Work is handed out by an atomic counter, so that results
// may depend on the item and never on the thread.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cancel.h"

namespace rt {

// Thrown by work that was cancelled before it was done.
struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

class ThreadPool {
 public:
  // threads: the caller's included; fewer if the system has no more. cancel: null, or polled before each
  // item and while the caller waits; once it is requested no more items are begun, and a run ends with Cancelled
  explicit ThreadPool(int threads, Cancel* cancel = nullptr);
  ~ThreadPool();
  int size() const { return (int)workers_.size() + 1; }
  // fn(thread) on every thread, the caller's included; returns when all are done. What one of them
  // throws is thrown to the caller then.
  void run(const std::function<void(int)>& fn);
  // fn(item, thread) for item in [0, count); after an exception no more items are begun
  void each(int64_t count, const std::function<void(int64_t, int)>& fn);

 private:
  void loop(int index);
  void call(int thread);
  bool cancelled() { return cancel_ && cancel_->requested(); }
  void throw_if_cancelled() {
    if (cancelled()) throw Cancelled();
  }
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* job_ = nullptr;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> pending_{0};
  std::exception_ptr failure_;  // the first of a run
  bool stop_ = false;
  Cancel* cancel_;
};

// Threads for so many items of work, at least one.
inline int useful_threads(int64_t items, int threads) {
  return (int)std::clamp<int64_t>(items, 1, std::max(threads, 1));
}
// Threads for so many small items, such as spheres: a few thousand are not worth the start of one.
inline int threads_for(int64_t count, int threads) { return (int)std::clamp<int64_t>(count >> 13, 1, threads); }

}  // namespace rt
