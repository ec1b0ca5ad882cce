#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bills of materials (CycloneDX): what a package holds or loads that this project did not write.

bom.py debian FOLDER          prints that of the Debian package whose tree is FOLDER: the headers that are compiled in, and the
                              packages that it depends on with the versions that it was built with
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


def component(package, use):
    version = query("-Wf", "${Version}", package) or sys.exit(f"bom.py: no package {package} is installed")
    purl = f"pkg:deb/debian/{package}@{version}"
    return {"type": "library", "bom-ref": purl, "name": package, "version": version, "purl": purl,
            "properties": [{"name": "mpm:use", "value": use}]}


def package_of(file):
    file = os.path.realpath(file)
    return (query("-S", file) or query("-S", file.removeprefix("/usr"))).split(":")[0]


def debian(folder):
    control = dict(re.findall(r"^([\w-]+): (.*)", (folder / "DEBIAN/control").read_text(), re.M))
    mine = lambda name: re.match(r"(lib)?mpm\b", name)
    libraries = [file.name for file in folder.rglob("*.so*") if not mine(file.name)]
    if libraries:
        sys.exit(f"bom.py: {control['Package']} bundles {', '.join(libraries)}, which its bill does not list")
    headers = HEADERS + PROGRAM_HEADERS if control["Architecture"] != "all" and not control["Package"].endswith("-dev") else ()
    needed = sorted(set(re.findall(r"(?:^|, )([a-z0-9][a-z0-9+.-]+)", control.get("Depends", ""))))
    installed = [one for one in needed if not mine(one) and query("-Wf", "${Version}", one)]
    itself = f"pkg:deb/{control['Package']}@{control['Version']}?arch={control['Architecture']}"
    components = [component(one, "compiled in") for one in headers] + [component(one, "depends on") for one in installed]
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {"component": {"type": "application", "bom-ref": itself, "name": control["Package"],
                                       "version": control["Version"], "purl": itself, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": components,
            "dependencies": [{"ref": itself, "dependsOn": [one["bom-ref"] for one in components]}]}


def wheel(folder, *files):
    path, = folder.glob("*.dist-info/sboms/*.cdx.json")
    bom = json.loads(path.read_text())
    bundled = len(bom["components"]) - 1 + len(files)  # the first is the wheel
    found = len(list(folder.glob("*.libs/*")))
    if bundled != found:
        sys.exit(f"bom.py: {found} libraries are bundled, and {path.name} lists {bundled}")
    for one in [component(package_of(file), "bundled") for file in files] + [component(one, "compiled in") for one in HEADERS]:
        bom["components"].append(one)
        bom["dependencies"][0]["dependsOn"].append(one["bom-ref"])
        bom["dependencies"].append({"ref": one["bom-ref"]})
    path.write_text(json.dumps(bom, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "debian":
        print(json.dumps(debian(pathlib.Path(sys.argv[2])), indent=1))
    else:
        wheel(pathlib.Path(sys.argv[2]), *sys.argv[3:])
