#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the ONNX reader and the converter with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer (clang).
# It stops at the first crash and leaves the input in build-fuzz/.
#   scripts/fuzz.sh [SECONDS]      default: 600
set -eu
cd "$(dirname "$0")/.."

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
sh packages/install.sh
# oneDNN needs OpenMP, which clang has in a package of its own.
$sudo apt-get install -q -y --no-install-recommends clang libclang-rt-dev libomp-dev
cmake --preset fuzz
cmake --build --preset fuzz --target fuzz_reader
mkdir -p build-fuzz/corpus build-fuzz/seeds
cp tests/data/*.onnx build-fuzz/seeds/
cd build-fuzz
bin/fuzz_reader -max_total_time="${1:-600}" -max_len=400000 -timeout=20 -rss_limit_mb=4096 corpus seeds
