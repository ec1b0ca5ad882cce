#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes all numbers of `mpm study` once more, in NumPy and double precision, from the lines of results.jsonl and sweep.jsonl:
study_numbers_test.py MPM SEGMENTER STREET_MODEL. Shares no code with the program; docs/reduction.md says what each number is. The
samples of blocks are drawn as the program draws them, so intervals agree to the last printed digit. Needs NumPy, or exits with 77."""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit(77)

SAMPLES = 2000
MASK = (1 << 64) - 1


def mix(x):
    """SplitMix64 of a 64-bit number."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Draws:
    def __init__(self, key):
        self.key, self.count = key, 0

    def integer(self, below):
        self.count += 1
        return mix(self.key ^ (self.count * 0xD1342543DE82EF95 & MASK)) % below


def student(degrees):
    """The quantile 0.975 of Student's t: the density is integrated until it has 0.475 on one side of 0."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    grid = np.linspace(0, 80, 4_000_001)
    density = scale * (1 + grid**2 / degrees) ** (-(degrees + 1) / 2)
    area = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2) * (grid[1] - grid[0])])
    return float(np.interp(0.475, area, grid))


def blocks_of(films):
    """Five films or more are a block each. Fewer are cut: about ten stretches in all, each film by its share."""
    names = list(dict.fromkeys(films))
    members = [[i for i, film in enumerate(films) if film == name] for name in names]
    if len(names) >= 5:
        return members
    blocks = []
    for film in members:
        pieces = min(len(film), max(1, math.floor(10 * len(film) / len(films) + 0.5)))
        parts = [[] for _ in range(pieces)]
        for k, image in enumerate(film):
            parts[k * pieces // len(film)].append(image)
        blocks += parts
    return blocks


class Bootstrap:
    def __init__(self, films):
        self.blocks = blocks_of(films)
        n, draws = len(self.blocks), Draws(len(self.blocks))
        self.samples = [list(range(n))] + [[draws.integer(n) for _ in range(n)] for _ in range(SAMPLES)]
        self.images = [[i for block in sample for i in self.blocks[block]] for sample in self.samples]
        self.reach = student(n - 1) / 1.959963984540054 * math.sqrt(n / (n - 1))

    def of(self, number):
        """number(images) of the images themselves and of each sample."""
        return np.array([number(images) for images in self.images])

    def ends(self, draws, percent=False):
        value, others = draws[0], draws[1:][~np.isnan(draws[1:])]
        if math.isnan(value) or not len(others):
            return value, math.nan, math.nan
        low, high = (value + self.reach * (np.percentile(others, at) - value) for at in (2.5, 97.5))
        return (value, max(0, low), min(100, high)) if percent else (value, low, high)

    def ratio_ends(self, draws):
        """Of what is above 0: by its logarithm."""
        return tuple(np.exp(self.ends(np.log(draws))))


def counts_of(lines, key):
    """{images, classes, (right, true, given)}."""
    counts = np.zeros((len(lines), len(lines[0]["classes"]), 3))
    for image, line in zip(counts, lines):
        for truth, given, pixels in line[key]:
            image[truth, 1] += pixels
            image[given, 2] += pixels
            image[truth, 0] += pixels if truth == given else 0
    return counts


def ious(counts, images):
    right, true, given = counts[images].sum(0).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(true > 0, 100 * right / (true + given - right), np.nan)


class Variant:
    def __init__(self, name, lines, bootstrap):
        self.name, self.lines = name, lines
        self.all, self.near = counts_of(lines, "confusion"), counts_of(lines, "confusion_near")
        self.iou = np.array([ious(self.all, images) for images in bootstrap.images])
        self.miou = np.nanmean(self.iou, 1)
        self.near_miou = bootstrap.of(lambda images: np.nanmean(ious(self.near, images)))
        self.else_miou = bootstrap.of(lambda images: np.nanmean(ious(self.all - self.near, images)))
        tokens = np.array([line["tokens"][-1] for line in lines], float)
        self.tokens = bootstrap.of(lambda images: tokens[images].mean())

    def of(self, key):
        return np.array([math.nan if line[key] is None else line[key] for line in self.lines], float)


class Checker:
    def __init__(self):
        self.compared = 0

    def equal(self, what, got, expected, tolerance=2e-4):
        if isinstance(expected, (list, tuple, np.ndarray)):
            assert len(got) == len(expected), (what, got, expected)
            for i, (one, wanted) in enumerate(zip(got, expected)):
                self.equal(f"{what}[{i}]", one, wanted, tolerance)
            return
        self.compared += 1
        if isinstance(expected, float) and math.isnan(expected):
            assert got is None, (what, got)
        elif isinstance(expected, (int, float, np.floating)) and not isinstance(expected, bool):
            assert got is not None and abs(got - expected) <= tolerance, (what, got, expected)
        else:
            assert got == expected, (what, got, expected)

    def interval(self, row, name, ends, what):
        for key, expected in zip((name, name + "_low", name + "_high"), ends):  # the value itself to more digits than are shown
            self.equal(f"{what} {key}", row[key], float(expected), 1e-7 if key == name else 2e-4)


def check_batches(check, row, own, what):
    terms = np.array(own.lines[0]["gflop_terms"])
    tokens = np.array([line["tokens"] for line in own.lines], float)
    draws, padded, minimum = Draws(len(tokens)), [], []
    gflop = lambda counts: sum(a + b * n + c * n * n for (a, b, c), n in zip(terms, counts))
    size = 1
    while size <= min(32, len(tokens)):
        sums = np.zeros(3)
        for _ in range(200):
            order = list(range(len(tokens)))
            for i in range(size):
                j = i + draws.integer(len(tokens) - i)
                order[i], order[j] = order[j], order[i]
            batch = tokens[order[:size]]
            least = [batch[:, 0].max()]
            for step in range(1, batch.shape[1]):
                least.append(least[-1] - (batch[:, step - 1] - batch[:, step]).min())
            sums += [np.mean([gflop(image) for image in batch]), gflop(batch.max(0)), gflop(least)]
        padded.append(100 * sums[1] / sums[0])
        minimum.append(100 * sums[2] / sums[0])
        size *= 2
    check.equal(what + " padded", row["padded_percent"], padded)
    check.equal(what + " minimum", row["minimum_percent"], minimum)


def name_of(line):
    return line["reduce"] + ("" if line["precision"] == line["full_precision"] else " " + line["precision"])


def check_group(check, rows, lines, pairs, sweep):
    """`rows` of the summary, and all lines of their group."""
    by_variant = {}
    for line in lines:
        by_variant.setdefault(name_of(line), {})[line["name"]] = line
    order = sorted(by_variant["none"].values(), key=lambda line: (line["film"], line.get("index", 0), line["name"]))
    names = [line["name"] for line in order]
    bootstrap = Bootstrap([line["film"] for line in order])
    variants = [Variant(row["name"], [by_variant[row["name"]][name] for name in names], bootstrap) for row in rows]
    full = variants[0]
    sessions = [line["session"] for line in full.lines]
    session = max(sorted(set(sessions)), key=sessions.count)
    assert {row["name"] for row in rows} == set(by_variant), "all are finished"
    for row, own in zip(rows, variants):
        what = own.name
        check.equal(what, [row["images"], row["blocks"], row["session"]], [len(names), len(bootstrap.blocks), session])
        for name, draws in (("miou_percent", own.miou), ("miou_loss_points", full.miou - own.miou),
                            ("miou_loss_near_points", full.near_miou - own.near_miou),
                            ("miou_loss_elsewhere_points", full.else_miou - own.else_miou), ("tokens_end", own.tokens)):
            check.interval(row, name, bootstrap.ends(draws, name.endswith("percent")), what)
        totals = own.all.sum(1)
        accuracy = bootstrap.of(lambda images: 100 * totals[images, 0].sum() / totals[images, 1].sum())
        check.interval(row, "pixel_accuracy_percent", bootstrap.ends(accuracy, True), what)
        agreement, ratio = own.of("agreement_percent"), own.of("full_ms") / own.of("total_ms")
        check.interval(row, "agreement_percent", bootstrap.ends(bootstrap.of(lambda i: agreement[i].mean()), True), what)
        check.interval(row, "speed_up", bootstrap.ratio_ends(bootstrap.of(lambda i: np.median(ratio[i]))), what)
        here = np.array([line["session"] == session for line in own.lines])
        timed = lambda key: np.where(here, own.of(key), np.nan)
        total = timed("total_ms")
        with np.errstate(invalid="ignore"):
            import warnings
            warnings.simplefilter("ignore", RuntimeWarning)
            check.interval(row, "median_ms", bootstrap.ratio_ends(bootstrap.of(lambda i: np.nanmedian(total[i]))), what)
            for stage in ("preprocess", "backbone", "merge", "restore", "head", "postprocess"):
                ms = timed(stage + "_ms")
                means = bootstrap.of(lambda i: np.nanmean(ms[i]))
                check.interval(row, stage + "_ms", (bootstrap.ratio_ends if means[0] > 0 else bootstrap.ends)(means), what)
            for key, at in (("p25_ms", 25), ("p75_ms", 75)):
                check.equal(what + key, row[key], float(np.nanpercentile(total, at)))
        for key in ("gflop", "gflop_head_restored"):
            check.equal(what + key, row[key], float(own.of(key).mean()), 1e-8)
        for suffix, draws, percent in (("iou_percent", own.iou, True), ("iou_loss_points", full.iou - own.iou, False)):
            ends = np.array([bootstrap.ends(of_class, percent) for of_class in draws.T])
            for key, expected in zip((suffix, suffix + "_low", suffix + "_high"), ends.T):
                check.equal(f"{what} {key}", row[key], expected)
        check.equal(what + " true", row["true_pixels"], own.all[:, :, 1].sum(0))
        check.equal(what + " tokens", row["tokens"], [line["tokens"][-1] for line in own.lines])
        distances = [line["pairs_at_distance"] for line in own.lines if "pairs_at_distance" in line]  # none where nothing merges
        check.equal(what + " distances", row["pairs_at_distance"], np.sum(distances, 0) if distances else [])
        with_class, of_one = (sum(line.get(key, 0) for line in own.lines) for key in ("pairs_with_class", "pairs_of_one_class"))
        check.equal(what + " share", row["one_class_share"], of_one / with_class if with_class else math.nan)
        blocks = [line["blocks_ms"] for line in own.lines if line["session"] == session]
        check.equal(what + " blocks", row["blocks_ms"], np.mean(blocks, 0) if blocks and blocks[0] else [])
        check_batches(check, row, own, what)
    tokens_of = [np.array([line["tokens"][-1] for line in own.lines], float) for own in variants]
    kept = np.concatenate([[], *tokens_of[1:]])
    for row, own, tokens in list(zip(rows, variants, tokens_of))[1:]:
        edges = np.linspace(kept.min(), max(kept.max(), kept.min() + 1), 25)
        check.equal(own.name + " edges", row["tokens_edges"], edges, 1e-9)
        check.equal(own.name + " spread", row["tokens_share_percent"], 100 * np.histogram(tokens, row["tokens_edges"])[0] / len(tokens), 1e-9)
        distances = np.array(row["pairs_at_distance"], float)
        shares = 100 * distances[1:] / distances.sum() if distances.sum() else []
        check.equal(own.name + " pairs", row["pairs_share_percent"], shares, 1e-9)
    for name, cost in (("front_of_time", lambda row: -row["speed_up"]), ("front_of_rate", lambda row: math.nan if row["median_ms"] is None else row["median_ms"]),
                       ("front_of_gflop", lambda row: row["gflop"]),
                       ("front_of_gflop_head_restored", lambda row: row["gflop_head_restored"]),
                       ("front_of_tokens", lambda row: row["tokens_end"])):
        for row in rows:
            beaten = any(cost(o) <= cost(row) and o["miou_percent"] >= row["miou_percent"] and
                         (cost(o) < cost(row) or o["miou_percent"] > row["miou_percent"]) for o in rows)
            check.equal(f"{row['name']} {name}", row[name], not beaten and not math.isnan(cost(row)))
    if sweep:
        return
    found = {(pair["name"], pair["against"]): pair for pair in pairs}
    assert len(found) == len(variants) * (len(variants) - 1) // 2
    for k, own in enumerate(variants):
        for other in variants[:k]:
            pair = found[own.name, other.name]
            check.interval(pair, "miou_gain_points", bootstrap.ends(own.miou - other.miou), own.name)
            check.interval(pair, "tokens_more", bootstrap.ends(own.tokens - other.tokens), own.name)
            same = np.array([a["session"] == b["session"] for a, b in zip(own.lines, other.lines)])
            ratio = np.where(same, other.of("total_ms") / own.of("total_ms"), np.nan)
            check.interval(pair, "speed_up", bootstrap.ratio_ends(bootstrap.of(lambda i: np.nanmedian(ratio[i]))), own.name)
    reduction, precision = (lambda one, key=key: one.lines[0][key] for key in ("reduce", "precision"))
    method = lambda one: reduction(one).split(":")[0] + one.name[len(reduction(one)):]
    for row, own in zip(rows, variants):
        expected = {}
        alike = [one for one in variants if precision(one) == precision(own)]
        for other in dict.fromkeys(map(method, alike)):
            curve = [one for one in alike if method(one) == other or reduction(one) == "none"]
            below = [one for one in curve if one.tokens[0] <= own.tokens[0] + 0.5]
            above = [one for one in curve if one.tokens[0] >= own.tokens[0] - 0.5]
            if reduction(own) == "none" or other.startswith("none") or other == method(own) or not below or not above:
                continue
            below, above = max(below, key=lambda one: one.tokens[0]), min(above, key=lambda one: one.tokens[0])
            span = above.tokens - below.tokens
            share = np.divide(own.tokens - below.tokens, span, out=np.zeros_like(span), where=span > 0)
            expected[other] = bootstrap.ends(own.miou - ((1 - share) * below.miou + share * above.miou))
        assert {one["method"] for one in row["at_equal_tokens"]} == set(expected), (own.name, row["at_equal_tokens"])
        for one in row["at_equal_tokens"]:
            check.interval(one, "miou_gain_points", expected[one["method"]], f"{own.name} at the tokens of {one['method']}")


def check_folder(folder):
    read = lambda name: [json.loads(line) for line in (folder / name).read_text().splitlines()] if (folder / name).exists() else []
    check = Checker()
    summary = read("summary.jsonl")
    for sweep, lines in ((False, read("results.jsonl")), (True, read("sweep.jsonl"))):
        rows = [row for row in summary if row["sweep"] == sweep]
        if lines:
            check_group(check, rows, lines, read("pairs.jsonl"), sweep)
    return check.compared, summary


def write_png(path, pixels):
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + line.tobytes() for line in pixels)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main():
    if len(sys.argv) == 2:  # a folder of a study
        return print(check_folder(pathlib.Path(sys.argv[1]))[0], "numbers are the same")
    mpm, segmenter, street = sys.argv[1:]
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for part in ("images", "labels"):
            (scratch / part).mkdir()
        for i in range(23):  # one camera, whose light and labels change slowly; class 3 is rare
            base = random.integers(0, 256, (4, 8, 3)).repeat(8, 0).repeat(8, 1) * (0.5 + i / 50)
            write_png(scratch / f"images/{i:02}.png", np.clip(base + random.integers(0, 20, (32, 64, 3)), 0, 255).astype(np.uint8))
            labels = random.integers(0, 3, (4, 4)).repeat(8, 0).repeat(16, 1)
            labels[:2] = 255
            labels[5, :4] = 3 if i == 7 else 0
            write_png(scratch / f"labels/{i:02}.png", labels.astype(np.uint8))
        # Nobody looks at the figures: they are empty files, for to draw them takes longer than all the rest.
        (scratch / "site").mkdir()
        (scratch / "site/sitecustomize.py").write_text(
            "from matplotlib.figure import Figure\nFigure.savefig = lambda self, to, **options: to.write(b'<svg/>')\n")
        study = lambda *words: subprocess.run([mpm, "study", *map(str, words)], check=True, stdout=subprocess.DEVNULL, timeout=500,
                                              env={**os.environ, "PYTHONPATH": str(scratch / "site")})
        common = ("--model", segmenter, "--images", scratch / "images", "--labels", scratch / "labels", "-o", scratch / "folder")
        study(*common, "--reduce", "mpm:blocks=1", "--reduce", "gradual:count=3", "--sweep-images", 6)
        study(*common, "--reduce", "tome:count=2", "--reduce", "gradual:count=2", "--sweep-images", 6)  # another session
        compared, rows = check_folder(scratch / "folder")
        assert {row["blocks"] for row in rows if not row["sweep"]} == {10}, "stretches of the folder of a camera"
        swept = sorted({json.loads(line)["name"] for line in (scratch / "folder/sweep.jsonl").read_text().splitlines()})
        assert swept == ["03", "07", "11", "15", "19", "22"], f"the sweep is spread over all images: {swept}"
        films = ("demo:street?seed=1..6&frames=2&size=64x96&step=43200", "--model", street, "--input-size", "64x96")
        study(*films, "-o", scratch / "films", "--reduce", "mpm", "--reduce", "gradual:similarity=0.95", "--sweep-images", 0,
              "--precision", "fp32", "--precision", "int8")
        more, rows = check_folder(scratch / "films")
        assert {row["blocks"] for row in rows} == {6}, "a film each"
        gained = {row["name"]: {one["method"] for one in row["at_equal_tokens"]} for row in rows if row["at_equal_tokens"]}
        assert any(name.endswith(" int8") for name in gained), gained
        print(compared + more, "numbers are the same")


if __name__ == "__main__":
    main()
