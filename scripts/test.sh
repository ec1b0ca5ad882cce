#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages, checks the sources, builds into build/ and runs the tests. Root or sudo.
# scripts/test-long.sh runs the tests that take minutes each.
set -eu
cd "$(dirname "$0")/.."

sh packaging/install.sh
sh scripts/check.sh --quick
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DMPM_BUILD_TESTS=ON -DMPM_BUILD_BENCHMARKS=ON \
  -DMPM_WITH_LIBTORCH=AUTO -DMPM_TEST_SHARDS=4 -DMPM_WARNINGS_AS_ERRORS=ON
cmake --build build
# One test more than cores: some wait for a camera, a clock or a broker.
ctest --test-dir build --output-on-failure --label-exclude long --parallel "$(($(nproc) + 1))"
