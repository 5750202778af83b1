// How a thread's arithmetic treats denormals, for as long as an object of one of these classes lives.
#pragma once
#include "../core/compat.h"
#if RT_X86
#include <xmmintrin.h>
#endif

namespace rt {

#if RT_X86
class FloatMode {
 public:
  explicit FloatMode(unsigned mode) : before_(_mm_getcsr()) { _mm_setcsr(mode); }
  ~FloatMode() { _mm_setcsr(before_); }
  FloatMode(const FloatMode&) = delete;

 private:
  unsigned before_;
};
#endif

// Denormals cost a hundred cycles each and mean nothing in a picture: they count as zero.
class FlushDenormals {
#if RT_X86
  FloatMode mode_{_mm_getcsr() | 0x8040};
#else
 public:
  FlushDenormals() {}
#endif
};

// As programs start: what Python runs in the middle of work expects it.
class DefaultFloats {
#if RT_X86
  FloatMode mode_{0x1f80};
#else
 public:
  DefaultFloats() {}
#endif
};

}  // namespace rt
