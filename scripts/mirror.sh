#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the package mirror of this machine, which apt's configuration names.
set -eu
# shellcheck disable=SC2016
apt-get indextargets --format '$(REPO_URI)' | grep -v -m 1 security
