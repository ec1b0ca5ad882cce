#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release that later versions must read (tests/cli/releases_test.cpp, tests/gui/window_test.cpp), before it is tagged:
#   sh tests/data/releases/make.sh build/bin/mpm tests/data/releases/0.1.0
set -eu
mpm=$(realpath "$1")
mkdir -p "$2"
model=$(realpath "$(dirname "$0")/../segmenter_mask_ts17.onnx") folder=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$model" vit.onnx
"$mpm" convert vit.onnx -o converted.onnx --reduce mpm:blocks=1,2
"$mpm" run 'demo:street?seed=3&size=64x96&start=2026-06-20T05:00&step=21600&frames=8' --model vit.onnx --out out
mkdir -p images labels examples/open examples/closed
for labels in out/*_labels.png; do
  name=$(basename "$labels" _labels.png)
  cp "$labels" "labels/$name.png"
  cp "out/${name}_overlay.png" "images/$name.png"
done
cp images/*[0-3].png examples/open
cp images/*[4-7].png examples/closed
echo '{"classes": [{"name": "sky"}, {"name": "house"}, {"name": "road"}, {"name": "tree"}]}' >classes.json
echo '{"regions": [{"name": "gate", "width": 96, "height": 64, "polygons": [[[10, 10], [60, 10], [60, 50]]]}]}' >yard.json
"$mpm" teach --images images --labels labels --classes classes.json --model vit.onnx --steps 20 -o taught.onnx
"$mpm" teach --states examples --model vit.onnx --regions yard.json --region gate -o gate.json
"$mpm" monitor 'demo:street?seed=3&size=64x96&start=2026-06-20T00:00&step=3600&frames=24' --model vit.onnx --every 0 \
  --db watch.db --regions yard.json --states gate.json --alarm 'gate:gcc>0.3' --alarm-minutes 0 --lat 48 --lon 11 \
  --snapshots shots --quality dark=20:pictures=3 --keep 3650 --print-watch | grep -v '^#' >watch.toml
"$mpm" monitor --watch watch.toml
cat >settings.ini <<'SETTINGS'
[General]
colors=#01fe03 sky, "#0203fd road, old"
dark=true
font=120

[view]
chart_areas=road
chart_region=gate
chart_span=week
chart_values=merged, gcc
coloring=size
curtain=0.25
map=false
mode=curtain
opacity=0.75
SETTINGS
QT_QPA_PLATFORM=offscreen "$(dirname "$mpm")/mpm-monitor" --settings settings.ini --db none --model vit.onnx 'demo:street?frames=2' &
until grep -q '^geometry' settings.ini && grep -q '^recent' settings.ini; do sleep 1; done
kill $!
wait $!
sed -i "s|$work/||" settings.ini
cp settings.ini converted.onnx taught.onnx taught.json gate.json yard.json watch.toml watch.db "$folder"
