#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages, builds into build/ and shows a ViT with Mutual Pair Merging on a rendered street: live in the app
# where there is a display, otherwise as pictures of a day in build/quickstart. Root or sudo.
set -eu
cd "$(dirname "$0")/.."

sh packaging/install.sh --minimal
# 16 files at once: each unit reads the headers of Qt and OpenCV once.
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
  -DMPM_BUILD_TESTS=OFF -DMPM_BUILD_BENCHMARKS=OFF -DMPM_WITH_LIBTORCH=OFF
cmake --build build

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -x build/bin/mpm-monitor ]; then
  build/bin/mpm-monitor demo: && exit
fi
build/bin/mpm run demo:day --out build/quickstart
