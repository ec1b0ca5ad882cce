# SPDX-License-Identifier: Apache-2.0
"""What may stand behind an encoder: a random operator or a few on a tensor of any shape (step_...) or on a map (map_...)."""
import math

import numpy as np
from onnx import TensorProto

import evaluate
from encoder import Encoder

FUNCTIONS = [("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("Neg", {}), ("Abs", {}), ("Exp", {}), ("Ceil", {}), ("Floor", {}),
             ("Round", {}), ("Sign", {}), ("Sin", {}), ("Cos", {}), ("Erf", {}), ("Log", {}), ("Reciprocal", {}), ("Sqrt", {}),
             ("LeakyRelu", {"alpha": 0.2}), ("Elu", {"alpha": 0.7}), ("Celu", {"alpha": 0.7}), ("Selu", {}), ("Softplus", {}),
             ("Softsign", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("ThresholdedRelu", {"alpha": 0.25}),
             ("HardSwish", {}), ("Mish", {}), ("Gelu", {}), ("Gelu", {"approximate": "tanh"})]
SINCE = {"HardSwish": 14, "GridSample": 16, "Mish": 18, "Gelu": 20, "GroupNormalization": 18}  # opsets


class Steps(Encoder):
    """Methods that make nodes behind a tensor x. `others`: tensors that are there already."""

    def op(self, kind, *inputs, **given):
        if self.opset < SINCE.get(kind, 0):
            raise evaluate.NotDefined(f"{kind} before its opset")
        return super().op(kind, *inputs, **given)

    def axis(self, x):
        return self.random.randrange(len(self.shape(x)))

    def uniform(self, *shape):
        return self.constant(self.numbers.uniform(0.5, 1.5, shape))

    def positive(self, x):
        return self.op("Add", self.op("Abs", x), self.number(0.25))

    def floats(self, x):
        return self.op("Cast", x, to=TensorProto.FLOAT)

    def step_function(self, x, others):
        name, given = self.pick(*FUNCTIONS)
        if name in ("Log", "Reciprocal", "Sqrt"):
            x = self.positive(x)
        return self.op(name, self.op("Tanh", x) if name == "Exp" else self.op("Mul", x, self.number(1.7)), **given)

    def step_transpose(self, x, others):
        rank = len(self.shape(x))
        order = list(range(rank))
        self.random.shuffle(order)
        if self.maybe(0.6) and order[0] != 0:
            order.remove(0)
            order.insert(0, 0)
        return self.transpose(x, *(self.pick([0, 2, 3, 1], [0, 3, 1, 2]) if rank == 4 and self.maybe(0.4) else order))

    def step_reshape(self, x, others):
        new = self.shape(x)
        for _ in range(self.pick(1, 2)):
            if len(new) > 1 and self.maybe():
                i = self.random.randrange(len(new) - 1)
                new[i:i + 2] = [new[i] * new[i + 1]]
            else:
                i = self.random.randrange(len(new))
                d = self.pick(*(d for d in range(1, new[i] + 1) if new[i] % d == 0))
                new[i:i + 1] = [d, new[i] // d]
        if self.maybe(0.2):
            self.random.shuffle(new)
        return self.reshape(x, *new) if 1 < len(new) < 7 else x

    def step_arithmetic(self, x, others):
        """With a constant in front or behind, or with a mean of the tensor."""
        shape, name = self.shape(x), self.pick("Add", "Mul", "Sub", "Div", "Max", "Min", "Pow")
        part = [s if self.maybe(0.6) else 1 for s in shape][self.pick(0, 0, len(shape) - 1):]
        x = self.positive(x) if name in ("Div", "Pow") else x
        other = self.uniform(*part) if self.maybe(0.8) else self.reduce("ReduceMean", x, self.axis(x))
        return self.op(name, x, other) if self.maybe(0.7) else self.op(name, other, x)

    def step_slice(self, x, others):
        axis, shape = self.axis(x), self.shape(x)
        if self.maybe(0.2):
            return self.slice(x, axis, -1, -(1 << 40), self.pick(-1, -2))
        if self.maybe(0.2) and len(shape) > 2:  # two axes at a time, backwards
            return self.op("Slice", x, self.ints(-1, -1), self.ints(-90, -90), self.ints(1, 2), self.ints(-1, self.pick(-1, -2)))
        start = self.random.randrange(shape[axis])
        return self.slice(x, axis, start, self.random.randint(start + 1, shape[axis]), self.pick(1, 1, 2))

    def step_concat(self, x, others):
        axis, shape = self.axis(x), self.shape(x)
        fits = [y for y in others if len(self.shape(y)) == len(shape) and
                all(a == b for i, (a, b) in enumerate(zip(self.shape(y), shape)) if i != axis)]
        return self.op("Concat", x, self.pick(*(fits or [x])), axis=axis)

    def step_sum(self, x, others):
        fits = [y for y in others if self.shape(y) == self.shape(x)]
        return self.op(self.pick("Add", "Mul", "Sub"), x, self.op("Tanh", x) if self.maybe(0.3) else self.pick(*(fits or [x])))

    def step_softmax(self, x, others):
        return self.op(self.pick("Softmax", "Softmax", "LogSoftmax"), x, axis=self.pick(self.axis(x), -1))

    def step_reduce(self, x, others):
        name = self.pick("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceLogSum",
                         "ReduceLogSumExp", "ReduceSumSquare")
        axes = self.random.sample(range(len(self.shape(x))), self.pick(1, 1, min(2, len(self.shape(x)) - 1)))
        return self.reduce(name, self.positive(x) if name == "ReduceLogSum" else x, *axes,
                           keep=self.maybe() or len(self.shape(x)) < 2 + len(axes))

    def step_gather(self, x, others):
        axis = self.axis(x)
        side = self.shape(x)[axis]
        if self.maybe(0.3):
            return self.op("Gather", x, self.constant(np.asarray(self.random.randrange(-side, side), np.int64)), axis=axis)
        return self.op("Gather", x, self.ints(*(self.random.randrange(-side, side) for _ in range(3))), axis=axis)

    def step_split(self, x, others):
        axis = self.axis(x)
        first = self.random.randint(1, max(self.shape(x)[axis] - 1, 1))
        a, b = self.split(x, axis, [first, self.shape(x)[axis] - first])
        return self.op("Concat", b, a, axis=axis) if self.maybe() else a

    def step_pad(self, x, others):
        rank, mode = len(self.shape(x)), self.pick("constant", "constant", "edge", "reflect", "wrap")
        if mode == "wrap" and self.opset < 19:
            mode = "edge"
        pads = [0] * (2 * rank)
        for axis in {self.axis(x), self.axis(x)}:
            pads[axis], pads[rank + axis] = self.pick(0, 1, 2, -1), self.pick(0, 1, -1)
        value = self.constant(np.asarray(-1.5)) if mode == "constant" and self.maybe(0.3) else None
        if self.opset >= 18 and self.maybe(0.2):
            return self.op("Pad", x, self.ints(pads[-1], pads[rank - 1]), value, self.ints(-1), mode=mode)
        return self.op("Pad", x, self.ints(*pads), value, mode=mode)

    def step_product(self, x, others):
        shape = self.shape(x)
        rank = len(shape)
        fits = [y for y in others if len(self.shape(y)) == rank and self.shape(y)[-2] == shape[-1] and
                self.shape(y)[:-2] == shape[:-2]]
        way = self.pick("itself", "another", "constant", "constant")
        if way == "another" and fits:
            return self.op("MatMul", x, self.pick(*fits))
        if way == "constant":
            return self.op("MatMul", x, self.weight(*self.pick([], [1] * (rank - 2)), shape[-1], 4, scale=0.4))
        y = self.op("MatMul", x, self.transpose(self.op("Tanh", x) if self.maybe() else x, *range(rank - 2), rank - 1, rank - 2))
        return self.op("Relu", self.op("Add", y, self.number(0.7))) if self.maybe() else y

    def step_einsum(self, x, others):
        shape = self.shape(x)
        letters = "abcdefg"[:len(shape)]
        way = self.pick("turned", "turned", "constant", "parts", "ellipsis", "implied", "heads", "images")
        if way == "turned":
            other, made = list(letters), [c for c in letters if self.maybe(0.7)] or [letters[0]]
            self.random.shuffle(other)
            self.random.shuffle(made)
            turned = self.op("Transpose", x, perm=[letters.index(c) for c in other])
            return self.op("Einsum", x, turned, equation=f"{letters},{''.join(other)}->{''.join(made)}")
        if way == "parts":
            a, b = (self.reduce("ReduceMax", self.op("Tanh", x), axis, keep=False) for axis in (-1, -2))
            return self.op("Einsum", a, b, equation=f"{letters[:-1]},{letters[:-2]}{letters[-1]}->{letters}")
        if way == "ellipsis":
            return self.op("Einsum", self.op("Tanh", x), x, equation=self.pick("...c,...c", "...ij,...kj->...ik"))
        if way == "heads":
            return self.op("Einsum", x, self.weight(*shape[-2:], 3, scale=0.3), equation=f"{letters},{letters[-2:]}z->{letters[:-2]}z")
        if way == "images":  # weights for each image, equal or not
            each = 0.3 * self.numbers.standard_normal((self.pick(1, shape[0]), shape[-1], 3))
            weights = self.constant(np.broadcast_to(each, (shape[0], shape[-1], 3)))
            return self.op("Einsum", x, weights, equation=f"{letters},a{letters[-1]}z->{letters[:-1]}z")
        rows = self.pick(3, 3, 600)
        if way == "implied":
            return self.op("Einsum", x, self.weight(shape[1], rows, scale=0.3), equation=f"{letters},bz")
        made = letters[:-1] + "z" if self.maybe(0.7) else "z" + letters[-2::-1]
        return self.op("Einsum", x, self.weight(shape[-1], rows, scale=0.3), equation=f"{letters},{letters[-1]}z->{made}")

    def step_expand(self, x, others):
        axis, shape = self.axis(x), self.shape(x)
        if self.maybe():
            return self.op("Tile", x, self.ints(*(self.pick(1, 2) if i == axis or self.maybe(0.2) else 1 for i in range(len(shape)))))
        if self.maybe(0.3):
            return self.op("Expand", self.slice(x, axis, 0, 1), self.ints(*shape[:axis], 7, *shape[axis + 1:]))
        return self.op("Expand", self.unsqueeze(x, axis), self.ints(*shape[:axis], 2, *shape[axis:]))

    def step_norm(self, x, others):
        *sides, last = self.shape(x)
        if self.maybe(0.2):
            return self.op("LpNormalization", self.op("Relu", x) if self.maybe() else x, axis=self.pick(-1, self.axis(x)))
        if self.maybe(0.3) and last % 2 == 0 and self.opset >= 17:
            parts = self.reshape(self.op(self.pick("Add", "Mul"), x, self.uniform(last)), *sides, 2, last // 2)
            return self.op("LayerNormalization", parts, self.uniform(last // 2), self.weight(last // 2), axis=-1, epsilon=1e-2)
        return self.norm(x, self.maybe(0.3))

    def step_truth(self, x, others):
        """What is compared, joined and chosen by it."""
        other = self.pick(self.op("Neg", x), self.number(0.1), self.reduce("ReduceMean", x, self.axis(x)))
        name = self.pick("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal")
        if name == "Equal" or self.maybe(0.2):
            x, other = self.op("Round", x), self.op("Round", other)
        truth = self.op(name[:7].removesuffix("Or") if self.opset < 12 else name, x, other)
        way = self.pick("And", "Or", "Xor", "Not", "IsNaN", "Cast", "", "")
        if way in ("And", "Or", "Xor"):
            truth = self.op(way, truth, self.op("Greater", x, self.number(0.3)))
        elif way == "Not":
            truth = self.op("Not", truth)
        elif way == "IsNaN":
            truth = self.op("IsNaN", self.op("Sqrt", x))
        elif way == "Cast":
            truth = self.op("Cast", self.op("Round", x), to=TensorProto.BOOL)
        if self.maybe(0.4):
            return self.op("Mul", self.floats(truth), x) if self.maybe() else self.floats(truth)
        return self.op("Where", truth, x, self.op("Tanh", x) if self.maybe() else self.number(0.3))

    def step_limits(self, x, others):
        name = self.pick("Clip", "PRelu", "Mod")
        if name == "Clip":
            return self.op("Clip", x, self.constant(np.asarray(-0.4)), self.constant(np.asarray(0.8)) if self.maybe() else None)
        if name == "PRelu":
            return self.op("PRelu", x, self.weight(self.shape(x)[-1], scale=0.3))
        return self.op("Mod", x, self.uniform(self.shape(x)[-1]), fmod=1)

    def step_place(self, x, others):
        """The largest, and elements at places that the graph has or that it computes."""
        axis, shape = self.axis(x), self.shape(x)
        count = min(2, shape[axis])
        way = self.pick("largest", "argument", "elements", "many", "by the net", "rows by the net", "rows by the net", "table",
                        "whole")
        if way in ("largest", "table", "whole"):
            y = self.op("Round", x) if self.maybe(0.3) else x  # with ties
            values, places = self.op("TopK", y, self.ints(count), axis=axis, largest=self.pick(0, 1), outputs=2)
            if way == "table":
                return self.op("Gather", self.weight(shape[axis], 2), places, axis=0)
            if way == "whole":
                divided = self.op(self.pick("Div", "Mod"), places, self.constant(np.asarray([2], np.int64)))
                return self.floats(divided) if self.maybe() else self.op("Div", self.floats(places), self.number(2.0))
            return values if self.maybe() else self.floats(places)
        name = self.pick("ArgMax", "ArgMin")
        if way == "argument":
            y = self.op(name, self.op("Round", x), axis=axis, keepdims=1, select_last_index=self.pick(0, 1 if self.opset > 11 else 0))
            return self.op("Add", x, self.floats(y))
        if way == "elements":
            places = self.numbers.integers(-shape[axis], shape[axis], [count if i == axis else s for i, s in enumerate(shape)])
            return self.op("GatherElements", x, self.constant(places), axis=axis)
        if way == "many":
            places = np.stack([self.numbers.integers(0, s, 3) for s in shape[1:3]], 1)[None].repeat(shape[0], 0)
            return self.op("GatherND", x, self.constant(places), batch_dims=1)
        if way == "rows by the net":
            means = self.reduce("ReduceMean", self.reshape(x, *shape[:2], -1), 2, keep=False)
            best = self.op("TopK", means, self.ints(min(2, shape[1])), axis=1, outputs=2)[1]
            if self.maybe():
                return self.op("GatherND", x, self.unsqueeze(best, 2), batch_dims=1)
            return self.op("Gather", self.squeeze(x, 0), self.squeeze(self.op("Sub", best, self.ints(shape[1])), 0), axis=0)
        best = self.op(name, x, axis=axis, keepdims=1)
        return self.op("GatherElements", x if self.maybe() else self.uniform(*shape), best, axis=axis)

    def step_several(self, x, others):
        parts = [x, self.op("Sigmoid", x), self.uniform(self.shape(x)[-1]), self.number(0.25)][:self.pick(2, 3, 4)]
        return self.op(self.pick("Sum", "Mean", "Max", "Min"), *parts)

    def step_whole(self, x, others):
        """Whole numbers for a while."""
        y = self.op("Cast", self.op("Mul", x, self.number(4.0)), to=TensorProto.INT64)
        name = self.pick("Add", "Mul", "Sub", "Mod", "Div", "like")
        if name == "like" and self.opset >= 15:
            return self.op("Mul", x, self.op("CastLike", self.constant(np.asarray(2, np.int64)), x))
        return self.floats(self.op("Add" if name == "like" else name, y, self.constant(np.asarray(3, np.int64))))

    def step_folded(self, x, others):
        """A constant that the graph computes from others."""
        side, way = self.shape(x)[-1], self.pick("mod", "gemm", "scatter", "einsum", "bits", "range", "chosen", "resize")
        if way == "mod":
            y = self.op("Mod", self.weight(side), self.constant(np.asarray([0.3])), fmod=1)
        elif way == "gemm":
            y = self.op("Gemm", self.weight(side, 3), self.weight(3, 2), self.weight(side, 1), alpha=self.pick(None, 0.5))
            y = self.op("Gather", y, self.constant(np.asarray(1, np.int64)), axis=1)
        elif way == "range":
            y = self.op("Cast", self.op("Range", *(self.constant(np.asarray(n, np.int64)) for n in (0, side, 1))), to=TensorProto.FLOAT)
        elif way == "chosen":
            y = self.op("Where", self.constant(self.numbers.uniform(size=side) > 0.5), self.weight(side), self.number(0.5))
        else:
            if way == "scatter":
                rows = self.numbers.permuted(np.tile(np.arange(-1, 1), (side, 1)), axis=1).T
                y = self.op("ScatterElements", self.weight(2, side), self.constant(rows), self.uniform(2, side), axis=0)
            elif way == "einsum":
                y = self.op("Einsum", self.weight(2, 3), self.weight(side, 2), equation=self.pick("ij,ki->jk", "ij, ki -> jk"))
            elif way == "bits":
                blocks = {"axis": 1, "block_size": 2} if self.opset >= 21 else {"axis": 1}
                scale = self.uniform(2, -(-side // 2)) if self.opset >= 21 else self.uniform(side)
                if self.opset < 13:
                    scale, blocks = self.constant(np.asarray(0.3)), {}
                y = self.op("DequantizeLinear", self.constant(self.numbers.integers(0, 200, (2, side)).astype(np.uint8)), scale, **blocks)
            else:
                scales = self.constant(np.asarray([1.75, 1.375 * side / 2]))
                y = self.op("Resize", self.weight(1, 1, 2, 2), None, scales, mode="linear", axes=[2, 3]) if self.opset >= 18 else \
                    self.op("Resize", self.weight(1, 1, 2, 2), None, None, self.ints(1, 1, 3, side), mode="linear")
                y = self.slice(self.reshape(y, 3, -1), 1, 0, side)
            y = self.op("Gather", y, self.constant(np.asarray(1, np.int64)), axis=0)
        return self.both(self.pick("Add", "Mul"), x, y)

    def step_rows(self, x, others):
        """Heads as rows of the batch, as deformable attention has them for GridSample."""
        shape = self.shape(x)
        count, size = shape[0], math.prod(shape[1:])
        rows = self.pick(*(n for n in (2, 3, 4, 6, 8) if size % n == 0))
        width = self.pick(*(n for n in (2, 3, 4, 5, 6) if size // rows % n == 0))
        y = self.reshape(self.reshape(x, count, rows, size // rows), count * rows, size // rows // width, width)
        way = self.pick("as they are", "sum", "turned", "softmax", "slice", "columns", "times rows", "times rows",
                        "mixed turn", "mixed softmax")
        if way == "sum":
            y = self.op("Add", y, self.op("Tanh", y))
        elif way in ("turned", "mixed turn"):
            order = (0, 2, 1) if way == "turned" else (1, 0, 2)
            y = self.transpose(self.op("Tanh", self.transpose(y, *order)), *order)
        elif way in ("softmax", "mixed softmax"):
            y = self.op("Softmax", y, axis=2 if way == "softmax" else 0)
        elif way == "slice":
            y = self.slice(self.op("Concat", y, y, axis=2), 2, 1, 1 + width)
        elif way in ("columns", "times rows"):
            y = self.op("Mul", y, self.uniform(1, width) if way == "columns" else self.uniform(count * rows, 1, 1))
        return self.op("Tanh", self.reshape(y, *shape) if self.maybe(0.7) else y)

    def step_attention(self, x, others):
        """Attention with parts that an operator of ours lacks, or without."""
        if len(self.shape(x)) == 4:
            x = self.transpose(self.reshape(x, *self.shape(x)[:2], -1), 0, 2, 1)
        (count, tokens, dim), heads = self.shape(x), 2
        plain = dim % 2 == 0 and self.maybe(0.25)  # without projections
        width = dim // 2 if plain else 4
        apart = lambda y: self.transpose(self.reshape(y, count, tokens, heads, width), 0, 2, 1, 3)
        q, k, v = (apart(x if plain else self.op("MatMul", x, self.weight(dim, heads * width))) for _ in range(3))
        if self.maybe(0.3):
            q = self.weight(1, heads, self.pick(1, 1, 1, 2), width, scale=0.5)
            if self.opset >= 17 and self.maybe(0.3):
                q = self.op("LayerNormalization", q, self.uniform(width), self.weight(width), epsilon=1e-3)
        if self.maybe(0.15):
            k = self.op("Gather", k, self.ints(1, 0), axis=1)
        parts = [q, k, v]
        for i in range(3):
            if self.maybe(0.07):
                parts[i] = self.op("Mul", parts[i], self.uniform(1, 1, self.shape(parts[i])[2], width))
            if self.maybe(0.1):
                halves = [self.slice(parts[i], 3, *part) for part in ((width // 2, width), (0, width // 2))]
                angle = np.tile(self.numbers.uniform(0, 1, (self.shape(parts[i])[2], width // 2)), 2)
                turned = self.op("Concat", self.op("Neg", halves[0]), halves[1], axis=-1)
                parts[i] = self.op("Add", self.op("Mul", parts[i], self.constant(np.cos(angle))),
                                   self.op("Mul", turned, self.constant(np.sin(angle))))
        q, k, v = parts
        if self.maybe(0.07):
            v = self.slice(v, 2, -1, -100, -1)
        if self.maybe(0.07):
            v = self.slice(v, 3, 0, width - 1)
        s = self.op("MatMul", q, self.transpose(k, 0, 1, 3, 2))
        positions = lambda: self.op("Einsum", q, self.weight(tokens, width), equation="bhqc,kc->bhqk")
        if self.maybe(0.2):
            s = self.op("Add", s, self.pick(self.weight(tokens, tokens), self.weight(1, heads, 1, tokens)))
        if self.maybe(0.15):
            s = self.op("Add", s, positions())
        if self.maybe(0.15):
            s = self.op("Mul", s, self.weight(1, heads, 1, 1))
        if self.maybe(0.15):
            return s
        p = self.op("Softmax", s, axis=self.pick(3, 3, -1, -1, -1, 2))
        if self.maybe(0.07):
            p = self.op("Softmax", p, axis=3)
        if self.maybe(0.07):
            p = self.op("Add", p, positions())
        y = self.op("MatMul", p, v)
        return self.reshape(self.transpose(y, 0, 2, 1, 3), self.shape(y)[0], self.shape(y)[2], -1)

    def step_class_scores(self, x, others):
        """A label map of the size of the image, or nearly so."""
        (count, _, _), (h, w) = self.shape(others[1]), self.grid
        y = self.reshape(self.transpose(self.linear(self.patch_rows(others[1]), 5), 0, 2, 1), count, 5, h, w)
        height, width = self.shape(self.input)[1:3] if self.last else self.shape(self.input)[2:]
        given = {"mode": "linear", "coordinate_transformation_mode": self.pick("half_pixel", "asymmetric")}
        way = self.pick("sizes", "scales", "another scale", "channels", "another", "lines", "antialias", "nearest")
        if way == "antialias" and self.opset >= 18:
            given.update(antialias=1, exclude_outside=1)
        if way == "nearest":
            given["mode"] = way
        if way == "lines":
            y = self.op("Resize", self.reshape(y, count, 5, h * w), None, None, self.ints(count, 5, height * width), **given)
        elif way == "another":
            y = self.resize(y)
        elif way in ("scales", "another scale"):
            scale = height // h + (0.1 if way == "another scale" else 0)
            y = self.op("Resize", y, None, self.constant(np.asarray([1, 1, scale, width // w])), **given)
        else:
            y = self.op("Resize", y, None, None, self.ints(count, 10 if way == "channels" else 5, height, width), **given)
        if self.maybe(0.6):
            return self.op("ArgMax", y, axis=self.pick(1, 1, 1, 2), keepdims=self.pick(0, 1),
                           select_last_index=self.pick(0, 0, 1) if self.opset > 11 else 0)
        return y

    # On maps

    def resize(self, x, linear=False):
        shape, given = self.shape(x), {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        sizes = [*shape[:2], *(s * self.pick(1, 2, 2, 3) for s in shape[2:])]
        if not linear:
            if self.maybe(0.3):
                sizes[2:] = self.random.randint(1, 9), self.pick(1, self.random.randint(1, 9))
            sizes[1] *= self.pick(1, 1, 1, 1, 1, 2)
            sizes[2] *= 1 if self.maybe(0.96) else 49  # 49 * (1 / 49.0) < 1
            rules = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", *(["half_pixel_symmetric"] if self.opset >= 19 else []))
            given = {"mode": self.pick("linear", "nearest", "cubic"), "coordinate_transformation_mode": self.pick(*rules)}
            if given["mode"] == "nearest":
                given["nearest_mode"] = self.pick("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
            elif self.opset >= 18 and self.maybe(0.2):
                given.update(antialias=1, exclude_outside=1)
            elif given["mode"] == "cubic":
                given.update(exclude_outside=self.pick(0, 1), cubic_coeff_a=self.pick(-0.75, -0.5))
            if self.opset >= 18 and self.maybe(0.2):
                return self.op("Resize", x, None, None, self.ints(sizes[3], sizes[2]), axes=[3, -2], **given)
        if self.maybe() and not any(a % b for a, b in zip(sizes, shape)):  # others may end a pixel earlier by rounding
            scales = [a / b for a, b in zip(sizes, shape)]
            if given["coordinate_transformation_mode"] == "half_pixel" and self.maybe(0.2):
                scales[2:] = 1.31, 1.73  # which end within a pixel
            return self.op("Resize", x, None, self.constant(np.asarray(scales, np.float64)), **given)
        return self.op("Resize", x, None, None, self.ints(*sizes), **given)

    def kernel(self, out, inside, *sides):
        return 1 / math.sqrt(inside * math.prod(sides)) * self.numbers.standard_normal((out, inside, *sides))

    def convolution(self, x):
        c = self.shape(x)[1]
        out, side, other = self.pick(2, 4, c), self.pick(1, 1, 3, 2), self.pick(0, 0, 1)
        groups = self.pick(1, 1, c) if out == c else 2 if c % 2 == 0 and self.maybe(0.2) else 1
        kernel = self.kernel(out, c // groups, side, side + other)
        bias = self.weight(out, scale=0.2) if self.maybe() else None
        if self.maybe(0.15):
            return self.op("Conv", x, self.constant(kernel), bias, group=groups, strides=self.pick([1, 1], [2, 1], [2, 2], [3, 3]),
                           dilations=self.pick([1, 1], [1, 1], [2, 1]), auto_pad=self.pick("SAME_UPPER", "SAME_LOWER", "VALID"))
        pads = [side // 2] * 4 if self.maybe(0.7) else [0, 1, 1, 0]
        return self.op("Conv", x, self.constant(kernel), bias, group=groups, pads=pads,
                       strides=self.pick([1, 1], [1, 1], [2, 1]), dilations=self.pick(None, None, [1, 2]))

    def map_conv(self, x, others):
        y = self.convolution(x)
        if self.maybe(0.3):
            y = self.convolution(self.op("Relu", y))
        return self.op("Add", y, self.op(self.pick("GlobalAveragePool", "GlobalMaxPool", "Tanh"), y)) if self.maybe(0.2) else y

    def map_deconv(self, x, others):
        _, c, h, w = self.shape(x)
        side, stride = self.pick(2, 3, 4), self.pick([1, 1], [2, 2], [2, 3])
        groups = self.pick(1, 1, c, *(g for g in (2, 4) if c % g == 0))
        out = self.pick(1, 2, 3)
        given = self.pick({"pads": [0] * 4}, {"pads": [0, 1, 1, 0]}, {"pads": [1] * 4}, {"auto_pad": self.pick("SAME_UPPER", "SAME_LOWER")},
                          {"output_shape": [h * stride[0], w * stride[1]]})
        if "pads" in given and stride != [1, 1] and self.maybe():
            given["output_padding"] = [1, stride[1] - 1]
        return self.op("ConvTranspose", x, self.constant(self.kernel(c, out, side, self.pick(side, 2))),
                       self.weight(out * groups, scale=0.2) if self.maybe() else None, group=groups, strides=stride,
                       dilations=self.pick(None, None, [2, 1], [2, 3]), **given)

    def map_resize(self, x, others):
        if self.maybe(0.1):  # of three dimensions
            y = self.reshape(x, *self.shape(x)[:2], -1)
            return self.op("Resize", y, None, None, self.ints(*self.shape(y)[:2], 30), mode=self.pick("linear", "cubic"))
        y = self.resize(self.convolution(x) if self.maybe() else x)
        return self.convolution(y) if self.maybe(0.5) else y

    def map_batch_norm(self, x, others):
        x = self.convolution(x) if self.maybe() else x
        c = self.shape(x)[1]
        return self.op("BatchNormalization", x, self.weight(c, scale=0.3, offset=1.0), self.weight(c), self.weight(c), self.uniform(c))

    def map_joined(self, x, others):
        """What stands around convolutions becomes part of them."""
        stem = self.op("Conv", x, self.constant(self.kernel(4, self.shape(x)[1], 3, 3)), self.weight(4), pads=[1] * 4)
        y = self.op("Conv", self.op("Relu", stem), self.constant(self.kernel(4, 4, 3, 3)), self.weight(4), pads=[1] * 4)
        y = self.op("ConvTranspose", self.op("Add", stem, y), self.constant(self.kernel(4, 4, 2, 2)), self.weight(4), strides=[2, 2])
        y = self.op("BatchNormalization", y, self.uniform(4), self.weight(4), self.weight(4), self.uniform(4))
        return self.convolution(self.resize(self.op("Relu", y), linear=True))

    def map_group_norm(self, x, others):
        c = self.shape(x)[1]
        groups = self.pick(*(g for g in range(1, c + 1) if c % g == 0))
        if self.maybe():
            of = c if self.opset >= 21 else groups
            return self.op("GroupNormalization", x, self.weight(of, offset=1.0), self.weight(of), num_groups=groups, epsilon=1e-3)
        if self.maybe():
            x = self.reshape(x, self.shape(x)[0], groups, -1)
        c = self.shape(x)[1]
        return self.op("InstanceNormalization", x, self.weight(c, offset=1.0), self.weight(c), epsilon=1e-3)

    def map_depth(self, x, others):
        if self.maybe(0.3):
            return self.op("SpaceToDepth", x, blocksize=2)
        return self.op("DepthToSpace", x, blocksize=2, mode=self.pick("DCR", "CRD"))

    def map_grid_sample(self, x, others):
        count, _, h, w = self.shape(x)
        if self.maybe(0.3):
            places = self.op("Tanh", self.reshape(self.slice(x, 1, 0, 2), count, h, w, 2))
        else:
            places = self.constant(self.numbers.uniform(-1.4, 1.4, (count, 3, 4, 2)))
        mode = self.pick("linear", "linear", "nearest", "cubic")
        if self.opset < 20:
            mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
        return self.op("GridSample", x, places, mode=mode, padding_mode=self.pick("zeros", "border", "reflection"),
                       align_corners=self.pick(0, 1))

    def map_deformable(self, x, others):
        """Multi-scale deformable attention in plain operators: two levels, two heads, three points."""
        (count, c, h, w), heads, points = self.shape(x), 2, 3
        levels = [x, self.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])]
        sizes = [self.shape(level)[2:] for level in levels]
        rows = [self.transpose(self.reshape(level, count, c, -1), 0, 2, 1) for level in levels]
        queries, width = h * w, c // heads
        value = self.reshape(self.op("Concat", *rows, axis=1), count, -1, heads, width)
        linear = lambda out: self.op("MatMul", rows[0], self.weight(c, out))
        offsets = self.reshape(linear(heads * 2 * points * 2), count, queries, heads, 2, points, 2)
        weights = self.op("Softmax", self.reshape(linear(heads * 2 * points), count, queries, heads, 2 * points), axis=-1)
        weights = self.reshape(self.transpose(weights, 0, 2, 1, 3), count * heads, 1, queries, 2 * points)
        scale = self.constant(np.asarray(sizes, float)[:, ::-1].reshape(1, 1, 1, 2, 1, 2))
        places = self.op("Add", self.constant(self.numbers.uniform(0, 1, (1, queries, 1, 1, 1, 2))),
                         self.op("Div", self.op("Tanh", offsets), scale))
        places = self.op("Sub", self.op("Mul", places, self.number(2.0)), self.number(1.0))
        sampled = []
        for level, part in enumerate(self.split(value, 1, [a * b for a, b in sizes])):
            maps = self.transpose(self.reshape(part, count, -1, heads * width), 0, 2, 1)
            grid = self.op("Gather", places, self.constant(np.asarray(level, np.int64)), axis=3)
            grid = self.reshape(self.transpose(grid, 0, 2, 1, 3, 4), count * heads, queries, points, 2)
            mode = "linear" if self.opset >= 20 else "bilinear"
            sampled.append(self.unsqueeze(self.op("GridSample", self.reshape(maps, count * heads, width, *sizes[level]), grid, mode=mode), -2))
        y = self.op("Mul", self.reshape(self.op("Concat", *sampled, axis=-2), count * heads, width, queries, 2 * points), weights)
        y = self.reshape(self.reduce("ReduceSum", y, -1, keep=False), count, heads * width, queries)
        return self.transpose(y, 0, 2, 1)

    def map_pool(self, x, others):
        name = self.pick("MaxPool", "MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
        if name.startswith("Global"):
            y = self.op(name, x)
            return self.op("Softmax", self.op("Flatten", y), axis=1) if self.maybe(0.3) else y
        given = {"count_include_pad": self.pick(0, 1)} if name == "AveragePool" else {}
        if self.maybe(0.5) and (name == "MaxPool" or self.opset >= 19):
            given["dilations"] = self.pick([1, 1], [1, 2])
        if "dilations" not in given and self.maybe():  # ONNX Runtime forgets the dilations in SAME
            given["auto_pad"] = self.pick("SAME_UPPER", "SAME_LOWER", "VALID")
        else:
            given["pads"] = self.pick([0] * 4, [0, 1, 1, 0], [1, 1, 1, 1])
        return self.op(name, x, kernel_shape=[self.pick(2, 2, 3), self.pick(2, 3)], strides=self.pick([1, 1], [2, 2], [2, 1]),
                       ceil_mode=self.pick(0, 0, 1), **given)

    def chain(self, x, tokens, first=None):
        """Behind x `first` and a few others, each if it fits."""
        others = [x, tokens]
        for i in range(self.pick(1, 1, 2, 3, 4, 5, 6) if first else self.random.randint(1, 6)):
            mark, weights = len(self.nodes), len(self.weights)
            maps = len(self.shape(x)) == 4 and self.maybe()
            kind = first if first and i == 0 else self.pick(*(ON_MAPS if maps else ANYWHERE))
            try:
                y = getattr(self, kind)(x, others)
                if self.values[y].size > 40000 or self.values[y].size < 1 or len(self.shape(y)) < 1 or \
                        not np.isfinite(self.values[y]).all():
                    raise evaluate.NotDefined("too much")
                self.features.add(kind.replace("_", " "))
                x = y
                others.append(x)
            except (evaluate.NotDefined, ValueError, IndexError):  # this step does not fit this shape
                if kind == first:
                    raise evaluate.NotDefined(kind) from None
                del self.nodes[mark:], self.weights[weights:]
        return x


ANYWHERE = [name for name in dir(Steps) if name.startswith("step_")] + 2 * ["step_attention"]
ON_MAPS = [name for name in dir(Steps) if name.startswith("map_")] + 2 * ["map_conv", "map_resize"]
