#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-compiles the library for 64-bit Arm and runs the tests of kernels, merging and layers under qemu-user. For Debian
# 12 on x86-64. Installs the compiler and qemu: root or sudo.
#   scripts/test-arm64.sh [SYSROOT_FOLDER]
set -eu
cd "$(dirname "$0")/.."
root=${1:-build-arm64-sysroot}

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -q
$sudo apt-get install -q -y --no-install-recommends g++-aarch64-linux-gnu qemu-user protobuf-compiler cmake ninja-build
scripts/arm64-sysroot.sh "$root"
MPM_ARM64_SYSROOT=$(cd "$root/sysroot" && pwd)
export MPM_ARM64_SYSROOT
cmake -S . -B build-arm64 -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPM_WITH_LIBTORCH=OFF -DMPM_WITH_CUDA=OFF \
  -DMPM_BUILD_BENCHMARKS=OFF \
  -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64-linux-gnu.cmake
cmake --build build-arm64 --target mpm_layer kernels_test merging_test layers_test
ctest --test-dir build-arm64 --output-on-failure -R '^(kernels|merging|layers)\.' --parallel "$(nproc)"
