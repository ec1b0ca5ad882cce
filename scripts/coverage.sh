#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the share of the lines of each module that the tests run. Installs gcovr.
#   scripts/coverage.sh [TESTS...]      TESTS: of these test programs only, such as base or net; without: of all, in about an hour
set -eu
cd "$(dirname "$0")/.."
sh packaging/install.sh gcovr

cmake -S . -B build-coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DMPM_BUILD_TESTS=ON -DMPM_BUILD_BENCHMARKS=OFF \
  -DMPM_TEST_SHARDS=4 -DCMAKE_CXX_FLAGS='--coverage -fprofile-update=atomic -O1'
find build-coverage -name '*.gcda' -delete
rm -rf build-coverage/CMakeFiles/*/CompilerIdCXX  # gcovr looks for its sources
if [ $# -eq 0 ]; then
  cmake --build build-coverage
  ctest --test-dir build-coverage --label-exclude long --parallel "$(nproc)" --timeout 3600 || echo "scripts/coverage.sh: some tests failed" >&2
else
  for tests; do cmake --build build-coverage --target "${tests}_test"; done
  ctest --test-dir build-coverage --label-exclude long --parallel "$(nproc)" --tests-regex "^($(echo "$*" | tr ' ' '|'))\."
fi
gcovr --root . --object-directory build-coverage --exclude 'tests/' --exclude 'build' --csv -j "$(nproc)" | awk -F, '
  NR == 1 { next }
  {
    n = split($1, part, "/")
    module = part[1]
    if (module == "mpm_layer" || module == "toolkit") module = module "/" part[2] (part[2] == "src" && n > 3 ? "/" part[3] : "")
    lines[module] += $2
    run[module] += $3
    all += $2
    all_run += $3
  }
  END {
    for (module in lines) printf "%-26s %6d lines %6.1f %% run\n", module, lines[module], 100 * run[module] / lines[module] | "sort"
    close("sort")
    printf "%-26s %6d lines %6.1f %% run\n", "all", all, 100 * all_run / all
  }'
