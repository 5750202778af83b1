// How a thread's arithmetic treats denormals, for as long as an object of one of these classes lives.
#pragma once
#include "../core/compat.h"
#if RT_X86
#include <xmmintrin.h>
#endif

namespace rt {

#if RT_X86
inline unsigned float_mode() { return _mm_getcsr(); }
inline void set_float_mode(unsigned mode) { _mm_setcsr(mode); }
#else
inline unsigned float_mode() { return 0; }
inline void set_float_mode(unsigned) {}
#endif

class FloatMode {
 public:
  explicit FloatMode(unsigned mode) : before_(float_mode()) { set_float_mode(mode); }
  ~FloatMode() { set_float_mode(before_); }
  FloatMode(const FloatMode&) = delete;

 private:
  unsigned before_;
};

// Denormals cost a hundred cycles each and mean nothing in a picture: they count as zero.
struct FlushDenormals : FloatMode {
  FlushDenormals() : FloatMode(float_mode() | 0x8040) {}
};

// As programs start: what Python runs in the middle of work expects it.
struct DefaultFloats : FloatMode {
  DefaultFloats() : FloatMode(0x1f80) {}
};

}  // namespace rt
