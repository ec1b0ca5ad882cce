#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the folder of an add-on (app) of Home Assistant from an image of scripts/image.sh and packaging/home-assistant. It holds all that
# Home Assistant needs to build it, without a network. Needs jq and imagemagick.
#   scripts/addon.sh [IMAGE [DIR]]      default: the image in build-image/, and build-addon/mpm
set -eu
fail() {
  echo "scripts/addon.sh: $1" >&2
  exit "${2:-1}"
}
here=$PWD
cd "$(dirname "$0")/.."
case ${1-} in -*) fail "usage: scripts/addon.sh [IMAGE [DIR]]" 2 ;; esac
# absolute PATH: an argument, which counts from the folder of the caller
absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }
for program in jq convert; do command -v $program >/dev/null || fail "install $program: sh packaging/install.sh"; done
dir=$(absolute "${2:-$PWD/build-addon/mpm}")
if [ $# -gt 0 ]; then image=$(absolute "$1"); else
  set -- build-image/*.oci.tar
  [ -e "$1" ] || fail "there is no image in build-image/: make one with scripts/image.sh, or name it"
  [ $# -eq 1 ] || fail "there are several images in build-image/: name one"
  image=$PWD/$1
fi

[ ! -e "$dir" ] || [ -e "$dir/root.tar.gz" ] || fail "'$dir' is there and is no add-on: name another folder"
mkdir -p "$(dirname "$dir")"
new=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
# blob DIGEST: a part of the image
blob() { tar -xOf "$image" "./blobs/$(echo "$1" | tr : /)"; }
manifest=$(tar -xOf "$image" ./index.json | jq --raw-output '.manifests[0].digest') || fail "'$image' is no image of scripts/image.sh"
layer=$(blob "$manifest" | jq --raw-output 'if .layers | length == 1 then .layers[0].digest else error("not one layer") end')
case $(blob "$(blob "$manifest" | jq --raw-output .config.digest)" | jq --raw-output .architecture) in
  amd64) arch=amd64 ;;
  arm64) arch=aarch64 ;;
  *) fail "'$image' is for a processor that Home Assistant does not have" ;;
esac

cp -r packaging/home-assistant/. CHANGELOG.md "$new"
# The layer is for one processor.
sed -i "/^arch:/,/^[^ ]*:/{/^  - /{/^  - $arch\$/!d}}" "$new/config.yaml"
convert assets/icons/mpm-monitor.png -resize 128x128 -strip "$new/icon.png"
convert -background none assets/icons/mpm-monitor.png -resize 100x100 -gravity center -extent 250x100 -strip "$new/logo.png"
blob "$layer" >"$new/root.tar.gz"
chmod 755 "$new"
rm -rf "$dir"
mv "$new" "$dir"
echo "$dir"
