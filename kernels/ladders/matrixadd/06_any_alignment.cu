// title: Any alignment
// idea: contiguous rows are one long vector: 16 bytes per thread, without division and without idle threads at
//       the ends of rows, for matrices at any address (`--axis offset=1`)
// block: 1024
// grid: ceil(rows * cols / 4096)
// alignment: any
// needs: sm_75+
// source: own; see vecadd
#include "../vecadd/any_alignment.cuh"

extern "C" __global__ void __launch_bounds__(kAddThreads)
    matrixadd(const float* a, const float* b, float* c, long long rows, long long cols) {
  add_anywhere(a, b, c, rows * cols);
}
