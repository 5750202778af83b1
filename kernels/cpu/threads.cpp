#include "threads.h"

#include <chrono>

namespace rt {

// Short jobs follow each other closely in the BVH build: a worker looks for the next one this often
// before it goes to sleep (about 20 us).
static constexpr int kSpins = 2000;

// How often the caller polls for a stop while it waits for the other threads.
static constexpr std::chrono::milliseconds kPollInterval(50);

ThreadPool::ThreadPool(int threads, Cancel* cancel) : cancel_(cancel) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { loop(i); });
  } catch (...) {
    // no more threads to be had: those that run do the work
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    ++generation_;
  }
  wake_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void ThreadPool::loop(int index) {
  uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < kSpins && generation_.load(std::memory_order_acquire) == seen; ++i) std::this_thread::yield();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
      seen = generation_.load();
      if (stop_) return;
    }
    call(index);
    if (pending_.fetch_sub(1) == 1) {
      std::lock_guard<std::mutex> lock(mutex_);
      done_.notify_one();
    }
  }
}

void ThreadPool::call(int thread) {
  try {
    (*job_)(thread);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::run(const std::function<void(int)>& fn) {
  if (workers_.empty()) {
    fn(0);
    return throw_if_cancelled();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    job_ = &fn;
    failure_ = nullptr;
    pending_.store((int)workers_.size());
    ++generation_;
  }
  wake_.notify_all();
  call(0);
  for (int i = 0; i < kSpins && pending_.load() != 0; ++i) std::this_thread::yield();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!done_.wait_for(lock, kPollInterval, [&] { return pending_.load() == 0; })) {
    lock.unlock();
    cancelled();  // other threads still work: this one looks whether they shall
    lock.lock();
  }
  if (failure_) std::rethrow_exception(failure_);
  throw_if_cancelled();
}

void ThreadPool::each(int64_t count, const std::function<void(int64_t, int)>& fn) {
  std::atomic<int64_t> next{0};
  run([&](int thread) {
    try {
      for (int64_t i; !cancelled() && (i = next.fetch_add(1)) < count;) fn(i, thread);
    } catch (...) {
      next = count;
      throw;
    }
  });
}

}  // namespace rt
