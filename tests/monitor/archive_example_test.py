# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/tutorial-archive.md on one day: examples/archive with `mpm monitor`.

    archive_example_test.py MPM MODEL EXAMPLES
"""
import importlib.util
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

REGIONS = '{"regions": [{"name": "tree", "width": 64, "height": 64, "polygons": [[[5, 5], [30, 5], [30, 30]]]}]}'


def main():
    mpm, model, examples = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = lambda *command: subprocess.run([str(part) for part in command], check=True, cwd=folder,
                                              env={**os.environ, "MPM_MODEL": model})
        # Two pictures by their names, and two whose names say nothing, by EXIF. The camera's clock is an hour ahead.
        make = (sys.executable, examples / "make_archive.py", "archive", "--mpm", mpm, "--scene", "seed=7&size=64x64",
                "--days", 0.5, "--every", 6, "--offset", 1)
        run(*make, "--no-exif")
        run(*make, "--start", "2025-01-01T12:00", "--names", "sub/p%H.jpg")
        (folder / "regions.json").write_text(REGIONS)
        run(mpm, "monitor", "archive/*.jpg", "--db", "a.db", "--regions", "regions.json", "--time-zone", "+01:00")
        run(mpm, "monitor", "archive/sub", "--db", "b.db", "--regions", "regions.json", "--time-zone", "-05:00")
        for database, hours in ("a.db", [-1, 5]), ("b.db", [11, 17]):
            times = [ms for ms, in sqlite3.connect(folder / database).execute("SELECT time_ms FROM sample ORDER BY time_ms")]
            assert times == [1735689600000 + hour * 3600000 for hour in hours], f"{database}: {times}"
        if importlib.util.find_spec("matplotlib"):
            run(sys.executable, examples / "plot_year.py", "a.db", "tree", "building", "year.png")
            assert (folder / "year.png").read_bytes().startswith(b"\x89PNG")
            wrong = subprocess.run([sys.executable, examples / "plot_year.py", folder / "a.db", "tree", "moss", folder / "b.png"],
                                   capture_output=True, text=True)
            assert wrong.returncode == 1 and "no samples of a region 'tree' with a class 'moss'" in wrong.stderr


if __name__ == "__main__":
    main()
