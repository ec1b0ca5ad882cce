# SPDX-License-Identifier: Apache-2.0
# All dependencies come from the distribution (packages/). Nothing is downloaded.
find_package(Threads REQUIRED)
# Without highgui: Debian's loads Qt 5, which a Qt 6 program must never load.
find_package(OpenCV REQUIRED COMPONENTS core imgproc imgcodecs videoio dnn)
find_package(Protobuf REQUIRED)
find_package(ONNX CONFIG REQUIRED)
if(NOT TARGET onnx_proto)  # ONNX 1.17 moved its targets into a namespace
  add_library(onnx_proto ALIAS ONNX::onnx_proto)
  add_library(onnx ALIAS ONNX::onnx)
endif()
find_package(nlohmann_json REQUIRED)
if(MPM_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
  find_package(JPEG REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(Boost REQUIRED CONFIG)  # Math, CRC, Algorithm and Asio, headers only
  find_path(MPM_TOML toml++/toml.h REQUIRED)  # headers only
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
if(MPM_BUILD_TOOLS)
  pkg_check_modules(EXIF REQUIRED IMPORTED_TARGET libexif)
  pkg_check_modules(CURL IMPORTED_TARGET libcurl)            # [webhook] of a watch file
  pkg_check_modules(MOSQUITTO IMPORTED_TARGET libmosquitto)  # [mqtt]
endif()

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
  find_package(OpenMP REQUIRED COMPONENTS CXX)  # for oneDNN's threads; we use one
elseif(mpm_gemm STREQUAL "cblas")
  pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
else()
  message(FATAL_ERROR "MPM_GEMM is '${MPM_GEMM}'; it can be AUTO, onednn or cblas")
endif()

set(mpm_libtorch OFF)
if(NOT MPM_WITH_LIBTORCH STREQUAL "OFF" AND mpm_libtorch_compiles)
  # Without this, a LibTorch built with CUDA compiles a probe for the GPUs of this machine. It compiles no code of ours.
  if(NOT DEFINED TORCH_CUDA_ARCH_LIST)
    set(TORCH_CUDA_ARCH_LIST 9.0)
  endif()
  if(Torch_DIR AND EXISTS ${Torch_DIR}/../Caffe2/Caffe2Config.cmake)
    set(Caffe2_DIR ${Torch_DIR}/../Caffe2)  # otherwise Torch's config finds the distribution's
  endif()
  find_package(Torch QUIET)  # after Protobuf, or LibTorch's own search for Protobuf wins
  if(Torch_FOUND)
    set(mpm_libtorch ON)
  elseif(MPM_WITH_LIBTORCH STREQUAL "ON")
    message(FATAL_ERROR "MPM_WITH_LIBTORCH is ON but LibTorch was not found: install libtorch-dev or set Torch_DIR")
  endif()
endif()

set(mpm_qt OFF)
if(NOT MPM_WITH_QT STREQUAL "OFF")
  find_package(Qt6 6.4 QUIET COMPONENTS Widgets Svg LinguistTools)
  if(Qt6_FOUND AND Qt6Widgets_FOUND AND Qt6LinguistTools_FOUND)
    set(mpm_qt ON)
  elseif(MPM_WITH_QT STREQUAL "ON")
    message(FATAL_ERROR "MPM_WITH_QT is ON but Qt 6.4 or later was not found: install qt6-base-dev, qt6-svg-dev, qt6-tools-dev and qt6-l10n-tools")
  endif()
endif()
set(mpm_page OFF)
if(NOT MPM_WITH_PAGE STREQUAL "OFF")
  pkg_check_modules(MICROHTTPD QUIET IMPORTED_TARGET libmicrohttpd>=0.9.75)
  if(MICROHTTPD_FOUND)
    set(mpm_page ON)
  elseif(MPM_WITH_PAGE STREQUAL "ON")
    message(FATAL_ERROR "MPM_WITH_PAGE is ON but libmicrohttpd was not found: install libmicrohttpd-dev")
  endif()
endif()
if(MPM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
set(mpm_benchmarks OFF)
if(NOT MPM_BUILD_BENCHMARKS STREQUAL "OFF")
  find_package(benchmark QUIET)
  if(benchmark_FOUND)
    set(mpm_benchmarks ON)
  elseif(MPM_BUILD_BENCHMARKS STREQUAL "ON")
    message(FATAL_ERROR "MPM_BUILD_BENCHMARKS is ON but Google Benchmark was not found: install libbenchmark-dev")
  endif()
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With the base, a unity file of another build folder is the same file, such as one of the wheel that the tests build. Without the
  # sloppiness, ccache keeps nothing that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_BINARY_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
