#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bills of materials (CycloneDX): what a package holds that this project did not write.

bom.py debian FOLDER          prints that of the Debian package whose tree is FOLDER: headers are compiled in, no library is bundled
bom.py wheel FOLDER FILE...   adds FILEs, libraries that scripts/wheel.sh copied, and the headers to auditwheel's bill of a wheel
"""
import json
import os
import pathlib
import re
import subprocess
import sys

HEADERS = ("libboost-dev", "libhwy-dev", "nlohmann-json3-dev")
PROGRAM_HEADERS = ("libcli11-dev", "libtomlplusplus-dev")


def query(*words):
    return subprocess.run(["dpkg-query", *words], capture_output=True, text=True).stdout


def component(package):
    version = query("-Wf", "${Version}", package) or sys.exit(f"bom.py: no package {package} is installed")
    purl = f"pkg:deb/debian/{package}@{version}"
    return {"type": "library", "bom-ref": purl, "name": package, "version": version, "purl": purl}


def package_of(file):
    file = os.path.realpath(file)
    return (query("-S", file) or query("-S", file.removeprefix("/usr"))).split(":")[0]


def debian(folder):
    control = dict(re.findall(r"^(Package|Version|Architecture): (.*)", (folder / "DEBIAN/control").read_text(), re.M))
    name, version = control["Package"], control["Version"]
    foreign = [file.name for file in folder.rglob("*.so*") if not file.name.startswith("libmpm_")]
    if foreign:
        sys.exit(f"bom.py: {name} bundles {', '.join(foreign)}, which its bill does not list")
    compiled = control["Architecture"] != "all" and not name.endswith("-dev")
    itself = {"type": "application", "bom-ref": name, "name": name, "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}
    parts = [component(one) for one in HEADERS + PROGRAM_HEADERS if compiled]
    print(json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": itself},
                      "components": parts, "dependencies": [{"ref": name, "dependsOn": [one["bom-ref"] for one in parts]}]}, indent=1))


def wheel(folder, *files):
    path, = folder.glob("*.dist-info/sboms/*.cdx.json")
    bom = json.loads(path.read_text())
    listed, found = len(bom["components"]) - 1 + len(files), len(list(folder.glob("*.libs/*")))  # the first is the wheel
    if listed != found:
        sys.exit(f"bom.py: {found} libraries are bundled, and {path.name} lists {listed}")
    for part in map(component, (*map(package_of, files), *HEADERS)):
        bom["components"].append(part)
        bom["dependencies"][0]["dependsOn"].append(part["bom-ref"])
        bom["dependencies"].append({"ref": part["bom-ref"]})
    path.write_text(json.dumps(bom, indent=1) + "\n")


if __name__ == "__main__":
    {"debian": debian, "wheel": wheel}[sys.argv[1]](pathlib.Path(sys.argv[2]), *sys.argv[3:])
