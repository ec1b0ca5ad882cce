#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the desktop app on a virtual screen and saves screenshots: 1280x800 and 800x480, light and dark.
#   scripts/gui_screenshots.sh BUILD_FOLDER OUTPUT_FOLDER [SOURCE [MODEL]]
set -eu
[ $# -ge 2 ] || { echo "usage: $0 BUILD_FOLDER OUTPUT_FOLDER [SOURCE [MODEL]]" >&2; exit 2; }
app=$1/bin/mpm-monitor
out=$2
source=${3:-demo:}
model=${4:-}
for tool in Xvfb xdotool import; do
  command -v $tool >/dev/null || { echo "$0: $tool is missing (packages xvfb, xdotool, imagemagick)" >&2; exit 1; }
done
mkdir -p "$out"
work=$(mktemp -d)
trap 'kill $app_id $screen_id 2>/dev/null || true; rm -rf "$work"' EXIT
app_id='' screen_id=''
display=:$((90 + $$ % 100))

# shot NAME SIZE SECONDS "KEYS" "X Y" OPTION...: starts the app, waits, presses keys, moves the mouse, saves a screenshot
shot() {
  name=$1 size=$2 seconds=$3 keys=$4 at=$5
  shift 5
  Xvfb $display -screen 0 "${size}x24" >/dev/null 2>&1 &
  screen_id=$!
  sleep 1
  DISPLAY=$display "$app" --settings "$work/$name.ini" --db "$work/$name.db" --pictures "$work/pictures" ${model:+--model "$model"} "$@" &
  app_id=$!
  DISPLAY=$display timeout 60 xdotool search --sync --onlyvisible --class mpm-monitor windowfocus >/dev/null 2>&1 || true
  sleep "$seconds"
  for key in $keys; do
    DISPLAY=$display xdotool key "$key"
    sleep 1
  done
  # shellcheck disable=SC2086
  [ -z "$at" ] || { DISPLAY=$display xdotool mousemove $at; sleep 1; }
  DISPLAY=$display import -window root "$out/$name.png"
  kill $app_id
  wait $app_id || { echo "$0: the app ended with $?" >&2; exit 1; }
  kill $screen_id
  wait $screen_id 2>/dev/null || true
  app_id='' screen_id=''
}

shot welcome_light 1280x800 3 "" "" --light
shot live_dark 1280x800 130 "" "640 300" --dark "$source"
shot live_light 1280x800 40 "4 c" "700 330" --light "$source"
shot small_light 800x480 20 "" "620 300" --light "$source"
shot small_dark 800x480 20 "c" "620 200" --dark "$source"
