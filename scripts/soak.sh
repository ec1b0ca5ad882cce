#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the app (off screen) and `mpm monitor` at the same time on a rendered day at high speed, and prints the memory of both
# every 30 s. Fails when one of them ends, or when its mean memory in the last quarter of the run is more than 3 % above the
# mean in the second quarter. (Caches fill in the first quarter.)
#   scripts/soak.sh [BUILD_FOLDER [MINUTES]]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build} minutes=${2:-30}
work=$(mktemp -d)
app='' service=''
trap 'kill $app $service 2>/dev/null || true; rm -rf "$work"' EXIT
speed=$((24 * 60 / minutes))  # a day in that time
source="demo:street?seed=7&weather=auto&start=2026-09-20T00:00&speed=$speed"

export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR="$work"
"$build/bin/mpm-monitor" --settings "$work/app.ini" --db "$work/app.db" --pictures "$work/pictures" "$source" &
app=$!
"$build/bin/mpm" monitor "$source" --db "$work/service.db" --snapshots "$work/snapshots" --snapshot-every 1 >"$work/service.log" 2>&1 &
service=$!

rss() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }
echo "a day in $minutes min; resident memory, kB"
samples=$((minutes * 2)) i=0
while [ $i -lt $samples ]; do
  sleep 30
  i=$((i + 1))
  app_kb=$(rss $app) || { echo "mpm-monitor ended" >&2; exit 1; }
  service_kb=$(rss $service) || { echo "mpm monitor ended" >&2; tail -3 "$work/service.log" >&2; exit 1; }
  printf '%5.1f min  mpm-monitor %s  mpm monitor %s\n' "$(awk "BEGIN { print $i / 2 }")" "$app_kb" "$service_kb" | tee -a "$work/memory"
done
for name in app service; do
  eval "kill \$$name"
  eval "wait \$$name" || { echo "$name ended with $?" >&2; exit 1; }
done
app='' service=''
awk -v n=$samples '
  { column = NR / n; for (p = 0; p < 2; ++p) { kb = p ? $7 : $4
      if (column > 0.25 && column <= 0.5) { early[p] += kb; ++e[p] } else if (column > 0.75) { late[p] += kb; ++l[p] } } }
  END { names[0] = "mpm-monitor"; names[1] = "mpm monitor"
    for (p = 0; p < 2; ++p) { growth = 100 * ((late[p] / l[p]) / (early[p] / e[p]) - 1)
      printf "%s: %+.2f %% from the second quarter to the last\n", names[p], growth; if (growth > 3) bad = 1 }
    exit bad }' "$work/memory"
