#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a camera measured with the truth, by day and by night.

    right.py EXPORT.csv TRUTH.csv STATES [--at-least PERCENT]
    right.py EXPORT.csv TRUTH.csv NUMBER --measured COLUMN [--within X] [--limit X] [--at-least PERCENT]

EXPORT.csv is of `mpm report --export` with a rule of day and night; TRUTH.csv has the columns time (ISO 8601, UTC), and STATES or NUMBER. Rows belong
together that have the same time. Flagged pictures are left out, as in reports. With --at-least, fewer right answers are an error:
of states those that counted; of numbers those on the true side of --limit, or without a limit those --within X of the truth.
"""
import argparse
import csv
import datetime
import sys


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def rows_of(path, key):
    try:
        with open(path, newline="", encoding="utf-8") as lines:
            return {time_of(row[key]): row for row in csv.DictReader(lines)}
    except OSError as error:
        sys.exit(f"right.py: {path}: {error.strerror}")
    except KeyError:
        sys.exit(f"right.py: {path} has no column '{key}'")


def share(flags):
    flags = list(flags)
    return f"{100 * sum(flags) / len(flags):.1f}" if flags else "-"


def changes(values):
    values = [one for one in values if one]
    return sum(a != b for a, b in zip(values, values[1:]))


def states(rows, name):
    """Header and cells of a table of states, and a line on how often they changed."""
    answer, sure, counted = (f"state_{name}{ending}" for ending in ("", "_sure", "_counted"))
    header = ["pictures", "right, %", "sure, %", "sure: right, %", "counted: right, %"]
    cells = lambda part: [len(part), share(row[answer] == truth for row, truth in part), share(row[sure] == "1" for row, _ in part),
                          share(row[answer] == truth for row, truth in part if row[sure] == "1"),
                          share(row[counted] == truth for row, truth in part)]
    flicker = (f"changes: {changes(truth for _, truth in rows)} in truth, {changes(row[answer] for row, _ in rows)} of the answers, "
               f"{changes(row[counted] for row, _ in rows)} counted")
    return header, cells, flicker


def numbers(rows, options):
    header = ["pictures", "mean error", "mean |error|"]
    if options.within:
        header.append(f"within {options.within:g}, %")
    if options.limit is not None:
        header.append(f"right about {options.limit:g}, %")

    def cells(part):
        pairs = [(float(row[options.measured]), float(truth)) for row, truth in part]
        errors = [measured - truth for measured, truth in pairs]
        mean = lambda values: f"{round(sum(values) / len(values), 1) + 0:.1f}" if values else "-"
        line = [len(part), mean(errors), mean([abs(one) for one in errors])]
        if options.within:
            line.append(share(abs(one) <= options.within for one in errors))
        if options.limit is not None:
            line.append(share((measured > options.limit) == (truth > options.limit) for measured, truth in pairs))
        return line

    return header, cells, ""


def main():
    parser = argparse.ArgumentParser(description="Compares what a camera measured with the truth.")
    parser.add_argument("export")
    parser.add_argument("truth")
    parser.add_argument("name", help="column of the truth; of states also their name")
    parser.add_argument("--measured", metavar="COLUMN", help="of the export: the truth is a number")
    parser.add_argument("--within", type=float, metavar="X", help="count numbers that are so near to the truth")
    parser.add_argument("--limit", type=float, metavar="X", help="count numbers that are on the true side of an alarm's limit")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="that must be right")
    options = parser.parse_args()
    measured, truth = rows_of(options.export, "time_utc"), rows_of(options.truth, "time")
    needed = [(options.export, measured, options.measured or f"state_{options.name}"), (options.export, measured, "night"),
              (options.truth, truth, options.name)]
    for path, table, column in needed:
        if not table or column not in next(iter(table.values())):
            sys.exit(f"right.py: {path} has no column '{column}'")
    rows = [(row, truth[time][options.name]) for time, row in sorted(measured.items())
            if time in truth and row.get("flagged") != "1" and row[needed[0][2]] != ""]
    if not rows:
        sys.exit(f"right.py: no picture of {options.export} has a time of {options.truth}")
    header, cells, note = numbers(rows, options) if options.measured else states(rows, options.name)
    print(" " * 10 + "".join(title.rjust(len(title) + 3) for title in header))
    for name, part in (("by day", [row for row in rows if row[0]["night"] == "0"]),
                       ("by night", [row for row in rows if row[0]["night"] == "1"]), ("all", rows)):
        line = cells(part)
        print(name.ljust(10) + "".join(str(cell).rjust(len(title) + 3) for title, cell in zip(header, line)))
    if note:
        print(note)
    if float(line[-1]) < options.at_least:
        sys.exit(f"right.py: {line[-1]} % are right, and at least {options.at_least:g} % must be")


if __name__ == "__main__":
    main()
