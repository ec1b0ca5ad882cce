# SPDX-License-Identifier: Apache-2.0
"""Computes ONNX graphs with NumPy, in double precision by default: what the standard says, with no code of the converter.

Floats of all widths are of one type, because the converter makes fp32 of all of them; whole numbers are int64.
"""
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import fused


class NotDefined(Exception):
    """The graph says nothing: its shapes or attributes contradict each other, or an operator is not here."""


class Disputed(NotDefined):
    """Runtimes disagree about it, or take whole numbers and floats for one type, as the converter does."""


FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16}
SUMS = {"MatMul", "Gemm", "Einsum", "Conv", "ReduceMean", "ReduceSum", "Resize", "LayerNormalization", "MatMulNBits"}
erf = np.vectorize(math.erf, otypes=[float])


def attributes(node):
    values = {}
    for a in node.attribute:
        value = helper.get_attribute_value(a)
        values[a.name] = value.decode() if isinstance(value, bytes) else value
    return values


class Evaluator(fused.FusedOperators):
    """One run of a graph. `dtype`: of floats."""

    def __init__(self, model, folder, dtype=np.float64):
        self.model, self.folder, self.dtype = model, folder, dtype
        self.opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
        self.functions = {(f.domain, f.name): f for f in model.functions}

    def array(self, value):
        value = np.asarray(value)
        if value.dtype == bool:
            return value
        return value.astype(self.dtype if value.dtype.kind == "f" else np.int64)

    def tensor(self, proto):
        if proto.data_type == TensorProto.BFLOAT16:
            raise NotDefined("bfloat16")
        return self.array(numpy_helper.to_array(proto, self.folder))

    def run(self, image):
        """The outputs of the graph for this input, by name."""
        graph = self.model.graph
        self.values = {"": None}
        for proto in graph.initializer:
            self.values[proto.name] = self.tensor(proto)
        images = [i.name for i in graph.input if i.name not in self.values]
        if len(images) != 1:
            raise NotDefined("not one input")
        self.values[images[0]] = self.array(image)
        self.nodes(graph.node, self.values, self.needed(graph))
        return {o.name: self.values[o.name] for o in graph.output}

    @staticmethod
    def needed(graph):
        """Names of all values that the outputs depend on."""
        names = {o.name for o in graph.output}
        for node in reversed(graph.node):
            bodies = [a.g for a in node.attribute if a.HasField("g")]
            if names.intersection(node.output):
                names.update(node.input, *(inner.input for body in bodies for inner in body.node))
                names.update(o.name for body in bodies for o in body.output)
        return names

    def nodes(self, nodes, values, needed=None):
        """`needed`: a node that makes none of them may contradict itself: it is left out then."""
        for node in nodes:
            try:
                with np.errstate(all="ignore"):
                    results = self.node(node, values)
            except NotDefined:
                if needed is None or needed.intersection(node.output):
                    raise
                continue
            except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError, OverflowError, MemoryError,
                    AttributeError) as error:
                if needed is not None and not needed.intersection(node.output):
                    continue
                raise NotDefined(f"{node.op_type}: {error}") from error
            for name, value in zip(node.output, results):
                if name:
                    values[name] = value

    def node(self, node, values):
        inputs = [values[name] for name in node.input]
        function = self.functions.get((node.domain, node.op_type))
        if function is not None:
            return self.call(function, node, inputs)
        given = attributes(node)
        if node.op_type == "If" and not node.domain:
            body = given["then_branch" if np.asarray(inputs[0]).item() else "else_branch"]
            inner = dict(values)
            for proto in body.initializer:
                inner[proto.name] = self.tensor(proto)
            self.nodes(body.node, inner)
            return [inner[o.name] for o in body.output]
        prefix = {"": "op_", "ai.onnx": "op_", fused.DOMAIN: "fused_"}.get(node.domain, "no_")
        made = getattr(self, prefix + node.op_type, None)
        if made is None:
            raise NotDefined(f"no operator {node.op_type}")
        self.outputs = len(node.output)
        result = made(given, *inputs)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        for value in results:
            if value.size > 1 << 24:
                raise NotDefined("a huge tensor")
        arrays = [self.array(value) for value in results]
        if self.dtype == np.float32 and node.op_type in SUMS and given.get("mode") != "nearest":
            return [self.rounded(value) if value.dtype.kind == "f" else value for value in arrays]
        return arrays

    @staticmethod
    def rounded(values):
        """As in another order of the sum: what is equal need not stay so."""
        return (values * (1 + 2e-7 * np.random.default_rng(values.size).uniform(-1, 1, values.shape))).astype(np.float32)

    def call(self, function, node, inputs):
        inner = {"": None, **dict(zip(function.input, inputs))}
        for name in function.input[len(inputs):]:
            inner[name] = None
        given = {a.name: a for a in node.attribute}
        body = []
        for one in function.node:
            copy = type(one)()
            copy.CopyFrom(one)
            for a in list(copy.attribute):
                if a.ref_attr_name:
                    name, actual = a.name, given.get(a.ref_attr_name)
                    copy.attribute.remove(a)
                    if actual is not None:
                        copy.attribute.add().CopyFrom(actual)
                        copy.attribute[-1].name = name
            body.append(copy)
        self.nodes(body, inner)
        return [inner[name] for name in function.output]

    # Values and shapes

    def op_Constant(self, given):
        if "value" in given:
            return self.tensor(given["value"])
        for kind in ("value_float", "value_floats"):
            if kind in given:
                return np.asarray(given[kind], self.dtype)
        for kind in ("value_int", "value_ints"):
            if kind in given:
                return np.asarray(given[kind], np.int64)
        raise NotDefined("a constant of another kind")

    def op_ConstantOfShape(self, given, shape):
        value = self.tensor(given["value"]).ravel()[0] if "value" in given else self.dtype(0)
        return np.full(self.sides(shape), value)

    def sides(self, shape):
        sides = [int(s) for s in np.asarray(shape).ravel()]
        if any(s < 0 for s in sides) or math.prod(sides) > 1 << 24:
            raise NotDefined(f"a shape {sides}")
        return sides

    def op_Shape(self, given, x):
        return np.asarray(x.shape[given.get("start", 0):given.get("end", None)], np.int64)

    def op_Size(self, given, x):
        return np.asarray(x.size, np.int64)

    def op_Identity(self, given, x):
        return x

    def op_Dropout(self, given, x, *_):
        return [x, np.ones(x.shape, bool)][:self.outputs]

    def op_Cast(self, given, x):
        to = given["to"]
        if to in FLOATS:
            return x.astype(self.dtype)
        if x.dtype.kind == "f" and not np.isfinite(x).all():
            raise Disputed("no number as a whole number")
        if x.dtype.kind == "f" and to != TensorProto.BOOL:
            beside = np.abs(x - np.round(x))
            if ((0 < beside) & (beside < 4e-7 * np.abs(x))).any():
                raise Disputed("a whole number that rounding decides")
        return x != 0 if to == TensorProto.BOOL else np.trunc(x).astype(np.int64)

    def op_CastLike(self, given, x, like):
        return x.astype(like.dtype) if like.dtype.kind == "f" else np.trunc(x).astype(like.dtype)

    def op_Reshape(self, given, x, shape):
        shape = [int(s) for s in shape]
        if not given.get("allowzero", 0):
            shape = [x.shape[i] if s == 0 else s for i, s in enumerate(shape)]
        elif 0 in shape and -1 in shape:
            raise NotDefined("zero and -1 in a shape")
        if any(s < -1 for s in shape) or shape.count(-1) > 1:
            raise NotDefined(f"a shape {shape}")
        return x.reshape(shape)

    def op_Flatten(self, given, x):
        axis = given.get("axis", 1)
        axis += x.ndim if axis < 0 else 0
        if axis < 0 or axis > x.ndim:
            raise NotDefined("an axis beyond the rank")
        return x.reshape(math.prod(x.shape[:axis]), -1)

    def axes(self, given, added, name="axes"):
        if name in given:
            return [int(a) for a in given[name]]
        return None if added is None else [int(a) for a in np.asarray(added).ravel()]

    def op_Squeeze(self, given, x, axes=None):
        axes = self.axes(given, axes)
        return np.squeeze(x, None if axes is None else tuple(axes))

    def op_Unsqueeze(self, given, x, axes=None):
        return np.expand_dims(x, tuple(self.axes(given, axes)))

    def op_Transpose(self, given, x):
        return np.transpose(x, given.get("perm"))

    def op_Concat(self, given, *parts):
        if len({p.dtype.kind for p in parts}) > 1:
            raise NotDefined("two types joined")
        return np.concatenate(parts, given["axis"])

    def op_Split(self, given, x, sizes=None):
        axis, sizes = given.get("axis", 0), self.axes(given, sizes, "split")
        side = x.shape[axis]
        if sizes is None:
            parts = given.get("num_outputs", self.outputs)
            if parts != self.outputs:
                raise NotDefined("another number of parts")
            one = -(-side // parts)
            sizes = [one] * (parts - 1) + [side - one * (parts - 1)]
        if sum(sizes) != side or len(sizes) != self.outputs or min(sizes) < 0:
            raise NotDefined("parts that do not add up")
        return np.split(x, np.cumsum(sizes)[:-1], axis)

    def op_Slice(self, given, x, starts=None, ends=None, axes=None, steps=None):
        if any(np.ndim(one) == 0 for one in (starts, ends, axes, steps) if one is not None):
            raise Disputed("a number in place of a list")
        starts, ends = self.axes(given, starts, "starts"), self.axes(given, ends, "ends")
        axes = self.axes(given, axes) or list(range(len(starts)))
        steps = [1] * len(starts) if steps is None else [int(s) for s in steps]
        if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
            raise NotDefined("starts and ends of different lengths")
        if len({a % x.ndim for a in axes}) < len(axes):
            raise NotDefined("an axis twice")
        for start, end, axis, step in zip(starts, ends, axes, steps):
            side = x.shape[axis]
            start += side if start < 0 else 0
            end += side if end < 0 else 0
            if step > 0:
                places = range(min(max(start, 0), side), min(max(end, 0), side), step)
            else:
                places = range(min(max(start, 0), side - 1), min(max(end, -1), side - 1), step)
            x = np.take(x, list(places), axis)
        return x

    def index(self, indices, side):
        if ((indices < -side) | (indices >= side)).any():
            raise NotDefined("an index outside")
        return np.where(indices < 0, indices + side, indices).astype(np.int64)

    def op_Gather(self, given, x, indices):
        axis = given.get("axis", 0)
        return np.take(x, self.index(indices, x.shape[axis]), axis)

    def op_GatherElements(self, given, x, indices):
        axis = given.get("axis", 0)
        if indices.ndim != x.ndim:
            raise NotDefined("indices of another rank")
        places = list(np.meshgrid(*[np.arange(s) for s in indices.shape], indexing="ij"))
        places[axis] = self.index(indices, x.shape[axis])
        return x[tuple(places)]

    def op_GatherND(self, given, x, indices):
        batch, depth = given.get("batch_dims", 0), indices.shape[-1]
        lead = x.shape[:batch]
        if indices.shape[:batch] != lead:
            raise NotDefined("another batch")
        flat_x, flat_i = x.reshape(-1, *x.shape[batch:]), indices.reshape(-1, *indices.shape[batch:])
        rows = []
        for one, places in zip(flat_x, flat_i):
            each = tuple(self.index(places[..., k], one.shape[k]) for k in range(depth))
            rows.append(one[each])
        return np.stack(rows).reshape(*lead, *rows[0].shape)

    def op_ScatterND(self, given, x, indices, updates):
        depth = indices.shape[-1]
        places = indices.reshape(-1, depth)
        if given.get("reduction", "none") != "none" or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
            raise NotDefined("a reduction, or updates of another shape")
        rows = np.stack([self.index(places[:, k], x.shape[k]) for k in range(depth)], 1)
        if len({tuple(row) for row in rows}) < len(rows):
            raise NotDefined("a place twice")
        y = x.copy()
        y[tuple(rows.T)] = updates.reshape(len(rows), *x.shape[depth:])
        return y

    def op_ScatterElements(self, given, x, indices, updates):
        axis = given.get("axis", 0)
        if given.get("reduction", "none") != "none" or updates.shape != indices.shape or indices.ndim != x.ndim:
            raise NotDefined("a reduction, or updates of another shape")
        places = list(np.meshgrid(*[np.arange(s) for s in indices.shape], indexing="ij"))
        places[axis] = self.index(indices, x.shape[axis])
        if len({tuple(place) for place in np.stack([p.ravel() for p in places], 1)}) < indices.size:
            raise NotDefined("a place twice")
        y = x.copy()
        y[tuple(places)] = updates
        return y

    def op_Expand(self, given, x, shape):
        sides = self.sides(shape)
        return x * np.ones(sides, x.dtype) if x.dtype != bool else np.logical_and(x, np.ones(sides, bool))

    def op_Tile(self, given, x, repeats):
        if len(repeats) != x.ndim:
            raise NotDefined("repeats of another rank")
        return np.tile(x, self.sides(repeats))

    def op_Range(self, given, start, limit, delta):
        return np.arange(start.item(), limit.item(), delta.item())

    def op_Pad(self, given, x, pads=None, value=None, axes=None):
        pads = self.axes(given, pads, "pads")
        chosen = list(range(x.ndim)) if axes is None else [int(a) % x.ndim for a in axes]
        if len(pads) != 2 * len(chosen) or len(set(chosen)) < len(chosen):
            raise NotDefined("pads of another rank, or of an axis twice")
        if value is not None and value.dtype.kind != x.dtype.kind:
            raise Disputed("a fill of another type")
        mode, fill = given.get("mode", "constant"), given.get("value", 0) if value is None else value.item()
        for k, axis in enumerate(chosen):
            before, behind = pads[k], pads[k + len(chosen)]
            side = x.shape[axis]
            cut = np.take(x, range(max(-before, 0), side - max(-behind, 0)), axis)
            if mode == "reflect" and cut.shape != x.shape:
                raise Disputed("pixels that are cut off and reflected")
            x = cut
            width = [(0, 0)] * x.ndim
            width[axis] = (max(before, 0), max(behind, 0))
            if mode == "constant":
                x = np.pad(x, width, constant_values=fill)
            elif mode in ("reflect", "edge", "wrap"):
                if mode == "reflect" and max(width[axis]) >= x.shape[axis]:
                    raise NotDefined("more padding than pixels")
                x = np.pad(x, width, mode)
            else:
                raise NotDefined(f"mode {mode}")
        return x

    def op_DepthToSpace(self, given, x):
        n, c, h, w = x.shape
        b = given["blocksize"]
        if given.get("mode", "DCR") == "CRD":
            return x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // (b * b), h * b, w * b)
        return x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)

    def op_SpaceToDepth(self, given, x):
        n, c, h, w = x.shape
        b = given["blocksize"]
        return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)

    # One by one

    def both(self, a, b):
        if (a.dtype.kind == "f") != (b.dtype.kind == "f"):
            raise Disputed("floats and whole numbers together")

    def op_Div(self, given, a, b):
        self.both(a, b)
        if a.dtype.kind == "f":
            return a / b
        if (b == 0).any():
            raise Disputed("a whole number divided by 0")
        return np.trunc(a / b).astype(np.int64)

    def op_Pow(self, given, a, b):
        result = np.power(a.astype(np.float64), b)
        return result.astype(a.dtype) if a.dtype.kind == "f" else np.trunc(result).astype(np.int64)

    def op_Mod(self, given, a, b):
        self.both(a, b)
        if a.dtype.kind != "f" and (b == 0).any():
            raise Disputed("a whole number divided by 0")
        return np.fmod(a, b) if given.get("fmod", 0) else np.mod(a, b)

    def several(self, given, parts, work):
        result = parts[0]
        for part in parts[1:]:
            self.both(result, part)
            result = work(result, part)
        return result

    def op_Mean(self, given, *parts):
        return self.several(given, parts, np.add) / len(parts)

    def op_Where(self, given, which, a, b):
        self.both(a, b)
        if which.dtype != bool:
            raise Disputed("a choice by numbers")
        return np.where(which, a, b)

    def op_Clip(self, given, x, low=None, high=None):
        for limit in (low, high):
            if limit is not None:
                self.both(x, limit)
        low = given.get("min") if low is None else low.item()
        high = given.get("max") if high is None else high.item()
        return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high) if x.dtype.kind == "f" else x

    def floats(self, x):
        if x.dtype.kind != "f":
            raise Disputed("a function of whole numbers")
        return x

    def op_Erf(self, given, x):
        return erf(self.floats(x)) if x.size else x

    def op_Sigmoid(self, given, x):
        return 1 / (1 + np.exp(-self.floats(x)))

    def op_Softplus(self, given, x):
        return np.log1p(np.exp(-np.abs(self.floats(x)))) + np.maximum(x, 0)

    def op_Softsign(self, given, x):
        return self.floats(x) / (1 + np.abs(x))

    def op_Relu(self, given, x):
        return np.maximum(self.floats(x), 0)

    def op_LeakyRelu(self, given, x):
        return np.where(self.floats(x) < 0, given.get("alpha", 0.01) * x, x)

    def op_ThresholdedRelu(self, given, x):
        return np.where(self.floats(x) > given.get("alpha", 1.0), x, 0)

    def op_PRelu(self, given, x, slope):
        return np.where(self.floats(x) < 0, slope * x, x)

    def op_Elu(self, given, x):
        return np.where(self.floats(x) < 0, given.get("alpha", 1.0) * (np.exp(np.minimum(x, 0)) - 1), x)

    def op_Celu(self, given, x):
        a = given.get("alpha", 1.0)
        return np.maximum(x, 0) + np.minimum(0, a * (np.exp(np.minimum(x, 0) / a) - 1))

    def op_Selu(self, given, x):
        a, g = given.get("alpha", 1.67326319217681884765625), given.get("gamma", 1.05070102214813232421875)
        return g * np.where(x > 0, x, a * np.exp(np.minimum(x, 0)) - a)

    def op_HardSigmoid(self, given, x):
        return np.clip(given.get("alpha", 0.2) * self.floats(x) + given.get("beta", 0.5), 0, 1)

    def op_HardSwish(self, given, x):
        return self.floats(x) * np.clip(x / 6 + 0.5, 0, 1)

    def op_Mish(self, given, x):
        return x * np.tanh(self.op_Softplus(given, x))

    def op_Swish(self, given, x):
        return self.floats(x) / (1 + np.exp(-given.get("alpha", 1.0) * x))

    def op_Gelu(self, given, x):
        if given.get("approximate", "none") == "tanh":
            return 0.5 * self.floats(x) * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return 0.5 * self.floats(x) * (1 + erf(x / math.sqrt(2)))

    # Along axes

    def reduced(self, given, x, axes):
        axes = self.axes(given, axes)
        if not axes:
            if given.get("noop_with_empty_axes", 0):
                return None
            axes = range(x.ndim)
        axes = tuple(a % x.ndim if -x.ndim <= a < x.ndim else x.ndim for a in axes)
        if axes and max(axes) >= x.ndim:
            raise NotDefined("an axis beyond the rank")
        if given.get("keepdims", 1) not in (0, 1):
            raise Disputed("keepdims that is no truth")
        return {"axis": axes, "keepdims": given.get("keepdims", 1) != 0}

    def reduction(self, given, x, axes, work):
        along = self.reduced(given, x, axes)
        return x if along is None else work(x, **along)

    def op_ReduceMean(self, given, x, axes=None):
        return self.reduction(given, self.floats(x), axes, np.mean)

    def op_ReduceSum(self, given, x, axes=None):
        return self.reduction(given, x, axes, np.sum)

    def op_ReduceMax(self, given, x, axes=None):
        return self.reduction(given, x, axes, np.max)

    def op_ReduceMin(self, given, x, axes=None):
        return self.reduction(given, x, axes, np.min)

    def op_ReduceProd(self, given, x, axes=None):
        return self.reduction(given, x, axes, np.prod)

    def op_ReduceL1(self, given, x, axes=None):
        return self.reduction(given, np.abs(x), axes, np.sum)

    def op_ReduceSumSquare(self, given, x, axes=None):
        return self.reduction(given, x * x, axes, np.sum)

    def op_ReduceL2(self, given, x, axes=None):
        return np.sqrt(self.reduction(given, self.floats(x)**2, axes, np.sum))

    def op_ReduceLogSum(self, given, x, axes=None):
        return np.log(self.reduction(given, self.floats(x), axes, np.sum))

    def op_ReduceLogSumExp(self, given, x, axes=None):
        return np.log(self.reduction(given, np.exp(self.floats(x)), axes, np.sum))

    def arg(self, given, x, work):
        axis, keep, last = given.get("axis", 0), given.get("keepdims", 1), given.get("select_last_index", 0)
        if keep not in (0, 1):
            raise Disputed("keepdims that is no truth")
        found = x.shape[axis] - 1 - work(np.flip(x, axis), axis) if last else work(x, axis)
        return np.expand_dims(found, axis) if keep else found

    def op_ArgMax(self, given, x):
        return self.arg(given, x, np.argmax)

    def op_ArgMin(self, given, x):
        return self.arg(given, x, np.argmin)

    def op_TopK(self, given, x, count):
        axis, count = given.get("axis", -1), int(np.asarray(count).item())
        if given.get("largest", 1) not in (0, 1):
            raise Disputed("largest that is no truth")
        order = np.argsort(-x if given.get("largest", 1) else x, axis, kind="stable")
        steps = np.abs(np.diff(np.take_along_axis(x, order, axis).astype(float), axis=axis))
        if x.dtype.kind == "f" and (np.take(steps, range(min(count, steps.shape[axis])), axis) < 1e-6 * np.abs(x).max()).any():
            raise Disputed("two values that rounding orders")
        order = np.take(order, range(count), axis)
        return [np.take_along_axis(x, order, axis), order]

    def op_Softmax(self, given, x):
        axis = given.get("axis", 1 if self.opset < 13 else -1)
        self.floats(x)
        if self.opset < 13:  # over all axes from there on
            axis += x.ndim if axis < 0 else 0
            rows = x.reshape(*x.shape[:axis], -1)
            return self.softmax(rows, -1).reshape(x.shape)
        return self.softmax(x, axis)

    @staticmethod
    def softmax(x, axis):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    def op_LogSoftmax(self, given, x):
        return np.log(self.op_Softmax(given, x))

    def op_CumSum(self, given, x, axis):
        if given:
            raise NotDefined("attributes of CumSum")
        return np.cumsum(x, int(axis.item()))

    # Normalisation

    def op_LayerNormalization(self, given, x, scale, bias=None):
        axis = given.get("axis", -1)
        along = tuple(range(axis + x.ndim if axis < 0 else axis, x.ndim))
        mean = x.mean(along, keepdims=True)
        spread = np.sqrt(((x - mean)**2).mean(along, keepdims=True) + given.get("epsilon", 1e-5))
        result = (x - mean) / spread * scale
        if result.shape != x.shape:
            raise NotDefined("a scale that makes the result larger")
        return result if bias is None else result + bias

    def op_RMSNormalization(self, given, x, scale):
        axis = given.get("axis", -1)
        along = tuple(range(axis + x.ndim if axis < 0 else axis, x.ndim))
        return x / np.sqrt((x**2).mean(along, keepdims=True) + given.get("epsilon", 1e-5)) * scale

    def op_LpNormalization(self, given, x):
        p = given.get("p", 2)
        length = (np.abs(x)**p).sum(given.get("axis", -1), keepdims=True)**(1 / p)
        return np.where(length == 0, 0, x / np.where(length == 0, 1, length))  # zeros stay zeros, as in ONNX Runtime

    def column(self, values, x):
        if len(values) != x.shape[1]:
            raise NotDefined("another number of channels")
        return values.reshape(-1, *[1] * (x.ndim - 2))

    def op_BatchNormalization(self, given, x, scale, bias, mean, variance):
        scale, bias, mean, variance = (self.column(v, x) for v in (scale, bias, mean, variance))
        return (x - mean) / np.sqrt(variance + given.get("epsilon", 1e-5)) * scale + bias

    def op_InstanceNormalization(self, given, x, scale, bias):
        along = tuple(range(2, x.ndim))
        mean = x.mean(along, keepdims=True)
        spread = np.sqrt(((x - mean)**2).mean(along, keepdims=True) + given.get("epsilon", 1e-5))
        return (x - mean) / spread * self.column(scale, x) + self.column(bias, x)

    def op_GroupNormalization(self, given, x, scale, bias):
        groups = given["num_groups"]
        rows = x.reshape(x.shape[0], groups, -1)
        mean = rows.mean(-1, keepdims=True)
        spread = np.sqrt(((rows - mean)**2).mean(-1, keepdims=True) + given.get("epsilon", 1e-5))
        result = ((rows - mean) / spread).reshape(x.shape)
        if self.opset < 21:
            scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
        return result * self.column(scale, x) + self.column(bias, x)

    # Products

    def op_MatMul(self, given, a, b):
        self.both(a, b)
        return np.matmul(a, b)

    def op_Gemm(self, given, a, b, c=None):
        a = a.T if given.get("transA", 0) else a
        b = b.T if given.get("transB", 0) else b
        if a.ndim != 2 or b.ndim != 2:
            raise NotDefined("no matrices")
        product = given.get("alpha", 1.0) * (a @ b)
        if c is None:
            return product
        result = product + given.get("beta", 1.0) * c
        if result.shape != product.shape:
            raise NotDefined("an addend that makes the product larger")
        return result

    def op_Einsum(self, given, *parts):
        return np.einsum(given["equation"].replace(" ", ""), *parts)

    def op_Attention(self, given, q, k, v, mask=None, *more):
        if any(m is not None for m in more) or given.get("is_causal", 0) or given.get("softcap", 0):
            raise NotDefined("another attention")
        flat = q.ndim == 3
        if flat:
            heads, shared = given["q_num_heads"], given["kv_num_heads"]
            q, k, v = (x.reshape(x.shape[0], x.shape[1], n, -1).transpose(0, 2, 1, 3)
                       for x, n in ((q, heads), (k, shared), (v, shared)))
        groups = q.shape[1] // k.shape[1]
        if groups * k.shape[1] != q.shape[1]:
            raise NotDefined("heads that do not fit")
        k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
        scores = q @ k.swapaxes(-1, -2) * given.get("scale", 1 / math.sqrt(q.shape[-1]))
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        result = self.softmax(scores, -1) @ v
        return result.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1) if flat else result

    # Maps

    def windows(self, given, x, kernel):
        """Padding in front and behind, strides and dilations of two axes."""
        if x.ndim != 4 or len(kernel) != 2:
            raise NotDefined("not over two axes")
        strides, dilations = given.get("strides", [1, 1]), given.get("dilations", [1, 1])
        automatic, pads = given.get("auto_pad", "NOTSET"), list(given.get("pads", [0] * 4))
        if min(*strides, *dilations, *kernel) < 1 or min(pads) < 0 or len(strides) != 2 or len(pads) != 4:
            raise NotDefined("windows without a size")
        if automatic != "NOTSET":
            pads = [0] * 4
        if automatic.startswith("SAME"):
            for a in range(2):
                out = -(-x.shape[2 + a] // strides[a])
                total = max((out - 1) * strides[a] + (kernel[a] - 1) * dilations[a] + 1 - x.shape[2 + a], 0)
                less = total // 2
                pads[a], pads[2 + a] = (less, total - less) if automatic == "SAME_UPPER" else (total - less, less)
        return pads, strides, dilations

    def op_Conv(self, given, x, w, b=None):
        if x.ndim == 3 and w.ndim == 3 and not set(given) - {"kernel_shape"}:  # along one axis
            return self.op_Conv({}, x[..., None], w[..., None], b)[..., 0]
        groups = given.get("group", 1)
        pads, strides, dilations = self.windows(given, x, w.shape[2:])
        if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
            raise NotDefined("channels that do not fit")
        x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
        kh, kw = w.shape[2:]
        oh = (x.shape[2] - (kh - 1) * dilations[0] - 1) // strides[0] + 1
        ow = (x.shape[3] - (kw - 1) * dilations[1] - 1) // strides[1] + 1
        if oh < 1 or ow < 1:
            raise NotDefined("no window")
        result = np.zeros((x.shape[0], w.shape[0], oh, ow), x.dtype)
        inside, outside = w.shape[1], w.shape[0] // groups
        for g in range(groups):
            for i in range(kh):
                for j in range(kw):
                    part = x[:, g * inside:(g + 1) * inside, i * dilations[0]:, j * dilations[1]:]
                    part = part[:, :, ::strides[0], ::strides[1]][:, :, :oh, :ow]
                    result[:, g * outside:(g + 1) * outside] += np.einsum(
                        "nchw,oc->nohw", part, w[g * outside:(g + 1) * outside, :, i, j])
        return result if b is None else result + b.reshape(-1, 1, 1)

    def op_ConvTranspose(self, given, x, w, b=None):
        groups, extra = given.get("group", 1), given.get("output_padding", [0, 0])
        pads, strides, dilations = self.windows(given, x, w.shape[2:])
        if x.shape[1] != w.shape[0] or w.shape[0] % groups:
            raise NotDefined("channels that do not fit")
        if max(extra) >= max(*strides, *dilations):
            raise Disputed("more padding of the output than a stride")
        n, _, h, width = x.shape
        kh, kw = w.shape[2:]
        full = [(h - 1) * strides[0] + (kh - 1) * dilations[0] + 1 + extra[0],
                (width - 1) * strides[1] + (kw - 1) * dilations[1] + 1 + extra[1]]
        automatic = given.get("auto_pad", "NOTSET")
        if "output_shape" in given or automatic.startswith("SAME"):
            ends = given.get("output_shape", [h * strides[0], width * strides[1]])[-2:]
            total = [full[a] - ends[a] for a in (0, 1)]
            if min(total) < 0:
                raise NotDefined("a side that ends behind the last window")
            less = [t // 2 if automatic == "SAME_UPPER" else t - t // 2 for t in total]
            pads = [*less, *(t - part for t, part in zip(total, less))]
        inside, outside = w.shape[0] // groups, w.shape[1]
        result = np.zeros((n, outside * groups, *full), x.dtype)
        for g in range(groups):
            for i in range(kh):
                for j in range(kw):
                    part = np.einsum("nchw,co->nohw", x[:, g * inside:(g + 1) * inside],
                                     w[g * inside:(g + 1) * inside, :, i, j])
                    top, left = i * dilations[0], j * dilations[1]
                    result[:, g * outside:(g + 1) * outside, top:top + (h - 1) * strides[0] + 1:strides[0],
                           left:left + (width - 1) * strides[1] + 1:strides[1]] += part
        result = result[:, :, pads[0]:full[0] - pads[2], pads[1]:full[1] - pads[3]]
        if 0 in result.shape:
            raise NotDefined("nothing left")
        return result if b is None else result + b.reshape(-1, 1, 1)

    def pool(self, given, x, work, fill):
        kernel = given["kernel_shape"]
        pads, strides, dilations = self.windows(given, x, kernel)
        counted = np.pad(np.ones(x.shape), [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])],
                         constant_values=1 if given.get("count_include_pad", 0) else 0)
        x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=fill)
        rest = [x.shape[2 + a] - (kernel[a] - 1) * dilations[a] - 1 for a in (0, 1)]
        if min(rest) < 0:
            raise NotDefined("no window")
        oh, ow = (r // s + 1 for r, s in zip(rest, strides))
        if given.get("ceil_mode", 0) and given.get("auto_pad", "NOTSET") in ("NOTSET", "VALID"):
            more = [(0, -r % s) for r, s in zip(rest, strides)]
            if any(r % s and (r // s + 1) * s >= x.shape[2 + a] - pads[2 + a] for a, (r, s) in enumerate(zip(rest, strides))):
                raise NotDefined("a last window beside the map")
            oh, ow = (-(-r // s) + 1 for r, s in zip(rest, strides))
            x, counted = np.pad(x, [(0, 0), (0, 0), *more], constant_values=fill), np.pad(counted, [(0, 0), (0, 0), *more])
        parts, counts = [], []
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                for source, to in ((x, parts), (counted, counts)):
                    part = source[:, :, i * dilations[0]:, j * dilations[1]:]
                    to.append(part[:, :, ::strides[0], ::strides[1]][:, :, :oh, :ow])
        return work(np.stack(parts), np.sum(counts, 0))

    def op_MaxPool(self, given, x):
        if self.outputs > 1 or given.get("storage_order", 0):
            raise NotDefined("indices of a pooling")
        return self.pool(given, x, lambda parts, count: parts.max(0), -np.inf)

    def op_AveragePool(self, given, x):
        return self.pool(given, x, lambda parts, count: parts.sum(0) / count, 0)

    def op_GlobalAveragePool(self, given, x):
        return x.mean(tuple(range(2, x.ndim)), keepdims=True)

    def op_GlobalMaxPool(self, given, x):
        return x.max(tuple(range(2, x.ndim)), keepdims=True)

    def op_Resize(self, given, x, region=None, scales=None, sizes=None):
        if self.opset < 11:
            raise NotDefined("an old Resize")
        chosen = [a % x.ndim for a in given.get("axes", range(x.ndim))]
        if len(set(chosen)) < len(chosen):
            raise NotDefined("an axis twice")
        if given.get("keep_aspect_ratio_policy", "stretch") != "stretch" or \
                (given.get("antialias", 0) and not given.get("exclude_outside", 0)):
            raise NotDefined("another Resize")
        by_size = sizes is not None and sizes.size > 0
        if (sizes if by_size else scales) is None or len(sizes if by_size else scales) != len(chosen):
            raise NotDefined("sizes of another rank")
        mode = given.get("mode", "nearest")
        if mode != "nearest" and x.dtype.kind != "f":
            raise Disputed("whole numbers between pixels")
        for k, axis in enumerate(chosen):
            side = x.shape[axis]
            out = int(sizes[k]) if by_size else int(math.floor(side * float(scales[k])))
            scale = out / side if by_size else float(scales[k])
            if out < 1:
                raise NotDefined("no pixels")
            if out == side and scale == 1:
                continue
            if out == side:
                raise Disputed("a Resize to the same number of pixels, by another scale")
            weights = np.zeros((out, side))
            for i in range(out):
                taps = self.taps(given, mode, i, side, out, scale)
                if mode == "nearest" and taps != self.taps(given, mode, i, side, out, float(np.float32(scale))):
                    raise Disputed("a nearest pixel that rounding decides")
                for place, weight in taps:
                    weights[i, min(max(place, 0), side - 1)] += weight
            x = np.moveaxis(np.tensordot(weights.astype(x.dtype), x, (1, axis)), 0, axis)
        return x

    @staticmethod
    def taps(given, mode, i, side, out, scale):
        rule = given.get("coordinate_transformation_mode", "half_pixel")
        if rule == "half_pixel" or (rule == "pytorch_half_pixel" and out > 1):
            at = (i + 0.5) / scale - 0.5
        elif rule == "pytorch_half_pixel":
            at = 0.0
        elif rule == "asymmetric":
            at = i / scale
        elif rule == "align_corners":
            if out != round(side * scale):
                raise NotDefined("corners within a pixel")
            at = 0.0 if out == 1 else i * (side - 1) / (out - 1)
        elif rule == "half_pixel_symmetric":
            at = side / 2 * (1 - out / (scale * side)) + (i + 0.5) / scale - 0.5
        else:
            raise NotDefined(rule)
        if mode == "nearest":
            rounding = given.get("nearest_mode", "round_prefer_floor")
            near = {"round_prefer_floor": math.ceil(at - 0.5), "round_prefer_ceil": math.floor(at + 0.5),
                    "floor": math.floor(at), "ceil": math.ceil(at)}
            return [(near[rounding], 1.0)]
        wide = max(1 / scale, 1) if given.get("antialias", 0) else 1
        reach = wide if mode == "linear" else 2 * wide
        found = {place: Evaluator.share(mode, (place - at) / wide, given.get("cubic_coeff_a", -0.75))
                 for place in range(math.ceil(at - reach), math.floor(at + reach) + 1)}
        if given.get("exclude_outside", 0):
            total = sum(share for place, share in found.items() if 0 <= place < side)
            found = {place: share / total for place, share in found.items() if 0 <= place < side}
        return found.items()

    @staticmethod
    def share(mode, distance, a=-0.75):
        """The weight of a pixel that is so far away."""
        d = np.abs(distance)
        if mode in ("linear", "bilinear"):
            return np.maximum(1 - d, 0)
        if mode not in ("cubic", "bicubic"):
            raise NotDefined(f"mode {mode}")
        far = np.where(d < 2, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a, 0)
        return np.where(d < 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, far)

    def op_GridSample(self, given, x, grid):
        mode, padding, corners = given.get("mode", "linear"), given.get("padding_mode", "zeros"), given.get("align_corners", 0)
        if x.ndim != 4 or padding not in ("zeros", "border", "reflection"):
            raise NotDefined("another GridSample")
        if not np.isfinite(grid).all():
            raise Disputed("places that are no numbers")
        axes = []  # of both: pairs of rows or columns and their weights
        for axis, side in ((1, x.shape[2]), (0, x.shape[3])):
            at = grid[..., axis]
            at = (at + 1) / 2 * (side - 1) if corners else ((at + 1) * side - 1) / 2
            low = np.rint(at) if mode == "nearest" else np.floor(at)
            axes.append([])
            for step in (0,) if mode == "nearest" else (0, 1) if mode in ("linear", "bilinear") else (-1, 0, 1, 2):
                place = low + step
                weight = np.ones(at.shape) if mode == "nearest" else self.share(mode, at - place)
                if padding == "zeros":
                    weight = weight * ((place >= 0) & (place < side))
                if padding == "reflection":
                    period = max(2 * (side - 1), 1) if corners else 2 * side
                    place = place % period
                    place = np.where(place >= side, period - place - (0 if corners else 1), place)
                axes[-1].append((np.clip(place, 0, side - 1).astype(np.int64), weight))
        result = np.zeros((*x.shape[:2], *grid.shape[1:3]), x.dtype)
        for rows, down in axes[0]:
            for columns, right in axes[1]:
                for n in range(x.shape[0]):
                    result[n] += x[n][:, rows[n], columns[n]] * (down * right)[n]
        return result

    def op_DequantizeLinear(self, given, x, scale, zero=None):
        axis = given.get("axis", 1)
        block = given.get("block_size", 0)
        if block:
            scale, zero = (None if part is None else np.repeat(part, block, axis)[tuple(map(slice, x.shape))] for part in (scale, zero))
        elif scale.ndim == 1 and scale.size > 1:
            shape = [1] * x.ndim
            shape[axis] = -1
            scale, zero = scale.reshape(shape), None if zero is None else zero.reshape(shape)
        return (x - (0 if zero is None else zero)).astype(self.dtype) * scale


def of_numpy(work, check=lambda self, *operands: None):
    """An operator that is a function of NumPy."""
    def operator(self, given, *operands):
        if len(operands) != work.nin:
            raise NotDefined("another number of operands")
        check(self, *operands)
        return work(*operands)
    return operator


def of_several(work):
    """An operator of one operand or more that is a function of two."""
    return lambda self, given, *operands: self.several(given, operands, work)


for name, made in {
        "Equal": of_numpy(np.equal),
        "Less": of_numpy(np.less),
        "LessOrEqual": of_numpy(np.less_equal),
        "Greater": of_numpy(np.greater),
        "GreaterOrEqual": of_numpy(np.greater_equal),
        "And": of_numpy(np.logical_and),
        "Or": of_numpy(np.logical_or),
        "Xor": of_numpy(np.logical_xor),
        "Not": of_numpy(np.logical_not),
        "IsNaN": of_numpy(np.isnan),
        "Neg": of_numpy(np.negative),
        "Abs": of_numpy(np.abs),
        "Sign": of_numpy(np.sign),
        "Add": of_numpy(np.add, Evaluator.both),
        "Sub": of_numpy(np.subtract, Evaluator.both),
        "Mul": of_numpy(np.multiply, Evaluator.both),
        "Sqrt": of_numpy(np.sqrt, Evaluator.floats),
        "Exp": of_numpy(np.exp, Evaluator.floats),
        "Log": of_numpy(np.log, Evaluator.floats),
        "Sin": of_numpy(np.sin, Evaluator.floats),
        "Cos": of_numpy(np.cos, Evaluator.floats),
        "Floor": of_numpy(np.floor, Evaluator.floats),
        "Ceil": of_numpy(np.ceil, Evaluator.floats),
        "Round": of_numpy(np.rint, Evaluator.floats),
        "Tanh": of_numpy(np.tanh, Evaluator.floats),
        "Reciprocal": of_numpy(np.reciprocal, Evaluator.floats),
        "Max": of_several(np.maximum),
        "Min": of_several(np.minimum),
        "Sum": of_several(np.add)}.items():
    setattr(Evaluator, "op_" + name, made)
