#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the library as FOLDER/modules/mpm, in the shape of a module of opencv_contrib: include, src, test, perf, samples. Its
# CMakeLists.txt says how to build it. Without the plug-in for NVIDIA GPUs.
#   scripts/export-contrib.sh FOLDER
set -eu
folder=$(realpath -m "${1:?usage: scripts/export-contrib.sh FOLDER}")/modules/mpm
cd "$(dirname "$0")/.."
rm -rf "$folder"
mkdir -p "$folder/samples"
cp -r packaging/contrib/* mpm_layer/src LICENSE "$folder"
cp -r mpm_layer/include/mpm "$folder/include/opencv2"
cp examples/segment_image.cpp "$folder/samples"
rm -r "$folder"/src/*/cuda
find "$folder/src" -name CMakeLists.txt -delete
mkdir "$folder/cmake"
cp packaging/cmake/FindOneDNN.cmake "$folder/cmake"
sed '/find_package(OpenCV/d' packaging/cmake/MpmDependencies.cmake >"$folder/cmake/MpmDependencies.cmake"
# Headers of a module are in include/opencv2.
find "$folder" \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' \) -exec sed -i -E 's|(#include ["<])mpm/|\1opencv2/mpm/|' {} +
