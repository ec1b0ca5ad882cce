#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the virtual environment of bench/compare.py and bench/targets.py: the baselines, some GiB from PyPI, and this library's
# Python package, which it compiles. The build never runs it.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: bench/baselines/setup_venv.sh DIR" >&2
  exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python3 -m venv "$1" || {
  echo "setup_venv.sh: no virtual environment could be made in $1 (Debian: apt-get install python3-venv)" >&2
  exit 1
}
"$1/bin/python" -m pip install --quiet --requirement "$here/requirements.txt" "$here/../.."
echo "ready: $1/bin/python bench/compare.py --help"
