// Operands of the loops that measure the rate of tensor cores.
#pragma once

// Two values in bfloat16, random by number, of magnitudes from 0.5 to 2. mask: of their bits; 0 makes zeros, with which
// tensor cores take less power.
__device__ __forceinline__ unsigned two_values(unsigned number, unsigned mask) {
  unsigned bits = (number + 1) * 2654435761u;  // Knuth's multiplicative hash
  bits = (bits ^ bits >> 15) * 2246822519u;
  bits ^= bits >> 13;
  return ((bits & 0x80ff80ffu) | 0x3f003f00u) & mask;
}
