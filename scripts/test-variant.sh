#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and tests the project in another way than scripts/test.sh does.
#   scripts/test-variant.sh clang      with clang instead of GCC
#   scripts/test-variant.sh minimal    without Qt, the scene and LibTorch
#   scripts/test-variant.sh cuda       with the plug-in for NVIDIA GPUs; needs nvcc, but no GPU
set -eu
cd "$(dirname "$0")/.."
case $* in
  clang) packages='clang libomp-dev' options='-DCMAKE_CXX_COMPILER=clang++' ;;  # oneDNN needs OpenMP
  minimal) packages='' options='-DMPM_WITH_QT=OFF -DMPM_WITH_SCENE=OFF -DMPM_WITH_LIBTORCH=OFF' ;;
  cuda) packages='' options='-DMPM_WITH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90a' ;;
  *) echo "usage: scripts/test-variant.sh clang|minimal|cuda" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
sh packaging/install.sh $packages
# shellcheck disable=SC2086
cmake -S . -B "build-$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DMPM_BUILD_TESTS=ON -DMPM_BUILD_BENCHMARKS=OFF \
  -DMPM_WARNINGS_AS_ERRORS=ON $options
cmake --build "build-$1"
ctest --test-dir "build-$1" --output-on-failure --label-exclude long --parallel "$(nproc)"
if [ "$1" = cuda ]; then  # what scripts/cuda_bench.sh builds on the GPU's machine, without our other dependencies
  cmake -S bench/cuda -B build-cuda-bench -G Ninja -DCMAKE_CUDA_ARCHITECTURES=90a
  cmake --build build-cuda-bench
fi
