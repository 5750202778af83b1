#include "signal_timer.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rt {
namespace {

constexpr std::chrono::milliseconds kSignalInterval(50);

class TimerThread {
 public:
  // The only one. It is never deleted: a call may still run in a thread that the end of the process does not wait for.
  static TimerThread& get() {
    static TimerThread* const only = [] {
      TimerThread* made = new TimerThread;
      pthread_atfork([] { get().before_fork(); }, [] { get().in_parent(); }, [] { get().in_child(); });
      std::atexit([] { get().at_exit(); });
      return made;
    }();
    return *only;
  }

  // Serve this one from now on, or none (null); returns the one that was served.
  Cancel* serve(Cancel* cancel) {
    std::lock_guard<std::mutex> life(life_);
    if (cancel && !thread_.joinable()) start();
    std::lock_guard<std::mutex> lock(mutex_);
    if (cancel && is_idle_) wake_.notify_one();
    return std::exchange(served_, cancel);
  }

 private:
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { loop(); });
    } catch (const std::system_error&) {
      // no more threads to be had: signals wait for the end of the work
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!end_) {
      is_idle_ = !served_;
      if (is_idle_) {
        wake_.wait(lock);
      } else {
        wake_.wait_for(lock, kSignalInterval);
        if (served_) served_->ask();
      }
    }
  }

  // `life_` is held.
  void stop() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      end_ = true;
      wake_.notify_one();
    }
    thread_.join();
    end_ = is_idle_ = false;
  }

  // Forking with one thread leaves no lock of another one's behind, and Python warns of nothing.
  void before_fork() {
    life_.lock();
    stop();
  }
  void in_parent() {
    if (served_) start();  // a thread forks while the main thread works
    life_.unlock();
  }
  void in_child() {
    served_ = nullptr;  // of a thread that is not here
    life_.unlock();
  }
  void at_exit() {
    std::lock_guard<std::mutex> life(life_);
    stop();
  }

  std::mutex life_;  // of the thread: held while it starts, ends or is given work; taken before mutex_
  std::thread thread_;
  std::mutex mutex_;  // for what follows
  std::condition_variable wake_;
  Cancel* served_ = nullptr;
  bool is_idle_ = false;  // the thread waits for work, without an end
  bool end_ = false;
};

}  // namespace

SignalTimer::SignalTimer(Cancel& cancel) : outer_(TimerThread::get().serve(&cancel)) {}
SignalTimer::~SignalTimer() { TimerThread::get().serve(outer_); }

}  // namespace rt
