#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of a page of docs as they stand there. What it shows as their output must be among it.
#   page_commands.sh MPM PAGE
set -eu
PATH=$(dirname "$1"):$PATH page=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
awk '/^```/ { inside = !inside; sh = $0 == "```sh"; next } inside && sh' "$page" >commands
awk '/^```/ { inside = !inside; sh = $0 == "```sh"; next } inside && !sh' "$page" >expected
[ -s commands ] && [ -s expected ]
timeout 200 sh -eu commands >printed 2>&1 || { cat printed log; exit 1; }
while read -r line; do grep -qxF -e "$line" printed || { cat printed; echo "not printed: $line"; exit 1; }; done <expected
