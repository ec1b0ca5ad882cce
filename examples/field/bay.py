# SPDX-License-Identifier: Apache-2.0
"""A parking bay of the built-in street: pictures and exact labels of `mpm run`, and whether a car is parked in the bay."""
import datetime
import json
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np

SCENE = "street?weather=auto"
STATES = ["free", "taken"]
CAR = 6  # of the scene's classes
REGION = [[450, 305], [545, 305], [610, 385], [610, 430], [495, 430]]  # of the street with seed 7, in a picture of 640x448


def film(mpm, seed, times):
    """Picture (the bytes of a JPEG file) and truth of each moment, in steps of equal length. The bay is taken where a car covers more than half of
    it; where pictures are less than a minute apart, in most of five pictures in turn, because cars that pass cover it, too."""
    step = times[1] - times[0] if len(times) > 1 else 1
    start = datetime.datetime.fromtimestamp(times[0], datetime.timezone.utc)
    source = f"demo:{SCENE}&seed={seed}&start={start:%Y-%m-%dT%H:%M:%S}&step={step}&frames={len(times)}"
    bay = cv2.fillPoly(np.zeros((448, 640), np.uint8), [np.array(REGION)], 1) > 0
    pictures, covered = [], []
    with tempfile.TemporaryDirectory() as folder:
        command = [mpm, "run", source, "--out", folder, "--only", "picture,truth", "--json"]
        try:
            program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise SystemExit(f"field.py: {mpm} does not start: {error.strerror}; name the program with --mpm") from error
        with program:
            for line in program.stdout:
                names = {name.rsplit("_", 1)[1]: pathlib.Path(folder) / name for name in json.loads(line)["outputs"]}
                pictures.append(names["picture.jpg"].read_bytes())
                covered.append((cv2.imread(str(names["truth.png"]), cv2.IMREAD_UNCHANGED)[bay] == CAR).mean() > 0.5)
                for path in names.values():
                    path.unlink()
        if program.returncode:
            raise SystemExit(program.returncode)
    near = 2 if step < 60 else 0
    for i, picture in enumerate(pictures):
        around = covered[max(0, i - near):i + near + 1]
        yield picture, {"bay": STATES[sum(around) * 2 > len(around)]}
