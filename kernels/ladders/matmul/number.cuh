// The type of matrices: float, or int as in the first products of many courses (`--dtype int32`).
#pragma once

#ifndef RT_NUMBER
#define RT_NUMBER float
#endif

using Number = RT_NUMBER;

__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ int multiply_add(int a, int b, int c) { return a * b + c; }
