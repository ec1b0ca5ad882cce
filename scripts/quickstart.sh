#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds into build/, segments pictures with a ViT through OpenCV DNN with Mutual Pair Merging.
# Root or sudo.
set -eu
cd "$(dirname "$0")/.."

sh packages/install.sh --minimal
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPM_BUILD_TESTS=OFF -DMPM_BUILD_BENCHMARKS=OFF \
  -DMPM_WITH_LIBTORCH=OFF
cmake --build build

real_model=../shared/models/camvid_segmenter_vit_t16.onnx
real_images=../shared/data/camvid_val/images
if [ -r models/street_vit_t16.onnx ]; then
  build/bin/mpm run --out build/quickstart
elif [ -r "$real_model" ] && [ -d "$real_images" ]; then
  build/bin/mpm run "$real_images" --model "$real_model" --schedule 2,5 --max-frames 5 --out build/quickstart
else
  echo "No trained model here yet: this one has random weights, so the merge map means something and the labels do not."
  build/bin/mpm run 'demo:street?seed=11&start=2026-06-21T15:00&speed=3600&frames=5' \
    --model tests/data/segmenter_mask_ts17.onnx --schedule 1,2 --out build/quickstart
fi
