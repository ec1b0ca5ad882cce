#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what scripts/cuda_bench.sh --net needs to run whole nets on a machine that has a GPU but no OpenCV: the test and
# the benchmark of nets, the libraries that they load (not those of the C library, nor CUDA's), a model and images.
#   scripts/cuda_bundle.sh BUILD OUT.tar.xz [MODEL.onnx [IMAGE...]]
# BUILD is a build with CUDA, for the architecture of that GPU, of the targets cuda_net_test and cuda_net_bench; without
# IMAGE also mpm_scene_preview, for a day of the built-in scene. Without MODEL the default one.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 2 ]; then
  sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
build=$1 out=$2 model=${3:-$root/models/street_vit_t16.onnx}
shift $(($# < 3 ? $# : 3))
for program in cuda_net_test cuda_net_bench; do
  [ -x "$build/bin/$program" ] || { echo "$0: no $build/bin/$program; build that target first" >&2; exit 1; }
done
[ -f "$model" ] || { echo "$0: no model '$model'" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/lib" "$folder/models" "$folder/images"
for program in cuda_net_test cuda_net_bench; do
  strip -o "$folder/bin/$program" "$build/bin/$program"
  ldd "$build/bin/$program" | awk '$3 ~ /^\// { print $3 }'
done | sort -u | grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|libcuda|libcublas[A-Za-z]*)\.so' |
  while read -r library; do cp -L "$library" "$folder/lib/"; done
cp "$model" "$folder/models/"
if [ -f "${model%.onnx}.json" ]; then cp "${model%.onnx}.json" "$folder/models/"; fi
# PPM, so that no decoder has to come along.
if [ $# -eq 0 ]; then
  mkdir "$folder/scene"
  "$build/bin/mpm_scene_preview" "street?seed=7&start=2026-09-20T00:00&step=10800" 8 "$folder/scene" >/dev/null
  rm "$folder"/scene/*_labels.png
  set -- "$folder"/scene/*.png
fi
/usr/bin/python3 - "$folder/images" "$@" <<'PYTHON'
import os
import sys

import cv2

for number, path in enumerate(sys.argv[2:]):
    image = cv2.imread(path, cv2.IMREAD_COLOR)
    if image is None:
        sys.exit(f"'{path}' is no image")
    if not cv2.imwrite(os.path.join(sys.argv[1], f"{number:02}.ppm"), image):
        sys.exit("a PPM could not be written")
PYTHON
XZ_OPT=-T0 tar -C "$folder" -cJf "$out.part" bin lib models images
mv "$out.part" "$out"
echo "$out: $(($(stat -c %s "$out") >> 20)) MB; on the GPU's machine: scripts/cuda_bench.sh --net $(basename "$out")"
