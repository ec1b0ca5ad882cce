#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests examples/ray on a local cluster of two nodes with a worker that is killed. Makes a virtual environment in
# build/ray with Ray and our package, from PyPI and this tree. Exits with 77 when PyPI cannot be reached.
set -eu
cd "$(dirname "$0")/.."

environment=${BUILD:-build}/ray
python=${PYTHON:-/usr/bin/python3}
"$python" -m venv "$environment"
"$environment/bin/pip" install --quiet 'ray[data]' opencv-python-headless || exit 77
"$environment/bin/pip" install --quiet .
"$environment/bin/python" tests/package/ray_test.py models/street_vit_t16.onnx examples/ray/segment_folder.py "$@"
