// title: cuBLASLt (best of 16)
// links: cublasLt
// dtypes: float32
#include "../cublas_lt.h"

std::unique_ptr<Peer> prepare(const Call& call) {
  return std::make_unique<Product>(call, CUDA_R_32F, CUDA_R_32F, false);
}
