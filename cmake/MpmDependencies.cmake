# SPDX-License-Identifier: Apache-2.0
# Everything comes from the distribution (packages/); nothing is downloaded.
find_package(Threads REQUIRED)
# highgui is not among the modules: Debian's brings Qt 5, which a Qt 6 program must never load.
find_package(OpenCV REQUIRED COMPONENTS core imgproc imgcodecs videoio dnn)
find_package(Protobuf REQUIRED)
find_package(ONNX CONFIG REQUIRED)
if(NOT TARGET onnx_proto)  # ONNX 1.17 moved its targets into a namespace
  add_library(onnx_proto ALIAS ONNX::onnx_proto)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

set(mpm_gemm ${MPM_GEMM})
if(mpm_gemm STREQUAL "AUTO")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(mpm_gemm onednn)
  else()
    set(mpm_gemm cblas)  # Debian's oneDNN has no fast fp32 path on Arm
  endif()
endif()
if(mpm_gemm STREQUAL "onednn")
  find_package(OneDNN REQUIRED)
  find_package(OpenMP REQUIRED COMPONENTS CXX)  # oneDNN's threads, which we keep at one
elseif(mpm_gemm STREQUAL "cblas")
  pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
else()
  message(FATAL_ERROR "MPM_GEMM is '${MPM_GEMM}'; it can be AUTO, onednn or cblas")
endif()

set(mpm_libtorch OFF)
if(NOT MPM_WITH_LIBTORCH STREQUAL "OFF")
  # A LibTorch built with CUDA compiles a probe for the GPUs of this machine unless an architecture is named; nothing of
  # ours is compiled by it.
  if(NOT DEFINED TORCH_CUDA_ARCH_LIST)
    set(TORCH_CUDA_ARCH_LIST 9.0)
  endif()
  if(Torch_DIR AND EXISTS ${Torch_DIR}/../Caffe2/Caffe2Config.cmake)
    set(Caffe2_DIR ${Torch_DIR}/../Caffe2)  # Torch's config would take the distribution's for its own
  endif()
  find_package(Torch QUIET)  # after Protobuf: LibTorch's own search for it would win otherwise
  if(Torch_FOUND)
    set(mpm_libtorch ON)
  elseif(MPM_WITH_LIBTORCH STREQUAL "ON")
    message(FATAL_ERROR "MPM_WITH_LIBTORCH is ON but LibTorch was not found: install libtorch-dev or set Torch_DIR")
  endif()
endif()
if(MPM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(MPM_BUILD_BENCHMARKS)
  find_package(benchmark QUIET)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
