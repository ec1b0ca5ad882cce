#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs everything that scripts/cuda_bench.sh --net needs to run whole nets on a machine with a GPU but without OpenCV: the
# test and the benchmark of nets, the CUDA plug-in, the libraries that these load (without the C library and CUDA), a model
# and images.
#   scripts/cuda_bundle.sh BUILD OUT.tar.xz [MODEL.onnx [IMAGE...]]
# BUILD is a build folder with the targets mpm_cuda (for the architecture of that GPU), cuda_net_test and cuda_net_bench;
# without IMAGE also mpm_scene_preview, which draws a day of the built-in scene. Default MODEL: models/street_vit_t16.onnx.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 2 ]; then
  sed -n '3,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
build=$1 out=$2 model=${3:-$root/models/street_vit_t16.onnx}
shift $(($# < 3 ? $# : 3))
programs=("$build"/bin/cuda_net_test "$build"/bin/cuda_net_bench)
plugin=$(find "$build/lib" -name 'libmpm_cuda.so.*.*' -type l)
for file in "${programs[@]}" "${plugin:-$build/lib/libmpm_cuda.so}"; do
  [ -e "$file" ] || { echo "$0: no $file; build mpm_cuda, cuda_net_test and cuda_net_bench with CUDA first" >&2; exit 1; }
done
[ -f "$model" ] || { echo "$0: no model '$model'" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/lib" "$folder/models" "$folder/images"
for program in "${programs[@]}"; do strip -o "$folder/bin/$(basename "$program")" "$program"; done
cp -L "$plugin" "$folder/lib/"
ldd "${programs[@]}" "$plugin" | awk '$3 ~ /^\// { print $3 }' |
  sort -u | grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|libcuda|libcublas[A-Za-z]*)\.so' |
  while read -r library; do cp -L "$library" "$folder/lib/"; done
cp "$model" "$folder/models/"
if [ -f "${model%.onnx}.json" ]; then cp "${model%.onnx}.json" "$folder/models/"; fi
# PPM needs no image decoder.
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
