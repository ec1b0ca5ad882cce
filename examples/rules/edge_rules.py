# SPDX-License-Identifier: Apache-2.0
"""Rules of merging that look at pixels: gradual merging with a veto at the strongest edges of the image.

    mpm eval --model vit.onnx --images images --labels labels --reduce none --reduce gradual:blocks=0-7:count=48 \\
      --rule edge_rules.py:no_edges:blocks=0-7:where=inside:attention=proportional
"""
from functools import partial

import numpy as np

COUNT = 48


def most_similar_pairs(rows, allowed):
    """The groups of gradual merging, among the pairs of rows that `allowed` (N, N) has."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    similarity = np.where(allowed, unit @ unit.T, -2)
    np.fill_diagonal(similarity, -2)
    groups, nearest = np.arange(len(rows)), similarity.argmax(1)
    first = groups[(nearest[nearest] == groups) & (groups < nearest) & (similarity.max(1) > -2)]
    first = first[np.argsort(-similarity[first, nearest[first]], kind="stable")[:COUNT]]
    groups[nearest[first]] = first
    return groups


def pixels_of_patches(image, grid):
    """(patches, channels, pixels of a patch) of an image (channels, height, width)."""
    channels, height, width = image.shape
    rows, columns = grid
    blocks = image.reshape(channels, rows, height // rows, columns, width // columns)
    return blocks.transpose(1, 3, 0, 2, 4).reshape(rows * columns, channels, -1)


def no_edges(rows, sizes, info, share=0.1):
    """Patches with the strongest edges, this share of them, never merge. An edge is the mean of the upper eighth of the gradients."""
    gradient = np.hypot(*np.gradient(info.image.mean(0)))
    strengths = np.sort(pixels_of_patches(gradient[None], info.grid)[:, 0], axis=1)
    strength = strengths[:, -strengths.shape[1] // 8:].mean(1)
    edge = np.zeros(len(rows), bool)
    np.logical_or.at(edge, info.row_of_patch, strength > np.quantile(strength, 1 - share))
    return most_similar_pairs(rows, ~edge[:, None] & ~edge)


def no_other_colours(rows, sizes, info, share=0.1):
    """Rows never merge whose mean colours differ more than those of all but this share of the neighbours in the grid."""
    colours = pixels_of_patches(info.image, info.grid).mean(2)
    grid = colours.reshape(*info.grid, -1)
    steps = [np.linalg.norm(np.diff(grid, axis=axis), axis=-1).ravel() for axis in (0, 1)]
    sums = np.zeros((len(rows), colours.shape[1]))
    np.add.at(sums, info.row_of_patch, colours)
    means = sums / sizes[:, None]
    distance = np.linalg.norm(means[:, None] - means, axis=-1)
    return most_similar_pairs(rows, distance <= np.quantile(np.concatenate(steps), 1 - share))


no_edges_20, no_edges_40 = partial(no_edges, share=0.2), partial(no_edges, share=0.4)
no_other_colours_20 = partial(no_other_colours, share=0.2)
