// title: Any alignment
// idea: the same for arrays at any address (`--axis offset=1`): aligned 16-byte pieces where the arrays have the
//       same place in 16 bytes, else numbers one by one, so that a warp still reads adjacent bytes
// block: 1024
// grid: ceil(n / 4096)
// alignment: any
// needs: sm_75+
// source: own
#include "any_alignment.cuh"

extern "C" __global__ void __launch_bounds__(kAddThreads)
    vecadd(const float* a, const float* b, float* c, long long n) {
  add_anywhere(a, b, c, n);
}
