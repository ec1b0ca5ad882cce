#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes the pictures of docs/teach.md: labels four pictures of a street in the app on a virtual screen, trains, uses the
# model, and compares it with the default one (teach_before_after.jpg). Needs the packages xvfb, xdotool and imagemagick.
#   scripts/teach_pictures.sh BUILD_FOLDER [OUTPUT_FOLDER]     default: docs/images
set -eu
[ $# -ge 1 ] || { echo "usage: $0 BUILD_FOLDER [OUTPUT_FOLDER]" >&2; exit 2; }
app=$1/bin/mpm-monitor
out=${2:-$(dirname "$0")/../docs/images}
mkdir -p "$out"
work=$(mktemp -d)
app_id='' screen_id=''
trap 'kill $app_id $screen_id 2>/dev/null || true; rm -rf "$work"' EXIT
export DISPLAY=:$((90 + $$ % 100)) OMP_WAIT_POLICY=passive
Xvfb "$DISPLAY" -screen 0 1280x800x24 >/dev/null 2>&1 &
screen_id=$!
sleep 1

street="demo:street?seed=7&variety=1&speed=0&start=2026-06-2"

# watch HOUR: the app, on the street at this time
watch() {
  "$app" --light --settings "$work/app.ini" --db "$work/yard.db" --pictures "$work/pictures" \
    "$street$1" 2>/dev/null &
  app_id=$!
  timeout 60 xdotool search --sync --onlyvisible --class mpm-monitor windowfocus >/dev/null 2>&1
  sleep 10
}
leave() {
  kill "$app_id"
  wait "$app_id"
  app_id=''
}
picture() { # NAME
  import -window root "$work/$1.png"
  convert "$work/$1.png" -resize 800x -quality 82 "$out/$1.jpg"
}
key() { for name; do xdotool key "$name"; sleep 0.5; done; }
click() { xdotool mousemove "$1" "$2" click 1; sleep 0.5; }
# stroke X Y X Y...: draws with the tool in hand
stroke() {
  xdotool mousemove "$1" "$2" mousedown 1
  shift 2
  while [ $# -gt 0 ]; do
    xdotool mousemove "$1" "$2"
    sleep 0.1
    shift 2
  done
  xdotool mouseup 1
  sleep 0.5
}
name_class() { xdotool mousemove 1090 723 click 1 type "$1"; key Return; }

# What stands still is at the same place in every picture.
label_street() {
  key b 1
  stroke 160 640 400 640 640 640
  stroke 560 560 680 470
  stroke 715 460 745 640 775 735
  key 2
  stroke 80 140 90 330
  stroke 320 160 330 260
  stroke 500 130 590 200 590 290
  stroke 700 150 705 310
  key 3
  stroke 800 380 880 470 925 580
  stroke 60 490 120 480
  key 4
  stroke 830 170 880 260
  stroke 160 280 190 370
  stroke 310 310 325 330
  key 5
  stroke 245 430 310 430
}

take_picture() {
  key l
  sleep 2
  click 992 82
  click 1030 655
  sleep 3
}

watch 1T10:40
picture teach_01_first
take_picture
picture teach_02_picture
click 1057 82
for class in road building pavement tree car; do name_class "$class"; done
picture teach_03_classes
click 230 500
key f 1
click 300 650
click 610 600
key 2
click 560 250
xdotool mousemove 700 250
sleep 1
picture teach_04_clusters
label_street
xdotool mousemove 600 700
sleep 25
picture teach_05_prediction
key q
sleep 1
picture teach_06_unsure
key q v
click 540 590
picture teach_07_accept
leave

for hour in 1T17:30 1T23:30 2T10:20; do
  watch $hour
  take_picture
  key f
  click 270 430
  label_street
  click 992 82
  sleep 8
  [ $hour = 2T10:20 ] || leave
done
picture teach_08_four
click 1173 82
click 1120 119
models=$work/yard.labels/models
until [ -e "$models/v1.json" ]; do sleep 1; done
sleep 5
picture teach_09_verdict
xdotool mousemove 600 400
key b 3
stroke 880 600 905 640
sleep 10
key d
sleep 8
picture teach_11_changes
key d
click 1120 756
sleep 3
key l
sleep 8
picture teach_10_live
leave
"$1/bin/mpm" run "$street""1T10:40&frames=1" --out "$work/before"
"$1/bin/mpm" run "$street""1T10:40&frames=1" --model "$models/v1.onnx" --out "$work/after"
convert "$work"/before/*_overlay.png "$work"/after/*_overlay.png +append -quality 85 "$out/teach_before_after.jpg"
