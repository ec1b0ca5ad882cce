# SPDX-License-Identifier: Apache-2.0
"""Makes ViT-shaped graphs of random spellings: what an exporter might write, and behind the encoder what none would.

Each node is computed while the graph is made, so that the next one can be chosen by the shapes that there are.
"""
import math
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import evaluate


class Builder:
    """A graph that grows, with the values of its tensors for one image."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = self.random.choice([11, 12, 13, 14, 15, 16, 17, 17, 17, 18, 18, 19, 20, 21, 23])
        self.features = set()
        self.nodes, self.weights, self.count = [], [], 0
        self.evaluator = evaluate.Evaluator(helper.make_model(helper.make_graph([], "g", [], [])), "")
        self.evaluator.opset = self.opset
        self.evaluator.values = self.values = {"": None}

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, chance=0.5):
        return self.random.random() < chance

    def some(self, name, *choices):
        """A choice that counts as a feature of the graph."""
        chosen = self.random.choice(choices)
        self.features.add(f"{name} {chosen}")
        return chosen

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
        return names[0] if outputs == 1 else names

    def undo(self, mark):
        del self.nodes[mark:]

    def shape(self, name):
        return list(self.values[name].shape)

    def constant(self, array):
        name = self.fresh("w")
        array = np.asarray(array)
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64 if array.dtype.kind == "i" else bool)
        self.weights.append(numpy_helper.from_array(array, name))
        self.values[name] = self.evaluator.array(array)
        return name

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
        way = self.random.random()
        if way < 0.25 and -1 not in shape:
            shape[self.random.randrange(len(shape))] = -1
        elif way < 0.5:
            for i in range(min(len(shape), len(now))):
                if shape[i] == now[i] and (i == 0 or shape[:i] == [0] * i):
                    shape[i] = 0
        elif way < 0.6 and shape[0] == now[0]:
            front = self.op("Slice", self.op("Shape", x), self.ints(0), self.ints(1), self.ints(0))
            return self.op("Reshape", x, self.op("Concat", front, self.ints(*shape[1:]), axis=0))
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
        if self.opset < 18:
            return self.op("ReduceMean", x, axes=[axis], keepdims=int(keep))
        return self.op("ReduceMean", x, self.ints(axis), keepdims=int(keep))

    def linear(self, x, out, bias=True, gain=1.0):
        shape = self.shape(x)
        width, rank = shape[-1], len(shape)
        w = gain / math.sqrt(width) * self.numbers.standard_normal((width, out))
        b = 0.2 * self.numbers.standard_normal(out)
        how = self.pick("matmul", "matmul", "matmul", "gemm", "conv" if rank == 3 and shape[0] == 1 else "matmul")
        if how == "gemm":
            rows = self.reshape(x, -1, width)
            turned = self.maybe()
            y = self.op("Gemm", rows, self.constant(w.T if turned else w), self.constant(b) if bias else None,
                        transB=int(turned))
            return self.op("Reshape", y, self.ints(*shape[:-1], out))
        if how == "conv":
            rows = self.reshape(self.transpose(x, 0, 2, 1), shape[0], width, shape[1], 1)
            y = self.op("Conv", rows, self.constant(w.T.reshape(out, width, 1, 1)), self.constant(b) if bias else None)
            return self.transpose(self.reshape(y, shape[0], out, shape[1]), 0, 2, 1)
        y = self.op("MatMul", x, self.constant(w))
        if not bias:
            return y
        return self.op("Add", y, self.constant(b)) if self.maybe() else self.op("Add", self.constant(b), y)

    def norm(self, x, rms=False, eps=None):
        width, eps = self.shape(x)[-1], eps or self.pick(1e-6, 1e-5, 1e-3)
        scale = self.weight(width, scale=0.3, offset=1.0)
        bias = None if rms or self.maybe(0.1) else self.weight(width, scale=0.2)
        if rms and self.opset >= 23 and self.maybe():
            return self.op("RMSNormalization", x, scale, axis=-1, epsilon=eps)
        if not rms and self.opset >= 17 and self.maybe(0.7):
            return self.op("LayerNormalization", x, scale, bias, epsilon=eps, axis=self.pick(-1, len(self.shape(x)) - 1, None))
        middle = x if rms else self.op("Sub", x, self.mean(x, -1))
        square = self.op("Mul", middle, middle) if self.maybe() else self.op("Pow", middle, self.number(2.0))
        spread = self.op("Add", self.mean(square, -1), self.number(eps))
        way = self.pick(0, 1, 2)
        root = self.op("Sqrt", spread) if way < 2 else self.op("Pow", spread, self.number(0.5))
        y = self.op("Div", middle, root) if way != 1 else self.op("Mul", middle, self.op("Reciprocal", root))
        y = self.op("Mul", y, scale) if self.maybe() else self.op("Mul", scale, y)
        return y if bias is None else self.op("Add", y, bias)

    def activation(self, x, kind):
        half, one = self.number(0.5), self.number(1.0)
        if kind == "relu":
            return self.op("Relu", x)
        if kind == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "quick":
            return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.number(1.702))))
        if kind == "tanh":
            if self.opset >= 20 and self.maybe():
                return self.op("Gelu", x, approximate="tanh")
            cube = self.op("Mul", self.op("Mul", x, x), x) if self.maybe() else self.op("Pow", x, self.number(3.0))
            inner = self.op("Mul", self.op("Add", x, self.op("Mul", cube, self.number(0.044715))),
                            self.number(0.7978845608))
            bent = self.op("Add", self.op("Tanh", inner), one)
            return self.op("Mul", self.op("Mul", x, half), bent)
        if self.opset >= 20 and self.maybe():
            return self.op("Gelu", x)
        bent = self.op("Erf", self.op("Div", x, self.number(math.sqrt(2))))
        bent = self.op("Add", bent, one)
        if self.maybe():
            return self.op("Mul", self.op("Mul", x, bent), half)
        return self.op("Mul", x, self.op("Mul", half, bent))

    # The parts of a ViT

    def image(self, height, width):
        layout = self.pick("first", "first", "first", "first", "last", "bytes last", "bgr gather", "bgr flip", "bgr split")
        if height <= 4 and "last" in layout:  # nothing tells the channels from the height
            layout = "first"
        self.batch = self.some("batch", 1, 1, 1, "any", "any", 2)
        count = 2 if self.batch == 2 else 1
        self.features.add(f"image {layout}")
        self.last, self.bytes = "last" in layout, "bytes" in layout
        shape = [count, height, width, 3] if self.last else [count, 3, height, width]
        self.input = self.fresh("image")
        kind = TensorProto.UINT8 if self.bytes else TensorProto.FLOAT
        self.declared = helper.make_tensor_value_info(self.input, kind, ["b" if self.batch == "any" else count, *shape[1:]])
        self.values[self.input] = self.evaluator.array(self.numbers.standard_normal(shape))
        x = self.input
        if self.last:
            x = self.transpose(x, 0, 3, 1, 2)
        if self.bytes or self.maybe(0.1):
            x = self.op("Cast", x, to=TensorProto.FLOAT)
        if layout == "bgr gather":
            x = self.op("Gather", x, self.ints(2, 1, 0), axis=1)
        elif layout == "bgr flip":
            x = self.slice(x, 1, -1, -(1 << 40), -1)
        elif layout == "bgr split":
            b, g, r = self.split(x, 1, [1, 1, 1])
            x = self.op("Concat", r, g, b, axis=1)
        if self.maybe(0.4):
            self.features.add("normalises")
            mean, deviation = self.weight(1, 3, 1, 1, scale=0.3), self.weight(1, 3, 1, 1, scale=0.1, offset=0.7)
            x = self.op("Sub", x, mean) if self.maybe() else self.op("Add", x, mean)
            x = self.op("Div", x, deviation) if self.maybe() else self.op("Mul", x, deviation)
        return x

    def patches(self, x, patch, dim):
        """Rows {batch, tokens, dim}."""
        count, _, height, width = self.shape(x)
        h, w = height // patch, width // patch
        way = self.some("patches", "conv", "conv", "conv", "conv", "conv last", "linear", "linear by pixel", "padded",
                        "overlapping")
        if way.startswith("linear"):
            apart = self.reshape(x, count, 3, h, patch, w, patch)
            order = (0, 2, 4, 3, 5, 1) if "pixel" in way else (0, 2, 4, 1, 3, 5)
            rows = self.reshape(self.transpose(apart, *order), count, h * w, 3 * patch * patch)
            self.grid = [h, w]
            return self.linear(rows, dim)
        stride, pad = patch, 0
        if way == "overlapping":
            fits = [s for s in range(1, patch) if (height - patch) % s == 0 and (width - patch) % s == 0]
            stride = max(fits) if fits and max(fits) > patch // 2 else patch
        elif way == "padded" and self.maybe():
            pad = 1
        kernel = 1 / math.sqrt(3 * patch * patch) * self.numbers.standard_normal((dim, 3, patch, patch))
        y = self.op("Conv", x, self.constant(kernel), self.weight(dim, scale=0.2) if self.maybe(0.8) else None,
                    strides=[stride, stride], pads=[pad] * 4 if pad or self.maybe() else None)
        h, w = self.grid = self.shape(y)[2:]
        if way == "conv last":
            return self.reshape(self.transpose(y, 0, 2, 3, 1), count, h * w, dim)
        return self.transpose(self.reshape(y, count, dim, h * w), 0, 2, 1)

    def tokens(self, x):
        """Special tokens and positions."""
        count, patches, dim = self.shape(x)
        self.special = self.some("special", 0, 1, 1, 2, 5)
        where = self.some("positions", "before", "after", "none", "before")
        if where == "before":
            x = self.op("Add", x, self.weight(1, patches, dim, scale=0.3))
        if self.special:
            rows = self.weight(1, self.special, dim, scale=0.7)
            if count > 1 or self.maybe():
                if self.batch == "any":
                    first = self.op("Slice", self.op("Shape", x), self.ints(0), self.ints(1), self.ints(0))
                    rows = self.op("Expand", rows, self.op("Concat", first, self.ints(self.special, dim), axis=0))
                else:
                    rows = self.op("Expand", rows, self.ints(count, self.special, dim))
            x = self.op("Concat", rows, x, axis=1)
        if where == "after":
            x = self.op("Add", x, self.weight(1, self.special + patches, dim, scale=0.3))
        if self.maybe(0.15):
            self.features.add("norm in front")
            x = self.norm(x)
        return x

    def heads(self, x, heads, shared=None):
        """Rows as {batch, heads, tokens, head_dim}."""
        count, tokens, width = self.shape(x)
        number = shared or heads
        return self.transpose(self.reshape(x, count, tokens, number, width // number), 0, 2, 1, 3)

    def rotary(self, x, table):
        """The patches of {batch, heads, tokens, head_dim} rotated; special tokens stay."""
        kind, cosine, sine = table
        width = self.shape(x)[-1]
        front, rest = None, x
        if self.special:
            front, rest = self.split(x, 2, [self.special, self.shape(x)[2] - self.special])
        if kind == "halves":
            a, b = self.split(rest, -1, [width // 2] * 2)
            turned = self.op("Concat", self.op("Neg", b), a, axis=-1)
        else:
            shape = self.shape(rest)
            pairs = self.reshape(rest, *shape[:-1], width // 2, 2)
            a, b = self.split(pairs, len(shape), [1, 1])
            turned = self.reshape(self.op("Concat", self.op("Neg", b), a, axis=-1), *shape)
        rest = self.op("Add", self.op("Mul", rest, cosine), self.op("Mul", turned, sine))
        return rest if front is None else self.op("Concat", front, rest, axis=2)

    def attention(self, x, o):
        count, tokens, dim = self.shape(x)
        heads, width = o["heads"], dim // o["heads"]
        scale = 1 / math.sqrt(width)
        bias = o["qkv bias"]
        if o["qkv"] == "tokens first" and count == 1:
            rows = self.transpose(x, 1, 0, 2)
            parts = [self.transpose(self.reshape(self.linear(rows, dim, bias), tokens, heads, width), 1, 0, 2)
                     for _ in range(3)]
            q, k, v = (self.reshape(p, 1, heads, tokens, width) if o["rank 4"] else p for p in parts)
        elif o["qkv"] in ("gather", "slice", "split"):
            y = self.transpose(self.reshape(self.linear(x, 3 * dim, bias), count, tokens, 3, heads, width), 2, 0, 3, 1, 4)
            if o["qkv"] == "gather":
                q, k, v = (self.op("Gather", y, self.constant(np.asarray(i, np.int64)), axis=0) for i in range(3))
            elif o["qkv"] == "slice":
                q, k, v = (self.squeeze(self.slice(y, 0, i, i + 1), 0) for i in range(3))
            else:
                q, k, v = (self.squeeze(p, 0) for p in self.split(y, 0, [1, 1, 1]))
        elif o["qkv"] == "chunk":
            q, k, v = (self.heads(p, heads) for p in self.split(self.linear(x, 3 * dim, bias), -1, [dim] * 3))
        else:
            shared = {"one key head": 1, "grouped": max(heads // 2, 1)}.get(o["qkv"], heads)
            q = self.heads(self.linear(x, dim, bias), heads)
            k, v = (self.heads(self.linear(x, shared * width, bias), heads, shared) for _ in range(2))
            if 1 < shared < heads:
                k, v = (self.reshape(self.op("Expand", self.unsqueeze(p, 2),
                                             self.ints(count, shared, heads // shared, tokens, width)),
                                     count, heads, tokens, width) for p in (k, v))
        rank = len(self.shape(q))
        if o["qk norm"] and self.shape(k) == self.shape(q):
            q, k = self.norm(q, o["rms"], 1e-5), self.norm(k, o["rms"], 1e-5)
        if o["rotary"] and rank == 4 and self.shape(k) == self.shape(q):
            q, k = self.rotary(q, o["rotary"]), self.rotary(k, o["rotary"])
        if self.opset >= 23 and rank == 4 and self.maybe(0.3) and not o["pair bias"]:
            self.features.add("op Attention")
            y = self.op("Attention", q, k, v, scale=scale)
        else:
            if o["scale"] == "q":
                q = self.op("Mul", q, self.number(scale))
            if o["scale"] == "both":
                q, k = self.op("Mul", q, self.number(math.sqrt(scale))), self.op("Mul", k, self.number(math.sqrt(scale)))
            if o["einsum"] and rank == 4 and self.shape(k) == self.shape(q):
                s = self.op("Einsum", q, k, equation="bhqd,bhkd->bhqk")
            else:
                s = self.op("MatMul", q, self.transpose(k, *range(rank - 2), rank - 1, rank - 2))
            if o["scale"] == "scores":
                s = self.op("Mul", s, self.number(scale)) if self.maybe() else self.op("Div", s, self.number(1 / scale))
            if o["pair bias"]:
                s = self.op("Add", s, self.weight(1, heads, tokens, tokens, scale=0.5))
            p = self.op("Softmax", s, axis=self.pick(-1, rank - 1))
            y = self.op("MatMul", p, v)
        y = self.transpose(y, 0, 2, 1, 3) if rank == 4 else self.transpose(y, 1, 0, 2)
        y = self.reshape(y, count, tokens, dim)
        if o["inner norm"]:
            y = self.norm(y, o["rms"])
        return self.linear(y, dim)

    def in_windows(self, x, o):
        """Attention inside windows of the grid, with zeros where it does not fill the last ones."""
        count, _, dim = self.shape(x)
        (h, w), (a, b) = self.grid, o["windows"]
        y = self.reshape(x, count, h, w, dim)
        down, right = -h % a, -w % b
        if down or right:
            y = self.op("Pad", y, self.ints(0, 0, 0, 0, 0, down, right, 0))
        y = self.transpose(self.reshape(y, count, (h + down) // a, a, (w + right) // b, b, dim), 0, 1, 3, 2, 4, 5)
        y = self.attention(self.reshape(y, count * ((h + down) // a) * ((w + right) // b), a * b, dim), o)
        y = self.reshape(y, count, (h + down) // a, (w + right) // b, a, b, dim)
        y = self.reshape(self.transpose(y, 0, 1, 3, 2, 4, 5), count, h + down, w + right, dim)
        if down or right:
            y = self.slice(self.slice(y, 1, 0, h), 2, 0, w)
        return self.reshape(y, count, h * w, dim)

    def between(self, x, o):
        """What may happen between two blocks."""
        count, tokens, dim = self.shape(x)
        kind = self.some("between", "nothing", "nothing", "nothing", "nothing", "positions", "late tokens", "interaction")
        if kind == "positions":
            return self.op("Add", x, self.weight(1, tokens, dim, scale=0.3))
        if kind == "late tokens" and not o["pair bias"] and not o["rotary"] and not o["windows"]:
            rows = self.op("Expand", self.weight(1, 2, dim), self.ints(count, 2, dim))
            self.special += 2
            return self.op("Concat", rows, x, axis=1)
        if kind == "interaction" and self.grid[0] > 1:
            special = self.special
            rows = self.slice(x, 1, special, 1 << 40) if special else x
            y = self.reshape(self.transpose(rows, 0, 2, 1), count, dim, *self.grid)
            kernel = self.weight(dim, 1, 3, 3, scale=0.2)
            y = self.op("Conv", y, kernel, group=dim, pads=[1] * 4)
            y = self.op("Add", rows, self.transpose(self.reshape(y, count, dim, -1), 0, 2, 1))
            return self.op("Concat", self.slice(x, 1, 0, special), y, axis=1) if special else y
        return x

    def mlp(self, x, o):
        dim, hidden = self.shape(x)[-1], o["hidden"]
        if o["gated"]:
            if self.maybe():
                a, b = self.split(self.linear(x, 2 * hidden), -1, [hidden, hidden])
            else:
                a, b = self.linear(x, hidden), self.linear(x, hidden)
            a = self.activation(a, o["activation"])
            y = self.op("Mul", a, b) if self.maybe() else self.op("Mul", b, a)
        else:
            y = self.activation(self.linear(x, hidden), o["activation"])
        if o["mlp norm"]:
            y = self.norm(y, o["rms"])
        return self.linear(y, dim)

    def block(self, x, o):
        for part in (self.in_windows if o["windows"] else self.attention, self.mlp):
            y = part(self.norm(x, o["rms"]), o)
            if o["layer scale"]:
                y = self.op("Mul", y, self.weight(self.shape(y)[-1], scale=0.3, offset=0.6))
            x = self.op("Add", x, y) if self.maybe() else self.op("Add", y, x)
        return x

    def encoder(self):
        patch = self.pick(2, 3, 4, 4)
        height, width = patch * self.random.randint(2, 5), patch * self.random.randint(2, 5)
        o = {"heads": self.pick(1, 2, 2, 4), "hidden": self.pick(12, 20, 24)}
        dim = o["heads"] * self.pick(4, 6, 8)
        x = self.tokens(self.patches(self.image(height, width), patch, dim))
        o["qkv"] = self.some("qkv", "gather", "slice", "split", "chunk", "separate", "separate", "tokens first",
                             "one key head", "grouped")
        o["activation"] = self.some("activation", "erf", "erf", "tanh", "quick", "silu", "relu")
        o["scale"] = self.some("scale", "q", "both", "scores", "none")
        for name, chance in (("rms", 0.15), ("qkv bias", 0.8), ("qk norm", 0.2), ("pair bias", 0.1), ("einsum", 0.15),
                             ("inner norm", 0.1), ("gated", 0.2), ("mlp norm", 0.1), ("layer scale", 0.3),
                             ("rank 4", 0.5), ("rotary", 0.2)):
            o[name] = self.maybe(chance)
            if o[name]:
                self.features.add(name)
        if o["rotary"]:
            width = dim // o["heads"]
            angle = self.numbers.uniform(-3, 3, (self.grid[0] * self.grid[1], width // 2))
            kind = self.some("rotary", "halves", "pairs")
            angle = np.concatenate([angle, angle], 1) if kind == "halves" else np.repeat(angle, 2, 1)
            o["rotary"] = kind, self.constant(np.cos(angle)), self.constant(np.sin(angle))
        o["windows"] = None
        if not self.special and not o["rotary"] and not o["pair bias"] and self.maybe(0.4):
            self.features.add("windows")
            o["windows"] = self.pick((2, 2), (2, 3), (self.grid[0], 1), (1, self.grid[1]), (3, 2))
        for i in range(self.random.randint(1, 3)):
            if i:
                x = self.between(x, o)
            x = self.block(x, {**o, "windows": o["windows"] if self.maybe(0.8) else None})
        return self.norm(x, o["rms"]) if self.maybe(0.8) else x

    # Behind the encoder

    def map(self, x):
        """The patches as a map {batch, dim, h, w}, or nearly so."""
        count, _, dim = self.shape(x)
        h, w = self.grid
        if self.special:
            x = self.slice(x, 1, self.special, self.pick(1 << 40, self.special + h * w))
        if self.maybe(0.2):
            return self.transpose(self.reshape(x, count, h, w, dim), 0, 3, 1, 2)
        turned = self.transpose(x, 0, 2, 1)
        if self.maybe(0.15):  # cut up in another way
            self.features.add("odd map")
            return self.reshape(turned, *self.pick((count * w, dim, h, 1), (count, dim, w, h), (count * h, dim, 1, w),
                                                   (count, dim * h, w, 1), (count, h, dim, w)))
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
        elif self.maybe(0.1):
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
            kinds += ["conv"] * 8 + ["resize"] * 3 + ["batch norm"] * 2 + ["pool"] * 2 + ["norm map", "depth", "relu conv",
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
            return self.op("MatMul", self.transpose(x, *range(rank - 2), rank - 1, rank - 2), x)
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
            return self.norm(x)
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
            y = self.resize(x)
            return self.convolution(y) if self.maybe() else y
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

    def head(self, x):
        kind = self.some("head", "features", "class token", "mean", "linear", "mlp", "argmax", "map", "chain", "chain", "chain",
                         "chain", "token chain", "pool query")
        count, tokens, dim = self.shape(x)
        if kind == "features":
            return x
        if kind == "class token" and self.special:
            row = self.op("Gather", x, self.constant(np.asarray(0, np.int64)), axis=1) if self.maybe() else \
                self.squeeze(self.slice(x, 1, 0, 1), 1)
            return self.linear(row, 5) if self.maybe(0.8) else row
        if kind in ("mean", "class token"):
            rows = self.slice(x, 1, self.special, 1 << 40) if self.special and self.maybe() else x
            return self.linear(self.mean(rows, 1, keep=False), 5)
        if kind == "pool query":
            q = self.weight(1, 1, dim, scale=0.3)
            keys, values = self.linear(x, dim), self.linear(x, dim)
            p = self.op("Softmax", self.op("MatMul", q, self.transpose(keys, 0, 2, 1)), axis=-1)
            return self.linear(self.op("MatMul", p, values), 5)
        if kind in ("linear", "mlp", "argmax"):
            y = self.slice(x, 1, self.special, 1 << 40) if self.special else x
            if kind == "mlp":
                y = self.activation(self.linear(y, 12), "erf")
            y = self.transpose(self.linear(y, 5), 0, 2, 1)
            y = self.reshape(y, count, 5, *self.grid)
            if self.maybe(0.6) and not self.shape(self.input)[-1] % self.grid[1]:
                height, width = self.shape(self.input)[1:3] if self.last else self.shape(self.input)[2:]
                y = self.op("Resize", y, None, None, self.ints(count, 5, height, width), mode="linear",
                            coordinate_transformation_mode="half_pixel")
            return self.op("ArgMax", y, axis=1, keepdims=self.pick(0, 1)) if kind == "argmax" else y
        if kind == "map":
            return self.map(x)
        return self.chain(x if kind == "token chain" else self.map(x), x)

    def model(self):
        x = self.encoder()
        outputs = [self.head(x)]
        if self.maybe(0.15):
            self.features.add("two outputs")
            outputs.append(self.head(x))
        if outputs[0] == outputs[-1] or any(self.values[o].ndim == 0 for o in outputs):
            outputs = outputs[:1]
        used = [(self.op("Identity", o), "out" + str(i)) for i, o in enumerate(outputs)]
        for name, new in used:
            self.nodes[[n.output[0] for n in self.nodes].index(name)].output[0] = new
            self.values[new] = self.values[name]
        kinds = [TensorProto.INT64 if self.values[n].dtype.kind == "i" else TensorProto.FLOAT for _, n in used]
        values = [helper.make_tensor_value_info(name, kind, None) for (_, name), kind in zip(used, kinds)]
        graph = helper.make_graph(self.nodes, "random", [self.declared], values, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model


def make(seed):
    """The model of this seed and its features."""
    for attempt in range(20):
        builder = Builder(seed * 1000 + attempt)
        try:
            return builder.model(), builder.features
        except evaluate.NotDefined:
            continue
    raise RuntimeError(f"seed {seed} makes no graph")
