// title: cuBLASLt (best of 16)
// links: cublasLt
#include "../cublas_lt.h"

std::unique_ptr<Peer> prepare(const Call& call) {
  const bool narrow = call.dtype == std::string("bfloat16_out");
  return std::make_unique<Product>(call, CUDA_R_16BF, narrow ? CUDA_R_16BF : CUDA_R_32F, true);
}
