#include "cancel.h"

namespace rt {
namespace {

// Its address tells threads apart.
thread_local char this_thread;

}  // namespace

Cancel::Cancel(bool (*check)(void*), void* context) : owner_(&this_thread), check_(check), context_(context) {}

void Cancel::ask() {
  int32_t expected = kRun;
  __atomic_compare_exchange_n(&state_, &expected, (int32_t)kCheck, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool Cancel::decide() {
  if (__atomic_load_n(&state_, __ATOMIC_RELAXED) == kStop) return true;
  if (owner_ != &this_thread || !check_) return false;
  // Only this thread leaves kCheck: nothing is overwritten.
  __atomic_store_n(&state_, (int32_t)kRun, __ATOMIC_RELAXED);
  if (!check_(context_)) return false;
  __atomic_store_n(&state_, (int32_t)kStop, __ATOMIC_RELAXED);
  return true;
}

}  // namespace rt
