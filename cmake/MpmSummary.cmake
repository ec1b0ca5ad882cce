# SPDX-License-Identifier: Apache-2.0
message(STATUS "mpm_layer ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  OpenCV      ${OpenCV_VERSION}")
message(STATUS "  GEMM        ${mpm_gemm}")
message(STATUS "  Highway     ${HWY_VERSION}")
message(STATUS "  ONNX        ${ONNX_VERSION}")
message(STATUS "  tests       ${MPM_BUILD_TESTS}")
message(STATUS "  LibTorch    ${mpm_libtorch} (oracle of the tests)")
message(STATUS "  benchmarks  ${benchmark_FOUND}")
