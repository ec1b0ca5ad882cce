# SPDX-License-Identifier: Apache-2.0
"""Draws what `mpm study` measured: report.py FOLDER [COMMAND] reads FOLDER/summary.jsonl and writes report.html and
figures/NAME.png and .svg there. Prints one line of JSON: {"ok": true} or {"ok": false, "why": text}."""

import html
import io
import json
import os
import pathlib
import sys

try:
    import matplotlib
    import numpy as np
    from matplotlib.figure import Figure
except ImportError as error:
    print(json.dumps({"ok": False, "why": f"{error} (Debian has python3-matplotlib)"}))
    sys.exit(1)

matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "mpm", "axes.spines.top": False, "axes.grid": True,
                            "axes.spines.right": False, "grid.alpha": 0.3, "axes.axisbelow": True, "font.size": 9})
COLORS = {"none": "#555e6d", "mpm": "#1f62c4", "gradual": "#b0500f", "tome": "#1a7a5a", "algm": "#8b3fa0",
          "cts": "#c0392b"}
MARKERS, LINES = "osD^vP*X", ("-", "--", ":", "-.", (0, (1, 3)), (0, (6, 2, 1, 2, 1, 2)))
# The paper's table of ADE20K by "net": name, mIoU and GFLOP of the full model, then of MPM (2,5).
PAPER = {"mask_transformer 192/16 512x512": ("Seg-T/16", 38.1, 25, 37.6, 17.6),
         "mask_transformer 384/16 512x512": ("Seg-S/16", 45.3, 76.9, 45.1, 54),
         "mask_transformer 768/16 512x512": ("Seg-B/16", 48.5, 258, 48.0, 184),
         "linear 768/8 512x512": ("Seg-B/8", 49.5, 1320, 49.2, 809),
         "mask_transformer 1024/16 512x512": ("Seg-L/16", 51.7, 800, 50.4, 496)}
NOTES = """mIoU is over the classes with true pixels; its loss is in points. In brackets and as bars: 95 % intervals by
bootstrap over the images, too narrow where images are alike, as the frames of a film. agreement: pixels with the label
of the full model. ms: median over the images, all variants in turns on each. speed-up: time of the full model on the
same image divided by that of the variant, median. GFLOP and tokens at the end: means. GFLOP of batches are computed
from the tokens of images that follow each other: ragged ones, as this library runs them, keep the tokens of each image;
padded ones have as many as the image with most; with a minimum each merges as many as the image that merges fewest."""
STYLE = """body{font-family:sans-serif;max-width:1000px;margin:2em auto} svg{max-width:100%;height:auto}
table{border-collapse:collapse} td{padding:3px 10px;text-align:right;border-bottom:1px solid #ccc}
td:first-child{text-align:left} tr:first-child{font-weight:bold}"""


def add_styles(rows):
    """One colour per method; its variants differ in marker and line."""
    for i, row in enumerate(rows):
        row["method"] = row["reduction"].split(":")[0].split()[0]
        k = sum(other["method"] == row["method"] for other in rows[:i])
        row["color"] = COLORS.get(row["method"], "#8a7000")
        row["marker"], row["line"] = MARKERS[k % len(MARKERS)], LINES[k % len(LINES)]


def one_per_method(rows):
    return list({row["method"]: row for row in reversed(rows)}.values())[::-1]


def axes(title, x_name, y_name, height=4.2):
    plot = Figure(figsize=(8.6, height)).add_subplot()
    plot.set_title(title, loc="left", fontsize=10)
    plot.set(xlabel=x_name, ylabel=y_name)
    return plot


def legend(plot):
    plot.legend(loc="upper left", bbox_to_anchor=(0, -45 / plot.bbox.height), ncol=2, frameon=False)
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
        plot.errorbar(value(row), row["miou"], spread([row], "miou_loss")[::-1], fmt=row["marker"], color=row["color"],
                      markerfacecolor=row["color"] if row[front] else "white", markersize=7, elinewidth=1, capsize=2,
                      label=row["reduction"])
    return legend(plot)


def spread(rows, name):
    """How far the intervals reach below and above the values, {2, values}: one of each row, or of each class of one."""
    value, low, high = (np.array([row.get(name + end) for row in rows], float).ravel() for end in ("", "_low", "_high"))
    return np.nan_to_num(np.maximum(0, [value - low, high - value]))


def lines(rows, title, x_name, y_name, points, label=lambda row: row["reduction"]):
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
    used = [c for c, iou in enumerate(rows[0]["iou"]) if iou is not None]
    return legend(bars("Loss of IoU per class", "points of IoU", [rows[0]["classes"][c] for c in used],
                       [(row["reduction"], [row["iou_loss"][c] for c in used], row["color"],
                         spread([row], "iou_loss")[:, used]) for row in one_per_method(rows[1:])]))


def boundaries(rows):
    return bars("Loss of mIoU within 8 px of a boundary (full colour) and elsewhere (pale)", "points of mIoU",
                [row["reduction"] for row in rows],
                [("", [row[name] for row in rows],
                  [matplotlib.colors.to_rgba(row["color"], opacity) for row in rows], spread(rows, name))
                 for name, opacity in (("miou_loss_near", 1), ("miou_loss_elsewhere", 0.4))])


def stages(rows):
    names = ("preprocess", "backbone", "merge", "restore", "head", "postprocess")
    shades = matplotlib.colormaps["cividis"](np.linspace(0.1, 0.95, len(names)))  # none of them is a method's colour
    return legend(bars("Where the time goes", "ms per image, mean", [row["reduction"] for row in rows],
                       [(name, [row[name + "_ms"] for row in rows], shades[i]) for i, name in enumerate(names)], True))


def locality(rows):
    def points(row):
        return range(1, len(row["distances"])), 100 * np.array(row["distances"][1:]) / sum(row["distances"])
    rows = [row for row in rows if sum(row["distances"]) and row["pairs_of_one_class"] is not None]
    return lines(rows, "Locality of merges (the last distance: and further)",
                 "distance of two members of a cluster, tokens", "share of the pairs, %", points,
                 lambda row: f"{row['reduction']} ({100 * row['pairs_of_one_class']:.1f} % of one class)")


def batches(rows):
    plot = lines(rows, "Cost of batches, computed from token counts", "images in a batch (line: padded, dots: minimum)",
                 "GFLOP, % of a ragged batch",
                 lambda row: (2 ** np.arange(len(row["padded_percent"])), row["padded_percent"]))
    for row in rows:
        sizes = 2 ** np.arange(len(row["minimum_percent"]))
        plot.plot(sizes, row["minimum_percent"], row["marker"], color=row["color"])
    plot.set_xscale("log", base=2)
    plot.xaxis.set_major_formatter("{x:.0f}")
    return plot


def depth(sweep, title, y_name, name):
    plot = axes(title, "before block", y_name, 3.4)
    plot.errorbar(range(len(sweep) - 1), [row[name] for row in sweep[1:]], fmt="o-", color=COLORS["mpm"], capsize=2,
                  yerr=spread(sweep[1:], name), elinewidth=1)
    return plot


def figures_of(rows, sweep):
    merged = rows[1:]
    yield "time", trade(rows, "mIoU against time", "time, % of the full model's on the same image",
                        lambda row: 100 / row["speed_up"], "front_of_time")
    yield "gflop", trade(rows, "mIoU against GFLOP", "GFLOP per image", lambda row: row["gflop"], "front_of_gflop")
    if merged:
        yield "tokens", tokens(merged)
        yield "classes", classes(rows)
        yield "boundaries", boundaries(merged)
        yield "locality", locality(merged)
        yield "batches", batches(merged)
    yield "stages", stages(rows)
    if rows[0]["block_ms"]:
        yield "blocks", lines(one_per_method(rows), "Time of each block", "block, with its merging", "ms, mean",
                              lambda row: (range(len(row["block_ms"])), row["block_ms"]))
    if len(sweep) > 1:
        yield "depth_loss", depth(sweep, "Loss of one step of MPM", "points of mIoU", "miou_loss")
        yield "depth_speed", depth(sweep, "Speed-up of one step of MPM", "times the full model", "speed_up")


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def with_interval(row, name, digits):
    low, high, text = row[name + "_low"], row[name + "_high"], number(row[name], digits)
    return text if low in (None, high) else f"{text} ({low:.2f} to {high:.2f})"


def tables_of(rows):
    yield [["reduction", "mIoU, %", "loss, points", "agreement, %", "ms", "speed-up", "GFLOP", "tokens"]] + [
        [row["reduction"], with_interval(row, "miou", 3), with_interval(row, "miou_loss", 3),
         with_interval(row, "agreement", 2)] +
        [number(row[name], n) for name, n in (("ms_median", 1), ("speed_up", 2), ("gflop", 2), ("tokens_end", 1))]
        for row in rows]
    paper = []
    for row in rows:
        kind = {"none": 0, "mpm": 1, "mpm:blocks=2,5": 1}.get(row["reduction"])
        if row["net"] in PAPER and row["data"] == "ade20k" and row["limit"] == 0 and kind is not None:
            name, miou, gflop = PAPER[row["net"]][0], *PAPER[row["net"]][1 + 2 * kind:3 + 2 * kind]
            paper.append([name + ", MPM (2,5)" * kind, f"{miou:.1f}", with_interval(row, "miou", 3), f"{gflop:.1f}",
                          number(row["gflop"], 2)])
    if paper:
        yield [["of the paper", "mIoU, paper", "mIoU", "GFLOP, paper", "GFLOP"]] + paper


def write(path, data):
    """All of the file or nothing."""
    path.with_name(path.name + ".part").write_bytes(data)
    os.replace(path.with_name(path.name + ".part"), path)


def drawn(plot, path):
    """Writes the figure; returns it as SVG."""
    for ending, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        data = io.BytesIO()
        plot.figure.savefig(data, format=ending[1:], dpi=110, bbox_inches="tight", metadata=metadata)
        write(path.with_name(path.name + ending), data.getvalue())
    return "<svg" + data.getvalue().decode().split("<svg", 1)[1]


def main(folder, command=""):
    rows = [json.loads(line) for line in (folder / "summary.jsonl").read_text(encoding="utf-8").splitlines()]
    (folder / "figures").mkdir(exist_ok=True)
    page = ['<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Token reduction study</title>',
            f"<style>{STYLE}</style></head><body><h1>Token reduction study</h1>",
            f"<p><code>{html.escape(command)}</code></p><p>{html.escape(NOTES)}</p>"]
    for group in dict.fromkeys(row["group"] for row in rows if not row["sweep"]):
        both = [row for row in rows if row["group"] == group]
        own, sweep = ([row for row in both if row["sweep"] == which] for which in (False, True))
        add_styles(own)
        page.append("<h2>" + html.escape("{model}, {data}, {precision}".format(**own[0])) + "</h2>")
        page.append("<p>" + html.escape("{images} images of {source}.".format(**own[0])) + "</p>")
        for table in tables_of(own):
            cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in table]
            page.append("<table>" + "".join(f"<tr>{line}</tr>\n" for line in cells) + "</table>")
        for name, plot in figures_of(own, sweep):
            page.append(f"<figure>{drawn(plot, folder / 'figures' / f'{group}_{name}')}</figure>")
    write(folder / "report.html", "\n".join(page + ["</body></html>\n"]).encode())
    print(json.dumps({"ok": True}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:3])
