# SPDX-License-Identifier: Apache-2.0
"""A camera that takes a connection and never answers keeps no other one dark, and the video of one that falls silent is kept:
silent_camera_test.py MPM MODEL FOLDER. Exit status 77: skipped."""
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import mjpeg

try:
    import cv2
    import numpy
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

MPM, MODEL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
JPEG = cv2.imencode(".jpg", numpy.random.default_rng(1).integers(0, 256, (112, 160, 3), numpy.uint8))[1].tobytes()
PATIENCE = 240
OTHERS = ["yard", "gate", "door"]


def stream(_):
    while True:
        yield JPEG
        time.sleep(0.05)


def camera(name, port, timeout):
    return f"[[camera]]\nname = '{name}'\nsource = 'http://127.0.0.1:{port}/{name}'\ndb = '{name}.db'\nmodel = '{MODEL}'\nevery = 0\ntimeout = {timeout}\n"


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
watch, port = FOLDER / "watch.toml", mjpeg.serve(stream)
with socket.create_server(("127.0.0.1", 0)) as silent:
    silent.settimeout(PATIENCE)
    first = camera("silent", silent.getsockname()[1], 12)
    watch.write_text(first)
    monitor = subprocess.Popen([MPM, "monitor", "--watch", watch, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        taken, _ = silent.accept()  # from now on it opens, for 12 s
        watch.write_text(first + "".join(camera(name, port, 4) for name in OTHERS))
        monitor.send_signal(signal.SIGHUP)
        missing, end = set(OTHERS), time.monotonic() + PATIENCE
        while missing:
            one = json.loads(monitor.stdout.readline())
            if "event" not in one:
                missing.discard(one["camera"])
            assert time.monotonic() < end and (one["camera"] == "silent" or "no answer" not in one.get("message", "")), one
    finally:
        monitor.kill()


def falls_silent(_):
    for _ in range(40):
        yield JPEG
        time.sleep(0.05)
    time.sleep(PATIENCE)


video = FOLDER / "camera.avi"
run = subprocess.run([MPM, "run", f"http://127.0.0.1:{mjpeg.serve(falls_silent)}/yard", "--model", MODEL, "--timeout", "2", "--video", video],
                     capture_output=True, text=True, timeout=PATIENCE)
assert run.returncode == 1 and "error: " in run.stderr, run
film = cv2.VideoCapture(str(video))
assert film.read()[0], run
