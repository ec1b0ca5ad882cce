# SPDX-License-Identifier: Apache-2.0
"""Makes ViT-shaped graphs of random spellings: what an exporter might write, and behind the encoder what none would."""
import math

import numpy as np
from onnx import TensorProto, helper

import evaluate
import fused
from steps import ANYWHERE, ON_MAPS, Steps


class Graph(Steps):
    """An encoder and what is behind it."""

    def map(self, x):
        """The patches as a map {batch, dim, h, w}, or nearly so."""
        count, _, dim = self.shape(x)
        h, w = self.grid
        x = self.patch_rows(x)
        if self.maybe(0.2):
            return self.transpose(self.reshape(x, count, h, w, dim), 0, 3, 1, 2)
        turned = self.transpose(x, 0, 2, 1)
        if not self.only_common and self.maybe(0.25):  # cut up in another way
            self.features |= {"odd map", "rare"}
            halves = [(count, dim // 2, 2 * h, w)] if dim % 2 == 0 else []
            y = self.reshape(turned, *self.pick((count * w, dim, h, 1), (count, dim, w, h), (count * h, dim, 1, w),
                                                (count, dim * h, w, 1), (count, h, dim, w), *halves))
            if self.maybe(0.2):  # column by column
                y = self.reshape(self.transpose(self.reshape(x, count, h, w, dim), 0, 3, 2, 1), count, dim, w * h, 1)
            return self.convolution(y) if self.maybe() else y
        return self.reshape(turned, count, dim, h, w)

    def decoder(self, x):
        """Convolutions and enlargements on the grid, as in DPT."""
        for _ in range(self.random.randint(1, 3)):
            kernel = self.weight(4, self.shape(x)[1], 3, 3, scale=0.2)
            bias, relu = self.weight(4, scale=0.2), self.maybe()
            if relu and self.is_optimised():
                x = self.op("FusedConv", x, kernel, bias, pads=[1] * 4, activation="Relu", domain=fused.DOMAIN)
            else:
                x = self.op("Conv", x, kernel, bias, pads=[1] * 4)
                x = self.op("Relu", x) if relu else x
            x = self.resize(x, linear=True) if self.maybe() else x
        return x

    def mask_scores(self, x, classes):
        """Scores {batch, patches, classes} of Segmenter's mask transformer."""
        count, _, dim = self.shape(x)
        y = self.op("Concat", self.linear(self.patch_rows(x), dim), self.learned(count, classes, dim), axis=1)
        for _ in range(self.pick(1, 2)):
            y = self.block(y, self.options)
            self.head_blocks += 1
        self.leaves.append(y)
        y = self.norm(y)
        p, c = (self.op("MatMul", self.slice(y, 1, *part), self.weight(dim, dim)) for part in ((0, -classes), (-classes, 1 << 40)))
        return self.norm(self.op("MatMul", self.unit(p), self.transpose(self.unit(c), 0, 2, 1)))

    def head(self, x):
        kind = self.spell("head")
        count, tokens, dim = self.shape(x)
        special = self.front + self.behind
        if kind == "features":
            return x
        if kind == "class token" and special:
            at = 0 if self.front else tokens - 1
            row = self.op("Gather", x, self.constant(np.asarray(at, np.int64)), axis=1) if self.maybe() else \
                self.squeeze(self.slice(x, 1, at, at + 1), 1)
            return self.linear(row, 5) if self.maybe(0.8) else row
        if kind in ("mean", "class token"):
            rows = self.patch_rows(x) if self.maybe() else x
            return self.linear(self.mean(rows, 1, keep=False), 5)
        if kind == "pool query":
            q = self.weight(1, 1, dim, scale=0.3)
            keys, values = (x, x) if self.maybe(0.2) else (self.linear(x, dim), self.linear(x, dim))
            p = self.op("Softmax", self.op("MatMul", q, self.transpose(keys, 0, 2, 1)), axis=-1)
            return self.linear(self.op("MatMul", p, values), 5)
        if kind in ("linear", "mlp", "argmax", "mask"):
            y = self.patch_rows(x)
            if kind == "mlp":
                y = self.activation(self.linear(y, 12), "erf")
            y = self.mask_scores(x, 5) if kind == "mask" else self.linear(y, 5)
            y = self.transpose(y, 0, 2, 1)
            y = self.reshape(y, count, 5, *self.grid)
            if self.maybe(0.6) and not self.shape(self.input)[-1] % self.grid[1]:
                height, width = self.shape(self.input)[1:3] if self.last else self.shape(self.input)[2:]
                y = self.op("Resize", y, None, None, self.ints(count, 5, height, width), mode="linear",
                            coordinate_transformation_mode="half_pixel")
            return self.op("ArgMax", y, axis=1, keepdims=self.pick(0, 1)) if kind == "argmax" else y
        if kind == "map":
            return self.map(x)
        if kind == "decoder":
            return self.decoder(self.map(x))
        return self.chain(x if kind == "token chain" else self.map(x), x)

    def model(self, first):
        """`first`: a common encoder, and behind it what few would write, with this step as the first."""
        self.chained, self.only_common, self.head_blocks = bool(first), self.only_common or bool(first), 0
        x = self.encoder()
        self.only_common = self.only_common and not first
        on_map = first in ON_MAPS or self.maybe()
        outputs = [self.chain(self.map(x) if on_map else x, x, first) if first else self.head(x)]
        if self.fixed:  # which merges: nothing else reads what goes into a block
            pass
        elif self.maybe(0.15):
            self.features.add("two outputs")
            outputs.append(self.head(x))
        elif self.maybe(0.1):
            self.features.add("inner features")
            outputs.append(self.inner)
        if outputs[0] == outputs[-1] or any(self.values[o].ndim == 0 for o in outputs):
            outputs = outputs[:1]
        used = [(self.op("Identity", o), "out" + str(i)) for i, o in enumerate(outputs)]
        for name, new in used:
            self.nodes[[n.output[0] for n in self.nodes].index(name)].output[0] = new
            self.values[new] = self.values[name]
        kinds = [TensorProto.INT64 if self.values[n].dtype.kind == "i" else TensorProto.FLOAT for _, n in used]
        values = [helper.make_tensor_value_info(name, kind, None) for (_, name), kind in zip(used, kinds)]
        graph = helper.make_graph(self.nodes, "random", [self.declared], values, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid(fused.DOMAIN, 1)])
        model.ir_version = 8
        self.features.add("common" if "rare" not in self.features and not first else "uncommon")
        return model


def make(seed, chained=False):
    """The model of this seed and its features. `chained`: a head of the steps of steps.py, of each in turn as the first."""
    first = sorted({*ANYWHERE, *ON_MAPS})[seed % len({*ANYWHERE, *ON_MAPS})] if chained else None
    for attempt in range(100):
        graph = Graph(seed * 1000 + attempt)
        try:
            return graph.model(first), graph.features
        except evaluate.NotDefined:
            continue
    raise RuntimeError(f"seed {seed} makes no graph")
