#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the plug-in for NVIDIA GPUs for 64-bit Arm on x86-64: for Jetson Orin (8.7) and Thor (11.0). Runs nothing of it, and needs no
# root of Debian for arm64: nvcc, the cross compiler of g++, cuBLAS of PyPI (0.5 GB, the first time) and the headers of OpenCV's core.
#   scripts/cuda_arm64.sh [FOLDER]      default build-arm64-cuda/; the plug-in is FOLDER/build/lib/libmpm_cuda.so
# ARCHITECTURES=87-real: Orin alone. Needs nvcc 13, pip, CMake and PyPI; and root, where g++-aarch64-linux-gnu is missing.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build-arm64-cuda}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
target=$folder/cuda/targets/aarch64-linux
if [ ! -e "$folder/complete" ]; then
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  installed=$(cd "$(dirname "$nvcc")/.." && pwd)
  command -v aarch64-linux-gnu-g++ >/dev/null || apt-get install -q -y --no-install-recommends g++-aarch64-linux-gnu
  # nvcc compiles for the processor of its host compiler, with headers and libraries in targets/aarch64-linux beside bin.
  mkdir -p "$target/lib" "$folder/packages/lists/partial" "$folder/root"
  cp -as --update "$installed/bin" "$installed/nvvm" "$folder/cuda/"
  cp -asL --update "$installed/include" "$target/"
  cd "$folder/packages"
  python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 \
    "nvidia-cuda-runtime==$version.*" "nvidia-cublas==${version%%.*}.*"
  for wheel in *.whl; do python3 -m zipfile -e "$wheel" .; done
  cp --remove-destination nvidia/cu*/include/*.h "$target/include/"
  mv nvidia/cu*/lib/* "$target/lib/"
  for name in cudart cublas cublasLt; do ln -sf "lib$name.so.${version%%.*}" "$target/lib/lib$name.so"; done
  arm64="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists=$folder/packages/lists"
  # shellcheck disable=SC2086
  apt-get $arm64 update -q
  # shellcheck disable=SC2086
  apt-get $arm64 download -q libopencv-core-dev "$(apt-cache $arm64 depends libopencv-core-dev | grep -o 'libopencv-core[0-9].*')"
  for package in *.deb; do dpkg -x "$package" "$folder/root"; done
  cd "$OLDPWD"
  touch "$folder/complete"
fi
cmake -S bench/cuda -B "$folder/build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_CUDA_HOST_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_CUDA_COMPILER="$folder/cuda/bin/nvcc" -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-87-real;110-real}" -DMPM_OPENCV="$folder/root"
cmake --build "$folder/build" --parallel "$(nproc)" --target mpm_cuda
aarch64-linux-gnu-objdump -f "$folder/build/lib/libmpm_cuda.so"
