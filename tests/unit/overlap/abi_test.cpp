// SPDX-License-Identifier: BSD-3-Clause
// Our idea of cuBLASLt's and the driver's ABI against the toolkit's headers, at compile time.
#include <gtest/gtest.h>

#if __has_include(<cublasLt.h>) && __has_include(<cuda.h>)
#include <cublasLt.h>
#include <cuda.h>
#define RAILSHMEM_HAS_CUBLAS_HEADER 1
#endif

#include "overlap/driver.h"
#include "overlap/lt_library.h"

namespace railshmem::overlap {
namespace {

#if defined(RAILSHMEM_HAS_CUBLAS_HEADER)

#define SAME(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs), #theirs)
SAME(lt::DataType::float32, CUDA_R_32F);
SAME(lt::DataType::half, CUDA_R_16F);
SAME(lt::DataType::bfloat16, CUDA_R_16BF);
SAME(lt::DataType::float8_e4m3, CUDA_R_8F_E4M3);
SAME(lt::DataType::float8_e5m2, CUDA_R_8F_E5M2);
SAME(lt::Compute::float32, CUBLAS_COMPUTE_32F);
SAME(lt::Compute::tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(lt::OperationField::transposed_a, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(lt::OperationField::transposed_b, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(lt::OperationField::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(lt::OperationField::bias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(lt::OperationField::scale_a, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
SAME(lt::OperationField::scale_b, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
SAME(lt::Epilogue::none, CUBLASLT_EPILOGUE_DEFAULT);
SAME(lt::Epilogue::relu, CUBLASLT_EPILOGUE_RELU);
SAME(lt::Epilogue::bias, CUBLASLT_EPILOGUE_BIAS);
SAME(lt::Epilogue::relu_bias, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(lt::Epilogue::gelu, CUBLASLT_EPILOGUE_GELU);
SAME(lt::Epilogue::gelu_bias, CUBLASLT_EPILOGUE_GELU_BIAS);
SAME(lt::PreferenceField::workspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(lt::PreferenceField::alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(lt::PreferenceField::alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(lt::PreferenceField::alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(lt::PreferenceField::alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(CUBLAS_OP_N, 0);
SAME(CUBLAS_OP_T, 1);
SAME(sizeof(lt::Algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(lt::Found), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(lt::Found, workspace), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(lt::Found, state), offsetof(cublasLtMatmulHeuristicResult_t, state));

using Theirs = CUstreamBatchMemOpParams;
SAME(sizeof(WordOp), sizeof(Theirs));
SAME(offsetof(WordOp, address), offsetof(Theirs, waitValue.address));
SAME(offsetof(WordOp, value), offsetof(Theirs, waitValue.value64));
SAME(offsetof(WordOp, flags), offsetof(Theirs, waitValue.flags));
SAME(offsetof(WordOp, address), offsetof(Theirs, writeValue.address));
SAME(offsetof(WordOp, value), offsetof(Theirs, writeValue.value64));
SAME(offsetof(WordOp, flags), offsetof(Theirs, writeValue.flags));

SAME(sizeof(LaunchConfig), sizeof(CUlaunchConfig));
SAME(offsetof(LaunchConfig, block), offsetof(CUlaunchConfig, blockDimX));
SAME(offsetof(LaunchConfig, shared_nbytes), offsetof(CUlaunchConfig, sharedMemBytes));
SAME(offsetof(LaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(LaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
SAME(offsetof(LaunchConfig, count), offsetof(CUlaunchConfig, numAttrs));
SAME(sizeof(LaunchAttribute), sizeof(CUlaunchAttribute));
SAME(offsetof(LaunchAttribute, value), offsetof(CUlaunchAttribute, value));
SAME(LaunchAttribute::kEarly, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

TEST(OverlapAbi, WordOperationsAreTheDrivers) {
  EXPECT_EQ(write_word(nullptr, 1).op, CU_STREAM_MEM_OP_WRITE_VALUE_64);
  EXPECT_EQ(write_word(nullptr, 1).flags, unsigned{CU_STREAM_WRITE_VALUE_DEFAULT});
  EXPECT_EQ(write_word(nullptr, 1).flags, unsigned{CU_STREAM_WRITE_VALUE_DEFAULT});
  EXPECT_EQ(await_word(nullptr, 1).op, CU_STREAM_MEM_OP_WAIT_VALUE_64);
  EXPECT_EQ(await_word(nullptr, 1).flags, unsigned{CU_STREAM_WAIT_VALUE_EQ});
}

#else

TEST(OverlapAbi, WordOperationsAreTheDrivers) {
  GTEST_SKIP() << "no cublasLt.h or cuda.h here";
}

#endif

}  // namespace
}  // namespace railshmem::overlap
