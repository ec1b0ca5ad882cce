#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages for this release, with libmpm-cuda if nvcc is on the PATH. Root or sudo.
#   scripts/package.sh [--minimal] [DIR]      into DIR, default build-packages/; --minimal: without the trainer
set -eu
cd "$(dirname "$0")/.."

minimal=
[ "${1-}" != --minimal ] || { minimal=--minimal; shift; }
dir=${1:-build-packages}
case $dir in -*) echo "usage: scripts/package.sh [--minimal] [DIR]" >&2; exit 2 ;; esac
sh packaging/install.sh $minimal
if command -v nvcc >/dev/null; then cuda=ON; else cuda=OFF; fi
cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DMPM_BUILD_TESTS=OFF \
  -DMPM_BUILD_BENCHMARKS=OFF -DMPM_WITH_CUDA=$cuda -DCMAKE_SKIP_INSTALL_RPATH=ON -DCMAKE_UNITY_BUILD=ON
cmake --build "$dir"
(cd "$dir" && cpack)
ls "$dir"/*.deb
