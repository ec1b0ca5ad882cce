#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of the latest commit once more, in another folder, time zone and locale, and fails when one differs by a byte.
#   scripts/test-reproducible.sh DIR      DIR: where scripts/package.sh or scripts/dist.sh built them, on this release of Debian
set -eu
[ $# -eq 1 ] || { echo "usage: scripts/test-reproducible.sh DIR" >&2; exit 2; }
first=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
TZ=Pacific/Auckland LC_ALL=C sh scripts/package.sh "$work/second"
status=0
for package in "$first"/*.deb "$first"/*.tar.xz; do
  cmp "$package" "$work/second/${package##*/}" || status=1
done
exit $status
