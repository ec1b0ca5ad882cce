# SPDX-License-Identifier: Apache-2.0
"""Merges the tokens of a graph, as docs/reduction.md says, or keeps rows of an earlier frame (docs/reuse.md), without changing
one of its shapes.

All rows stay. The rows of a merged token are equal, so that whatever follows computes it once for each of its members, and the
full grid need not be restored. Attention sees each of them: this is proportional attention. For plain attention the logit of a
key is less by the logarithm of how many rows its token has.
"""
import dataclasses
import math

import numpy as np
import onnx
from onnx import helper

import evaluate

DOMAIN = "merging"


@dataclasses.dataclass
class Reduction:
    """`at`: the blocks that merge. `changed`: patches that a frame computes, for the method "reuse". `chosen`: windows of `cts`, the best first; `shared`: what each patch of theirs would be, cut
    out of the image downsampled by two."""

    method: str
    at: list
    count: int = None
    similarity: float = -2
    threshold: float = 0.88
    proportional: bool = False
    positions: str = "mean"
    changed: list = ()
    chosen: list = ()
    shared: np.ndarray = None

    @property
    def inside(self):
        return self.method in ("gradual", "tome", "algm")


class Tokens:
    """Which token each patch is part of, counted in the order of the rows, behind `special` others. `share`: the weight of a patch
    in the mean of its token. `margin`: how clear the closest decision was."""

    def __init__(self, patches, width, special):
        self.cluster, self.share = np.arange(patches), np.ones(patches)
        self.width, self.special = width, special
        self.maps, self.margin = [], math.inf

    def sizes(self):
        return np.bincount(self.cluster)

    def rows(self, patches):
        """One row for each token."""
        return patches[np.unique(self.cluster, return_index=True)[1]]

    def spread(self, patches, share):
        """Each patch gets the mean of its token."""
        return (self.cluster[:, None] == self.cluster) * share.astype(patches.dtype) @ patches

    def join(self, groups, by_size):
        """`groups`: the tokens that become one, in the order of the new rows."""
        sizes, cluster = self.sizes(), self.cluster.copy()
        for new, members in enumerate(groups):
            inside = np.isin(cluster, members)
            self.cluster[inside] = new
            self.share[inside] *= sizes[cluster[inside]] / sizes[members].sum() if by_size else 1 / len(members)
        self.maps.append(self.cluster.copy())

    def decide(self, *distances):
        self.margin = min([self.margin, *(abs(float(d)) for d in distances)])

    def best(self, pairs, count):
        """The most similar of pairs (similarity, ...): ties go to the first."""
        pairs = sorted(pairs, key=lambda pair: -pair[0])
        if count is not None and 0 < count < len(pairs):
            self.decide(pairs[count - 1][0] - pairs[count][0])
        return pairs[:count]

    def mutual(self, rows, reduction):
        """Pairs of which each is the nearest of the other."""
        similar = cosines(rows, rows)
        np.fill_diagonal(similar, -np.inf)
        nearest = similar.argmax(1)
        if len(rows) > 2:
            self.decide(*np.diff(np.sort(similar, 1)[:, -2:]).ravel())
        pairs = [(similar[i, j], i, j) for i, j in enumerate(nearest) if nearest[j] == i and i < j]
        self.decide(*(pair[0] - reduction.similarity for pair in pairs))
        pairs = self.best([pair for pair in pairs if pair[0] >= reduction.similarity], reduction.count)
        joined = {i: [i, j] for _, i, j in pairs}
        return [joined.get(i, [i]) for i in range(len(rows)) if i not in {j for _, _, j in pairs}]

    def even_odd(self, rows, count=None, deviations=None):
        """Even rows of the whole sequence, special tokens included, with the odd row that is most similar."""
        even, odd = ([i for i in range(len(rows)) if (self.special + i) % 2 == parity] for parity in (0, 1))
        similar = cosines(rows[even], rows[odd])
        pairs = [(similar[k].max(), i, odd[similar[k].argmax()]) for k, i in enumerate(even)] if odd else []
        if len(odd) > 1:
            self.decide(*np.diff(np.sort(similar, 1)[:, -2:]).ravel())
        if deviations is not None:
            found = np.array([pair[0] for pair in pairs])
            if len(pairs) < 2:
                raise evaluate.Disputed("a deviation of less than two pairs")
            least = found.mean() + deviations * found.std(ddof=1)
            self.decide(*(found - least))
            pairs = [pair for pair in pairs if pair[0] >= least]
        pairs = self.best(pairs, None if count is None else min(count, len(rows) // 2))
        gone = {i for _, i, _ in pairs}
        return [[i] for i in even if i not in gone] + [[j, *(i for _, i, into in pairs if into == j)] for j in odd]

    def window(self, number):
        first = number // (self.width // 2) * 2 * self.width + number % (self.width // 2) * 2
        return [first, first + 1, first + self.width, first + self.width + 1]

    def with_windows(self, numbers):
        """These windows in front, then the other patches."""
        windows = [self.window(number) for number in numbers]
        return windows + [[i] for i in range(len(self.cluster)) if not any(i in window for window in windows)]

    def alike(self, rows, threshold):
        """Windows of 2x2 patches by the mean of their six similarities."""
        means = []
        for number in range(len(rows) // 4):
            members = rows[self.window(number)]
            means.append(cosines(members, members)[np.triu_indices(4, 1)].mean())
        self.decide(*(mean - threshold for mean in means), *np.diff(sorted(means)))
        return self.with_windows([i for i in np.argsort(-np.array(means), kind="stable") if means[i] >= threshold])


def cosines(a, b):
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
    return unit(a) @ unit(b).T


class Merging(evaluate.Evaluator):
    """One run of a graph that `with_marks` made."""

    def __init__(self, model, folder, tokens, reduction, dtype=np.float64):
        super().__init__(model, folder, dtype)
        self.tokens, self.how, self.kept = tokens, reduction, {}

    def node(self, node, values):
        if node.domain != DOMAIN:
            return super().node(node, values)
        given = evaluate.attributes(node)
        return [self.array(getattr(self, "merging_" + node.op_type)(given, *(values[name] for name in node.input)))]

    def merging_Enter(self, given, x):
        """In front of a block, where something else may have been added to each patch."""
        if self.how.method == "reuse":
            return self.merging_Leave(given, x)
        x, rows, tokens = x.copy(), self.rows(given), self.tokens
        patches = tokens.spread(x[0, rows], tokens.share)
        if self.how.method == "mpm" and given["block"] in self.how.at:
            patches = self.merged(patches, tokens.mutual(tokens.rows(patches), self.how), False)
        x[0, rows] = patches
        return x

    def merging_Leave(self, given, x):
        """Where a frame has the rows of an earlier one, in front of each block and behind the last."""
        x = x.copy()
        patches = x[0, self.rows(given)]
        if given["block"] in self.kept:
            stay = [i for i in range(len(patches)) if i not in self.how.changed]
            patches[stay] = self.kept[given["block"]][stay]
        self.kept[given["block"]] = patches.copy()
        return x

    def merging_Share(self, given, x):
        """Patches with their positions, in front of the first block."""
        x, rows, tokens = x.copy(), self.rows(given), self.tokens
        if self.how.method == "cts":
            tokens.join(tokens.with_windows(self.how.chosen), True)
            patches = np.where((tokens.sizes()[tokens.cluster] > 1)[:, None], self.how.shared, x[0, rows])
            x[0, rows] = tokens.spread(patches, tokens.share)
        return x

    def rows(self, given):
        return slice(given["front"], given["front"] + len(self.tokens.cluster))

    def merging_Inside(self, given, x, keys=None):
        """Between attention and MLP."""
        x, rows, tokens, reduction = x.copy(), self.rows(given), self.tokens, self.how
        if not reduction.inside or given["block"] not in reduction.at:
            return x
        seen = tokens.rows(x[0, rows])
        if reduction.method == "tome":
            groups = tokens.even_odd(tokens.rows(keys.mean(given["heads"])[0, rows]), reduction.count)
        elif reduction.method == "gradual":
            groups = tokens.mutual(seen, reduction)
        elif given["block"] == reduction.at[0]:
            groups = tokens.alike(seen, reduction.threshold)
        else:
            groups = tokens.even_odd(seen, None, 1 / (given["block"] + 1))
        x[0, rows] = self.merged(x[0, rows], groups, True)
        return x

    def merged(self, patches, groups, by_size):
        before = self.tokens.sizes()[self.tokens.cluster]
        self.tokens.join(groups, by_size)
        now = self.tokens.sizes()[self.tokens.cluster]
        if by_size:
            return self.tokens.spread(patches, 1 / now)
        joined = np.array([len(group) for group in groups])[self.tokens.cluster]
        return self.tokens.spread(patches, 1 / (before * joined))

    def merging_Logits(self, given, x):
        x = x.copy()
        if not self.how.proportional:
            x[..., self.rows(given)] -= np.log(self.tokens.sizes()[self.tokens.cluster])
        return x

    def merging_Mask(self, given):
        return self.merging_Logits(given, np.zeros((1, given["count"])))

    def merging_Table(self, given, x, other):
        """Cosines or sines of the patches; `other`: sines or cosines of the same angles."""
        x, other = (np.moveaxis(table, given["axis"], 0).copy() for table in (x, other))
        rows, tokens = self.rows(given), self.tokens
        flat = x[rows].reshape(len(tokens.cluster), -1)
        mean = 1 / tokens.sizes()[tokens.cluster]
        if self.how.positions == "first":
            flat = tokens.rows(flat)[tokens.cluster]
        elif self.how.positions == "mean":
            flat = tokens.spread(flat, mean)
        else:
            angle = np.arctan2(other[rows].reshape(flat.shape), flat)
            number = np.arange(len(flat))
            alone = np.stack([number // tokens.width, number % tokens.width], 1).astype(float)
            place = tokens.spread(alone, mean)
            half = math.pi - 1e-6  # half a turn is one forwards
            step = lambda i: (angle[i] - angle[0] + half) % (2 * math.pi) - half if i < len(flat) else 0
            at = lambda place: np.cos(angle[0] + place[:, :1] * step(tokens.width) + place[:, 1:] * (step(1) if tokens.width > 1 else 0))
            if np.abs(at(alone) - flat).max() > 1e-5:
                raise evaluate.Disputed("angles in steps that are not quite equal")
            flat = at(place)
        x[rows] = flat.reshape(x[rows].shape)
        return np.moveaxis(x, 0, given["axis"])


def with_marks(model, values, patches, behind, blocks, taps=True, keys=(), embedded=None, head_blocks=0, leaves=()):
    """The graph with a node of this domain wherever merging changes a value.

    `values`: of a run. A block is known by its softmax over all tokens, `blocks` of them. `behind`: special tokens behind the patches.
    `taps`: something else than a block may read what goes into one. `keys`: of each block, and the axis of their heads.
    `embedded`: the tokens with their positions. `head_blocks`: of a mask transformer, whose rows are patches and then classes.
    `leaves`: what comes out of the last block of the encoder, and of the head.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = list(copy.graph.node)
    made = {name: i for i, node in enumerate(nodes) for name in node.output}
    readers = {}
    for i, node in enumerate(nodes):
        for name in node.input:
            readers.setdefault(name, []).append(i)
    shape = lambda name: np.shape(values[name])

    def behind_of(name):
        """Nodes that depend on a value."""
        found, names = set(), [name]
        while names:
            for i in readers.get(names.pop(), []):
                if i not in found:
                    found.add(i)
                    names += nodes[i].output
        return found

    def in_front_of(name):
        found, names = set(), [name]
        while names:
            i = made.get(names.pop())
            if i is not None and i not in found:
                found.add(i)
                names += nodes[i].input
        return found

    marks, renamed = [], {}

    def mark(name, which, kind, *more, **given):
        """The nodes `which` read another value."""
        name = renamed.get(name, name)
        new = f"{name}/{kind}{len(marks)}"
        node = helper.make_node(kind, [name, *more], [new], new, domain=DOMAIN, **given)
        first = min(i for i in which if name in nodes[i].input)
        marks.append((first, node))
        for i in which:
            for k, read in enumerate(nodes[i].input):
                if read == name:
                    nodes[i].input[k] = new
        return new

    found = []
    for i, node in enumerate(nodes):
        if node.op_type == "Softmax":
            queries, count = (1, 1, *shape(node.input[0]))[-2:]
        elif node.op_type == "Attention" and not node.domain:
            queries, count = (shape(name)[-2] for name in node.input[:2])
        else:
            continue
        if queries == count >= patches + behind and len(found) < blocks + head_blocks:
            found.append((i, count))
    if len(found) < blocks + head_blocks:
        raise evaluate.Disputed("a block without a softmax")
    plans = []
    for block, (i, count) in enumerate(found):
        after, before = behind_of(nodes[i].output[0]), set().union(*(in_front_of(name) for name in nodes[i].input))
        for k in sorted(after):
            others = [name for name in nodes[k].input if name in values and made.get(name) not in after and made.get(name) in before]
            if nodes[k].op_type == "Add" and others and shape(others[0]) == shape(nodes[k].output[0]) and shape(others[0])[-2] == count:
                break
        else:
            # A window that is larger than a grid of another size has rows that are no patches.
            raise evaluate.Disputed("a softmax that is of no block")
        plans.append((block, i, others[0], k, before, count))
    if embedded:
        renamed[embedded] = mark(embedded, readers[embedded], "Share", front=shape(embedded)[1] - patches - behind)
    for block, softmax, x, add, before, count in plans:
        front = count - patches - behind if block < blocks else 0
        inner = behind_of(x) & before
        tables = []
        for k in sorted(inner):
            for name in nodes[k].input:
                if nodes[k].op_type != "Mul" or made.get(name) in inner or name == x or name not in values:
                    continue
                axes = [len(shape(nodes[k].output[0])) - len(shape(name)) + a for a, side in enumerate(shape(name))
                        if side in (count, patches) and side > 1 and a < len(shape(name)) - 1]
                of_logits = shape(nodes[k].output[0])[-2:] == (count, count) and shape(name)[-1:] == (1,)  # a scale per head
                if len(shape(name)) > 1 and axes and not of_logits:
                    tables.append((name, k, axes[-1] - len(shape(nodes[k].output[0])) + len(shape(name))))
        mid = nodes[add].output[0]
        renamed[mid] = mark(mid, readers[mid], "Inside", *([keys[block][0]] if keys else []), heads=keys[block][1] if keys else 0,
                            block=block, front=front)
        if nodes[softmax].op_type == "Softmax":
            mark(nodes[softmax].input[0], [softmax], "Logits", front=front)
        else:
            mask = helper.make_node("Mask", [], [f"mask{block}"], f"mask{block}", domain=DOMAIN, front=front, count=count)
            nodes[softmax].input.append(mask.output[0])
            marks.append((softmax, mask))
        for name, k, axis in tables:
            other = next((one for one, *_ in tables if shape(one) == shape(name) and
                          np.abs(values[one] ** 2 + values[name] ** 2 - 1).max() < 1e-5), name)
            mark(name, [k], "Table", other, axis=axis, front=front if shape(name)[axis] == count else 0)
        mark(x, [k for k in readers[x] if not taps or k in before or k == add], "Enter", block=block, front=front)
    for i, leaf in enumerate(leaves):
        renamed[leaf] = mark(leaf, readers[leaf], "Leave", block=-1 - i, front=0 if i else shape(leaf)[1] - patches - behind)
    order = sorted(range(len(marks)), key=lambda i: marks[i][0])
    result = onnx.ModelProto()
    result.CopyFrom(copy)
    del result.graph.node[:]
    result.graph.node.extend(node for node in nodes if node.op_type == "Constant")
    for i, node in enumerate(nodes):
        result.graph.node.extend([marks[k][1] for k in order if marks[k][0] == i] + ([node] if node.op_type != "Constant" else []))
    return result
