// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch_queue.h"
#include "kernels/cuda/platform.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what cuBLAS recommends for Hopper

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(std::string("cuBLASLt: ") + what + ": " + cublasLtGetStatusString(status));
}

cudaDataType_t typeOf(Number number) {
  if (number == Number::kHalf) return CUDA_R_16F;
  return number == Number::kBfloat ? CUDA_R_16BF : CUDA_R_32F;
}

using Key = std::tuple<Precision, int, int, int, Into, bool>;

// cuBLAS is column-major: our {rows, out} is its {out, rows}.
struct Problem {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t weight, x, y;

  Problem(const Gemm::Call& call, int rows, bool adds_bias) {
    const cublasComputeType_t compute =
        call.precision == Precision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const Number operand = operandOf(call.precision);
    const cudaDataType_t result = call.into == Into::kOperand ? typeOf(operand) : CUDA_R_32F;
    check(cublasLtMatmulDescInit(&operation, compute, CUDA_R_32F), "describing a product");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (adds_bias) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, result);
    }
    const auto in = static_cast<std::uint64_t>(call.in), out = static_cast<std::uint64_t>(call.out);
    const auto count = static_cast<std::uint64_t>(rows);
    check(cublasLtMatrixLayoutInit(&weight, typeOf(operand), in, out, call.in), "describing weights");
    check(cublasLtMatrixLayoutInit(&x, typeOf(operand), in, count, call.in), "describing rows");
    check(cublasLtMatrixLayoutInit(&y, result, out, count, call.out), "describing a result");
  }

 private:
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof(value)), "describing a product");
  }
};

}  // namespace

struct Gemm::Impl {
  struct Choice {
    cublasLtMatmulAlgo_t algorithm;
    bool adds_bias;
  };
  cublasLtHandle_t handle = nullptr;
  Memory workspace;
  std::map<Key, Choice> choices;
  long long bias_kernels = 0, refused = 0;

  std::optional<cublasLtMatmulAlgo_t> algorithmFor(Problem& problem) const {
    cublasLtMatmulPreferenceOpaque_t preference;
    check(cublasLtMatmulPreferenceInit(&preference), "choosing an algorithm");
    const std::size_t bytes = kWorkspace;
    check(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof(bytes)),
          "choosing an algorithm");
    // Add the parts of a split sum in fp32. By default cuBLASLt may round them to 16 bits first.
    const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    check(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
                                               sizeof(reductions)),
          "choosing an algorithm");
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, &problem.operation, &problem.weight, &problem.x, &problem.y, &problem.y,
                                       &preference, 1, &result, &found);
    const bool usable = status == CUBLAS_STATUS_SUCCESS && found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
    return usable ? std::optional(result.algo) : std::nullopt;
  }

  // Versions of cuBLASLt differ in the result types to which they can add a bias. Otherwise our kernel adds it.
  Choice choose(const Gemm::Call& call, int rows) const {
    if (call.bias != nullptr) {
      Problem whole(call, rows, true);
      if (const auto algorithm = algorithmFor(whole)) return {*algorithm, true};
    }
    Problem bare(call, rows, false);
    if (const auto algorithm = algorithmFor(bare)) return {*algorithm, false};
    throw Error("cuBLASLt: no algorithm for a product of {" + std::to_string(rows) + ", " + std::to_string(call.in) +
                "} and {" + std::to_string(call.out) + ", " + std::to_string(call.in) + "} on this device");
  }

  cublasStatus_t multiply(const Gemm::Call& call, const Choice& choice, const Stream& stream) {
    Problem problem(call, call.rows, choice.adds_bias);
    const float alpha = 1, beta = call.into == Into::kAddToFloat ? 1.0f : 0.0f;
    const cublasStatus_t status =
        cublasLtMatmul(handle, &problem.operation, &alpha, call.weight, &problem.weight, call.x, &problem.x, &beta,
                       call.y, &problem.y, call.y, &problem.y, &choice.algorithm, workspace.data(), kWorkspace,
                       static_cast<cudaStream_t>(stream.native()));
    if (status == CUBLAS_STATUS_SUCCESS && call.bias != nullptr && !choice.adds_bias) {
      const Number result = call.into == Into::kOperand ? operandOf(call.precision) : Number::kFloat;
      addBias(stream, call.rows, call.out, result, call.bias, call.y);
      ++bias_kernels;
    }
    return status;
  }

  void run(const Stream& stream, const Call& wanted);
};

// Its workspace is named, too, because a graph uses it.
struct Gemm::Product {
  Impl* gemm;
  void* workspace;
  Call call;

  bool operator==(const Product&) const = default;
  void run(const Stream& stream) const { gemm->run(stream, call); }
};

Gemm::Gemm(const Stream& stream) : impl_(std::make_unique<Impl>()) {
  stream.native();
  check(cublasLtCreate(&impl_->handle), "starting");
  impl_->workspace = Memory(stream, kWorkspace);
}

Gemm::~Gemm() {
  if (impl_ == nullptr || impl_->handle == nullptr) return;
  impl_->workspace = {};  // first: products that the stream holds back run now
  cublasLtDestroy(impl_->handle);
}
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

long long Gemm::biasKernels() const { return impl_->bias_kernels; }
long long Gemm::refusedShapes() const { return impl_->refused; }

void Gemm::Impl::run(const Stream& stream, const Call& wanted) {
  Call call = wanted;
  if (call.precision == Precision::kTf32 && stream.device().major < 8) call.precision = Precision::kFp32;
  if (call.precision == Precision::kBf16 && stream.device().major < 8) {
    throw Error("bf16 needs compute capability 8.0, " + stream.device().name + " has " +
                std::to_string(stream.device().major) + "." + std::to_string(stream.device().minor) + "; use fp16");
  }
  // The number of tokens differs between images. So we choose one algorithm per 64 rows. If it fails for fewer rows,
  // that number of rows gets its own algorithm.
  const auto keyOf = [&](int rows) {
    return Key(call.precision, rows, call.in, call.out, call.into, call.bias != nullptr);
  };
  stream.native();
  auto found = choices.find(keyOf(call.rows));
  if (found == choices.end()) {
    const int similar = (call.rows + 63) / 64 * 64;
    found = choices.find(keyOf(similar));
    if (found == choices.end()) found = choices.emplace(keyOf(similar), choose(call, similar)).first;
    const cublasStatus_t status = multiply(call, found->second, stream);
    if (status == CUBLAS_STATUS_SUCCESS) return;
    if (call.rows == similar || (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE))
      check(status, "multiplying");
    found = choices.emplace(keyOf(call.rows), choose(call, call.rows)).first;
    ++refused;
  }
  check(multiply(call, found->second, stream), "multiplying");
}

void Gemm::run(const Stream& stream, const Call& call) {
  if (call.rows > 0) enqueue(stream, Product{impl_.get(), impl_->workspace.data(), call});
}

}  // namespace mpm::cuda
