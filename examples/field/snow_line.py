#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The snow line of each picture from the areas of snow in bands of elevation.

    snow_line.py EXPORT.csv OUT.csv TOP HEIGHT

Regions of `mpm report --export` that are named by a number are bands of HEIGHT m with this lower edge; TOP m is the upper edge of all. Each band
counts by the share of snow in what is not hidden by clouds (class sky). Pictures where clouds hide half of a band say nothing.
"""
import csv
import re
import sys


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.split("\n\n")[1])
    export, out, top, height = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    try:
        with open(export, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
    except OSError as error:
        sys.exit(f"snow_line.py: {export}: {error.strerror}")
    if not rows:
        sys.exit(f"snow_line.py: {export} has no pictures")
    bands = sorted({found[1] for column in rows[0] if (found := re.fullmatch(r"region_(\d+)_area_snow_percent", column))}, key=float)
    if not bands:
        sys.exit(f"snow_line.py: {export} has no areas of snow in regions that are named by a number")
    with open(out, "w", newline="", encoding="utf-8") as lines:
        table = csv.writer(lines)
        table.writerow(["time_utc", "night", "snow_line"])
        for row in rows:
            snow, sky = ([float(row[f"region_{band}_area_{name}_percent"] or 0) for band in bands] for name in ("snow", "sky"))
            if row["flagged"] == "0" and max(sky) < 50:
                line = top - height * sum(white / (100 - hidden) for white, hidden in zip(snow, sky))
                table.writerow([row["time_utc"], row["night"], round(line)])
    print(f"{out}: {len(rows)} pictures")


if __name__ == "__main__":
    main()
