# SPDX-License-Identifier: Apache-2.0
"""Mutual Pair Merging in PyTorch, an oracle independent of the C++: one image, plain loops, nothing clever.

The paper's reconstruction: every token is restored before the head, whatever the head.
"""

import torch

# Neighbours whose similarities are closer than this could swap under another order of summation.
CLEAR_MARGIN = 1e-5


def mutual_pairs(tokens):
    """tokens {N, dim} -> the partner of each token, -1 for none, the similarities {N, N}, the smallest margin of a decision."""
    lengths = tokens.norm(dim=1, keepdim=True)
    unit = torch.where(lengths > 0, tokens / lengths.clamp_min(torch.finfo(tokens.dtype).tiny), tokens)
    similarity = unit @ unit.T
    similarity.fill_diagonal_(-torch.inf)
    highest = similarity.max(dim=1, keepdim=True).values
    best = [int(torch.nonzero(row)[0]) for row in similarity == highest]  # a tie goes to the lowest index
    two = similarity.topk(2, dim=1).values
    margin = float((two[:, 0] - two[:, 1]).min())
    return [j if best[j] == i else -1 for i, j in enumerate(best)], similarity, margin


def clusters_of(partner):
    """The cluster of each token, numbered from left to right, and the members of each."""
    cluster = [-1] * len(partner)
    members = []
    for i, other in enumerate(partner):
        if cluster[i] >= 0:
            continue
        cluster[i] = len(members)
        members.append([i])
        if other >= 0:
            cluster[other] = cluster[i]
            members[-1].append(other)
    return cluster, members


def merge(tokens):
    """tokens {N, dim} -> merged {N', dim}, the cluster of each token, the smallest margin of a decision."""
    partner, _, margin = mutual_pairs(tokens)
    cluster, members = clusters_of(partner)
    return torch.stack([tokens[m].mean(dim=0) for m in members]), cluster, margin


def merge_surest(tokens, sizes, count):
    """Gradual merging: the `count` most similar pairs, means by size. -> merged, cluster, sizes, margin."""
    partner, similarity, margin = mutual_pairs(tokens)
    pairs = sorted((-float(similarity[i, j]), i) for i, j in enumerate(partner) if j > i)
    if len(pairs) > count:
        margin = min(margin, pairs[count][0] - pairs[count - 1][0])
    kept = {i for _, i in pairs[:count]}
    kept |= {partner[i] for i in kept}
    cluster, members = clusters_of([j if i in kept else -1 for i, j in enumerate(partner)])
    weighted = torch.stack([(tokens[m] * sizes[m, None]).sum(dim=0) / sizes[m].sum() for m in members])
    return weighted, cluster, torch.stack([sizes[m].sum() for m in members]), margin


def shares(composed, policy, dtype):
    """{N', N}: the weight of each token in the position of each cluster."""
    clusters = torch.nn.functional.one_hot(torch.tensor(composed)).to(dtype).T
    if policy == "first":
        clusters *= clusters.cumsum(dim=1) == 1
    return clusters / clusters.sum(dim=1, keepdim=True)


def positions_of(encoder, image, composed, policy):
    """Rotary positions of the clusters, per block; nothing for an encoder without."""
    if not hasattr(encoder, "positions"):
        return None
    weights = shares(composed, policy, image.dtype)
    if policy == "centroid":
        return encoder.centroids(image, weights)
    return [weights @ table for table in encoder.positions(image)]


def bias_of(composed, special, dtype):
    sizes = torch.bincount(torch.tensor(composed)).to(dtype)
    return torch.cat((torch.zeros(special, dtype=dtype), sizes.log()))[None]


def averaged(rows, sizes, clusters):
    """Means by size of these rows -> merged rows, the cluster of each row, the sizes of the clusters."""
    cluster = [0] * len(rows)
    for new, members in enumerate(clusters):
        for i in members:
            cluster[i] = new
    merged = torch.stack([(rows[m] * sizes[m, None]).sum(dim=0) / sizes[m].sum() for m in clusters])
    return merged, cluster, torch.stack([sizes[m].sum() for m in clusters])


def even_odd(tokens, metric, special, sizes, chosen):
    """ToMe's matching: even rows of the whole sequence into the odd ones that are most similar; `chosen` of the pairs
    [(-similarity, even, odd)], sorted, merge, and how clear that choice is."""
    unit = metric / metric.norm(dim=1, keepdim=True)
    odd = [j for j in range(len(tokens)) if j % 2 and j >= special]
    pairs, margin = [], float("inf")
    for i in range(special + special % 2, len(tokens), 2):
        similarity = unit[odd] @ unit[i]
        two = similarity.topk(2).values
        margin = min(margin, float(two[0] - two[1]))
        pairs.append((-float(two[0]), i, odd[int(similarity.argmax())]))
    pairs.sort()
    kept, clear = chosen(pairs)
    into, gone = {}, set()
    for _, i, j in kept:
        into.setdefault(j, []).append(i)
        gone.add(i)
    order = [i for parity in (0, 1) for i in range(parity, len(tokens), 2) if i >= special and i not in gone]
    clusters = [[k - special for k in into.get(i, []) + [i]] for i in order]
    return *averaged(tokens[special:], sizes, clusters), min(margin, clear)


def tome(tokens, keys, special, sizes, count):
    def chosen(pairs):
        clear = pairs[count][0] - pairs[count - 1][0] if len(pairs) > count else float("inf")
        return pairs[:count], clear

    return even_odd(tokens, keys, special, sizes, chosen)


def algm_windows(tokens, special, sizes, width, threshold):
    """ALGM's first step: 2x2 windows by the mean similarity of their six pairs."""
    unit = tokens[special:] / tokens[special:].norm(dim=1, keepdim=True)
    windows = []
    for first in range(0, len(unit), 2):
        if first // width % 2 == 0:
            members = [first, first + 1, first + width, first + width + 1]
            similarity = unit[members] @ unit[members].T
            windows.append((-float((similarity.sum() - similarity.trace()) / 12), members))
    windows.sort()
    clusters = [members for negative, members in windows if -negative >= threshold]
    gone = {i for members in clusters for i in members}
    clusters += [[i] for i in range(len(unit)) if i not in gone]
    ordered = torch.tensor([negative for negative, _ in windows], dtype=tokens.dtype)
    margin = min(float((ordered + threshold).abs().min()), float(ordered.diff().abs().min()))
    return *averaged(tokens[special:], sizes, clusters), margin


def algm_pairs(tokens, special, sizes, deviations):
    """ALGM's second step: matches above the mean by so many standard deviations."""

    def chosen(pairs):
        similarity = -torch.tensor([pair[0] for pair in pairs], dtype=tokens.dtype)
        threshold = similarity.mean() + deviations * similarity.std()
        return [pair for pair in pairs if -pair[0] >= threshold], float((similarity - threshold).abs().min())

    return even_odd(tokens, tokens, special, sizes, chosen)


def merges_of(reduce, special, width):
    """The merge in each block of a reduction: {block: function of tokens, keys and sizes}."""
    method, *keys = reduce.split(":")
    values = dict(key.split("=") for key in keys)
    blocks = values["blocks"].replace("-", ",").split(",")
    blocks = [int(block) for block in blocks]
    if method == "algm":
        first, second = blocks
        return {first: lambda x, _, sizes: algm_windows(x, special, sizes, width, float(values["threshold"])),
                second: lambda x, _, sizes: algm_pairs(x, special, sizes, 1 / (second + 1))}
    count = int(values["count"])
    if method == "tome":
        return {b: lambda x, keys, sizes: tome(x, keys, special, sizes, count) for b in range(blocks[0], blocks[1] + 1)}
    return {b: lambda x, _, sizes: merge_surest(x[special:], sizes, count) for b in range(blocks[0], blocks[1] + 1)}


def encode_inside(encoder, image, reduce, width, policy):
    """encode() with merges between attention and MLP of the blocks of `reduce`, on a grid `width` wide."""
    special = encoder.special
    merges = merges_of(reduce, special, width)
    x = encoder.embed(image)
    composed = list(range(x.shape[1] - special))
    sizes = torch.ones(len(composed), dtype=x.dtype)
    maps, depths, margin = [], [], float("inf")
    for depth, (attention, mlp) in enumerate(encoder.halves):
        keys = encoder.keys(depth, x)[0] if reduce.startswith("tome") else None
        bias = bias_of(composed, special, x.dtype) if maps and not reduce.startswith("algm") else None
        x = attention(x, bias, positions_of(encoder, image, composed, policy)[depth])
        if depth in merges:
            merged, cluster, sizes, clearest = merges[depth](x[0], keys, sizes)
            composed = [cluster[c] for c in composed]
            maps.append(composed)
            margin = min(margin, clearest)
            x = torch.cat((x[:, :special], merged[None]), dim=1)
        x = mlp(x)
        depths.append(torch.cat((x[:, :special], x[:, special:][:, composed]), dim=1))
    return depths, maps, margin


def encode(encoder, image, schedule, proportional, policy):
    """One image {1, 3, H, W} -> the tokens after each block restored with the map valid there, the composed map after
    each insertion, and the smallest margin."""
    special = encoder.special
    x = encoder.embed(image)
    patches = x.shape[1] - special
    composed = list(range(patches))
    maps, depths, margin = [], [], float("inf")
    for depth, block in enumerate(encoder.blocks):
        if depth in schedule:
            merged, cluster, clearest = merge(x[0, special:])
            composed = [cluster[c] for c in composed]
            maps.append(composed)
            margin = min(margin, clearest)
            x = torch.cat((x[:, :special], merged[None]), dim=1)
        key_bias = None
        if proportional and maps:
            key_bias = bias_of(composed, special, x.dtype)
        positions = positions_of(encoder, image, composed, policy)
        x = block(x, key_bias) if positions is None else block(x, key_bias, positions[depth])
        depths.append(torch.cat((x[:, :special], x[:, special:][:, composed]), dim=1))
    return depths, maps, margin


def run(model, images, schedule, proportional, policy="mean", reduce=None, patch=None):
    """model: one of segmenter.py or rotary.py. Every image merges on its own. `reduce`: another method instead of
    `schedule`. Returns a tuple of outputs, maps {B, K, N}, smallest margin."""
    outputs, maps, margin = [], [], float("inf")
    for image in images:
        depths, image_maps, clearest = (
            encode(model.encoder, image[None], schedule, proportional, policy) if reduce is None
            else encode_inside(model.encoder, image[None], reduce, image.shape[2] // patch, policy))
        result = model.decode(depths)
        outputs.append(result if isinstance(result, tuple) else (result,))
        maps.append(image_maps)
        margin = min(margin, clearest)
    return tuple(torch.cat(parts) for parts in zip(*outputs)), maps, margin


class Wrapped:
    """Merges the tokens of any model whose blocks are modules. The rest of the model sees every block's output restored
    to the full grid. Blocks must attend by scaled_dot_product_attention."""

    def __init__(self, model, blocks, special, behind=0):
        """`behind`: how many of the special tokens are behind the patches. Here they are in front."""
        self.model, self.blocks, self.special, self.behind = model, list(blocks), special, behind

    def enter(self, block, restored):
        """The model's input of a block -> the merged one."""
        restored = restored.roll(self.behind, dims=1)
        if self.x is None:
            self.x, self.composed = restored, list(range(restored.shape[1] - self.special))
            self.shares = torch.eye(len(self.composed), dtype=restored.dtype)  # of each token in each row
        else:
            late = restored.shape[1] - self.left.shape[1]  # tokens that the model put in front since the last block
            added = restored[:, late:] - self.left  # positions that it added
            self.x = self.x + torch.cat((added[:, : self.first], self.shares @ added[:, self.first :]), dim=1)
            self.first += late
            self.x = torch.cat((restored[:, :late], self.x), dim=1)
        if block in self.schedule:
            merged, cluster, clearest = merge(self.x[0, self.first :])
            self.composed = [cluster[c] for c in self.composed]
            self.shares = shares(cluster, "mean", merged.dtype) @ self.shares
            self.maps.append(self.composed)
            self.margin = min(self.margin, clearest)
            self.x = torch.cat((self.x[:, : self.first], merged[None]), dim=1)
        if self.proportional and self.maps:
            sizes = torch.bincount(torch.tensor(self.composed)).to(self.x.dtype)
            self.bias = torch.cat((torch.zeros(self.first, dtype=self.x.dtype), sizes.log()))[None]
        return self.x

    def leave(self, output):
        """A block's output -> the same, restored."""
        self.bias = None
        self.x = output[0] if isinstance(output, tuple) else output
        restored = torch.cat((self.x[:, : self.first], self.x[:, self.first :][:, self.composed]), dim=1)
        self.left, restored = restored, restored.roll(-self.behind, dims=1)
        return (restored, *output[1:]) if isinstance(output, tuple) else restored

    def run(self, images, schedule, proportional):
        """As run() above; a tuple of outputs."""
        self.schedule, self.proportional, self.margin = schedule, proportional, float("inf")
        attention = torch.nn.functional.scaled_dot_product_attention

        def biased(q, k, v, attn_mask=None, **rest):
            return attention(q, k, v, attn_mask=attn_mask if self.bias is None else self.bias, **rest)

        def wrapped(i, forward):
            return lambda x, *rest, **named: self.leave(forward(self.enter(i, x), *rest, **named))

        for i, block in enumerate(self.blocks):  # not by hooks: transformers records outputs before they run
            block.forward = wrapped(i, block.forward)
        torch.nn.functional.scaled_dot_product_attention = biased
        outputs, maps = [], []
        for image in images:
            self.x, self.bias, self.first, self.maps = None, None, self.special, []
            result = self.model(image[None])
            outputs.append(result if isinstance(result, tuple) else (result,))
            maps.append(self.maps)
        torch.nn.functional.scaled_dot_product_attention = attention
        for block in self.blocks:
            del block.forward
        return tuple(torch.cat(parts) for parts in zip(*outputs)), maps, self.margin
