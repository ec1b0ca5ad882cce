#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds into build/, segments a rendered day with a ViT through OpenCV DNN with Mutual Pair Merging.
# Root or sudo.
set -eu
cd "$(dirname "$0")/.."

sh packages/install.sh --minimal
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPM_BUILD_TESTS=OFF -DMPM_BUILD_BENCHMARKS=OFF \
  -DMPM_WITH_LIBTORCH=OFF
cmake --build build

build/bin/mpm run --out build/quickstart
