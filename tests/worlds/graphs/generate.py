# SPDX-License-Identifier: Apache-2.0
"""Makes ViT-shaped graphs of random spellings: what an exporter might write, and behind the encoder what none would."""
import math

import numpy as np
from onnx import TensorProto, helper

import evaluate
import fused
from encoder import Encoder


class Graph(Encoder):
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

    def resize(self, x, linear=False):
        shape = self.shape(x)
        sizes = [*shape[:2], *(s * self.pick(1, 2, 2, 3) for s in shape[2:])]
        given = self.pick({"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
                          {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
                          {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
                          {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
                          {"mode": "nearest", "coordinate_transformation_mode": "half_pixel"},
                          {"mode": "cubic", "coordinate_transformation_mode": "half_pixel"})
        if linear:
            given = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        elif self.maybe(0.25):
            sizes[1] *= 2
        if self.maybe():
            scales = [a / b for a, b in zip(sizes, shape)]
            return self.op("Resize", x, None, self.constant(np.asarray(scales, np.float64)), **given)
        return self.op("Resize", x, None, None, self.ints(*sizes), **given)

    def convolution(self, x):
        c = self.shape(x)[1]
        out, side = self.pick(2, 4, c), self.pick(1, 1, 3, 2)
        groups = self.pick(1, 1, c) if out == c else 1
        pads = [side // 2] * 4 if self.maybe(0.7) else [0, 1, 1, 0][:4]
        kernel = 1 / math.sqrt(c / groups * side * side) * self.numbers.standard_normal((out, c // groups, side, side))
        bias = self.weight(out, scale=0.2) if self.maybe() else None
        if self.maybe(0.2):
            stride = self.pick([1, 1], [2, 2])
            return self.op("ConvTranspose", x, self.constant(kernel.transpose(1, 0, 2, 3)) if groups == 1 else
                           self.constant(kernel), bias, group=groups, strides=stride, dilations=self.pick([1, 1], [2, 1]),
                           pads=self.pick(None, [0, 0, 1, 0]) if side > 1 else None,
                           output_padding=[1, 0] if stride == [2, 2] and self.maybe() else None)
        if self.maybe(0.15):
            return self.op("Conv", x, self.constant(kernel), bias, group=groups, strides=self.pick([1, 1], [2, 1]),
                           auto_pad=self.pick("SAME_UPPER", "SAME_LOWER", "VALID"))
        return self.op("Conv", x, self.constant(kernel), bias, group=groups, pads=pads,
                       strides=self.pick([1, 1], [1, 1], [2, 1]), dilations=self.pick(None, None, [1, 2]))

    def step(self, x, others):
        """One random node or two on any tensor."""
        shape = self.shape(x)
        rank, axis = len(shape), self.random.randrange(len(shape))
        kinds = ["unary", "unary", "transpose", "transpose", "reshape", "reshape", "constant", "constant", "slice", "concat",
                 "softmax", "reduce", "gather", "split", "pad", "self", "product", "expand", "norm", "linear", "sum", "tile",
                 "choice", "limits", "place", "several", "whole", "einsum"]
        if rank == 4:
            kinds += ["conv"] * 8 + ["resize"] * 5 + ["means"] * 2 + ["batch norm"] * 2 + ["pool"] * 2 + ["norm map", "depth", "relu conv",
                                                                                         "grid sample"]
        kind = self.some("step", *kinds)
        if kind == "unary":
            name = self.pick("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Exp", "LeakyRelu", "Elu", "Softplus", "HardSigmoid",
                             "Sin", "Erf")
            return self.op(name, self.op("Tanh", x) if name == "Exp" else x)
        if kind == "transpose":
            order = list(range(rank))
            self.random.shuffle(order)
            if self.maybe(0.6) and order[0] != 0:
                order.remove(0)
                order.insert(0, 0)
            if rank == 4 and self.maybe(0.4):
                order = self.pick([0, 2, 3, 1], [0, 3, 1, 2])
            return self.transpose(x, *order)
        if kind == "reshape":
            new = list(shape)
            for _ in range(self.pick(1, 2)):
                if len(new) > 1 and self.maybe():
                    i = self.random.randrange(len(new) - 1)
                    new[i:i + 2] = [new[i] * new[i + 1]]
                else:
                    i = self.random.randrange(len(new))
                    divisors = [d for d in range(1, new[i] + 1) if new[i] % d == 0]
                    d = self.random.choice(divisors)
                    new[i:i + 1] = [d, new[i] // d]
            if self.maybe(0.2):
                self.random.shuffle(new)
            return self.reshape(x, *new) if 1 < len(new) < 7 else x
        if kind == "constant":
            part = [s if self.maybe(0.6) else 1 for s in shape][self.pick(0, 0, rank - 1):]
            name = self.pick("Add", "Mul", "Sub", "Div", "Max", "Min")
            c = self.constant(0.5 + self.numbers.uniform(0, 1, part))
            return self.op(name, x, c) if self.maybe(0.7) or name == "Div" else self.op(name, c, x)
        if kind == "slice":
            start = self.random.randrange(shape[axis])
            if self.maybe(0.2):
                return self.slice(x, axis, -1, -(1 << 40), -1)
            return self.slice(x, axis, start, self.random.randint(start + 1, shape[axis]), self.pick(1, 1, 2))
        if kind == "concat":
            fits = [y for y in others if len(self.shape(y)) == rank and
                    all(a == b for i, (a, b) in enumerate(zip(self.shape(y), shape)) if i != axis)]
            return self.op("Concat", x, self.random.choice(fits or [x]), axis=axis)
        if kind == "sum":
            fits = [y for y in others if self.shape(y) == shape]
            return self.op(self.pick("Add", "Mul", "Sub"), x, self.random.choice(fits or [x]))
        if kind == "softmax":
            return self.op("Softmax", x, axis=self.pick(axis, -1))
        if kind == "reduce":
            name, keep = self.pick("ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"), int(self.maybe() or rank < 3)
            old = self.opset < 18 and not (name == "ReduceSum" and self.opset >= 13)
            return self.op(name, x, axes=[axis], keepdims=keep) if old else self.op(name, x, self.ints(axis), keepdims=keep)
        if kind == "gather":
            return self.op("Gather", x, self.ints(*(self.random.randrange(-shape[axis], shape[axis]) for _ in range(3))),
                           axis=axis)
        if kind == "split":
            if shape[axis] < 2:
                return x
            first = self.random.randint(1, shape[axis] - 1)
            a, b = self.split(x, axis, [first, shape[axis] - first])
            return self.op("Concat", b, a, axis=axis) if self.maybe() else a
        if kind == "pad":
            pads = [0] * (2 * rank)
            pads[axis], pads[rank + axis] = self.pick(0, 1, 2), self.pick(0, 1)
            return self.op("Pad", x, self.ints(*pads), mode=self.pick("constant", "edge"))
        if kind == "self":
            y = self.op("MatMul", x, self.transpose(x, *range(rank - 2), rank - 1, rank - 2))
            return self.op("Relu", self.op("Add", y, self.number(0.7))) if self.maybe() else y
        if kind == "product":
            fits = [y for y in others if len(self.shape(y)) == rank and self.shape(y)[-2] == shape[-1] and
                    self.shape(y)[:-2] == shape[:-2]]
            if fits:
                return self.op("MatMul", x, self.random.choice(fits))
            return self.op("Einsum", x, self.weight(shape[-1], 3), equation="abcdefg"[:rank] + "," + "abcdefg"[rank - 1] +
                           "z->" + "abcdefg"[:rank - 1] + "z")
        if kind == "expand":
            return self.op("Expand", self.unsqueeze(x, axis), self.ints(*shape[:axis], 2, *shape[axis:]))
        if kind == "tile":
            return self.op("Tile", x, self.ints(*(2 if i == axis else 1 for i in range(rank))))
        if kind == "norm":
            return self.norm(x, self.maybe(0.3))
        if kind == "linear":
            return self.op("MatMul", x, self.weight(shape[-1], 4))
        if kind == "choice":
            name = self.pick("Less", "Greater", "LessOrEqual", "Equal")
            if self.opset < 16 and name == "LessOrEqual":
                name = "Less"
            other = self.op("Neg", x) if self.maybe() else self.number(0.1)
            return self.op("Where", self.op(name, x, other), x, self.op("Tanh", x) if self.maybe() else self.number(0.3))
        if kind == "limits":
            name = self.pick("Clip", "PRelu", "LogSoftmax", "Mod", "Celu", "Selu")
            if name == "Clip":
                return self.op("Clip", x, self.constant(np.asarray(-0.4)), self.constant(np.asarray(0.8)) if self.maybe() else None)
            if name == "PRelu":
                return self.op("PRelu", x, self.weight(shape[-1], scale=0.3))
            if name == "Mod":
                return self.op("Mod", x, self.constant(self.numbers.uniform(0.5, 1, shape[-1])), fmod=1)
            return self.op(name, x, axis=self.pick(axis, -1)) if name == "LogSoftmax" else self.op(name, x)
        if kind == "place":
            count = min(2, shape[axis])
            name = self.pick("TopK", "ArgMax", "GatherElements", "GatherND", "by the net")
            if name == "TopK":
                values, places = self.op("TopK", x, self.ints(count), axis=axis, largest=self.pick(0, 1), outputs=2)
                return values
            if name == "ArgMax":
                y = self.op("ArgMax", x, axis=axis, keepdims=1)
                return self.op("Add", x, self.op("Cast", y, to=TensorProto.FLOAT))
            if name == "GatherElements":
                places = self.numbers.integers(-shape[axis], shape[axis], [count if i == axis else s for i, s in enumerate(shape)])
                return self.op("GatherElements", x, self.constant(places), axis=axis)
            if name == "GatherND":
                places = np.stack([self.numbers.integers(0, s, 3) for s in shape[1:3]], 1)[None].repeat(shape[0], 0)
                return self.op("GatherND", x, self.constant(places), batch_dims=1)
            best = self.op("ArgMax", x, axis=axis, keepdims=1)
            return self.op("GatherElements", x, best, axis=axis)
        if kind == "several":
            parts = [x, self.op("Sigmoid", x), self.constant(self.numbers.uniform(0, 1, shape[-1]))][:self.pick(2, 3)]
            return self.op(self.pick("Sum", "Mean", "Max", "Min"), *parts)
        if kind == "whole":
            y = self.op("Cast", self.op("Mul", x, self.number(4.0)), to=TensorProto.INT64)
            y = self.op(self.pick("Add", "Mul", "Sub"), y, self.constant(np.asarray(3, np.int64)))
            return self.op("Cast", y, to=TensorProto.FLOAT)
        if kind == "einsum":
            letters = "abcdefg"[:rank]
            other = list(letters)
            self.random.shuffle(other)
            turned = self.op("Transpose", x, perm=[letters.index(c) for c in other])
            made = [c for c in letters if self.maybe(0.7)] or [letters[0]]
            self.random.shuffle(made)
            return self.op("Einsum", x, turned, equation=f"{letters},{''.join(other)}->{''.join(made)}")
        if kind == "conv":
            return self.convolution(x)
        if kind == "relu conv":
            return self.convolution(self.op("Relu", self.convolution(x)))
        if kind == "resize":
            y = self.resize(self.convolution(x) if self.maybe() else x)
            return self.convolution(y) if self.maybe(0.7) else y
        if kind == "means":
            y = self.convolution(x)
            return self.op("Add", y, self.op("GlobalAveragePool", y))
        c = shape[1]
        if kind == "batch norm":
            values = [self.weight(c, scale=0.3, offset=1.0), self.weight(c), self.weight(c),
                      self.constant(self.numbers.uniform(0.5, 2, c))]
            return self.op("BatchNormalization", self.convolution(x) if self.maybe() and self.shape(x)[1] == 4 else x, *values)
        if kind == "norm map":
            groups = self.random.choice([g for g in range(1, c + 1) if c % g == 0])
            if self.opset >= 21 and self.maybe():
                return self.op("GroupNormalization", x, self.weight(c, offset=1.0), self.weight(c), num_groups=groups)
            return self.op("InstanceNormalization", x, self.weight(c, offset=1.0), self.weight(c))
        if kind == "grid sample":
            if self.opset < 16:
                return x
            grid = self.constant(self.numbers.uniform(-1.2, 1.2, (shape[0], 3, 4, 2)))
            return self.op("GridSample", x, grid, mode="linear" if self.opset >= 20 else "bilinear",
                           padding_mode=self.pick("zeros", "border"), align_corners=self.pick(0, 1))
        if kind == "depth":
            return self.op("DepthToSpace", x, blocksize=2, mode=self.pick("DCR", "CRD")) if c % 4 == 0 else x
        name = self.pick("MaxPool", "AveragePool", "GlobalAveragePool")
        if name.startswith("Global"):
            return self.op(name, x)
        given = {"count_include_pad": self.pick(0, 1)} if name == "AveragePool" else {}
        if self.maybe(0.7) and (name == "MaxPool" or self.opset >= 19):
            given["dilations"] = self.pick([1, 1], [1, 2])
        if "dilations" not in given and self.maybe():  # ONNX Runtime forgets the dilations in SAME
            given["auto_pad"] = self.pick("SAME_UPPER", "SAME_LOWER", "VALID")
        else:
            given["pads"] = self.pick([0] * 4, [0, 1, 1, 0])
        return self.op(name, x, kernel_shape=[2, self.pick(2, 3)], strides=self.pick([1, 1], [2, 2]), **given)

    def chain(self, x, tokens):
        others = [x, tokens]
        for _ in range(self.random.randint(1, 6)):
            mark, weights = len(self.nodes), len(self.weights)
            try:
                y = self.step(x, others)
                if self.values[y].size > 40000 or self.values[y].size < 1 or len(self.shape(y)) < 1 or \
                        not np.isfinite(self.values[y]).all():
                    raise evaluate.NotDefined("too much")
                x = y
                others.append(x)
            except (evaluate.NotDefined, ValueError, IndexError):  # this step does not fit this shape
                del self.nodes[mark:], self.weights[weights:]
        return x

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
            keys, values = self.linear(x, dim), self.linear(x, dim)
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

    def model(self, chained):
        """`chained`: a common encoder, and behind it what few would write."""
        self.chained, self.only_common = chained, self.only_common or chained
        x = self.encoder()
        self.only_common = self.only_common and not chained
        outputs = [self.chain(self.map(x) if self.maybe(0.8) else x, x) if chained else self.head(x)]
        if self.maybe(0.15):
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
        self.features.add("common" if "rare" not in self.features and not chained else "uncommon")
        return model


def make(seed, chained=False):
    """The model of this seed and its features."""
    for attempt in range(20):
        graph = Graph(seed * 1000 + attempt)
        try:
            return graph.model(chained), graph.features
        except evaluate.NotDefined:
            continue
    raise RuntimeError(f"seed {seed} makes no graph")
