# SPDX-License-Identifier: Apache-2.0
"""Draws the report of `mpm study`: report.py FOLDER reads the numbers in FOLDER/summary.jsonl and pairs.jsonl, and in
results.jsonl the sessions that measured. It writes report.html and figures/NAME.png, .svg and .pdf, and computes no number
itself. report.py --check only says whether all that it needs is here. Prints one line of JSON: {"ok": true} or {"ok": false,
"why": text}."""

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
NOTES = f"""mIoU is over the classes with true pixels; its loss is in points. In brackets and as bars: 95 % intervals, by
bootstrap over blocks of images, widened by Student's t for few blocks. A block is a film where there are five or more, else
one of about ten stretches of images that follow each other; a photograph is a film of its own. Each interval is of one
comparison: of twenty, one misses the truth. * marks a class with fewer than {RARE_PIXELS} true pixels. agreement: share of an image's
pixels with the label of the full model, mean over the images. speed-up: time of the full model on the same image, by turns, divided by that of the variant, median.
ms: median over the images of the session that is named; times of other sessions are not compared. GFLOP and tokens at the
end: means, of one pass; windows are a pass each. restored: with the head on the restored grid, as papers count it. GFLOP of
batches are computed from the tokens of images drawn at random: ragged ones, as this library runs them, keep the tokens of each
image; padded ones have as many as the image with most; with a minimum each merges as many as the image that merges fewest.
algm and cts are untrained here; their papers train."""
SESSION = ("session", "cpu", "instruction_set", "threads", "device", "version", "commit", "command")
STAGES = ("preprocess", "backbone", "merge", "restore", "head", "postprocess")
STYLE = """body{font-family:sans-serif;max-width:1000px;margin:2em auto} svg{max-width:100%;height:auto}
table{margin:1em 0;border-collapse:collapse} td{padding:3px 10px;text-align:right;border-bottom:1px solid #ccc}
td:first-child{text-align:left} tr:first-child{font-weight:bold}"""


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def add_styles(rows):
    """One colour and marker per method; its variants differ in number and line."""
    for i, row in enumerate(rows):
        k = sum(other["method"] == row["method"] for other in rows[:i])
        method = row["method"].split()[0]
        row["color"] = COLORS.get(method, "#8a7000")
        row["marker"], row["number"] = MARKERS.get(method, "X"), i + 1
        row["line"] = (0, (6, 2) + (1, 2) * (k - 1)) if k else "-"


def one_per_method(rows):
    return list({row["method"]: row for row in reversed(rows)}.values())[::-1]


def in_column():
    return matplotlib.rcParams["figure.figsize"] == list(COLUMN["figure.figsize"])


def axes(rows, title, x_name, y_name, height=4.2):
    """`rows`: what is shown. The number of their images is in the title; in a column, which has none, at the axis."""
    page, count = not in_column(), rows[0]["images"]
    images = f"{count} image{'s' * (count != 1)}"
    plot = Figure(figsize=(7, height) if page else None).add_subplot()
    plot.set_title(f"{title}, {images}" if page else "", loc="left", fontsize=10)
    plot.set(xlabel=x_name if page else f"{x_name} ({images})", ylabel=y_name)
    return plot


def whole_numbers(*axes_of_plot):
    """Blocks, tokens and images have no halves."""
    for axis in axes_of_plot:
        axis.get_major_locator().set_params(integer=True)


def legend(plot):
    plot.legend(loc="upper left", bbox_to_anchor=(0, -45 / plot.bbox.height), ncol=1 if in_column() else 2, frameon=False)
    return plot


def bars(rows, title, x_name, names, series, stacked=False):
    """`series`: (name, values, colours of the bars), and perhaps what spread() says of the values."""
    thick = 0.8 if stacked else 0.8 / len(series)
    plot = axes(rows, title, x_name, "", 1.2 + 0.2 * len(names) * (1.3 if stacked else max(1.3, len(series))))
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


def trade(rows, title, x_name, value, front, joined=False):
    """A point for each row, with the interval of its loss: pictures vary more than the difference of two models."""
    plot = axes(rows, f"{title} (filled: on the Pareto front; bars: 95 % interval of the loss)", x_name, "mIoU, %")
    rows = [row for row in rows if row["miou_percent"] is not None]  # else no pixel of any image counts
    if joined:  # a line through the variants of a method, from the full model of their precision
        for method in dict.fromkeys(row["method"] for row in rows if row["reduce"] != "none"):
            own = [row for row in rows if row["method"] == method]
            full = [row for row in rows if row["reduce"] == "none" and row["precision"] == own[0]["precision"]]
            curve = sorted(full + own, key=value)
            plot.plot([value(row) for row in curve], [row["miou_percent"] for row in curve], color=own[0]["color"],
                      linewidth=0.7, alpha=0.6, zorder=1)
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
    plot = axes(rows, title, x_name, y_name)
    for row in rows:
        plot.plot(*points(row), color=row["color"], linestyle=row["line"], label=label(row))
    whole_numbers(plot.xaxis)
    return legend(plot)


def tokens(rows):
    def points(row):
        return np.repeat(row["tokens_edges"], 2), np.concatenate([[0], np.repeat(row["tokens_share_percent"], 2), [0]])
    return lines(rows, "Tokens kept per image", "tokens at the end", "share of the images, %", points)


def classes(rows):
    used = [c for c, iou in enumerate(rows[0]["iou_percent"]) if iou is not None]
    return legend(bars(rows, "Loss of IoU per class", "points of IoU", [rows[0]["classes"][c] + " *" * (rows[0]["true_pixels"][c] < RARE_PIXELS) for c in used],
                       [(row["name"], [row["iou_loss_points"][c] for c in used], row["color"],
                         spread([row], "iou_loss_points")[:, used]) for row in one_per_method(rows[1:])]))


def boundaries(rows):
    return bars(rows, "Loss of mIoU within 8 px of a boundary (full colour) and elsewhere (pale)", "points of mIoU",
                [row["name"] for row in rows],
                [("", [row[name] for row in rows],
                  [matplotlib.colors.to_rgba(row["color"], opacity) for row in rows], spread(rows, name))
                 for name, opacity in (("miou_loss_near_points", 1), ("miou_loss_elsewhere_points", 0.4))])


def stages(rows):
    shades = matplotlib.colormaps["cividis"](np.linspace(0.1, 0.95, len(STAGES)))  # none of them is a method's colour
    return legend(bars(rows, "Where the time goes", "ms per image, mean", [row["name"] for row in rows],
                       [(name, [row[name + "_ms"] for row in rows], shades[i], spread(rows, name + "_ms"))
                        for i, name in enumerate(STAGES)], True))


def locality(rows):
    def points(row):
        return range(1, 1 + len(row["pairs_share_percent"])), row["pairs_share_percent"]
    rows = [row for row in rows if row["pairs_share_percent"] and row["one_class_share"] is not None]
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
    plot = axes(sweep, title, "before block", y_name, 3.4)
    plot.errorbar(range(len(sweep) - 1), np.array([row[name] for row in sweep[1:]], float), fmt="o-", color=COLORS["mpm"], capsize=2,
                  yerr=spread(sweep[1:], name), elinewidth=1)
    whole_numbers(plot.xaxis)
    return plot


def pairs(sweep, title, name):
    """A step before each two blocks; on the diagonal, the step before one."""
    values = {blocks_of_sweep(row): row[name] for row in sweep[1:]}
    side = 1 + max(max(blocks) for blocks in values)
    map_ = np.full((side, side), np.nan)
    for blocks, value in values.items():
        map_[blocks[0], blocks[-1]] = value
    plot = axes(sweep, title, "second step before block", "first step before block", 5)
    plot.grid(visible=False)
    image = plot.imshow(map_, cmap="cividis")
    whole_numbers(plot.xaxis, plot.yaxis)
    for (first, second), value in np.ndenumerate(map_):
        if not np.isnan(value):
            dark = image.norm(value) < 0.5
            plot.text(second, first, f"{value:.2f}", ha="center", va="center", fontsize=6, color="white" if dark else "black")
    plot.figure.colorbar(image, shrink=0.8)
    return plot


def figures_of(rows, sweep):
    merged = rows[1:]
    for name, title, x_name, value, needs, front in (
            ("rate", "mIoU against images per second", "images per second, 1000 / median ms", lambda row: 1000 / row["median_ms"],
             "median_ms", "front_of_rate"),
            ("time", "mIoU against time", "time, % of the full model's on the same image", lambda row: 100 / row["speed_up"],
             "speed_up", "front_of_time"),
            ("gflop", "mIoU against GFLOP", "GFLOP per pass", lambda row: row["gflop"], "gflop", "front_of_gflop"),
            ("gflop_restored", "mIoU against GFLOP, head restored", "GFLOP per pass, head on the restored grid as in papers",
             lambda row: row["gflop_head_restored"], "gflop_head_restored", "front_of_gflop_head_restored")):
        if known := [row for row in rows if row[needs]]:
            yield name, trade(known, title, x_name, value, front)
    yield "accuracy_tokens", trade(rows, "mIoU against tokens", "tokens at the end, mean", lambda row: row["tokens_end"],
                                   "front_of_tokens", joined=True)
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


def is_sure(row, name):
    """Whether the interval of a difference does not contain 0."""
    return row[name + "_low"] is not None and row[name + "_low"] * row[name + "_high"] > 0


def tables_of(rows):
    yield [["reduction", "mIoU, %", "loss, points", "agreement, %", "median ms", "speed-up", "GFLOP", "GFLOP, restored", "tokens"]] + [
        [row["name"], with_interval(row, "miou_percent", 3), with_interval(row, "miou_loss_points", 3),
         with_interval(row, "agreement_percent", 2)] +
        [with_interval(row, "median_ms", 1), with_interval(row, "speed_up", 2), number(row["gflop"], 2),
         number(row["gflop_head_restored"], 2), with_interval(row, "tokens_end", 1)]
        for row in rows]
    methods = [method for method in dict.fromkeys(row["method"] for row in rows[1:])
               if any(one["method"] == method for row in rows for one in row["at_equal_tokens"])]
    if methods:
        yield [["points of mIoU more than another method at equal tokens", *methods]] + [
            [row["name"]] + [next((with_interval(one, "miou_gain_points", 2) + " *" * is_sure(one, "miou_gain_points")
                                   for one in row["at_equal_tokens"] if one["method"] == method), "") for method in methods]
            for row in rows[1:]]
    paper = []
    for row in rows:
        kind = {"none": 0, "mpm": 1, "mpm:blocks=2,5": 1}.get(row["name"])
        if row["net"] in PAPER and row["dataset"] == "ade20k" and row["images"] == 2000 and kind is not None:
            name, miou, gflop = PAPER[row["net"]][0], *PAPER[row["net"]][1 + 2 * kind:3 + 2 * kind]
            paper.append([name + ", MPM (2,5)" * kind, f"{miou:.1f}", with_interval(row, "miou_percent", 3), f"{gflop:.1f}",
                          number(row["gflop"], 2)])
    if paper:
        yield [["of the paper", "mIoU, paper", "mIoU", "GFLOP, paper", "GFLOP"]] + paper


def table_of_pairs(rows, pairs):
    """Without those with the full model, which the first table has."""
    return [["each two reductions", "against", "points of mIoU more", "tokens more", "times as fast"]] + [
        [pair["name"], pair["against"], with_interval(pair, "miou_gain_points", 2) + " *" * is_sure(pair, "miou_gain_points"),
         with_interval(pair, "tokens_more", 1), with_interval(pair, "speed_up", 2)]
        for pair in pairs if pair["against"] != rows[0]["name"]]


def write(path, data):
    """All of the file or nothing."""
    path.with_name(path.name + ".part").write_bytes(data)
    os.replace(path.with_name(path.name + ".part"), path)


DRAWN = set()  # names of the files in figures/


def drawn(plot, path, endings=(".png", ".pdf", ".svg")):
    """Writes the figure for print; returns it as SVG if that is the last of the endings."""
    without = {".png": "Software", ".pdf": "CreationDate", ".svg": "Date"}
    for ending in endings:
        data = io.BytesIO()
        plot.figure.savefig(data, format=ending[1:], dpi=300, bbox_inches="tight", metadata={without[ending]: None})
        write(path.with_name(path.name + ending), data.getvalue())
        DRAWN.add(path.name + ending)
    return "<svg" + data.getvalue().decode().split("<svg", 1)[1] if ending == ".svg" else ""


def main(folder):
    rows, every_pair, lines = (lines_of(folder / name) for name in ("summary.jsonl", "pairs.jsonl", "results.jsonl"))
    (folder / "figures").mkdir(exist_ok=True)
    page = ['<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Token reduction study</title>',
            f"<style>{STYLE}</style></head><body><h1>Token reduction study</h1><p>{html.escape(NOTES)}</p>"]
    sessions = {line["session"]: [str(line.get(key)) for key in SESSION] for line in lines + lines_of(folder / "sweep.jsonl")}
    page += ["<h2>Sessions, and the commands that make this report</h2>", table_of([SESSION, *sessions.values()])]
    titles = set()
    for group in dict.fromkeys(row["group"] for row in rows if not row["sweep"]):
        both = [row for row in rows if row["group"] == group]
        own, sweep = ([row for row in both if row["sweep"] == which] for which in (False, True))
        add_styles(own)
        title = "{model}, {data}, {precision}".format(**own[0])
        if night := own[0]["simulated_night"]:
            title += ", simulated night " + ", ".join(f"{key} {value}" for key, value in night.items())
        title += f" ({group})" if title in titles else ""  # the name of the group is in those of its figures
        titles.add(title)
        page.append("<h2>" + html.escape(title) + "</h2>")
        page.append("<p>" + html.escape("{images} images of {data} in {blocks} blocks; ms of the session {session}.".format(**own[0]))
                    + (html.escape(" Depth sweep: {images} images in {blocks} blocks, spread evenly.".format(**sweep[0])) if sweep else "")
                    + " In tables of differences * marks an interval without 0; the other method at equal tokens is linear between its "
                    "two variants (or the full model) that leave next to as many.</p>")
        page += map(table_of, tables_of(own))
        for name, plot in figures_of(own, sweep):
            page.append(f"<figure>{drawn(plot, folder / 'figures' / f'{group}_{name}')}</figure>")
        if len(own) > 2:
            page.append(table_of(table_of_pairs(own, [pair for pair in every_pair if pair["group"] == group])))
        with matplotlib.rc_context(COLUMN):
            for name, plot in figures_of(own, sweep):
                if name in ("rate", "time", "gflop", "gflop_restored", "accuracy_tokens", "tokens", "depth_loss", "depth_speed"):
                    drawn(plot, folder / "figures" / f"{group}_{name}_column", [".pdf"])
    write(folder / "report.html", "\n".join(page + ["</body></html>\n"]).encode())
    groups = tuple(f"{row['group']}_" for row in rows)
    for path in (folder / "figures").iterdir():  # of an earlier report of other images
        if path.name.startswith(groups) and path.suffix in (".png", ".pdf", ".svg") and path.name not in DRAWN:
            path.unlink()


def table_of(lines):
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in lines]
    return "<table>" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>"


if __name__ == "__main__":
    try:
        if sys.argv[1] != "--check":
            main(pathlib.Path(sys.argv[1]))
        print(json.dumps({"ok": True}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(json.dumps({"ok": False, "why": f"{type(error).__name__}: {error}"}))
        sys.exit(1)
