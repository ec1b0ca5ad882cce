# SPDX-License-Identifier: Apache-2.0
"""Compares `mpm report --format phenocam` with vegindex, PhenoCam's own program, on the same pictures and ROI list.

    vegindex_test.py MPM MODEL SCRATCH

Makes a virtual environment with vegindex from PyPI in SCRATCH, once; ends with status 77 where pip cannot reach it.
"""
import csv
import datetime
import math
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
SITE, REGION, LATITUDE, LONGITUDE, OFFSET = "yard", "DB_1000", 35.5, -78.25, -5
BEGIN, DAYS = datetime.datetime(2025, 12, 12), 46  # over New Year, where periods of three days begin anew
HEIGHT, WIDTH = 96, 128


def environment(scratch):
    python = scratch / "venv/bin/python"
    done = scratch / "venv/done"
    if not done.exists():
        shutil.rmtree(scratch / "venv", ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(scratch / "venv")], check=True)
        pip = subprocess.run([str(python), "-m", "pip", "install", "--quiet", "vegindex==0.10.2"])
        if pip.returncode != 0:
            print("skipped: pip cannot install vegindex from PyPI")
            sys.exit(SKIPPED)
        done.touch()
    return python


def light(time):
    """0 by night to 1 at noon."""
    hour = time.hour + time.minute / 60 + time.second / 3600
    return max(0.0, math.cos((hour - 12.2) / 12 * math.pi) + 0.1)


def make_archive(folder):
    """Pictures as PhenoCam keeps them, masks that are black inside, and their list. Needs numpy and Pillow."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(1)
    roi = folder / SITE / "ROI"
    roi.mkdir(parents=True)
    for name, box in (("01", (10, 8, 60, 50)), ("02", (30, 20, 110, 80))):
        mask = numpy.full((HEIGHT, WIDTH), 255, numpy.uint8)
        mask[box[1]:box[3], box[0]:box[2]] = 0
        Image.fromarray(mask).save(roi / f"{SITE}_{REGION}_{name}.tif")
    with open(roi / f"{SITE}_{REGION}_roi.csv", "w") as file:
        file.write(f"#\n# ROI List for {SITE}\n#\n# Site: {SITE}\n# Veg Type: DB\n# ROI ID Number: 1000\n#\n"
                   "start_date,start_time,end_date,end_time,maskfile,sample_image\n"
                   f"2025-01-01,00:00:00,2026-01-05,11:59:59,{SITE}_{REGION}_01.tif,none\n"
                   f"2026-01-05,12:00:00,9999-12-31,00:00:00,{SITE}_{REGION}_02.tif,none\n")
    for day in range(DAYS):
        if day in (9, 10, 30):
            continue  # the camera was off
        for minute in range(0, 1440, 45):
            time = BEGIN + datetime.timedelta(days=day, minutes=minute, seconds=int(random.integers(0, 600)))
            if random.random() < 0.1:
                continue
            bright = light(time) * random.uniform(0.5, 1.3)
            green = 1 + 0.2 * math.sin(day / 15)
            small = random.uniform(0.3, 1.2, (12, 16, 3)) * numpy.array([90, 100 * green, 70]) * bright
            picture = numpy.kron(small, numpy.ones((8, 8, 1))) + random.normal(0, 6, (HEIGHT, WIDTH, 3))
            if day == 20:
                picture += 190  # fog: brighter than what counts
            month = folder / SITE / f"{time:%Y/%m}"
            month.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture.clip(0, 255).astype(numpy.uint8)).save(
                month / f"{SITE}_{time:%Y_%m_%d_%H%M%S}.jpg", quality=92)


def run_vegindex(folder):
    """Its three programs. They know only PhenoCam's own folder and server, and an older numpy."""
    import numpy

    numpy.bool8 = numpy.bool_
    from vegindex import config, utils

    config.archive_dir = str(folder)
    utils.getsiteinfo = lambda site: {"lat": LATITUDE, "lon": LONGITUDE, "elev": 100, "tzoffset": OFFSET}
    from vegindex import generate_roi_timeseries, generate_summary_timeseries

    sys.argv = ["generate_roi_timeseries", SITE, REGION]
    generate_roi_timeseries.main()
    for days in "1", "3":
        sys.argv = ["generate_summary_timeseries", "-p", days, SITE, REGION]
        generate_summary_timeseries.main()


def table(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


EXACT = {"date", "local_std_time", "year", "doy", "filename", "mask_index", "image_count", "midday_filename"}
SHARES = {"gcc", "rcc", "midday_gcc", "midday_rcc", "gcc_mean", "gcc_std", "gcc_50", "gcc_75", "gcc_90", "rcc_mean",
          "rcc_std", "rcc_50", "rcc_75", "rcc_90"}
VALUES = {a + b for a in "rgb" for b in ("_mean", "_std")} | {"midday_" + a for a in "rgb"}  # 0..255
SUN = {"solar_elev", "max_solar_elev"}


def compare(name, theirs, ours):
    """Problems, and the largest difference of each column."""
    problems, largest = [], {}
    if len(theirs) != len(ours):
        return [f"{name}: {len(theirs)} rows of vegindex, {len(ours)} of mpm"], largest
    if theirs and list(theirs[0]) != list(ours[0]):
        problems.append(f"{name}: columns differ: {list(theirs[0])} and {list(ours[0])}")
    dark = 0
    for row, (a, b) in enumerate(zip(theirs, ours)):
        if a.get("r_mean") == "NA" and "filename" in a:
            dark += 1  # almost nothing but black: vegindex measures nothing
        for column in a:
            where = f"{name}, row {row}, {column}: {a[column]} and {b[column]}"
            if column in EXACT:
                if a[column] != b[column]:
                    problems.append(where)
            elif column in SHARES | VALUES | SUN:
                if (a[column] == "NA") != (b[column] == "NA"):
                    if not (name == "roistats" and a["r_mean"] == "NA"):
                        problems.append(where)
                elif a[column] != "NA":
                    difference = abs(float(a[column]) - float(b[column]))
                    if column in SUN and float(a[column]) < 0:
                        column = f"{column} below the horizon"
                        limit = 2
                    else:
                        limit = 1e-4 if column in SHARES else 1e-3 if column in VALUES else 0.02
                    largest[column] = max(largest.get(column, 0), difference)
                    if difference > limit:
                        problems.append(where)
            elif b[column] != "NA":
                problems.append(where + ": it is not stored")
    print(f"{name}: {len(theirs)} rows, {dark} too dark for vegindex")
    return problems, largest


def main():
    mpm, model, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).absolute()
    python = environment(scratch)
    archive, out = scratch / "archive", scratch / "out"
    for folder in archive, out:
        shutil.rmtree(folder, ignore_errors=True)
    out.mkdir(parents=True)
    subprocess.run([str(python), __file__, "--make", str(archive)], check=True)
    reference = subprocess.run([str(python), __file__, "--vegindex", str(archive)], capture_output=True, text=True)
    assert reference.returncode == 0, f"vegindex failed: {reference.stderr[-2000:]}"

    roi = archive / SITE / "ROI"
    pictures = scratch / "pictures"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    for picture in archive.glob(f"{SITE}/20*/*/*.jpg"):
        os.link(picture, pictures / picture.name)
    database = str(out / "a.db")
    zone = f"{OFFSET:+03d}:00"
    subprocess.run([mpm, "monitor", str(pictures), "--model", model, "--every", "0", "--db", database, "--times", "name",
                    "--quality", "dark=0:white=100:contrast=0:sharp=0",  # PhenoCam knows no flags
                    "--time-zone", zone, "--regions", str(roi / f"{SITE}_{REGION}_roi.csv"), "--lat", str(LATITUDE),
                    "--lon", str(LONGITUDE), "--input-size", "96x128"], check=True)
    subprocess.run([mpm, "report", database, "--format", "phenocam", "--export", str(out), "--site", SITE, "--time-zone", zone],
                   check=True)
    problems, largest = [], {}
    for name in "roistats", "1day", "3day":
        theirs, ours = (table(folder / f"{SITE}_{REGION}_{name}.csv") for folder in (roi, out))
        assert len(theirs) > 10, f"vegindex wrote {len(theirs)} rows of {name}"
        found, differences = compare(name, theirs, ours)
        problems += found
        for column, difference in differences.items():
            print(f"  {column}: {difference:.1e}")
    assert any(row["image_count"] == "0" for row in table(out / f"{SITE}_{REGION}_1day.csv"))
    for problem in problems[:20]:
        print(problem)
    assert not problems, f"{len(problems)} values differ"


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        make_archive(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "--vegindex":
        run_vegindex(pathlib.Path(sys.argv[2]))
    else:
        main()
