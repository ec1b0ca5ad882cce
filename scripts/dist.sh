#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release from the latest commit, into dist/. Each release of Debian has a root of its own, build-RELEASE-root, 6 GB.
#   bookworm/, trixie/   apt repositories for Debian 12 and 13: source package, packages, debug symbols, each with a bill of materials
#   *.whl                Python wheels, for Python 3.11 (Debian 12) and for 3.12 and later (Debian 13)
#   site/                all pages and the documentation of both APIs (scripts/site.py)
#   SHA256SUMS           of all of these, with a signature: minisign -V -p minisign.pub -m SHA256SUMS && sha256sum -c SHA256SUMS
#   scripts/dist.sh [amd64|arm64] [RELEASE...]      default: amd64, bookworm trixie. arm64: without the trainer, on x86-64
# GPG_KEY (scripts/repository.sh) and MINISIGN_KEY, a file, sign. Without them new keys do, which prove nothing to others. Root.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- amd64
arch=$1
shift
[ $# -gt 0 ] || set -- bookworm trixie
case $arch in
  amd64)
    for release; do
      sh scripts/in-root.sh "$release" "build-$release-root" \
        "sh scripts/package.sh dist/$release; sh scripts/wheel.sh dist; python3 scripts/site.py dist/site"
    done ;;
  arm64)
    for release; do
      RELEASE=$release sh scripts/arm64.sh packages
      RELEASE=$release sh scripts/arm64.sh wheel
    done ;;
  *) echo "usage: scripts/dist.sh [amd64|arm64] [RELEASE...]" >&2; exit 2 ;;
esac

# The keys of this machine sign again: none of them is in a root.
apt-get install -q -y --no-install-recommends apt-utils gnupg minisign
for packages in dist/*/Packages; do sh scripts/repository.sh "$(dirname "$packages")"; done
key=${MINISIGN_KEY-}
if [ -z "$key" ]; then
  key=$(mktemp)
  trap 'rm -f "$key"' EXIT
  minisign -G -f -W -p dist/minisign.pub -s "$key"
fi
minisign -R -f -p dist/minisign.pub -s "$key"
cd dist
find . -type f ! -name 'SHA256SUMS*' ! -name minisign.pub | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
minisign -S -s "$key" -m SHA256SUMS -t "mpm_layer $(git describe --always)"
