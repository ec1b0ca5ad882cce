#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
set -eu
usage() {
  cat <<'END'
Makes an OCI image of the command mpm from Debian packages, without a daemon. Root; needs the packages of packaging/install.sh.
  scripts/image.sh [--fetch] [PACKAGES [DIR]]
PACKAGES: a folder with the packages mpm, mpm-data and libmpm-layer0.1 for this release of Debian, which scripts/package.sh made;
          default build-packages/. scripts/in-root.sh runs this script in another release.
DIR:      default build-image/. DIR/debs has the packages of Debian that the image needs, DIR/mpm_VERSION_ARCH.oci.tar is the image.
--fetch:  first fill DIR/debs from the sources of apt, which may need a network. Without it nothing is downloaded: the image is made
          in a network namespace of its own, and an error names what DIR/debs lacks.
The user of the image is mpm, its entry point the command, its volume /var/lib/mpm. Without arguments it watches the cameras of
/var/lib/mpm/watch.toml. The same packages make the same image, byte by byte.
END
}
fail() {
  echo "scripts/image.sh: $1" >&2
  exit "${2:-1}"
}
here=$PWD
cd "$(dirname "$0")/.."
fetch=
case ${1-} in
  -h | --help) usage; exit ;;
  --fetch) fetch=1; shift ;;
  -*) usage >&2; exit 2 ;;
esac
[ $# -le 2 ] || { usage >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || fail "run this as root: mmdebstrap makes files of other users"
for program in apt-ftparchive mmdebstrap umoci; do
  command -v $program >/dev/null || fail "there is no $program: sh packaging/install.sh installs it"
done
# absolute PATH: an argument, which counts from the folder of the caller
absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }
packages=$(absolute "${1:-$PWD/build-packages}") dir=$(absolute "${2:-$PWD/build-image}")
for name in mpm mpm-data libmpm-layer0.1; do
  set -- "$packages/${name}_"*.deb
  [ -e "$1" ] || fail "there is no package $name in '$packages'; scripts/package.sh makes it"
  [ $# -eq 1 ] || fail "there is more than one package $name in '$packages': leave one"
done
version=$(dpkg-deb -f "$packages"/mpm_*.deb Version) arch=$(dpkg-deb -f "$packages"/mpm_*.deb Architecture)
version=${version%%-*}
# What the program calls, beside what it links: certificates for TLS. For scripts of on-event and of Home Assistant: curl and jq.
also="ca-certificates curl jq systemd-standalone-sysusers"

mkdir -p "$dir/debs/partial"
dir=$(cd "$dir" && pwd) image=$dir/mpm_${version}_$arch.oci.tar
work=$(mktemp -d "$dir/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"
if [ -n "$fetch" ]; then
  # Of a system on which nothing is installed, so that apt takes all that the image needs. What is in DIR/debs stays.
  # shellcheck disable=SC2086
  apt-get -q -y -o APT::Architecture="$arch" -o Dir::State::status=/dev/null -o Dir::Cache::archives="$dir/debs" -o APT::Sandbox::User=root \
    --no-install-recommends --download-only install '?essential' $also "$packages"/mpm_*.deb "$packages"/mpm-data_*.deb \
    "$packages"/libmpm-layer0.1_*.deb
fi

# An apt repository of both folders. It needs no signature: apt has checked what it fetched, and you made the rest.
mkdir "$work/repository"
ln "$dir/debs"/*.deb "$work/repository" 2>/dev/null || fail "'$dir/debs' is empty: run this with --fetch, or copy packages of Debian there"
cp "$packages"/mpm_*.deb "$packages"/mpm-data_*.deb "$packages"/libmpm-layer0.1_*.deb "$work/repository"
(cd "$work/repository" && apt-ftparchive packages . >Packages)
SOURCE_DATE_EPOCH=$(head -c 36 "$packages"/mpm_*.deb | tail -c 12 | tr -d ' ')  # when the package was made, as its file says
export SOURCE_DATE_EPOCH
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
# Licences stay; pages and texts for people who sit at a terminal do not. Neither do files of packages that OpenCV's decoders depend on, and that
# no decoder of pictures or streams opens: drivers of graphics cards with LLVM and Z3 (160 MB), grids of map projections, names of countries.
cat >"$work/dpkg.cfg" <<'END'
force-unsafe-io
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-include=/usr/share/doc/*/bom-*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/lib/*/dri/*
path-exclude=/usr/lib/*/libLLVM*
path-exclude=/usr/lib/*/libz3.so*
path-exclude=/usr/share/proj/*
path-exclude=/usr/share/iso-codes/*
path-exclude=/usr/share/xml/iso-codes/*
END
# mmdebstrap runs each hook with the root in $1.
# shellcheck disable=SC2016
TMPDIR=$work unshare --net mmdebstrap --mode=root --variant=essential --architectures="$arch" --include="mpm $also" \
  --aptopt='APT::Sandbox::User "root"' --dpkgopt="$work/dpkg.cfg" \
  --customize-hook='chroot "$1" systemd-sysusers mpm.conf' \
  --customize-hook='chroot "$1" install -d -m 750 -o mpm -g mpm /var/lib/mpm' \
  --customize-hook='rm -f "$1/etc/apt/sources.list" "$1"/etc/*/*.d/99mmdebstrap "$1/etc/hostname" "$1/etc/resolv.conf"' \
  '' "$work/all.tar" "deb [trusted=yes] copy:$work/repository ./" ||
  fail "mmdebstrap failed; if a package is missing, run this with --fetch"
mmtarfilter --path-exclude='/dev/*' <"$work/all.tar" >"$work/root.tar"  # a container has devices of its own
rm "$work/all.tar"

umoci init --layout "$work/image"
tag=$work/image:mpm:$version
umoci new --image "$tag"
umoci raw add-layer --image "$tag" --history.created "$created" --history.created_by scripts/image.sh "$work/root.tar"
umoci config --image "$tag" --no-history --created "$created" --os linux --architecture "$arch" \
  --config.user mpm --config.workingdir /var/lib/mpm --config.volume /var/lib/mpm --config.exposedports 8080/tcp \
  --config.entrypoint /usr/bin/mpm --config.cmd monitor --config.cmd --watch --config.cmd /var/lib/mpm/watch.toml \
  --config.label org.opencontainers.image.title=mpm --config.label "org.opencontainers.image.version=$version" \
  --config.label "org.opencontainers.image.description=Vision Transformers with merged tokens for cameras" \
  --config.label org.opencontainers.image.licenses=Apache-2.0 --config.label "org.opencontainers.image.created=$created"
umoci gc --layout "$work/image"
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$SOURCE_DATE_EPOCH" -cf "$image.new" -C "$work/image" .
mv "$image.new" "$image"
echo "$image"
