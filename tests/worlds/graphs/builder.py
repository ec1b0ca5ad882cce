# SPDX-License-Identifier: Apache-2.0
"""Writes a graph node by node, each operation in one of the ways in which exporters and people write it.

Each node is computed while the graph is made, so that the next one can be chosen by the shapes that there are.
"""
import math
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import evaluate
from fused import Fuser
from spellings import COMMON, RARE


class Builder(Fuser):
    """A graph that grows, with the values of its tensors for one image."""

    def __init__(self, seed, fixed=()):
        """`fixed`: choices of spellings.py that are made already. Then the numbers are the same for each "grid" of patches."""
        self.fixed = dict(fixed)
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = self.random.choice([11, 12, 13, 14, 15, 16, 17, 17, 17, 18, 18, 19, 20, 21, 23])
        self.features = set()
        self.only_common, self.mixed, self.styles = self.maybe(0.6), self.maybe(0.2), {}
        self.nodes, self.weights, self.count = [], [], 0
        self.evaluator = evaluate.Evaluator(helper.make_model(helper.make_graph([], "g", [], [])), "")
        self.evaluator.opset = self.opset
        self.evaluator.values = self.values = {"": None}
        self.storage, self.halves = self.spell("storage"), self.spell("halves")

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, chance=0.5):
        return self.random.random() < chance

    def some(self, name, *choices):
        """A choice that counts as a feature of the graph."""
        chosen = self.random.choice(choices)
        self.features.add(f"{name} {chosen}")
        return chosen

    def spell(self, name):
        """A choice of spellings.py."""
        if name in self.fixed:
            return self.fixed[name]
        rare = () if self.only_common else RARE.get(name, ())
        chosen = self.some(name, *COMMON[name], *rare)
        if chosen in rare:
            self.features.add("rare")
        return chosen

    def style(self, name):
        """The same, once for the whole graph: one exporter wrote it. In a mixed graph each time."""
        if self.mixed or name not in self.styles:
            self.styles[name] = self.spell(name)
        return self.styles[name]

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def op(self, kind, *inputs, outputs=1, **given):
        names = [self.fresh(kind) for _ in range(outputs)]
        inputs = list(inputs)
        while inputs and inputs[-1] is None:
            inputs.pop()
        given = {key: value for key, value in given.items() if value is not None}
        node = helper.make_node(kind, ["" if i is None else i for i in inputs], names, names[0], **given)
        self.evaluator.nodes([node], self.values)
        self.nodes.append(node)
        if self.halves == "between nodes" and outputs == 1 and kind != "Cast" and self.values[names[0]].dtype.kind == "f":
            return self.in_halves(names[0])
        return names[0] if outputs == 1 else names

    def shape(self, name):
        return list(self.values[name].shape)

    def constant(self, array):
        name, way = self.fresh("w"), self.storage
        array = np.asarray(array)
        if array.dtype != np.uint8:  # of a few bits
            array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64 if array.dtype.kind == "i" else bool)
        weights = array.dtype.kind == "f" and array.size > 4
        if way == "shared" and weights:
            for other in self.weights:
                if list(other.dims) == list(array.shape) and other.data_type == TensorProto.FLOAT:
                    return other.name
        if way in ("half", "double") and weights:
            array = array.astype(np.float16 if way == "half" else np.float64)
        tensor = numpy_helper.from_array(array, name)
        if way == "field" and weights:
            tensor = helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.ravel())
        if way == "node" and array.dtype.kind == "f":
            return self.op("Constant", value=tensor)
        self.weights.append(tensor)
        self.values[name] = self.evaluator.array(array)
        if way in ("half", "double") and weights:
            return self.op("Cast", name, to=TensorProto.FLOAT)
        return self.op("Identity", name) if way == "identity" and weights else name

    def weight(self, *shape, scale=None, offset=0.0):
        scale = 1 / math.sqrt(max(shape[-1] if len(shape) == 1 else shape[0], 1)) if scale is None else scale
        return self.constant(offset + scale * self.numbers.standard_normal(shape))

    def ints(self, *values):
        return self.constant(np.asarray(values, np.int64).reshape(-1))

    def number(self, value):
        return self.constant(np.asarray(value, np.float64) if self.maybe() else np.asarray([value], np.float64))

    # What changed with the opset, or is written in several ways

    def squeeze(self, x, *axes):
        return self.op("Squeeze", x, axes=list(axes)) if self.opset < 13 else self.op("Squeeze", x, self.ints(*axes))

    def unsqueeze(self, x, *axes):
        return self.op("Unsqueeze", x, axes=list(axes)) if self.opset < 13 else self.op("Unsqueeze", x, self.ints(*axes))

    def reshape(self, x, *shape):
        shape, now = list(shape), self.shape(x)
        way = self.style("shape")
        if way == "open" and -1 not in shape:
            shape[self.random.randrange(len(shape))] = -1
        elif way == "copied":
            for i in range(min(len(shape), len(now))):
                if shape[i] == now[i] and (i == 0 or shape[:i] == [0] * i):
                    shape[i] = 0
        elif way == "computed" and shape[0] == now[0]:
            front = self.op("Slice", self.op("Shape", x), self.ints(0), self.ints(1), self.ints(0))
            return self.op("Reshape", x, self.op("Concat", front, self.ints(*shape[1:]), axis=0))
        elif way == "computed one by one":  # as TorchScript writes x.shape[i]
            sides = [self.ints(side) for side in shape]
            for i in range(min(len(shape), len(now))):
                if shape[i] == now[i]:
                    side = self.op("Gather", self.op("Shape", x), self.constant(np.asarray(i, np.int64)), axis=0)
                    sides[i] = self.unsqueeze(side, 0)
            return self.op("Reshape", x, self.op("Concat", *sides, axis=0))
        return self.op("Reshape", x, self.ints(*shape))

    def transpose(self, x, *order):
        return self.op("Transpose", x, perm=list(order))

    def slice(self, x, axis, start, end, step=None):
        rank = len(self.shape(x))
        axis = axis - rank if self.maybe(0.3) else axis
        return self.op("Slice", x, self.ints(start), self.ints(end), self.ints(axis), None if step is None else self.ints(step))

    def split(self, x, axis, sizes):
        if self.opset < 13:
            return self.op("Split", x, axis=axis, split=sizes, outputs=len(sizes))
        if len(set(sizes)) == 1 and self.opset < 18 and self.maybe():
            return self.op("Split", x, axis=axis, outputs=len(sizes))
        return self.op("Split", x, self.ints(*sizes), axis=axis, outputs=len(sizes))

    def mean(self, x, axis, keep=True):
        return self.reduce("ReduceMean", x, axis, keep=keep)

    def reduce(self, name, x, *axes, keep=True):
        old = self.opset < (13 if name == "ReduceSum" else 18)
        return self.op(name, x, axes=list(axes), keepdims=int(keep)) if old else \
            self.op(name, x, self.ints(*axes), keepdims=int(keep))

    def both(self, kind, a, b):
        """An Add or a Mul, whose operands may stand in any order."""
        return self.op(kind, a, b) if self.maybe() else self.op(kind, b, a)

    def linear(self, x, out, bias=True, how=None):
        shape = self.shape(x)
        width, rank = shape[-1], len(shape)
        w = 1 / math.sqrt(width) * self.numbers.standard_normal((width, out))
        b = self.constant(0.2 * self.numbers.standard_normal(out)) if bias else None
        how = how or self.style("linear")
        if how == "few bits":
            inside = self.maybe(0.3)
            y = self.few_bits(x, out, b if inside else None)
            return self.both("Add", y, b) if bias and not inside else y
        if how == "gemm":
            rows = self.reshape(x, -1, width)
            turned = self.maybe()
            y = self.op("Gemm", rows, self.constant(w.T if turned else w), b, transB=int(turned))
            return self.op("Reshape", y, self.ints(*shape[:-1], out))
        if how == "conv" and rank == 3:
            rows = self.reshape(self.transpose(x, 0, 2, 1), shape[0], width, shape[1], 1)
            y = self.op("Conv", rows, self.constant(w.T.reshape(out, width, 1, 1)), b)
            return self.transpose(self.reshape(y, shape[0], out, shape[1]), 0, 2, 1)
        if how == "conv along tokens" and rank == 3:
            y = self.op("Conv", self.transpose(x, 0, 2, 1), self.constant(w.T.reshape(out, width, 1)), b)
            return self.transpose(y, 0, 2, 1)
        if how == "weights on the left" and rank == 3:
            y = self.transpose(self.op("MatMul", self.constant(w.T), self.transpose(x, 0, 2, 1)), 0, 2, 1)
        elif how == "einsum":
            letters = "abcdefg"[:rank]
            turned = self.maybe()
            y = self.op("Einsum", x, self.constant(w.T if turned else w),
                        equation=f"{letters},{'z' + letters[-1] if turned else letters[-1] + 'z'}->{letters[:-1]}z")
        else:
            y = self.op("MatMul", x, self.constant(w))
        return self.both("Add", y, b) if bias else y

    def norm(self, x, rms=False, eps=None):
        width, eps = self.shape(x)[-1], eps or self.pick(1e-6, *((0.02, 0.3) if self.fixed else (1e-5, 1e-3)))
        scale = self.weight(width, scale=0.3, offset=1.0)
        bias = None if rms or self.maybe(0.1) else self.weight(width, scale=0.2)
        how = self.style("norm")
        if rms and self.is_optimised():
            return self.op("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=eps)
        if how == "op" and rms and self.opset >= 23:
            return self.op("RMSNormalization", x, scale, axis=-1, epsilon=eps)
        if how == "op" and not rms and self.opset >= 17:
            return self.op("LayerNormalization", x, scale, bias, epsilon=eps, axis=self.pick(-1, len(self.shape(x)) - 1, None))
        average = (lambda y: self.op("Div", self.reduce("ReduceSum", y, -1), self.number(width))) if how == "mean by sum" else \
            (lambda y: self.mean(y, -1))
        if how in ("mean of squares", "folded") and not rms:  # as Flax and Keras do
            mean = average(x)
            if how == "folded":
                apart = self.op("Sub", x, mean)
                variance = average(self.op("Mul", apart, apart))
            else:
                variance = self.op("Sub", average(self.op("Mul", x, x)), self.op("Mul", mean, mean))
            factor = self.op("Reciprocal", self.op("Sqrt", self.op("Add", variance, self.number(eps))))
            factor = self.both("Mul", factor, scale)
            if how == "folded":
                offset = self.op("Mul", mean, factor)
                offset = self.op("Neg", offset) if bias is None else self.op("Sub", bias, offset)
                return self.op("Add", self.op("Mul", x, factor), offset)
            y = self.op("Mul", self.op("Sub", x, mean), factor)
            return y if bias is None else self.op("Add", y, bias)
        middle = x if rms else self.op("Sub", x, average(x))
        square = self.op("Mul", middle, middle) if how != "power" else self.op("Pow", middle, self.number(2.0))
        spread = self.op("Add", average(square), self.number(eps))
        root = self.op("Pow", spread, self.number(0.5)) if how == "power" and self.maybe() else self.op("Sqrt", spread)
        y = self.op("Mul", middle, self.op("Reciprocal", root)) if how == "reciprocal" else self.op("Div", middle, root)
        y = self.both("Mul", y, scale)
        return y if bias is None else self.op("Add", y, bias)

    def activation(self, x, kind):
        if kind in ("erf", "tanh", "quick") and self.is_optimised():
            return self.fused_activation(x, kind)
        half, one = self.number(0.5), self.number(1.0)
        if kind == "relu":
            return self.op("Relu", x)
        if kind == "squared relu":
            y = self.op("Relu", x)
            return self.op("Pow", y, self.number(2.0)) if self.maybe() else self.op("Mul", y, y)
        if kind == "elu":
            return self.op("Elu", x)
        if kind == "mish":
            if self.opset >= 18 and self.maybe():
                return self.op("Mish", x)
            return self.both("Mul", x, self.op("Tanh", self.op("Softplus", x)))
        if kind == "hard swish":
            if self.opset >= 14 and self.maybe():
                return self.op("HardSwish", x)
            if self.maybe():
                return self.both("Mul", x, self.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))
            y = self.op("Clip", self.op("Add", x, self.number(3.0)), self.constant(np.asarray(0.0)), self.constant(np.asarray(6.0)))
            return self.op("Div", self.both("Mul", x, y), self.number(6.0))
        if kind == "leaky relu":
            return self.op("LeakyRelu", x)
        if kind == "softplus":
            return self.op("Softplus", x)
        if kind == "silu":
            if self.maybe(0.2):
                return self.op("Div", x, self.op("Add", self.op("Exp", self.op("Neg", x)), one))
            return self.both("Mul", x, self.op("Sigmoid", x))
        if kind == "quick":
            return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.number(1.702))))
        if kind == "tanh":
            how = self.style("tanh")
            if how == "op" and self.opset >= 20:
                return self.op("Gelu", x, approximate="tanh")
            cube = self.op("Mul", self.op("Mul", x, x), x) if how == "products" else self.op("Pow", x, self.number(3.0))
            inner = self.op("Mul", self.op("Add", x, self.op("Mul", cube, self.number(0.044715))),
                            self.number(0.7978845608))
            bent = self.op("Add", self.op("Tanh", inner), one)
            return self.op("Mul", self.op("Mul", x, half), bent)
        how = self.style("erf")
        if how == "op" and self.opset >= 20:
            return self.op("Gelu", x)
        bent = self.op("Erf", self.op("Div", x, self.number(math.sqrt(2))))
        bent = self.op("Add", bent, one)
        if how == "halved":
            return self.op("Div", self.both("Mul", x, bent), self.number(2.0))
        if how == "half first":
            return self.op("Mul", self.op("Mul", x, half), bent)
        if how == "half last":
            return self.op("Mul", self.op("Mul", x, bent), half)
        return self.op("Mul", x, self.op("Mul", half, bent))
