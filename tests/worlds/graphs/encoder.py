# SPDX-License-Identifier: Apache-2.0
"""The encoder of a ViT in random spellings (spellings.py)."""
import math

import numpy as np
from onnx import TensorProto, helper

import fused
from builder import Builder


class Encoder(Builder):
    """`front` and `behind`: how many special tokens stand in front of the patches and behind them."""

    def image(self, height, width):
        layout = self.spell("image")
        if height <= 4 and "last" in layout:  # nothing tells the channels from the height
            layout = "first"
        self.batch = 2 if self.chained and self.maybe(0.15) else self.spell("batch")
        count = 2 if self.batch == 2 else 1
        self.last, self.bytes = "last" in layout, "bytes" in layout
        shape = [count, height, width, 3] if self.last else [count, 3, height, width]
        self.input = self.fresh("image")
        kind = TensorProto.UINT8 if self.bytes else TensorProto.FLOAT
        self.declared = helper.make_tensor_value_info(self.input, kind, ["b" if self.batch == "any" else count, *shape[1:]])
        numbers = np.random.default_rng(1) if self.fixed else self.numbers
        self.values[self.input] = self.evaluator.array(numbers.standard_normal(shape))
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
        way = self.spell("patches")
        if way.startswith("linear"):
            apart = self.reshape(x, count, 3, h, patch, w, patch)
            order = (0, 2, 4, 3, 5, 1) if "pixel" in way else (0, 2, 4, 1, 3, 5)
            rows = self.reshape(self.transpose(apart, *order), count, h * w, 3 * patch * patch)
            self.grid = [h, w]
            return self.linear(rows, dim, how=self.pick("matmul", "gemm"))
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

    def learned(self, count, number, dim):
        """Learned rows {batch, number, dim}."""
        rows = self.weight(1, number, dim, scale=0.7)
        if count == 1 and self.maybe():
            return rows
        if self.batch == "any":
            first = self.op("Slice", self.op("Shape", self.input), self.ints(0), self.ints(1), self.ints(0))
            return self.op("Expand", rows, self.op("Concat", first, self.ints(number, dim), axis=0))
        return self.op("Expand", rows, self.ints(count, number, dim))

    def positions(self, front, behind, dim):
        """Of the grid that the graph was drawn with, resized bilinearly for another one."""
        h, w = self.drawn
        rows = self.numbers.standard_normal((1, front + h * w + behind, dim))
        if self.drawn != self.grid:
            plane = rows[0, front:front + h * w].reshape(h, w, dim)
            for axis, (old, new) in enumerate(zip(self.drawn, self.grid)):
                place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
                low = np.floor(place).astype(int)
                share = (place - low).reshape([-1, 1, 1] if axis == 0 else [1, -1, 1])
                plane = plane.take(low, axis) * (1 - share) + plane.take(np.minimum(low + 1, old - 1), axis) * share
            rows = np.concatenate([rows[:, :front], plane.reshape(1, -1, dim), rows[:, front + h * w:]], 1)
        return self.constant(0.3 * rows)

    def tokens(self, x):
        """Special tokens and positions."""
        count, patches, dim = self.shape(x)
        special, where = self.spell("special"), self.spell("positions")
        place = self.spell("special place") if special else "front"
        self.front = special if place == "front" else 0 if place == "behind" else (special + 1) // 2
        self.behind = special - self.front
        if where in ("before", "special apart"):
            x = self.both("Add", x, self.positions(0, 0, dim))
        if special:
            parts = [self.learned(count, number, dim) if number else None for number in (self.front, self.behind)]
            if where == "special apart":
                parts = [self.op("Add", p, self.weight(1, self.shape(p)[1], dim, scale=0.3)) if p else None for p in parts]
            x = self.op("Concat", *(p for p in (parts[0], x, parts[1]) if p), axis=1)
        if where == "after":
            x = self.both("Add", x, self.positions(self.front, self.behind, dim))
        self.embedded = x
        if self.maybe(0.15):
            self.features.add("norm in front")
            x = self.norm(x)
        return x

    def patch_rows(self, x):
        """The patches of {batch, tokens, dim}."""
        if not self.front and not self.behind:
            return x
        return self.slice(x, 1, self.front, -self.behind if self.behind else self.pick(1 << 40, self.front + math.prod(self.grid)))

    def projections(self, x, o):
        """q, k and v, {batch, tokens, heads, head_dim} where the heads are behind tokens, else {batch, heads, tokens, head_dim}."""
        count, tokens, dim = self.shape(x)
        heads, width, bias, how, behind = o["heads"], dim // o["heads"], o["qkv bias"], o["qkv"], o["layout"] == "behind tokens"

        def apart(y, number=heads):
            y = self.reshape(y, count, tokens, number, width)
            return y if behind else self.transpose(y, 0, 2, 1, 3)

        if how in ("gather", "slice", "split"):
            y = self.reshape(self.linear(x, 3 * dim, bias), count, tokens, 3, heads, width)
            y = self.transpose(y, *((2, 0, 1, 3, 4) if behind else (2, 0, 3, 1, 4)))
            if how == "gather":
                return [self.op("Gather", y, self.constant(np.asarray(i, np.int64)), axis=0) for i in range(3)]
            if how == "slice":
                return [self.squeeze(self.slice(y, 0, i, i + 1), 0) for i in range(3)]
            return [self.squeeze(p, 0) for p in self.split(y, 0, [1, 1, 1])]
        if how == "unbind":
            y = self.reshape(self.linear(x, 3 * dim, bias), count, tokens, 3, heads, width)
            parts = [self.squeeze(p, 2) for p in self.split(y, 2, [1, 1, 1])]
            return parts if behind else [self.transpose(p, 0, 2, 1, 3) for p in parts]
        if how == "heads first":
            y = self.reshape(self.linear(x, 3 * dim, bias), count, tokens, heads, 3 * width)
            return self.split(y if behind else self.transpose(y, 0, 2, 1, 3), -1, [width] * 3)
        if how == "columns first":
            y = self.reshape(self.linear(x, 3 * dim, bias), count, tokens, width, 3, heads)
            y = self.transpose(y, *((3, 0, 1, 4, 2) if behind else (3, 0, 4, 1, 2)))
            return [self.squeeze(p, 0) for p in self.split(y, 0, [1, 1, 1])]
        if how == "chunk":
            return [apart(p) for p in self.split(self.linear(x, 3 * dim, bias), -1, [dim] * 3)]
        if how == "einsum dense":
            parts = []
            for _ in range(3):
                y = self.op("Einsum", x, self.weight(dim, heads, width), equation="abc,cde->abde")
                y = self.both("Add", y, self.weight(heads, width, scale=0.2)) if bias else y
                parts.append(y if behind else self.transpose(y, 0, 2, 1, 3))
            return parts
        if how == "tokens first" and count == 1:
            rows = self.transpose(x, 1, 0, 2)
            parts = [self.transpose(self.reshape(self.linear(rows, dim, bias), tokens, heads, width), 1, 0, 2) for _ in range(3)]
            parts = [self.unsqueeze(p, 0) for p in parts]
            return [self.transpose(p, 0, 2, 1, 3) for p in parts] if behind else parts
        shared = {"one key head": 1, "grouped": max(heads // 2, 1)}.get(how, heads)
        q = self.linear(x, dim, bias)
        if o["scale"] == "projected q":
            q = self.op("Mul", q, self.number(1 / math.sqrt(width)))
        q = apart(q)
        k, v = (apart(self.linear(x, shared * width, bias), shared) for _ in range(2))
        if 1 < shared < heads:
            k, v = (self.reshape(self.op("Expand", self.unsqueeze(p, 2),
                                         self.ints(count, shared, heads // shared, tokens, width)),
                                 count, heads, tokens, width) for p in (k, v))
        return [q, k, v]

    def unit(self, x):
        """The rows of the last axis, each divided by its length."""
        way = self.style("length")
        if way == "by op":
            return self.op("LpNormalization", x, axis=-1, p=2)
        if way == "root of a sum":
            squares = self.reduce("ReduceSum", self.op("Mul", x, x), -1)
            return self.op("Div", x, self.op("Sqrt", self.op("Add", squares, self.number(1e-12))))
        length = self.reduce("ReduceL2", x, -1)
        tiny = self.constant(np.asarray(1e-12))
        return self.op("Div", x, self.op("Clip", length, tiny) if way == "limited" else self.op("Max", length, tiny))

    def rotary(self, x, o, axis):
        """The patches of x rotated, whose tokens are along `axis`; special tokens stay."""
        table, first = o["rotary"], o["rotary"]["width"]
        if table["frequencies"] is None:
            cosine, sine = (self.constant(t if axis == 2 else np.moveaxis(t, -2, -3)) for t in (table["cosine"], table["sine"]))
        else:
            cosine, sine = self.computed_tables(table, axis)
        front = behind = rest = None
        if table["rows"] == "patches" and (self.front or self.behind):
            sides = [s for s in (self.front, self.shape(x)[axis] - self.front - self.behind, self.behind) if s]
            parts = self.split(x, axis, sides)
            front = parts.pop(0) if self.front else None
            behind = parts.pop() if self.behind else None
            x = parts[0]
        width = self.shape(x)[-1]
        if first < width:
            x, rest = self.split(x, -1, [first, width - first])
        shape = self.shape(x)
        if table["kind"] == "halves":
            a, b = self.split(x, -1, [first // 2] * 2)
        elif table["sum"] == "parts":
            a, b = (self.slice(x, len(shape) - 1, i, 1 << 40, 2) for i in (0, 1))
        else:
            a, b = self.split(self.reshape(x, *shape[:-1], first // 2, 2), len(shape), [1, 1])
        if table["sum"] == "turned":
            turned = self.op("Concat", self.op("Neg", b), a, axis=-1)
            turned = turned if table["kind"] == "halves" else self.reshape(turned, *shape)
            x = self.op("Add", self.op("Mul", x, cosine), self.op("Mul", turned, sine))
        else:
            at = (slice(None, first // 2) if table["kind"] == "halves" else slice(None, None, 2))
            c, s = (self.constant(self.values[t][..., at]) for t in (cosine, sine))
            left = self.op("Sub", self.op("Mul", a, c), self.op("Mul", b, s))
            right = self.op("Add", self.op("Mul", b, c), self.op("Mul", a, s))
            if table["kind"] == "halves":
                x = self.op("Concat", left, right, axis=-1)
            else:
                x = self.reshape(self.op("Concat", *(self.unsqueeze(p, len(shape)) for p in (left, right)), axis=-1), *shape)
        if rest:
            x = self.op("Concat", x, rest, axis=-1)
        parts = [p for p in (front, x, behind) if p]
        return self.op("Concat", *parts, axis=axis) if len(parts) > 1 else x

    def computed_tables(self, table, axis):
        """Cosines and sines of places times frequencies, which the graph computes."""
        equation = self.pick("i,j->ij", "m,d->md", "n, f -> nf")
        angle = self.op("Einsum", self.constant(table["places"]), self.constant(table["frequencies"]), equation=equation)
        if table["kind"] == "halves":
            angle = self.op("Concat", angle, angle, axis=-1)
        else:
            rows, pairs = self.shape(angle)
            angle = self.op("Expand", self.unsqueeze(angle, 2), self.ints(rows, pairs, 2))
        shape = [1, 1, len(table["places"]), table["width"]]
        shape[axis], shape[2] = shape[2], shape[axis]
        return [self.reshape(self.op(name, angle), *shape) for name in ("Cos", "Sin")]

    def softmax(self, s):
        how, rank = self.style("softmax"), len(self.shape(s))
        if how.startswith("by hand"):
            if how == "by hand":
                s = self.op("Sub", s, self.reduce("ReduceMax", s, rank - 1))
            e = self.op("Exp", s)
            return self.op("Div", e, self.reduce("ReduceSum", e, -1))
        if how == "log":
            return self.op("Exp", self.op("LogSoftmax", s, axis=rank - 1))
        if how == "cast":
            s = self.op("Cast", s, to=TensorProto.DOUBLE)
        p = self.op("Softmax", s, axis=self.pick(-1, rank - 1))
        if how == "cast":
            return self.op("Cast", p, to=TensorProto.FLOAT)
        return self.op("Where", self.op("IsNaN", p), self.constant(np.asarray(0.0)), p) if how == "guarded" else p

    def masked(self, s, how):
        """Scores behind a mask that hides nothing."""
        rank, tokens = len(self.shape(s)), self.shape(s)[-1]
        shape = self.pick([1] * (rank - 1) + [tokens], [tokens, tokens], [1] * (rank - 2) + [tokens, tokens])
        if how == "zeros":
            return self.both("Add", s, self.constant(np.zeros(shape)))
        if how == "sum of zeros":
            made = self.op("ConstantOfShape", self.ints(*shape))  # of floats
            return self.op("Add", s, self.both("Add", made, self.constant(np.zeros([tokens, tokens]))))
        if how == "one minus ones":
            hidden = self.op("Sub", self.number(1.0), self.constant(np.ones(shape)))
            return self.op("Add", s, self.op("Mul", hidden, self.constant(np.asarray(-10000.0))))
        if how == "where":
            low = self.constant(np.asarray(-1e9))
            if self.maybe():
                return self.op("Where", self.constant(np.ones(shape, bool)), s, low)
            return self.op("Where", self.constant(np.zeros(shape, bool)), low, s)
        return self.op("Add", s, self.constant(np.full(shape, 0.5))) if how == "halves" else s

    def attention(self, x, o):
        count, tokens, dim = self.shape(x)
        heads, width, layout = o["heads"], dim // o["heads"], o["layout"]
        scale, spelled = 1 / math.sqrt(width), o["scale"]
        whole = o["qkv"] not in ("one key head", "grouped") and o["q and k"] == "plain"
        if whole and not (o["rotary"] or o["pair bias"] or o["inner norm"]) and self.is_optimised() and self.maybe(0.7):
            return self.linear(self.fused_attention(x, o), dim)
        q, k, v = self.projections(x, o)
        whole = self.shape(q) == self.shape(k)
        if spelled == "projected q" and o["qkv"] in ("gather", "slice", "split", "unbind", "heads first", "columns first", "chunk",
                                                     "einsum dense", "tokens first"):
            spelled = "q"
        if o["q and k"] == "norm" and whole:
            eps = 0.1 if self.fixed else 1e-5
            q, k = self.norm(q, o["rms"], eps), self.norm(k, o["rms"], eps)
        if o["q and k"] == "cosine" and whole:
            q, k = self.unit(q), self.unit(k)
            scale = 4.0
        self.keys.append((k, 2 if layout == "behind tokens" else 1))
        early = self.maybe()  # the scale in front of rotary positions
        for late in (False, True):
            if late and o["rotary"] and whole:
                axis = 1 if layout == "behind tokens" else 2
                q, k = self.rotary(q, o, axis), self.rotary(k, o, axis)
            if early == late:
                continue
            if spelled == "q":
                q = self.op("Mul", q, self.number(scale))
            if spelled == "k":
                k = self.both("Mul", k, self.number(scale))
            if spelled == "both":
                q, k = (self.op("Mul", p, self.number(math.sqrt(scale))) for p in (q, k))
        o["context behind tokens"] = False
        if self.opset >= 23 and layout == "apart" and self.maybe(0.3) and not o["pair bias"]:
            self.features.add("op Attention")
            y = self.op("Attention", q, k, v, scale=scale)
        else:
            y = self.weighted(q, k, v, o, spelled, scale)
        if layout == "in the batch":
            y = self.reshape(y, count, heads, tokens, width)
        if self.shape(y)[1] != tokens or self.shape(y)[2] != heads or (tokens == heads and not o["context behind tokens"]):
            y = self.transpose(y, 0, 2, 1, 3)
        if o["qkv"] == "einsum dense" and not o["inner norm"]:
            y = self.op("Einsum", y, self.weight(heads, width, dim, scale=1 / math.sqrt(dim)), equation="abcd,cde->abe")
            return self.op("Add", y, self.weight(dim, scale=0.2))
        y = self.reshape(y, count, tokens, dim)
        if o["inner norm"]:
            y = self.norm(y, o["rms"])
        return self.linear(y, dim)

    def weighted(self, q, k, v, o, spelled, scale):
        """softmax(q k^T) v, as {batch, tokens, heads, head_dim} where the heads are behind tokens and stay there."""
        layout, einsum = o["layout"], o["product"] == "einsum" and self.shape(k) == self.shape(q)
        if layout == "in the batch":
            q, k, v = (self.reshape(p, -1, *self.shape(p)[2:]) for p in (q, k, v))
        apart = "bqhd,bkhd->bhqk" if layout == "behind tokens" else "bhqd,bhkd->bhqk" if layout == "apart" else "bqd,bkd->bqk"
        if einsum:
            s = self.op("Einsum", q, k, equation=apart)
        elif layout != "behind tokens" and self.is_optimised():
            s = self.op("FusedMatMul", q, k, transB=1, alpha=scale if spelled == "scores" else None, domain=fused.DOMAIN)
            spelled = "none" if spelled == "scores" else spelled
        else:
            if layout == "behind tokens":
                q, k = self.transpose(q, 0, 2, 1, 3), self.transpose(k, 0, 2, 3, 1)
            else:
                k = self.transpose(k, *range(len(self.shape(k)) - 2), len(self.shape(k)) - 1, len(self.shape(k)) - 2)
            if o["product"] == "keys first":
                order = [*range(len(self.shape(k)) - 2), len(self.shape(k)) - 1, len(self.shape(k)) - 2]
                s = self.transpose(self.op("MatMul", self.transpose(k, *order), self.transpose(q, *order)), *order)
            else:
                s = self.op("MatMul", q, k)
        heads = o["heads"]
        if spelled == "scores":
            s = self.op("Mul", s, self.number(scale)) if self.maybe() else self.op("Div", s, self.number(1 / scale))
        if spelled == "quotient":
            side = self.op("Gather", self.op("Shape", q), self.constant(np.asarray(-1, np.int64)), axis=0)
            if einsum or layout != "apart":
                side = self.constant(np.asarray(self.shape(v)[-1], np.int64))
            s = self.op("Div", s, self.op("Sqrt", self.op("Cast", side, to=TensorProto.FLOAT)))
        if spelled == "per head":
            scales = scale + 0.1 * self.numbers.standard_normal((1, heads, 1, 1))
            if layout == "in the batch":
                scales = np.tile(scales[0], (self.shape(s)[0] // heads, 1, 1))
            s = self.both("Mul", s, self.constant(scales))
        if o["pair bias"]:
            tokens = self.shape(s)[-1]
            s = self.op("Add", s, self.weight(*([1, heads] if layout != "in the batch" else [1]), tokens, tokens, scale=0.5))
        if self.maybe(0.05):
            s = self.op("Concat", s, axis=-1)
        p = self.softmax(self.masked(s, o["mask"]))
        if o["context"] == "einsum" and self.shape(v)[:1] == self.shape(p)[:1] and self.shape(k)[1] == self.shape(q)[1]:
            o["context behind tokens"] = layout == "behind tokens"
            equation = "bhqk,bkhd->bqhd" if layout == "behind tokens" else "bhqk,bhkd->bhqd" if layout == "apart" else "bqk,bkd->bqd"
            return self.op("Einsum", p, v, equation=equation)
        if layout == "behind tokens":
            v = self.transpose(v, 0, 2, 1, 3)
        if o["context"] == "turned":
            order = [*range(len(self.shape(p)) - 2), len(self.shape(p)) - 1, len(self.shape(p)) - 2]
            return self.transpose(self.op("MatMul", self.transpose(v, *order), self.transpose(p, *order)), *order)
        return self.op("MatMul", p, v)

    def in_windows(self, x, o):
        """Attention inside windows of the grid, with zeros where it does not fill the last ones."""
        count, _, dim = self.shape(x)
        (h, w), (a, b) = self.grid, o["windows"]
        y = self.reshape(x, count, h, w, dim)
        down, right = -h % a, -w % b
        if down or right:
            some = self.opset >= 18 and self.maybe()  # of the axes, in another order
            y = self.op("Pad", y, self.ints(0, 0, right, down), None, self.ints(2, 1)) if some else \
                self.op("Pad", y, self.ints(0, 0, 0, 0, 0, down, right, 0))
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
        kind = self.spell("between")
        if kind == "positions":
            return self.op("Add", x, self.positions(self.front, self.behind, dim))
        if kind == "late tokens" and not o["pair bias"] and not o["rotary"] and not o["windows"]:
            self.front += 2
            return self.op("Concat", self.op("Expand", self.weight(1, 2, dim), self.ints(count, 2, dim)), x, axis=1)
        if kind == "replaced token" and self.front == 1 and not self.behind:  # as the camera token of Depth Anything 3
            row = self.op("Expand", self.weight(1, 1, dim), self.ints(count, 1, dim))
            way = self.pick("ScatterND", "ScatterElements", "Concat") if self.batch == 1 else "Concat"
            if way == "Concat":
                return self.op("Concat", row, self.slice(x, 1, 1, 1 << 40), axis=1)
            if way == "ScatterND":
                return self.op("ScatterND", x, self.constant(np.zeros((1, 1, 2), np.int64)), row)
            return self.op("ScatterElements", x, self.constant(np.zeros((1, 1, dim), np.int64)), row, axis=1)
        if kind == "interaction" and self.grid[0] > 1 and not self.behind:
            special = self.front
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
            y = self.both("Mul", self.activation(a, o["activation"]), b)
        else:
            y = self.activation(self.linear(x, hidden), o["activation"])
        if o["mlp norm"]:
            y = self.norm(y, o["rms"])
        return self.linear(y, dim)

    def block(self, x, o):
        attend, normalised = self.in_windows if o["windows"] else self.attention, None
        branches, joined = [], o["block"] == "sequential" and self.is_optimised()
        for part in (attend, self.mlp):
            if normalised is None or not joined and o["block"] != "parallel, one norm":
                normalised = self.norm(x, o["rms"])
            y = part(normalised, o)
            if o["layer scale"]:
                y = self.both("Mul", y, self.weight(self.shape(y)[-1], scale=0.3, offset=0.6))
            if joined and not branches:
                normalised, x = self.fused_norm(x, y, o["rms"])
            elif o["block"] == "sequential":
                x = self.both("Add", x, y)
            branches.append(y)
        if o["block"] == "sequential":
            return x
        if self.maybe():
            return self.both("Add", self.op("Add", x, branches[0]), branches[1])
        return self.both("Add", x, self.both("Add", *branches))

    def rotary_tables(self, o, width):
        """Cosines and sines {1, 1 or heads, tokens, columns that turn}."""
        patches, rows = math.prod(self.grid), self.spell("rotary rows")
        kind, heads = self.spell("rotary"), o["heads"] if self.spell("rotary tables") == "per head" else 1
        columns = width // 2 if self.spell("rotary columns") == "first" and width % 4 == 0 else width
        places = frequencies = None
        angle = self.numbers.uniform(-3, 3, (1, heads, patches, columns // 2))
        if "rotary made" in self.fixed:  # in equal steps
            down, right = self.numbers.uniform(-2.5, 2.5, (2, 1, heads, 1, columns // 2))
            place = np.arange(patches)[:, None]
            angle = place // self.grid[1] * down + place % self.grid[1] * right
        elif heads == 1 and self.spell("rotary made") == "outer product":
            places, frequencies = self.numbers.uniform(-2, 2, patches), self.numbers.uniform(0.2, 1.5, columns // 2)
            angle = np.outer(places, frequencies)[None, None]
            places = np.pad(places, (self.front, self.behind)) if rows == "all" else places
        if rows == "all":
            angle = np.pad(angle, ((0, 0), (0, 0), (self.front, self.behind), (0, 0)))
        angle = np.concatenate([angle, angle], -1) if kind == "halves" else np.repeat(angle, 2, -1)
        return {"kind": kind, "rows": rows, "cosine": np.cos(angle), "sine": np.sin(angle), "width": columns,
                "sum": self.spell("rotary sum"), "places": places, "frequencies": frequencies}

    def encoder(self):
        patch = self.pick(2, 3, 4, 4)
        grid = self.random.randint(2, 5), self.random.randint(2, 5)
        height, width = (patch * side for side in self.fixed.get("grid", grid))
        o = {"heads": self.pick(1, 2, 2, 4), "hidden": self.pick(12, 20, 24)}
        dim = o["heads"] * self.pick(4, 6, 8)
        x = self.patches(self.image(height, width), patch, dim)
        self.drawn = list(grid) if "grid" in self.fixed else self.grid
        x = self.tokens(x)
        for name in ("qkv", "activation", "scale", "product", "mask", "context", "q and k"):
            o[name] = self.spell(name)
        o["layout"] = "apart" if o["qkv"] in ("one key head", "grouped") else self.spell("heads")
        places = self.pick("", "", "", "", "", "", "rotary", "rotary", "pair bias", "windows" if not self.front + self.behind else "")
        for name, chance in (("rms", 0.15), ("qkv bias", 0.8), ("inner norm", 0.1), ("gated", 0.2), ("mlp norm", 0.1),
                             ("layer scale", 0.3)):
            o[name] = self.maybe(chance)
        o["pair bias"] = places == "pair bias"
        o["rotary"] = self.rotary_tables(o, dim // o["heads"]) if places == "rotary" else None
        sides = ((2, 2), (2, 3), (self.grid[0], 1), (1, self.grid[1]), (3, 2))
        o["windows"] = self.pick(*sides) if places == "windows" else None
        self.features.update(name for name, value in o.items() if value is True or name == places)
        o["block"] = "sequential" if o["pair bias"] or o["windows"] else self.spell("block")
        self.keys, self.blocks, self.patch, self.rotates = [], self.random.randint(1, 3), patch, bool(o["rotary"])
        for i in range(self.blocks):
            if i:
                x = self.between(x, o)
            self.inner = x
            x = self.block(x, {**o, "windows": o["windows"] if self.maybe(0.8) else None})
        self.leaves = [x]
        self.options = {**o, "windows": None, "rotary": None, "pair bias": False, "block": "sequential"}
        return self.norm(x, o["rms"]) if self.maybe(0.8) else x
