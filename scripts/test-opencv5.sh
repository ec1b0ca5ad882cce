#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and tests with OpenCV 5 of Debian experimental and the compilers of Debian sid, in a root of its own (scripts/in-root.sh).
# Another run continues in the same ROOT, and builds in ROOT/src/build. Needs root.
#   scripts/test-opencv5.sh [ROOT [TARGETS [TESTS]]]
# TARGETS, separated by spaces, and TESTS, a regular expression for names of tests, select a part:
#   scripts/test-opencv5.sh build-opencv5-root 'onnx_test net_test' '^(onnx|net)\.'
set -eu
export TARGETS="${2:-all}" TESTS="${3:-.}"
# shellcheck disable=SC2016
exec sh "$(dirname "$0")/in-root.sh" sid "${1:-build-opencv5-root}" '
  sed -n "s/ sid / experimental /p" /etc/apt/sources.list >/etc/apt/sources.list.d/experimental.list
  printf "Package: src:opencv\nPin: release a=experimental\nPin-Priority: 900\n" >/etc/apt/preferences.d/opencv
  sh packaging/install.sh
  cmake -S . -B ../build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DMPM_BUILD_TESTS=ON \
    -DMPM_WARNINGS_AS_ERRORS=ON
  cmake --build ../build --target $TARGETS
  ctest --test-dir ../build --output-on-failure --label-exclude long --parallel "$(nproc)" --tests-regex "$TESTS"'
