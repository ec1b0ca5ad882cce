# SPDX-License-Identifier: Apache-2.0
"""Reads each printed form into one table: {key: Printed}. Keys are those of oracle.report() and oracle.rows()."""
import csv
import dataclasses
import io
import json
import re
import xml.etree.ElementTree

from . import oracle as oracle_

LABELS = {"Tokens kept": "tokens", "Merged away": "merged", "Inference": "inference_ms", "Rows computed": "rows", "Agreement of key frames": "agreement",
          "Green share, gcc": "gcc", "Red share, rcc": "rcc", "Excess green, ExG": "exg", "Brightness": "brightness", "Mean red": "red",
          "Mean green": "green", "Mean blue": "blue", "Deviation of red": "red_deviation", "Deviation of green": "green_deviation",
          "Deviation of blue": "blue_deviation", "Pixels": "pixels", "Frames dropped": "dropped", "Sharpness": "sharpness", "Contrast": "contrast",
          "White pixels": "saturated", "Left out": "flagged", "Dark": "dark", "Overexposed": "overexposed", "Blurred": "blurred",
          "Covered or fogged": "fogged", "Unchanged": "unchanged"}
CAUSES = {"no samples": "gap", "damaged pictures": "damaged", "covered or fogged": "fogged", "too slow": "slow"}


@dataclasses.dataclass
class Printed:
    """A printed value and the unit of its last digit."""
    value: object
    unit: float = 0


def number(text):
    """A printed number with the unit of its last digit; "-" is none."""
    text = text.replace(",", "")
    if text in ("-", ""):
        return Printed(None)
    decimals = len(text.partition(".")[2])
    return Printed(float(text), 10.0 ** -decimals)


def unit_of(quantity):
    """The unit of a quantity in JSON and CSV."""
    if quantity in ("gcc", "rcc"):
        return 1e-6
    if quantity in oracle_.TRUSTED:
        return 2e-3  # the oracle has them from rows, which are rounded, too
    return 1e-2 if quantity in ("flagged", "unchanged", "pixels") or quantity in oracle_.FLAGS.values() else 1e-3


# `mpm report` as text


def text_report(text):
    """{source: {key: Printed}}."""
    result, table, section, region = {}, None, None, ""
    for line in text.splitlines():
        if not line.startswith(" "):
            table = result.setdefault(line, {})
            section = None
            continue
        line = line.strip()
        if match := re.fullmatch(r"(\S+Z) to (\S+Z), (\d+) samples? kept", line):
            table["from",], table["to",] = Printed(match[1]), Printed(match[2])
            table["from local",], table["to local",] = Printed(match[1][:-1] + "+00:00"), Printed(match[2][:-1] + "+00:00")
            table["clock",] = Printed("UTC")  # where no line of its clock follows
            table["samples",] = number(match[3])
        elif match := re.fullmatch(r"(\S+) to (\S+) by the clock of (.*)", line):
            table["from local",], table["to local",], table["clock",] = Printed(match[1]), Printed(match[2]), Printed(match[3])
        elif match := re.match(r"model .*, reduction (\S+?)(?:, (\S+))?, (\d+) tokens before merging", line):
            table["reduce",], table["settings",] = Printed(match[1]), Printed(match[2] or "")
        elif match := re.fullmatch(r"quality: (\d+) of (\d+) pictures? left out(?:: (.*))?", line):
            table["quality", "left_out"], table["samples",] = number(match[1]), number(match[2])
            for part in (match[3] or "").split(", "):
                if part:
                    count, _, name = part.partition(" ")
                    table["quality", {"covered or fogged": "fogged"}.get(name, name)] = number(count)
        elif line.startswith("outages: "):
            for cause, times, hours in re.findall(r"([a-z ]+?) (\d+) times?, ([\d.]+) h", line[len("outages: "):]):
                cause = CAUSES.get(cause.strip(), cause.strip())
                table["outages of", cause, "times"], table["outages of", cause, "hours"] = number(times), number(hours)
        elif line.startswith("states  "):
            section = "states"
        elif section == "states" and (match := re.fullmatch(r"(light\d+) +(\d+) +(\d+) +([\d.]+)  +(.*)", line)):
            table["states", match[1], "all"], table["states", match[1], "number of changes"] = number(match[2]), number(match[3])
            table["states", match[1], "sure, %"] = number(match[4])
            for part in match[5].split(", ") if match[5] else ():
                state, _, share = part.rpartition(" ")
                table["states", match[1], "%", None if state == "not known" else state] = number(share)
        elif line.startswith("area, %"):
            section = "area"
        elif match := re.match(r"(.*?)  +mean \[min, max\]", line):
            section, region = "mean", "" if match[1] == "whole picture" else match[1]
        elif match := re.match(r"largest classes of (.*), %: (.*)", line):
            for part in match[2].split(", "):
                name, _, share = part.rpartition(" ")
                table["area", match[1], name, "all"] = percent(number(share))
        elif match := re.match(r"comparable: (\d+) samples? of this series, on (\d+) days?", line):
            table["comparable", "samples"], table["comparable", "days"] = number(match[1]), number(match[2])
        elif line.startswith("tokens  ") and "median" in line:
            section = "tokens"
        elif match := re.match(r"night - day (\S+) \+- (\S+)", line):
            table["night - day",], table["plus minus",] = number(match[1]), number(match[2])
            section = None
        elif match := re.match(r"all count as (day|night), with a brightness from (\S+) to (\S+) of 255", line):
            section = None
            table["darkest",], table["brightest",] = number(match[2]), number(match[3])
        elif section == "area" and len(parts := re.split(r"  +", line)) >= 4:
            for part, share in zip(("all", "day", "night"), parts[1:]):
                table["area", "", parts[0], part] = percent(number(share))
        elif section == "mean" and len(parts := re.split(r"  +", line)) in (2, 4):
            label = parts[0] if parts[0] in LABELS else parts[0].partition(", %")[0]
            for side, value in zip(("", "day ", "night "), parts[1:]):
                if label == "samples":
                    table[side + "samples of", region] = number(value)
                elif label in LABELS and (match := re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", value)):
                    for name, text in zip(("mean", "min", "max"), match.groups()):
                        table[side + name, region, LABELS[label]] = number(text)
        elif section == "tokens" and re.match(r"(day|night)  ", line):
            parts = line.split()
            for name, value in zip(("samples", "mean", "median", "p90", "min", "max", "change_since_yesterday"), parts[1:]):
                table["tokens", parts[0], name] = number(value)
    return result


def percent(printed):
    return printed if printed.value is None else Printed(printed.value / 100, printed.unit / 100)


# `mpm report --json`


def json_report(text):
    """{source: {key: Printed}}."""
    result = {}
    for line in text.splitlines():
        report = json.loads(line)
        table = result[report["source"]] = {("from",): Printed(report["from"]), ("to",): Printed(report["to"]), ("samples",): Printed(report["samples"]),
                                            ("clock",): Printed(report["clock"]),
                                            ("reduce",): Printed(report["reduce"]), ("settings",): Printed(report["settings"]),
                                            ("comparable", "samples"): Printed(report["comparable"]["samples"]),
                                            ("comparable", "days"): Printed(report["comparable"]["days"]),
                                            ("from local",): Printed(report["from_local"]), ("to local",): Printed(report["to_local"])}
        for stretch in report["stretches"]:
            measured = table.setdefault(("measured", stretch["reduce"], stretch["settings"]), Printed(0))
            measured.value += stretch["samples"]
        table["measured", "stretches"] = Printed(sorted((stretch["from"], stretch["to"], stretch["series"], stretch["samples"]) for stretch in report["stretches"]))
        table["outages",] = outages(report["outages"])
        for name, value in report["quality"].items():
            table["quality", name] = Printed(value)
        for region, means in ("", report["mean"]), *report["regions"].items():
            for side in "", "day", "night":
                values = (means or {}).get(side, {}) if side else means
                prefix = side + " " if side else ""
                table.update(json_values(values, prefix + "mean", region, prefix))
                for bound in "min", "max":
                    table.update(json_values((values or {}).get(bound, {}), prefix + bound, region))
        for label, area in report["areas"].items():
            for part in "all", "day", "night":
                table["area", "", label, part] = Printed(area[part])
        for part in "day", "night":
            for name, value in (report[part] or {"samples": 0}).items():
                table["tokens", part, name] = Printed(value)
        for name, state in report["states"].items():
            changes = [(oracle_.ms_of(change["time"]), change["state"]) for change in state["changes"]]
            table.update(states_values(name, state["samples"], changes))
            table["states", name, "sure"] = Printed(state["sure"])
        if difference := report["night_minus_day"]:
            table["night - day",], table["plus minus",] = Printed(difference["tokens"]), Printed(difference["plus_minus_95"])
            table["blocks",] = Printed((difference["block"], difference["day_blocks"], difference["night_blocks"]))
    return result


def outages(listed):
    return Printed([(oracle_.ms_of(one["begin"]), oracle_.ms_of(one["end"]), one["cause"]) for one in listed])


def outages_csv(text):
    return outages({"begin": row["begin_utc"], "end": row["end_utc"], "cause": row["cause"]} for row in csv.DictReader(io.StringIO(text)))


def outage_clocks(text):
    return Printed([(row["begin_local"], row["end_local"], row["seconds"]) for row in csv.DictReader(io.StringIO(text))])


def states_values(name, samples, changes):
    table = {("states", name, "of", state or None): Printed(count) for state, count in samples.items()}
    table["states", name, "changes"] = Printed([(ms, state or None) for ms, state in changes])
    return table


def json_values(values, kind, region, prefix=""):
    """The numbers of an object that has them as samples and reports do. `prefix`: of the key of their count."""
    table = {}
    for name, value in (values or {}).items():
        if name == "samples":
            table[prefix + "samples of", region] = Printed(value)
        elif name == "area_fraction":
            for label, share in value.items():
                table["area", region, label, "all"] = Printed(share)
        elif name in oracle_.QUANTITIES:
            table[kind, region, name] = Printed(value, unit_of(name))
    return table


# `mpm report --brief`


def brief(text):
    """{source: {key: Printed}}."""
    result = {}
    for line in text.splitlines():
        source, _, rest = line.partition(": last sample ")
        match = re.match(r"(\S+)(?: \((?:in the future|.*? ago)\))?, (\d+) samples?, (\d+) gaps?(?: \(.*?\))?(?:, ([\d.]+) % of the pictures bad)?(?:, (\w+ \w+))?, (\d+) alarms?", rest)
        if not match:
            result[source] = {("unreadable",): Printed(line)}
            continue
        result[source] = {("last",): Printed(match[1]), ("samples",): number(match[2]), ("gaps",): number(match[3]), ("alarms",): number(match[6]), ("state now",): Printed(match[5])}
        if match[4]:
            result[source]["bad",] = percent(number(match[4]))
    return result


# Samples: `mpm monitor --json`, `mpm report --export`, the last one of /api/cameras


def sample_object(line):
    """{key: Printed} of a sample as JSON prints it."""
    table = {("night",): Printed(line["night"]), ("time",): Printed(line["time"]), ("reduce",): Printed(line["reduce"]), ("token_counts",): Printed([float(count) for count in line["token_counts"]])}
    for name, state in line["states"].items():
        table.update(state_values(name, state["state"], state["sure"], state["counted"]))
    for region, values in ("", line), *line["regions"].items():
        for key, printed in json_values(values, "value", region).items():
            table[key] = printed
    return (line["unix_ms"], line["picture"]), table


def state_values(name, state, sure, counted):
    return {("state", name, "read"): Printed(state), ("state", name, "sure"): Printed(sure), ("state", name, "counted"): Printed(counted or None)}


def jsonl(text):
    """{(ms, picture): {key: Printed}}; also of the lines of `mpm monitor --json` without its events."""
    return dict(sample_object(line) for line in map(json.loads, text.splitlines()) if "unix_ms" in line)


def csv_rows(text, regions):
    """The same of a CSV file. `regions` are the names that occur."""
    result = {}
    for row in csv.DictReader(io.StringIO(text)):
        table = {("night",): Printed({"": None, "0": False, "1": True}[row["night"]]), ("time",): Printed(row["time_utc"]), ("time local",): Printed(row["time_local"]), ("reduce",): Printed(row["reduce"]),
                 ("token_counts",): Printed([float(count) for count in row["token_counts"].split()])}
        for name in (match[1] for match in (re.fullmatch(r"state_(\w+)_counted", column) for column in row) if match):
            if row[f"state_{name}"]:
                table.update(state_values(name, row[f"state_{name}"], row[f"state_{name}_sure"] == "1", row[f"state_{name}_counted"]))
        for column, cell in row.items():
            for region in "", *regions:
                prefix = f"region_{region}_" if region else ""
                if not column.startswith(prefix):
                    continue
                name = column[len(prefix):]
                if name in oracle_.QUANTITIES:
                    table["value", region, name] = Printed(float(cell) if cell else None, unit_of(name))
                elif match := re.fullmatch(r"area_(.*)_percent", name):
                    table["area", region, match[1], "all"] = percent(number(cell))
        result[int(row["unix_ms"]), row["picture"]] = table
    return result


# `mpm serve`


def metrics(text):
    """{camera: {key: Printed}} of the last sample."""
    result = {}
    for line in text.splitlines():
        match = re.match(r"(\w+)\{(.*)\} (\S+)$", line)
        if not match or 'camera="' not in match[2]:
            continue
        labels = {name: json.loads(f'"{text}"') for name, text in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2])}
        table = result.setdefault(labels["camera"], {})
        value = float(match[3])
        if match[1] == "mpm_tokens":
            table["value", labels["region"], "tokens"] = Printed(value, 1e-3)
        elif match[1] == "mpm_class_area_ratio":
            table["area", labels["region"], labels["class"], "all"] = Printed(value)
        elif match[1] == "mpm_picture_flag":
            table["value", "", labels["flag"]] = Printed(value)
        elif match[1] == "mpm_state":
            table["state", labels["name"], "counted"] = Printed(labels["state"])
        elif match[1] == "mpm_stored_samples":
            table["stored",] = Printed(value)
        elif match[1] == "mpm_last_frame_timestamp_seconds":
            table["last",] = Printed(value)
    return result


def series(text):
    """(width of a bucket, {column: Printed} of all, [{column: Printed} of a bucket]) of /api/series."""
    answer = json.loads(text)
    unit = 10.0 ** -(answer["digits"] + 2)

    def row(cells):
        return {column: Printed(cell, unit if column in ("mean", "min", "max", "day", "night") else 0) for column, cell in zip(answer["columns"], cells)}

    return answer["bucket_ms"], row(answer["all"]) if answer["all"] else None, [row(cells) for cells in answer["rows"]]


def calendar(text):
    """{date: Printed} of the days with a value of /api/calendar.svg."""
    days = re.findall(r'data-text="(\d{4}-\d\d-\d\d)(?:: ([-\d.]+)[^"]*)?"', text)
    return {date: number(value) for date, value in days if value}


def drawing(svg):
    """(area, ticks, points) of /api/chart.svg: {name: number} of the plot, {value: y} of its labels, [(x, y)] of what lines and dots show."""
    root = xml.etree.ElementTree.fromstring(svg)
    name = lambda element: element.tag.partition("}")[2]
    area = {key: float(root.get(f"data-{key}")) for key in ("from", "to", "left", "right", "top", "bottom")}
    ticks, points, level = {}, [], None
    for element in root.iter():
        if name(element) == "polyline":
            line = [tuple(map(float, point.split(","))) for point in element.get("points").split()]
            level = line[0][1] if element.get("stroke-width") == "1" and line[0][1] == line[1][1] else None
            if element.get("stroke-width") == "2":
                points += line
        elif name(element) == "circle" and element.get("r") == "3":
            points.append((float(element.get("cx")), float(element.get("cy"))))
        elif name(element) == "text" and level is not None:
            ticks[float(element.text)] = level
            level = None
    return area, ticks, points


# PhenoCam's files


def phenocam(text, kind):
    """(header, {(kind, row): {key: Printed}}) of SITE_REGION_roistats.csv, _1day.csv or _3day.csv."""
    header = dict(match.groups() for match in map(re.compile("# ([^:]+): (.*)").fullmatch, text.splitlines()) if match)
    result = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        key = (kind, row["filename"], f"{row['date']} {row['local_std_time']}") if kind == "roistats" else (kind, row["date"])
        result[key] = {("phenocam", name): phenocam_cell(name, cell) for name, cell in row.items()}
    return header, result


def phenocam_cell(name, cell):
    if "filename" in name or "time" in name or name == "date":
        return Printed(cell)
    printed = Printed(None) if cell == "NA" else number(cell)
    return Printed(printed.value, 1.5) if "solar" in name else printed  # the light is lifted by refraction
