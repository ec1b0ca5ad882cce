# SPDX-License-Identifier: Apache-2.0
"""Makes a report of lines of `mpm eval`: report.py FOLDER reads FOLDER/results.jsonl, and FOLDER/sweep.jsonl if it is there,
and writes report.html, summary.jsonl, results.csv and figures/NAME.png, .svg and .pdf. Prints one line of JSON: {"ok": true} or
{"ok": false, "why": text}."""

import csv
import html
import io
import json
import os
import pathlib
import re
import sys

try:
    import matplotlib
    import numpy as np
    from matplotlib.figure import Figure
except ImportError as error:
    print(json.dumps({"ok": False, "why": f"{error} (Debian has python3-matplotlib)"}))
    sys.exit(1)

matplotlib.rcParams.update({"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "mpm", "axes.spines.top": False, "axes.grid": True,
                            "axes.spines.right": False, "grid.alpha": 0.3, "axes.axisbelow": True, "font.size": 9,
                            "figure.figsize": (7, 4.2)})
# A figure as wide as a column of two, where captions take the place of titles.
COLUMN = {"figure.figsize": (3.4, 2.6), "font.size": 7, "lines.markersize": 4}
# Each differs from the others in lightness too, so that prints in grey and colour-blind readers tell them apart.
COLORS = {"none": "#000000", "algm": "#5b1a7a", "mpm": "#1f5fc4", "gradual": "#d1560f", "tome": "#2aa57c", "cts": "#e3b100"}
MARKERS = {"none": "o", "mpm": "s", "gradual": "D", "tome": "^", "algm": "v", "cts": "P"}
RARE_PIXELS = 10_000
# The paper's table of ADE20K by "net": name, mIoU and GFLOP of the full model, then of MPM (2,5).
PAPER = {"mask_transformer 192/16 512x512": ("Seg-T/16", 38.1, 25, 37.6, 17.6),
         "mask_transformer 384/16 512x512": ("Seg-S/16", 45.3, 76.9, 45.1, 54),
         "mask_transformer 768/16 512x512": ("Seg-B/16", 48.5, 258, 48.0, 184),
         "linear 768/8 512x512": ("Seg-B/8", 49.5, 1320, 49.2, 809),
         "mask_transformer 1024/16 512x512": ("Seg-L/16", 51.7, 800, 50.4, 496)}
NOTES = f"""mIoU is over the classes with true pixels; its loss is in points. In brackets and as bars: 95 % intervals by
bootstrap over the images; of films, over the films, or over stretches of fewer than five films. * marks a class with
fewer than {RARE_PIXELS} true pixels. agreement: pixels with the label
of the full model. speed-up: time of the full model on the same image, by turns, divided by that of the variant, median.
ms: median over the images of the session that is named; times of other sessions are not compared. GFLOP and tokens at the
end: means, of one pass; windows are a pass each. restored: with the head on the restored grid, as papers count it. GFLOP of
batches are computed from the tokens of images drawn at random: ragged ones, as this library runs them, keep the tokens of each image; padded ones have as many as the
image with most; with a minimum each merges as many as the image that merges fewest. algm and cts are untrained here; their papers train."""
SESSION = ("session", "cpu", "instruction_set", "threads", "device", "version", "command")
# What all rows of a group have in common.
GROUP = ("model_digest", "precision", "data", "dataset", "labels", "input", "fit", "window_stride", "short_side", "ignore",
         "label_offset", "simulated_night", "against", "refine")
STAGES = ("preprocess", "backbone", "merge", "restore", "head", "postprocess")
STYLE = """body{font-family:sans-serif;max-width:1000px;margin:2em auto} svg{max-width:100%;height:auto}
table{border-collapse:collapse} td{padding:3px 10px;text-align:right;border-bottom:1px solid #ccc}
td:first-child{text-align:left} tr:first-child{font-weight:bold}"""


class Row:
    """The lines of one variant, in the order of the images of its full model."""

    def __init__(self, lines):
        self.lines = list(lines)
        self.first = self.lines[0]
        self.images = [line["name"] for line in self.lines]
        parts = [self.counts(key) for key in ("confusion", "confusion_near")]
        self.all, self.near, self.elsewhere = parts[0], parts[1], parts[0] - parts[1]

    def of(self, key):
        return np.array([np.nan if line[key] is None else line[key] for line in self.lines], float)

    def sum(self, key):
        return np.sum([line[key] for line in self.lines if key in line] or [0], axis=0)

    def counts(self, key):
        """Pixels of each image and class that are {right, true, given}."""
        counts = np.zeros((len(self.lines), len(self.first["classes"]), 3))
        for image, line in zip(counts, self.lines):
            for truth, given, pixels in line[key]:
                image[truth, 1] += pixels
                image[given, 2] += pixels
                image[truth, 0] += pixels * (truth == given)
        return counts

    def gflop(self, tokens):
        """`tokens`: {.., steps}."""
        constant, linear, square = np.array(self.first["gflop_terms"]).T
        return (constant + (linear + square * tokens) * tokens).sum(-1)


def iou_of(counts, weights):
    """IoU of each class in each draw, in percent; NaN without true pixels. `weights`: {draws, images}."""
    right, true, given = (weights @ counts[:, :, k] for k in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(true > 0, 100 * right / (true + given - right), np.nan)


def mean_iou(counts, weights):
    return np.nanmean(iou_of(counts, weights), axis=1)


def blocks_of(films):
    """The images that are drawn together, a list of indices for each block. Images without a film are blocks of one. The rule
    for films is that of blocksOf() in evaluation/statistics.h: five films or more are a block each; fewer are cut into
    stretches, about ten in all."""
    blocks = {}
    for image, film in enumerate(films):
        blocks.setdefault(image if film is None else ("film", film), []).append(image)
    if films.count(None) or len(blocks) >= 5:
        return list(blocks.values())
    return [part.tolist() for block in blocks.values() for part in
            np.array_split(block, max(1, min(len(block), (10 * len(block) + len(films) // 2) // len(films))))]


def draws_of(films):
    """The images themselves, then 1000 samples of blocks with replacement, as indices. They depend on the films alone, so the
    difference of two rows is that of their draws."""
    blocks = blocks_of(films)
    samples = np.random.default_rng(len(blocks)).integers(len(blocks), size=(1000 if len(blocks) > 1 else 0, len(blocks)))
    return [np.arange(len(films))] + [np.concatenate([blocks[k] for k in sample]) for sample in samples]


def with_ends(name, draws):
    """{name, name_low, name_high}: the first draw and the 95 % interval of the others."""
    draws = np.asarray(draws, float).reshape(len(draws), -1)
    ends = np.full((3, draws.shape[1]), np.nan)
    ends[0] = draws[0]
    for k, values in enumerate(draws[1:].T if len(draws) > 1 else ()):
        if not np.isnan(values).all():
            ends[1:, k] = np.nanpercentile(values, (2.5, 97.5))
    lists = [[None if np.isnan(value) else round(float(value), 4) + 0.0 for value in row] for row in ends]
    return {name + end: values if name.startswith("iou") else values[0] for end, values in zip(("", "_low", "_high"), lists)}


def batch_percent(row):
    """GFLOP of padded batches, and of those that merge equally, in percent of ragged ones: of 1, 2, 4.. images, 200 times."""
    tokens = np.array([line["tokens"] for line in row.lines], float)
    random = np.random.default_rng(len(tokens))
    padded, minimum = [], []
    for size in (1, 2, 4, 8, 16, 32):
        if size > len(tokens):
            break
        windows = np.array([tokens[random.permutation(len(tokens))[:size]].T for _ in range(200)])  # {batches, steps, images}
        most, least = windows.max(-1), windows[:, :, 0].copy()
        for step in range(1, tokens.shape[1]):
            least[:, step] = least[:, step - 1] - (windows[:, step - 1] - windows[:, step]).min(-1)
        ragged = row.gflop(windows.transpose(0, 2, 1)).mean()
        padded.append(round(100 * float(row.gflop(most).mean() / ragged), 4))
        minimum.append(round(100 * float(row.gflop(least).mean() / ragged), 4))
    return padded, minimum


def summary_of(name, row, full, session, sweep):
    first, draws = row.first, draws_of([line.get("film") for line in row.lines])
    weights = np.array([np.bincount(draw, minlength=len(row.images)) for draw in draws])
    part = {"group": name, "model": pathlib.Path(first["model"]).stem}
    part |= {key: first[key] for key in ("net", "data", "dataset", "precision", "reduce", "reuse_spec", "simulated_night")}
    part |= {"name": name_of(first), "sweep": sweep, "images": len(row.images), "session": session}
    part |= with_ends("miou_percent", mean_iou(row.all, weights))
    for key, counts in (("miou_loss_points", "all"), ("miou_loss_near_points", "near"), ("miou_loss_elsewhere_points", "elsewhere")):
        part |= with_ends(key, mean_iou(getattr(full, counts), weights) - mean_iou(getattr(row, counts), weights))
    totals = row.all.sum(1)
    part |= with_ends("pixel_accuracy_percent", 100 * (weights @ totals[:, 0]) / np.maximum(1, weights @ totals[:, 1]))
    agreement, ratio = row.of("agreement_percent"), row.of("full_ms") / row.of("total_ms")
    part |= with_ends("agreement_percent", [np.nanmean(agreement[draw]) for draw in draws])
    part |= with_ends("speed_up", [np.nanmedian(ratio[draw]) for draw in draws])
    here = np.array([line["session"] == session for line in row.lines])
    own = np.where(here, row.of("total_ms"), np.nan)
    part |= with_ends("median_ms", [np.nanmedian(own[draw]) for draw in draws])
    for key, percent in (("p25_ms", 25), ("p75_ms", 75)):
        part[key] = None if np.isnan(own).all() else round(float(np.nanpercentile(own, percent)), 4)
    for key in ("gflop", "gflop_head_restored"):
        part[key] = None if first[key] is None else round(float(row.of(key).mean()), 9)
    part["tokens_end"] = round(float(np.mean([line["tokens"][-1] for line in row.lines])), 4)
    known = np.where(weights @ here, weights @ here, np.nan)
    for stage in STAGES:
        part |= with_ends(stage + "_ms", weights @ (here * row.of(stage + "_ms")) / known)
    pairs = row.sum("pairs_with_class")
    part |= {"one_class_share": round(float(row.sum("pairs_of_one_class") / pairs), 4) if pairs else None,
             "true_pixels": row.all[:, :, 1].sum(0).astype(int).tolist(), "classes": first["classes"],
             "tokens": [line["tokens"][-1] for line in row.lines]}
    part |= with_ends("iou_percent", iou_of(row.all, weights))
    part |= with_ends("iou_loss_points", iou_of(full.all, weights) - iou_of(row.all, weights))
    part["pairs_at_distance"] = np.atleast_1d(row.sum("pairs_at_distance")).tolist()
    blocks = [line["blocks_ms"] for line in row.lines if line["session"] == session]
    part["blocks_ms"] = np.round(np.mean(blocks or [[]], axis=0), 4).tolist()
    part["padded_percent"], part["minimum_percent"] = ([], []) if first["gflop"] is None else batch_percent(row)
    return part


def name_of(line):
    return line["reduce"] + ("" if line["reuse_spec"] == "off" else " reuse " + line["reuse_spec"])


def add_fronts(rows):
    """Whether no other row costs at most as much and is at least as good."""
    for name, cost in (("front_of_time", lambda row: -(row["speed_up"] or -np.inf)),
                       ("front_of_gflop", lambda row: row["gflop"] or np.inf)):
        points = [(cost(row), -np.inf if row["miou_percent"] is None else row["miou_percent"]) for row in rows]
        for row, (own, value) in zip(rows, points):
            row[name] = not any(c <= own and v >= value and (c < own or v > value) for c, v in points)


def summaries_of(folder, everything):
    """The rows of each group, the full model first; those of the sweep behind the others."""
    for path, sweep in ((folder / "results.jsonl", False), (folder / "sweep.jsonl", True)):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        everything += lines
        groups, taken = {}, set()
        for line in lines:
            if "confusion" in line:
                variants = groups.setdefault(json.dumps([line[key] for key in GROUP]), {})
                variants.setdefault(name_of(line), {})[line["name"]] = line
        for variants in groups.values():
            if "none" not in variants:
                continue
            full = Row(variants.pop("none").values())
            model, data, dataset = (full.first[key] for key in ("model", "data", "dataset"))
            data = dataset or ("scene" if data.startswith("demo:") else pathlib.Path(data).name)
            text = "_".join([pathlib.Path(model).stem, data, full.first["precision"]])
            stem = name = re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".")[:100]
            k = 1
            while name in taken:
                name = f"{stem}_{(k := k + 1)}"
            taken.add(name)
            sessions = [line["session"] for line in full.lines]
            session = max(sorted(set(sessions)), key=sessions.count)
            rows = [full] + [Row(own[image] for image in full.images) for own in variants.values()
                             if set(own) == set(full.images)]  # others are not finished
            parts = [summary_of(name, row, full, session, sweep) for row in rows]
            add_fronts(parts)
            yield from parts


def add_styles(rows):
    """One colour and marker per method; its variants differ in number and line."""
    for i, row in enumerate(rows):
        row["method"] = row["reduce"].split(":")[0].split()[0]
        k = sum(other["method"] == row["method"] for other in rows[:i])
        row["color"] = COLORS.get(row["method"], "#8a7000")
        row["marker"], row["number"] = MARKERS.get(row["method"], "X"), i + 1
        row["line"] = (0, (6, 2) + (1, 2) * (k - 1)) if k else "-"


def one_per_method(rows):
    return list({row["method"]: row for row in reversed(rows)}.values())[::-1]


def in_column():
    return matplotlib.rcParams["figure.figsize"] == list(COLUMN["figure.figsize"])


def axes(title, x_name, y_name, height=4.2):
    page = not in_column()
    plot = Figure(figsize=(7, height) if page else None).add_subplot()
    plot.set_title(title if page else "", loc="left", fontsize=10)
    plot.set(xlabel=x_name, ylabel=y_name)
    return plot


def legend(plot):
    plot.legend(loc="upper left", bbox_to_anchor=(0, -45 / plot.bbox.height), ncol=1 if in_column() else 2, frameon=False)
    return plot


def bars(title, x_name, names, series, stacked=False):
    """`series`: (name, values, colours of the bars), and perhaps what spread() says of the values."""
    thick = 0.8 if stacked else 0.8 / len(series)
    plot = axes(title, x_name, "", 1.2 + 0.2 * len(names) * (1.3 if stacked else max(1.3, len(series))))
    left = np.zeros(len(names))
    for s, (name, values, colors, *reach) in enumerate(series):
        widths = np.nan_to_num(np.array(values, float))
        at = np.arange(len(names)) + (0 if stacked else (s - (len(series) - 1) / 2) * thick)
        plot.barh(at, widths, thick * 0.92, left=left * stacked, color=colors, label=name, capsize=2,
                  xerr=reach[0] if reach else None)
        left += widths
    plot.set_yticks(np.arange(len(names)), names)
    plot.set_ylim(len(names) - 0.4, -0.6)
    plot.grid(axis="y", visible=False)
    return plot


def trade(rows, title, x_name, value, front):
    """A point for each row, with the interval of its loss: pictures vary more than the difference of two models."""
    plot = axes(f"{title} (filled: on the Pareto front; bars: 95 % interval of the loss)", x_name, "mIoU, %")
    for row in rows:
        plot.errorbar(value(row), row["miou_percent"], spread([row], "miou_loss_points")[::-1], color=row["color"],
                      marker=row["marker"], linestyle="none",
                      markerfacecolor=row["color"] if row[front] else "white", markersize=4 if in_column() else 7, elinewidth=1, capsize=2,
                      label=f"{row['number']} {row['name']}")
        plot.annotate(str(row["number"]), (value(row), row["miou_percent"]), (4, 3), textcoords="offset points", fontsize=7)
    return legend(plot)


def spread(rows, name):
    """How far the intervals reach below and above the values, {2, values}: one of each row, or of each class of one."""
    value, low, high = (np.array([row.get(name + end) for row in rows], float).ravel() for end in ("", "_low", "_high"))
    return np.nan_to_num(np.maximum(0, [value - low, high - value]))


def lines(rows, title, x_name, y_name, points, label=lambda row: row["name"]):
    """`points(row)`: (x, y)."""
    plot = axes(title, x_name, y_name)
    for row in rows:
        plot.plot(*points(row), color=row["color"], linestyle=row["line"], label=label(row))
    return legend(plot)


def tokens(rows):
    every = sum((row["tokens"] for row in rows), [])
    edges = np.linspace(min(every), max(max(every), min(every) + 1), 25)
    def points(row):
        shares = 100 * np.histogram(row["tokens"], edges)[0] / len(row["tokens"])
        return np.repeat(edges, 2), np.concatenate([[0], np.repeat(shares, 2), [0]])
    return lines(rows, "Tokens kept per image", "tokens at the end", "share of the images, %", points)


def classes(rows):
    used = [c for c, iou in enumerate(rows[0]["iou_percent"]) if iou is not None]
    return legend(bars("Loss of IoU per class", "points of IoU", [rows[0]["classes"][c] + " *" * (rows[0]["true_pixels"][c] < RARE_PIXELS) for c in used],
                       [(row["name"], [row["iou_loss_points"][c] for c in used], row["color"],
                         spread([row], "iou_loss_points")[:, used]) for row in one_per_method(rows[1:])]))


def boundaries(rows):
    return bars("Loss of mIoU within 8 px of a boundary (full colour) and elsewhere (pale)", "points of mIoU",
                [row["name"] for row in rows],
                [("", [row[name] for row in rows],
                  [matplotlib.colors.to_rgba(row["color"], opacity) for row in rows], spread(rows, name))
                 for name, opacity in (("miou_loss_near_points", 1), ("miou_loss_elsewhere_points", 0.4))])


def stages(rows):
    shades = matplotlib.colormaps["cividis"](np.linspace(0.1, 0.95, len(STAGES)))  # none of them is a method's colour
    return legend(bars("Where the time goes", "ms per image, mean", [row["name"] for row in rows],
                       [(name, [row[name + "_ms"] for row in rows], shades[i], spread(rows, name + "_ms"))
                        for i, name in enumerate(STAGES)], True))


def locality(rows):
    def points(row):
        return range(1, len(row["pairs_at_distance"])), 100 * np.array(row["pairs_at_distance"][1:]) / sum(row["pairs_at_distance"])
    rows = [row for row in rows if sum(row["pairs_at_distance"]) and row["one_class_share"] is not None]
    return lines(rows, "Locality of merges (the last distance: and further)",
                 "distance of two members of a cluster, tokens", "share of the pairs, %", points,
                 lambda row: f"{row['name']} ({100 * row['one_class_share']:.1f} % of one class)")


def batches(rows):
    plot = lines(rows, "Cost of batches, computed from token counts", "images in a batch (line: padded, dots: minimum)",
                 "GFLOP, % of a ragged batch",
                 lambda row: (2 ** np.arange(len(row["padded_percent"])), row["padded_percent"]))
    for row in rows:
        sizes = 2 ** np.arange(len(row["minimum_percent"]))
        plot.plot(sizes, row["minimum_percent"], marker=row["marker"], linestyle="none", color=row["color"])
    plot.set_xscale("log", base=2)
    plot.xaxis.set_major_formatter("{x:.0f}")
    return plot


def blocks_of_sweep(row):
    return tuple(int(block) for block in re.fullmatch(r"mpm:blocks=([\d,]+)", row["reduce"])[1].split(","))


def depth(sweep, title, y_name, name):
    sweep = [row for row in sweep if row["reduce"] == "none" or len(blocks_of_sweep(row)) == 1]
    plot = axes(title, "before block", y_name, 3.4)
    plot.errorbar(range(len(sweep) - 1), [row[name] for row in sweep[1:]], fmt="o-", color=COLORS["mpm"], capsize=2,
                  yerr=spread(sweep[1:], name), elinewidth=1)
    return plot


def pairs(sweep, title, name):
    """A step before each two blocks; on the diagonal, the step before one."""
    values = {blocks_of_sweep(row): row[name] for row in sweep[1:]}
    side = 1 + max(max(blocks) for blocks in values)
    map_ = np.full((side, side), np.nan)
    for blocks, value in values.items():
        map_[blocks[0], blocks[-1]] = value
    plot = axes(title, "second step before block", "first step before block", 5)
    plot.grid(visible=False)
    image = plot.imshow(map_, cmap="cividis")
    for (first, second), value in np.ndenumerate(map_):
        if not np.isnan(value):
            dark = image.norm(value) < 0.5
            plot.text(second, first, f"{value:.2f}", ha="center", va="center", fontsize=6, color="white" if dark else "black")
    plot.figure.colorbar(image, shrink=0.8)
    return plot


def figures_of(rows, sweep):
    merged = rows[1:]
    yield "rate", trade([row for row in rows if row["median_ms"]], "mIoU against images per second", "images per second, 1000 / median ms",
                        lambda row: 1000 / row["median_ms"], "front_of_time")
    yield "time", trade([row for row in rows if row["speed_up"]], "mIoU against time", "time, % of the full model's on the same image",
                        lambda row: 100 / row["speed_up"], "front_of_time")
    yield "gflop", trade([row for row in rows if row["gflop"]], "mIoU against GFLOP", "GFLOP per pass",
                         lambda row: row["gflop"], "front_of_gflop")
    if merged:
        yield "tokens", tokens(merged)
        yield "classes", classes(rows)
        yield "boundaries", boundaries(merged)
        if any(row["one_class_share"] is not None for row in merged):
            yield "locality", locality(merged)
        yield "batches", batches(merged)
    yield "stages", stages(rows)
    if rows[0]["blocks_ms"]:
        yield "blocks", lines(one_per_method(rows), "Time of each block", "block, with its merging", "ms, mean",
                              lambda row: (range(len(row["blocks_ms"])), row["blocks_ms"]))
    if len(sweep) > 1:
        yield "depth_loss", depth(sweep, "Loss of one step of MPM", "points of mIoU", "miou_loss_points")
        yield "depth_speed", depth(sweep, "Speed-up of one step of MPM", "times the full model", "speed_up")
        if any(len(blocks_of_sweep(row)) == 2 for row in sweep[1:]):
            yield "pairs_loss", pairs(sweep, "Loss of two steps of MPM, points of mIoU", "miou_loss_points")
            yield "pairs_speed", pairs(sweep, "Speed-up of two steps of MPM", "speed_up")


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def with_interval(row, name, digits):
    low, high, text = row[name + "_low"], row[name + "_high"], number(row[name], digits)
    return text if low in (None, high) else f"{text} ({low:.2f} to {high:.2f})"


def tables_of(rows):
    yield [["reduction", "mIoU, %", "loss, points", "agreement, %", "ms", "speed-up", "GFLOP", "GFLOP, restored", "tokens"]] + [
        [row["name"], with_interval(row, "miou_percent", 3), with_interval(row, "miou_loss_points", 3),
         with_interval(row, "agreement_percent", 2)] +
        [with_interval(row, "median_ms", 1), with_interval(row, "speed_up", 2), number(row["gflop"], 2),
         number(row["gflop_head_restored"], 2), number(row["tokens_end"], 1)]
        for row in rows]
    paper = []
    for row in rows:
        kind = {"none": 0, "mpm": 1, "mpm:blocks=2,5": 1}.get(row["name"])
        if row["net"] in PAPER and row["dataset"] == "ade20k" and row["images"] == 2000 and kind is not None:
            name, miou, gflop = PAPER[row["net"]][0], *PAPER[row["net"]][1 + 2 * kind:3 + 2 * kind]
            paper.append([name + ", MPM (2,5)" * kind, f"{miou:.1f}", with_interval(row, "miou_percent", 3), f"{gflop:.1f}",
                          number(row["gflop"], 2)])
    if paper:
        yield [["of the paper", "mIoU, paper", "mIoU", "GFLOP, paper", "GFLOP"]] + paper


def write(path, data):
    """All of the file or nothing."""
    path.with_name(path.name + ".part").write_bytes(data)
    os.replace(path.with_name(path.name + ".part"), path)


def drawn(plot, path, endings=(".png", ".pdf", ".svg")):
    """Writes the figure for print; returns it as SVG if that is the last of the endings."""
    without = {".png": "Software", ".pdf": "CreationDate", ".svg": "Date"}
    for ending in endings:
        data = io.BytesIO()
        plot.figure.savefig(data, format=ending[1:], dpi=300, bbox_inches="tight", metadata={without[ending]: None})
        write(path.with_name(path.name + ending), data.getvalue())
    return "<svg" + data.getvalue().decode().split("<svg", 1)[1] if ending == ".svg" else ""


def main(folder):
    lines = []
    rows = list(summaries_of(folder, lines))
    if not rows:
        raise ValueError("results.jsonl has no labelled image that the full model ran on")
    write(folder / "summary.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    table = io.StringIO()
    columns = [key for key, value in rows[0].items() if not isinstance(value, list)]
    writer = csv.DictWriter(table, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(folder / "results.csv", table.getvalue().encode())
    (folder / "figures").mkdir(exist_ok=True)
    page = ['<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Token reduction study</title>',
            f"<style>{STYLE}</style></head><body><h1>Token reduction study</h1><p>{html.escape(NOTES)}</p>"]
    sessions = {line["session"]: [str(line[key]) for key in SESSION] for line in lines}
    page += ["<h2>Sessions, and the commands that make this report</h2>", table_of([SESSION, *sessions.values()])]
    for group in dict.fromkeys(row["group"] for row in rows if not row["sweep"]):
        both = [row for row in rows if row["group"] == group]
        own, sweep = ([row for row in both if row["sweep"] == which] for which in (False, True))
        add_styles(own)
        page.append("<h2>" + html.escape("{model}, {data}, {precision}".format(**own[0])) + "</h2>")
        page.append("<p>" + html.escape("{images} images of {data}; ms of the session {session}.".format(**own[0])) + "</p>")
        page += map(table_of, tables_of(own))
        for name, plot in figures_of(own, sweep):
            page.append(f"<figure>{drawn(plot, folder / 'figures' / f'{group}_{name}')}</figure>")
        with matplotlib.rc_context(COLUMN):
            for name, plot in figures_of(own, sweep):
                if name in ("rate", "time", "gflop", "tokens", "depth_loss", "depth_speed"):
                    drawn(plot, folder / "figures" / f"{group}_{name}_column", [".pdf"])
    write(folder / "report.html", "\n".join(page + ["</body></html>\n"]).encode())


def table_of(lines):
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in lines]
    return "<table>" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>"


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1]))
        print(json.dumps({"ok": True}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(json.dumps({"ok": False, "why": f"{type(error).__name__}: {error}"}))
        sys.exit(1)
