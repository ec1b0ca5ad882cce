#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the repository that scripts/package.sh or scripts/dist.sh made: lintian, blhc (the compiler got all flags of hardening), then a fresh
# root where apt installs from the repository, packaging/debian/tests run, hardening-check looks at what is installed, all packages are
# installed again (which runs the scripts of an upgrade) and purged. Root.
#   scripts/test-package.sh [DIR [RELEASE]]      default: build-packages/ and this release; scripts/test-package.sh dist/trixie trixie
set -eu
cd "$(dirname "$0")/.."
dir=$(cd "${1:-build-packages}" && pwd)
# The compiler cuts strings into machine words, in which lintian finds misspelt words.
lintian --pedantic --display-info --suppress-tags spelling-error-in-binary --fail-on error,warning,info,pedantic "$dir"/*.changes
blhc --all "$dir"/*.build
packages=$(sed -n '/-dbgsym$/d; s/^Package: //p' "$dir/Packages" | tr '\n' ' ')
export dir packages DEBIAN_FRONTEND=noninteractive
# --nocfprotection: Debian's own start-up code lacks that mark. mmdebstrap runs each hook with the root in $1 and deletes the root at the end.
# shellcheck disable=SC1091,SC2016
mmdebstrap --variant=apt --include=systemd --format=null \
  --customize-hook='mkdir "$1/srv/mpm" && cp "$dir"/* "$1/srv/mpm"' \
  --customize-hook='echo "deb [signed-by=/srv/mpm/mpm-layer.asc] file:/srv/mpm ./" >"$1/etc/apt/sources.list.d/mpm.list"' \
  --customize-hook='chroot "$1" apt-get update' \
  --customize-hook='autopkgtest --no-built-binaries "$dir"/*.dsc -- chroot "$1"' \
  --customize-hook='chroot "$1" sh -exc "
    apt-get install -q -y --no-install-recommends $packages
    getent passwd mpm; systemd-analyze verify --man=no mpm-monitor@camera.service"' \
  --customize-hook='hardening-check --nocfprotection "$1"/usr/bin/mpm* "$1"/usr/lib/*/libmpm*.so.*.*' \
  --customize-hook='chroot "$1" sh -exc "
    apt-get install -q -y --reinstall $packages
    apt-get purge -q -y $packages
    ! find / -xdev \( -path /srv -o -path /proc -o -path \"*/apt\" \) -prune -o -name \"*mpm[-_.]*\" -print | grep ."' \
  "${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}" /dev/null "$(sh scripts/mirror.sh)"
