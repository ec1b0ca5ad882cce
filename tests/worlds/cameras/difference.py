# SPDX-License-Identifier: Apache-2.0
"""Computes the difference of the tokens by day and by night with its 95 % interval (docs/monitor.md, "Series")."""
import math

import numpy as np

HOUR_MS, DAY_MS = 3600000, 86400000


def student(degrees):
    """The quantile of 97.5 % of Student's t. With t = sqrt(degrees) tan(angle), its density is a power of the cosine."""
    edges = np.linspace(0, math.pi / 2, 400001)
    part = np.cumsum(np.cos((edges[1:] + edges[:-1]) / 2) ** (degrees - 1))
    return math.sqrt(degrees) * math.tan(np.interp(0.95 * part[-1], np.concatenate([[0], part]), edges))


def estimate(blocks, of_hours):
    """(variance of the mean, number of blocks as if they were independent) of [(start, tokens), ...]."""
    n = len(blocks)
    everything = np.concatenate([tokens for _, tokens in blocks])
    deviations = np.array([np.mean(tokens) - everything.mean() for _, tokens in blocks])
    weights = np.array([len(tokens) for _, tokens in blocks]) / everything.size
    variance = (weights ** 2 * deviations ** 2).sum() * n / (n - 1)
    lagged = [one * two for (a, _), (b, _), one, two in zip(blocks, blocks[1:], deviations, deviations[1:]) if b - a == HOUR_MS]
    if not of_hours or not lagged or not deviations.any():
        return variance, n
    correlation = min(0.95, max(0, np.mean(lagged) / np.mean(deviations ** 2)))
    inflation = (1 + correlation) / (1 - correlation)
    return variance * inflation, max(1.5, n / inflation)


def grouped(samples, key):
    groups = {}
    for start, tokens in samples:
        groups.setdefault(key(start), []).append((start, tokens))
    return [(group[0][0], np.concatenate([tokens for _, tokens in group])) for _, group in sorted(groups.items())]


def compare(day, night):
    """((kind of block, blocks of day, blocks of night), half of the interval or None) of [(time, tokens), ...] by day and by night.

    None where day and night lie around the clock alike: then rounding says where days are cut."""
    hours = [grouped(((ms // HOUR_MS * HOUR_MS, [tokens]) for ms, tokens in side), lambda start: start) for side in (day, night)]
    count = {}
    for side in hours:
        for start, tokens in side:
            count[start] = count.get(start, 0) + len(tokens)
    hours = [[(start, tokens) for start, tokens in side if len(tokens) > count[start] / 20] for side in hours]
    angles = [[2 * math.pi * (start + HOUR_MS / 2) / DAY_MS for start, _ in side] for side in hours]
    x, y = (sum(map(f, angles[0])) - sum(map(f, angles[1])) for f in (math.cos, math.sin))
    if math.hypot(x, y) < 1e-9 * sum(map(len, angles)):
        return None
    noon = round(math.atan2(y, x) / (2 * math.pi) * DAY_MS)
    periods = [grouped(side, lambda start: math.floor((start + HOUR_MS / 2 - cut) / DAY_MS)) for side, cut in zip(hours, (noon - DAY_MS / 2, noon))]
    whole = all(len(side) >= 3 for side in periods)
    blocks = periods if whole else hours
    interval = None
    if all(len(side) >= 2 for side in blocks):
        (a, m), (b, n) = (estimate(side, not whole) for side in blocks)
        interval = student(max(1.0, (a + b) ** 2 / (a ** 2 / (m - 1) + b ** 2 / (n - 1)))) * math.sqrt(a + b) if a + b else 0.0
    return ("period" if whole else "hour", len(blocks[0]), len(blocks[1])), interval
