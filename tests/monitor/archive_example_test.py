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
            plot = lambda *arguments: subprocess.run([sys.executable, examples / "plot_year.py", *arguments], cwd=folder,
                                                     capture_output=True, text=True)
            drawn = plot("a.db", "tree", "building", "year.png")
            assert "wrote year.png: 2 samples" in drawn.stdout, drawn
            assert (folder / "year.png").read_bytes().startswith(b"\x89PNG")
            wrong = plot("a.db", "tree", "moss", "b.png")
            assert wrong.returncode == 1 and "no samples of a region 'tree' with a class 'moss'" in wrong.stderr, wrong
            one_series_of_one_source(run, plot, mpm)


def one_series_of_one_source(run, plot, mpm):
    """A figure shows the series of a source that was measured last, without flagged pictures."""
    run(mpm, "monitor", "archive/*.jpg", "--db", "a.db", "--reduce", "none", "--recompute", "all")
    last = plot("a.db", "tree", "building", "year.png")
    assert "year.png: 2 samples" in last.stdout, last
    run(mpm, "monitor", "archive/sub", "--db", "a.db", "--regions", "regions.json", "--time-zone", "+01:00", "--quality", "dark=255")
    two = plot("a.db", "tree", "building", "year.png")
    assert two.returncode == 1 and "name one of the sources with a region 'tree': " in two.stderr, two
    flagged, other = sorted(two.stderr.strip().split(": ")[-1].split(", "), key=lambda source: not source.endswith("sub"))
    drawn = plot("a.db", "tree", "building", "year.png", other)
    assert "year.png: 2 samples" in drawn.stdout, drawn
    nothing = plot("a.db", "tree", "building", "year.png", flagged)
    assert nothing.returncode == 1 and "no samples of a region 'tree'" in nothing.stderr, nothing


if __name__ == "__main__":
    main()
