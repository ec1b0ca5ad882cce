# SPDX-License-Identifier: Apache-2.0
"""Random graphs and real ones whose tokens merge, by each method of docs/reduction.md, and what they give (merging.py)."""
import json
import math
import random

import numpy as np
import onnx
from onnx import TensorProto, helper

import edits
import evaluate
import generate
import merging


class Close(evaluate.NotDefined):
    """Rounding may decide which tokens merge."""


def blocks_text(blocks):
    """2,5 or 0-3."""
    first, last = blocks[0], blocks[-1]
    return f"{first}-{last}" if len(blocks) > 1 and blocks == list(range(first, last + 1)) else ",".join(map(str, blocks))


def share_of(share, count):
    return math.floor(share * count + 0.5)


class Real:
    """A model of tests/data, with what a random graph says of itself."""

    keys = leaves = ()
    embedded, head_blocks = None, 0

    def __init__(self, row):
        path = edits.DATA / row["file"]
        self.model = onnx.load(path, load_external_data=False)
        self.blocks, self.behind = row["blocks"], 5 if "yolos" in path.stem else 0
        self.front = row["special_tokens"] - self.behind
        self.rotates, self.taps = "dinov3" in path.stem, True
        self.image = json.loads(path.with_suffix(".reference.json").read_text())["inputs"][0]["shape"]
        patch = next(node for node in self.model.graph.node if node.op_type == "Conv" and
                     evaluate.attributes(node)["kernel_shape"] == evaluate.attributes(node)["strides"])
        self.patch = evaluate.attributes(patch)["kernel_shape"][0]
        self.grid = [side // self.patch for side in self.image[2:]]


def real_rows():
    """Models that merge, and take any number of images."""
    rows = json.loads((edits.DATA / "models.json").read_text())
    return [row for row in rows if row["verdict"] == "convert" and row["merges"] and "_batch" not in row["file"]]


class Merged:
    """A graph of this seed and how its tokens merge, of a real one for one seed of three. `spec`: for --reduce, with POLICY as the path of a policy network. `file`:
    what the converter gets, for another size of the image than that of `model` where `resized`."""

    def __init__(self, seed):
        self.random, self.folder = random.Random(f"reduction {seed}"), ""
        if seed % 3 == 0:
            rows = real_rows()
            self.graph = Real(rows[seed // 3 % len(rows)])
            self.model = self.file = self.graph.model
            self.folder, self.resized = str(edits.DATA), True
            self.twice = seed <= 3 * len(rows)  # each of them first by two merges of MPM
            self.method = "mpm" if self.twice else self.random.choice(["mpm", "gradual"] + (["algm"] if not self.odd() else []))
        else:
            self.draw(seed)
        self.patches = math.prod(self.graph.grid)
        self.spec, self.how = self.choose(self.method)
        self.policy = self.make_policy() if self.method == "cts" else None

    def draw(self, seed):
        self.twice = False
        self.method = self.random.choice(["mpm", "gradual", "gradual", "tome", "algm", "cts", "reuse"])
        fixed = {"made by": "exporter", "softmax": "op", "batch": self.random.choice([1, "any"])}
        fixed |= {"rotary made": "in equal steps"} if self.maybe() else {}
        fixed |= {"image": "first", "patches": "conv"} if self.method == "cts" else {}
        self.resized = self.maybe(0.3) and self.method != "reuse"
        if self.method == "reuse":
            fixed["head"] = self.random.choice(["features", "linear", "mask", "mask", "mean", "class token"])
        if self.resized:
            fixed |= {"image": "first", "patches": "conv", "storage": "raw",
                      "head": self.random.choice(["features", "linear", "mask", "mean"])}
        elif self.maybe(0.15):  # more rows than the layers compute at a time
            fixed |= {"patches": "conv", "grid": [self.random.randint(7, 10), self.random.randint(7, 10)]}
        for attempt in range(100):
            try:
                self.file = generate.Graph(seed * 1000 + attempt, fixed).model(None)
                other = {"grid": [self.random.randint(2, 5), self.random.randint(2, 5)]} if self.resized else {}
                self.graph = generate.Graph(seed * 1000 + attempt, {**fixed, **other})
                self.model = self.graph.model(None)
                if self.differ():
                    continue
                if not self.odd() or self.method not in ("cts", "algm") or self.maybe(0.1):
                    break
            except evaluate.NotDefined:
                continue
        graph = self.graph
        graph.front, graph.taps = graph.shape(graph.embedded)[1] - math.prod(graph.grid) - graph.behind, False

    def differ(self):
        """Whether the graph for another size was drawn with other weights. Only positions, of three axes, may differ."""
        weights = {one.name: one for one in self.file.graph.initializer}
        return any(one.data_type == TensorProto.FLOAT and len(one.dims) != 3 and one.name in weights and
                   one.dims == weights[one.name].dims and one != weights[one.name] for one in self.model.graph.initializer)

    def maybe(self, chance=0.5):
        return self.random.random() < chance

    def odd(self):
        return self.graph.grid[0] % 2 or self.graph.grid[1] % 2

    def choose(self, method):
        self.keys = []
        if method == "reuse":
            share = lambda: [i for i in range(self.patches) if self.maybe(self.random.choice([0, 0.2, 0.5, 1]))]
            self.changed = [list(range(self.patches)), *(share() for _ in range(4))]
            return method, None
        count, every = self.patches, list(range(self.graph.blocks))
        how, keys = merging.Reduction(method, sorted(self.random.sample(every, self.random.randint(1, len(every))))), []
        if self.twice and 2 in every:
            how.at = [1, 2]
        if method == "mpm" and how.at != [1, 2] and 2 in every and self.maybe(0.3):
            how.at = [2]
        elif method == "gradual" and self.maybe(0.3) or method == "tome" and self.maybe():
            how.at = every
        elif method == "algm":
            how.at = sorted(self.random.sample(every, min(2, len(every))))
            keys.append("blocks=" + ",".join(map(str, how.at)))
        elif method != "cts":
            keys.append("blocks=" + blocks_text(how.at))
        if method in ("gradual", "tome"):
            way = self.random.choice(["", "count", "share"])
            share = self.random.choice([0.05, 0.1, 0.3]) if way == "share" else 0.073 if method == "gradual" else 0.04
            how.count = share_of(share, count)
            if way == "count":
                how.count = self.random.choice([1, 2, 3, 5, 50])
            if way:
                keys.append(f"count={how.count}" if way == "count" else f"share={share}")
            if method == "gradual" and self.maybe(0.4):
                how.similarity = self.random.choice([-0.2, 0.1, 0.5])
                keys.append(f"similarity={how.similarity}")
                how.count = how.count if way else None
        if method == "algm":
            how.threshold = self.random.choice([-1, -0.1, 0.2, 0.88])
            keys += [f"threshold={how.threshold}"] if how.threshold != 0.88 else []
        if method == "cts":
            share = self.random.choice([0.01, 0.25, 0.34, 0.4, 0.5, 1])
            keys += ["policy=POLICY"] + ([f"share={share}"] if share != 0.4 else [])
            self.windows = share_of(share, count // 4)
        how.proportional = method in ("gradual", "tome")
        if self.maybe(0.3):
            how.proportional = not how.proportional
            keys.append("attention=" + ("proportional" if how.proportional else "plain"))
        if self.graph.rotates and self.maybe():
            how.positions = self.random.choice(["first", "centroid"])
            keys.append("positions=" + how.positions)
        if self.maybe(0.3):
            keys.append("head=restored")
        self.random.shuffle(keys)
        self.keys = [key.split("=")[0] for key in keys]
        if self.resized:
            self.keys.append("resized")
        return ":".join([method, *keys]), how

    def make_policy(self):
        """Scores of the windows: a convolution, and sometimes equal scores."""
        numbers, side = np.random.default_rng(self.random.randrange(1 << 30)), 2 * self.graph.patch
        weights = [helper.make_tensor("w", TensorProto.FLOAT, [1, 3, side, side], numbers.standard_normal(3 * side * side))]
        nodes = [helper.make_node("Conv", ["picture", "w"], ["s"], strides=[side, side])]
        nodes.append(helper.make_node(self.random.choice(["Tanh", "Tanh", "Floor", "Relu"]), ["s"], ["scores"]))
        sides = ["b", 3, "h", "w"]
        graph = helper.make_graph(nodes, "policy", [helper.make_tensor_value_info("picture", TensorProto.FLOAT, sides)],
                                  [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["b", 1, None, None])], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model

    def downsampled(self, image):
        """Each window of 2x2 patches is four times the patch that it is by half of the size."""
        _, channels, height, width = image.shape
        side = self.graph.patch
        small = image.reshape(channels, height // 2, 2, width // 2, 2).mean((2, 4))
        small = small.reshape(channels, height // 2 // side, 1, side, width // 2 // side, 1, side)
        return np.tile(small, (1, 1, 2, 1, 1, 2, 1)).reshape(image.shape)

    def frames(self, images, changed, dtype, with_head=True):
        """The outputs of the graph for frames of which each computes the patches `changed`. `with_head`: also in the head."""
        plain = evaluate.Evaluator(self.model, "", dtype)
        plain.run(images[0])
        graph = self.graph
        marked = merging.with_marks(self.model, plain.values, self.patches, graph.behind, graph.blocks, False, graph.keys, None,
                                    graph.head_blocks * with_head, graph.leaves[:1 + with_head])
        how = merging.Reduction("reuse", [], proportional=True)
        run = merging.Merging(marked, "", merging.Tokens(self.patches, graph.grid[1], 0), how, dtype)
        results = []
        for image, how.changed in zip(images, changed):
            results.append(run.run(image))
        return results

    def evaluate(self, image, dtype):
        """The outputs of the graph for one image, the merge map and the token counts."""
        plain, graph = evaluate.Evaluator(self.model, self.folder, dtype), self.graph
        tokens = merging.Tokens(self.patches, graph.grid[1], graph.front + graph.behind)
        if self.how.method in ("cts", "algm") and self.odd():
            raise evaluate.NotDefined("windows of an odd grid")
        if self.how.method == "cts":
            scores = evaluate.Evaluator(self.policy, "", dtype).run(image)["scores"].ravel()
            order = np.argsort(-scores, kind="stable")
            apart = -np.diff(scores[order])
            tokens.decide(*apart[apart != 0], *(1 for _ in apart))
            self.how.chosen = [int(i) for i in order[:self.windows]]
            plain.run(self.downsampled(image))
            self.how.shared = plain.values[graph.embedded][0, graph.front:graph.front + self.patches]
        plain.run(image)
        marked = merging.with_marks(self.model, plain.values, self.patches, graph.behind, graph.blocks, graph.taps, graph.keys,
                                    graph.embedded)
        found = merging.Merging(marked, self.folder, tokens, self.how, dtype).run(image)
        if tokens.margin < 1e-5:
            raise Close("two pairs that are equally similar")
        maps = tokens.maps or [np.arange(self.patches)]
        counts = [self.patches] + [int(one.max()) + 1 for one in tokens.maps]
        return {**found, "merge_map": np.array(maps, float), "token_counts": np.array(counts, float)}
