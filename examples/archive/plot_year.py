#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws gcc and the area of a class in a region over time, by day and by night, from a database of `mpm monitor`.

    plot_year.py DATABASE REGION CLASS FIGURE.png [SOURCE]

As `mpm report`, it shows the series that was measured last, and leaves flagged pictures out. SOURCE is needed where several have a region
of this name. Needs matplotlib (python3-matplotlib).
"""
import datetime
import json
import sqlite3
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROWS = """SELECT time_ms, night, gcc, areas, classes FROM region_values
          WHERE source = :source AND region_name = :region
            AND series = (SELECT series FROM region_values WHERE source = :source ORDER BY sample DESC LIMIT 1)
            AND sample NOT IN (SELECT sample FROM region_values WHERE region = 0 AND flagged = 1)
          ORDER BY time_ms"""


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    database, region, name, figure_path, *wanted = sys.argv[1:]
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    sources = wanted or [source for source, in connection.execute("SELECT DISTINCT source FROM region_values WHERE region_name = ?", (region,))]
    if len(sources) > 1:
        sys.exit(f"plot_year.py: name one of the sources with a region '{region}': {', '.join(sources)}")
    found = connection.execute(ROWS, {"source": sources[0], "region": region}) if sources else []
    rows = [row for row in found if name in json.loads(row[-1])]
    if not rows:
        sys.exit(f"plot_year.py: '{database}' has no samples of a region '{region}' with a class '{name}'")
    figure, (gcc_axis, area_axis) = plt.subplots(2, sharex=True, figsize=(10, 5.5), layout="constrained")
    drawn = 0
    for night, label, colour in ((0, "day", "#c77700"), (1, "night", "#2b4a8b"), (None, "day or night", "#666666")):
        times, gccs, areas = [], [], []
        for time_ms, at_night, gcc, areas_json, classes_json in rows:
            if at_night != night:
                continue
            times.append(datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc))
            gccs.append(gcc)
            areas.append(100 * json.loads(areas_json).get(str(json.loads(classes_json).index(name)), 0))
        if not times:
            continue
        drawn += len(times)
        gcc_axis.plot(times, gccs, ".", color=colour, markersize=3, label=label)
        area_axis.plot(times, areas, ".", color=colour, markersize=3, label=label)
    gcc_axis.set_ylabel(f"gcc of {region}")
    area_axis.set_ylabel(f"{name} in {region}, %")
    gcc_axis.legend(markerscale=3)
    for axis in gcc_axis, area_axis:
        axis.grid(alpha=0.3)
    figure.savefig(figure_path, dpi=110)
    print(f"wrote {figure_path}: {drawn} samples")


if __name__ == "__main__":
    main()
