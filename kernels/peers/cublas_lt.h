// Products C = A B by cuBLASLt: its proposals are timed, and the fastest one is taken.
#pragma once
#include <cublasLt.h>

#include <vector>

#include "peer.h"

std::string version() {
  const size_t number = cublasLtGetVersion();  // 130002 is 13.0.2
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
}

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasLtGetStatusString(status));
}

// cuBLASLt stores matrices by columns, so that it computes the transpose: C' (n, m) = B' (n, k) A' (k, m).
struct Product : Peer {
  static constexpr int kProposals = 16, kRuns = 5;
  static constexpr size_t kWorkspace = 64 << 20;

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  Scratch workspace{kWorkspace};

  // Sizes: m, n, k. b_by_columns: B is stored as (n, k), otherwise as (k, n).
  Product(const Call& call, cudaDataType_t in, cudaDataType_t out, bool b_by_columns) {
    const long long m = call.sizes[0], n = call.sizes[1], k = call.sizes[2];
    check(cublasLtCreate(&handle));
    check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));  // not TF32
    const cublasOperation_t turned = b_by_columns ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
    if (b_by_columns)
      check(cublasLtMatrixLayoutCreate(&b, in, k, n, k));
    else
      check(cublasLtMatrixLayoutCreate(&b, in, n, k, n));
    check(cublasLtMatrixLayoutCreate(&a, in, k, m, k));
    check(cublasLtMatrixLayoutCreate(&c, out, n, m, n));
    choose(call);
  }

  ~Product() override {
    cublasLtMatrixLayoutDestroy(c), cublasLtMatrixLayoutDestroy(a), cublasLtMatrixLayoutDestroy(b);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }

  void launch(const Call& call) override { check(run(call, algorithm)); }

  cublasStatus_t run(const Call& call, const cublasLtMatmulAlgo_t& by) const {
    const float one = 1.0f, zero = 0.0f;
    void* out = call.array<void>(2);
    return cublasLtMatmul(handle, product, &one, call.array<void>(1), b, call.array<void>(0), a, &zero, out, c, out, c,
                          &by, workspace.get(), kWorkspace, call.stream);
  }

  void choose(const Call& call) {
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference));
    const size_t most = kWorkspace;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most);
    std::vector<cublasLtMatmulHeuristicResult_t> proposals(kProposals);
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, product, b, a, c, c, preference, kProposals, proposals.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status);
    float least = 0.0f;
    bool found = false;
    for (int i = 0; i < count; ++i) {
      if (proposals[i].state != CUBLAS_STATUS_SUCCESS || run(call, proposals[i].algo) != CUBLAS_STATUS_SUCCESS)
        continue;
      const float time = milliseconds(call, proposals[i].algo);
      if (found && time >= least) continue;
      algorithm = proposals[i].algo, least = time, found = true;
    }
    if (!found) throw std::runtime_error("cuBLASLt proposes nothing for these sizes and types");
  }

  // Of some launches in a row.
  float milliseconds(const Call& call, const cublasLtMatmulAlgo_t& by) const {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    check(cudaEventRecord(start, call.stream));
    for (int i = 0; i < kRuns; ++i) check(run(call, by));
    check(cudaEventRecord(end, call.stream));
    check(cudaEventSynchronize(end));
    float time = 0.0f;
    check(cudaEventElapsedTime(&time, start, end));
    cudaEventDestroy(start), cudaEventDestroy(end);
    return time;
  }
};
