#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that take minutes each, after scripts/test.sh: networks trained from scratch, the rehearsal of the GPU
# benchmark. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."

ctest --test-dir build --output-on-failure --label-regex '^long$' "$@"
