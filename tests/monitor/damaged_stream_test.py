# SPDX-License-Identifier: Apache-2.0
"""A stream of MJPEG with damaged frames: damaged_stream_test.py MPM MODEL FOLDER. Exit status 77: skipped."""
import pathlib
import shutil
import signal
import sqlite3
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
GREEN, RED = (60, 160, 70), (60, 70, 160)  # b, g, r


def jpegs():
    """A picture, green above and red below, as it is, then without its second half but with an end, then with a lost packet."""
    picture = numpy.random.default_rng(1).normal(0, 12, (224, 320, 3))
    picture[:112] += GREEN
    picture[112:] += RED
    picture = numpy.clip(picture, 0, 255).astype(numpy.uint8)
    whole = cv2.imencode(".jpg", picture)[1].tobytes()
    middle = len(whole) // 2
    return [whole, whole[:middle] + b"\xff\xd9", whole[:middle] + whole[middle + 1460:]]


def stream(_):
    while True:
        for jpeg in jpegs():
            yield jpeg
            time.sleep(0.02)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    database = FOLDER / "a.db"
    monitor = subprocess.Popen([MPM, "monitor", f"http://127.0.0.1:{mjpeg.serve(stream)}/live", "--model", MODEL, "--db", database,
                                "--every", "0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    values = []
    end = time.monotonic() + 240
    while len(values) < 12 and time.monotonic() < end and monitor.poll() is None:
        time.sleep(0.2)
        try:
            values = [gcc for gcc, in sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute(
                "SELECT gcc FROM region_values WHERE region = 0")]
        except sqlite3.OperationalError:  # not made yet
            pass
    monitor.send_signal(signal.SIGINT)
    said = monitor.communicate(timeout=60)[1]
    assert len(values) >= 12, (values, said)
    expected = (GREEN[1] + RED[1]) / sum(GREEN + RED)
    assert all(abs(gcc - expected) < 0.01 for gcc in values), (expected, values)
    left_out = sqlite3.connect(database).execute("SELECT message FROM event WHERE message LIKE 'left out:%'").fetchall()
    assert len(left_out) == 1 and "1 damaged frame, its pixels are damaged" in left_out[0][0], left_out


main()
