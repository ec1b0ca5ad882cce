#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages or the wheel of the latest commit once more, in another folder, time zone and locale, and fails when
# one differs by a byte.
#   scripts/test-reproducible.sh DIR      DIR: where scripts/package.sh, wheel.sh or dist.sh built them, on this release of Debian
set -eu
[ $# -eq 1 ] || { echo "usage: scripts/test-reproducible.sh DIR" >&2; exit 2; }
first=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
git clone -q . "$work/another"
build=package.sh kinds='*.deb *.tar.xz'
[ -z "$(find "$first" -maxdepth 1 -name '*.whl')" ] || build=wheel.sh kinds='*.whl'
(cd "$work/another" && TZ=Pacific/Auckland LC_ALL=C sh "scripts/$build" "$work/second")
status=0
# dist/ has wheels of other releases too, so those of the second build count.
if [ "$build" = wheel.sh ]; then named=$work/second; else named=$first; fi
for kind in $kinds; do
  for file in "$named"/$kind; do cmp "$first/${file##*/}" "$work/second/${file##*/}" || status=1; done
done
exit $status
