#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages for this release into build-packages/, with libmpm-cuda if nvcc is on the PATH. Root or sudo.
set -eu
cd "$(dirname "$0")/.."

sh packages/install.sh
cmake -S . -B build-packages -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DMPM_BUILD_TESTS=OFF \
  -DMPM_BUILD_BENCHMARKS=OFF -DCMAKE_SKIP_INSTALL_RPATH=ON
cmake --build build-packages
(cd build-packages && cpack)
ls build-packages/*.deb
