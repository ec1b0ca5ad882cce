# SPDX-License-Identifier: Apache-2.0
"""Small random edits of real graphs: an attribute, a constant, an input, an operator, a node more or less."""
import json
import os
import pathlib
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

import evaluate

DATA = pathlib.Path(os.environ.get("MPM_EXPORTED_MODELS", pathlib.Path(__file__).resolve().parents[2] / "data"))
REFUSED = {"post_norm_ts17", "resnet_ts13", "swin_ts17"}  # as they are, too
ALIKE = [["Add", "Sub", "Mul", "Max", "Min"], ["Mul", "Div", "Add"], ["Erf", "Tanh", "Sigmoid", "Relu", "Neg", "Sin"],
         ["Softmax", "LogSoftmax", "Sigmoid"], ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"],
         ["Sqrt", "Exp", "Abs", "Reciprocal"], ["Relu", "Gelu", "HardSwish", "Mish"], ["MaxPool", "AveragePool"],
         ["GlobalAveragePool", "GlobalMaxPool"], ["Sin", "Cos"], ["ArgMax", "ArgMin"]]


class Base:
    """A graph, and what its values are for one image."""

    def __init__(self, name, folder, model, image):
        self.name, self.folder, self.bytes, self.image = name, folder, model.SerializeToString(), image
        evaluator = evaluate.Evaluator(model, self.folder)
        evaluator.run(self.image)
        self.values = {name: value for name, value in evaluator.values.items() if value is not None}

    def model(self):
        return onnx.load_model_from_string(self.bytes)


def bases():
    """The graphs that can be edited, by name."""
    found = {}
    for path in sorted(DATA.glob("*.onnx")):
        if path.stem in REFUSED:
            continue
        try:
            shape = json.loads(path.with_suffix(".reference.json").read_text())["inputs"][0]["shape"]
            found[path.stem] = Base(path.stem, str(path.parent), onnx.load(path, load_external_data=False),
                                    np.random.default_rng(1).standard_normal(shape))
        except evaluate.NotDefined as reason:
            print(f"{path.stem} is not edited: {reason}")
    return found


class Edit:
    """`last`: of how many nodes at the end one is changed."""

    def __init__(self, base, seed, last=1 << 30):
        self.base, self.random, self.last = base, random.Random(f"edit {seed}"), last
        self.model = base.model()
        self.graph = self.model.graph
        self.weights = {w.name: w for w in self.graph.initializer}
        self.done = []

    def one(self):
        kinds = [self.integer, self.integer, self.number, self.small, self.small, self.small, self.swap, self.operator,
                 self.rewire, self.rewire, self.bypass, self.insert, self.insert, self.weight, self.output]
        for _ in range(50):
            what = self.random.choice(kinds)()
            if what:
                self.done.append(what)
                return

    def node(self, fits):
        nodes = [n for n in self.graph.node[-self.last:] if fits(n)]
        return self.random.choice(nodes) if nodes else None

    def name(self, node):
        return f"{node.op_type} '{node.name or node.output[0]}'"

    def integer(self):
        node = self.node(lambda n: any(a.type in (2, 7) for a in n.attribute) and n.op_type != "Constant")
        if not node:
            return None
        a = self.random.choice([a for a in node.attribute if a.type in (2, 7)])
        before = helper.get_attribute_value(a)
        if a.type == 2:
            after = self.random.choice([before + 1, before - 1, -before, 1 - before, 0, 2])
            a.i = after
        else:
            after = list(before)
            if not after:
                return None
            i, j = self.random.randrange(len(after)), self.random.randrange(len(after))
            if self.random.random() < 0.5:
                after[i], after[j] = after[j], after[i]
            else:
                after[i] += self.random.choice([-1, 1])
            del a.ints[:]
            a.ints.extend(after)
        return f"{a.name} of {self.name(node)} {before} -> {after}" if after != before else None

    def number(self):
        node = self.node(lambda n: any(a.type == 1 for a in n.attribute) and n.op_type != "Constant")
        if not node:
            return None
        a = self.random.choice([a for a in node.attribute if a.type == 1])
        before, a.f = a.f, a.f * self.random.choice([0.1, 1.5, 10, 1000, -1])
        return f"{a.name} of {self.name(node)} {before} -> {a.f}"

    def tensors(self, fits):
        """Constants, as initialisers or nodes, with their names."""
        read = {name for n in self.graph.node[-self.last:] for name in n.input}
        found = [(w, w.name) for w in self.graph.initializer if w.data_location == 0 and w.name in read]
        for node in self.graph.node:
            found += [(a.t, node.output[0]) for a in node.attribute if node.op_type == "Constant" and a.name == "value"]
        found = [(t, name) for t, name in found if t.data_type in (1, 7, 11) and fits(numpy_helper.to_array(t))]
        return self.random.choice(found) if found else (None, None)

    def replace(self, tensor, array):
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))

    def small(self):
        tensor, name = self.tensors(lambda x: 0 < x.size < 9)
        if tensor is None:
            return None
        x = numpy_helper.to_array(tensor)
        y, i = x.copy().ravel(), self.random.randrange(x.size)
        if x.dtype.kind == "f":
            y[i] = self.random.choice([y[i] * 1.5, -y[i], 0, 1, y[i] + 0.5])
        elif self.random.random() < 0.4 and x.size > 1:
            j = self.random.randrange(x.size)
            y[i], y[j] = y[j], y[i]
        else:
            y[i] = self.random.choice([y[i] + 1, y[i] - 1, -y[i], 0, 1, -1, 2 * y[i]])
        if (y == x.ravel()).all():
            return None
        self.replace(tensor, y.reshape(x.shape))
        return f"constant '{name}' {x.tolist()} -> {y.reshape(x.shape).tolist()}"

    def weight(self):
        tensor, name = self.tensors(lambda x: x.size > 8 and x.dtype.kind == "f")
        if tensor is None:
            return None
        x = numpy_helper.to_array(tensor)
        way = self.random.choice(["negated", "turned round", "a row zero", "one number", "as a column", "all equal"])
        if way == "negated":
            y = -x
        elif way == "turned round":
            y = np.flip(x, self.random.randrange(x.ndim))
        elif way == "a row zero":
            y = x.copy()
            y[self.random.randrange(len(y))] = 0
        elif way == "one number":
            y = x.copy()
            y.flat[self.random.randrange(x.size)] += 1
        elif way == "all equal":
            y = np.full_like(x, 0.25)
        else:
            y = x.reshape(*x.shape, 1) if self.random.random() < 0.5 else x.reshape(1, *x.shape)
        self.replace(tensor, y)
        return f"weights '{name}' {way}"

    def swap(self):
        node = self.node(lambda n: len(n.input) > 1 and n.input[0] != n.input[1])
        if not node:
            return None
        i = self.random.randrange(len(node.input) - 1)
        node.input[i], node.input[i + 1] = node.input[i + 1], node.input[i]
        return f"inputs {i} and {i + 1} of {self.name(node)} exchanged"

    def operator(self):
        node = self.node(lambda n: not n.domain and any(n.op_type in group for group in ALIKE))
        if not node:
            return None
        before = self.name(node)
        group = self.random.choice([g for g in ALIKE if node.op_type in g])
        node.op_type = self.random.choice([op for op in group if op != node.op_type])
        return f"{before} is now {node.op_type}"

    def behind(self, name):
        """Values that do not depend on the node that makes `name`: those made before it."""
        known = [i.name for i in self.graph.input] + list(self.weights)
        for node in self.graph.node:
            if name in node.output:
                return known
            known += [o for o in node.output if o]
        return known

    def rewire(self):
        node = self.node(lambda n: len(n.input) > 0)
        i = self.random.randrange(len(node.input))
        now = node.input[i]
        value = self.base.values.get(now)
        if value is None:
            return None
        loose = self.random.random() < 0.2
        fits = [k for k in self.behind(node.output[0]) if k != now and k in self.base.values and
                (self.base.values[k].shape == value.shape or (loose and self.base.values[k].size == value.size)) and
                self.base.values[k].dtype == value.dtype]
        if not fits:
            return None
        node.input[i] = self.random.choice(fits)
        return f"input {i} of {self.name(node)} '{now}' -> '{node.input[i]}'"

    def bypass(self):
        def fits(n):
            if len(n.output) != 1 or not n.input:
                return False
            a, b = self.base.values.get(n.input[0]), self.base.values.get(n.output[0])
            return a is not None and b is not None and a.shape == b.shape and a.dtype == b.dtype

        node = self.node(fits)
        if not node or node.op_type == "Identity":
            return None
        what = self.name(node)
        out, source = node.output[0], node.input[0]
        del node.attribute[:]
        node.op_type, node.domain = "Identity", ""
        del node.input[:]
        del node.output[:]
        node.input.append(source)
        node.output.append(out)
        return f"{what} does nothing"

    def insert(self):
        nodes = [n for n in self.graph.node if any(self.base.values.get(o) is not None and
                                                   self.base.values[o].dtype.kind == "f" for o in n.output)]
        if not nodes:
            return None
        node = self.random.choice(nodes)
        out = self.random.choice([o for o in node.output if self.base.values.get(o) is not None])
        value = self.base.values[out]
        if value.ndim < 2 or value.dtype.kind != "f":
            return None
        rank, opset = value.ndim, next(o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx"))
        new, made, weights = out + "_inner", [], []
        kind = self.random.choice(["Neg", "Relu", "Tanh", "Abs", "Softmax", "scale", "shift", "columns", "turn", "flip", "cut",
                                   "add itself", "roll", "rows"])
        constant = lambda array, what: weights.append(numpy_helper.from_array(array, out + what)) or out + what
        axis = self.random.randrange(rank)
        if kind in ("Neg", "Relu", "Tanh", "Abs"):
            made = [helper.make_node(kind, [new], [out])]
        elif kind == "Softmax":
            made = [helper.make_node(kind, [new], [out], axis=-1)]
        elif kind in ("scale", "shift"):
            c = constant(np.asarray(self.random.choice([0.5, -1, 2, 0, 100]), np.float32), "_c")
            made = [helper.make_node("Mul" if kind == "scale" else "Add", [new, c], [out])]
        elif kind in ("columns", "rows"):
            axis = rank - 1 if kind == "columns" else rank - 2
            shape = [value.shape[axis] if i == axis else 1 for i in range(rank)]
            c = np.random.default_rng(self.random.randrange(1 << 30)).uniform(0.5, 1.5, shape).astype(np.float32)
            made = [helper.make_node(self.random.choice(["Add", "Mul"]), [new, constant(c, "_c")], [out])]
        elif kind == "turn":  # exchange two axes: of equal sides, or put the elements back in their shape
            order = list(range(rank))
            other = self.random.randrange(rank)
            order[axis], order[other] = order[other], order[axis]
            made = [helper.make_node("Transpose", [new], [out + "_t"], perm=order),
                    helper.make_node("Reshape", [out + "_t", constant(np.asarray(value.shape, np.int64), "_s")], [out])]
        elif kind in ("flip", "roll"):
            side = value.shape[axis]
            places = np.arange(side)[::-1] if kind == "flip" else np.roll(np.arange(side), 1)
            made = [helper.make_node("Gather", [new, constant(np.ascontiguousarray(places), "_i")], [out], axis=axis)]
        elif kind == "cut":
            places = [constant(np.asarray([v], np.int64), w) for v, w in ((0, "_0"), (value.shape[axis] - 1, "_1"), (axis, "_2"))]
            made = [helper.make_node("Slice", [new, *places], [out + "_cut"]),
                    helper.make_node("Slice", [new, places[1], constant(np.asarray([1 << 40], np.int64), "_3"), places[2]],
                                     [out + "_rest"]),
                    helper.make_node("Concat", [out + "_rest", out + "_cut"], [out], axis=axis)]
        else:
            made = [helper.make_node("Add", [new, new], [out])]
        node.output[list(node.output).index(out)] = new
        at = list(self.graph.node).index(node) + 1
        rest = [n for n in self.graph.node][at:]
        copies = []
        for n in [*made, *rest]:
            copy = onnx.NodeProto()
            copy.CopyFrom(n)
            copies.append(copy)
        del self.graph.node[at:]
        self.graph.node.extend(copies)
        self.graph.initializer.extend(weights)
        return f"{kind} of axis {axis} behind {self.name(node)}"

    def output(self):
        made = [o for n in self.graph.node for o in n.output
                if self.base.values.get(o) is not None and self.base.values[o].dtype.kind == "f" and
                self.base.values[o].ndim > 1]
        name = self.random.choice(made)
        if name in [o.name for o in self.graph.output]:
            return None
        value = helper.make_tensor_value_info(name, 1, None)
        if self.random.random() < 0.7:
            self.graph.output[0].CopyFrom(value)
            return f"the output is '{name}'"
        self.graph.output.append(value)
        return f"another output is '{name}'"


def make_misfit(model, image, seed):
    """A random head with a change in its last nodes, and what was done."""
    edit = Edit(Base("head", "", model, image), seed, 10)
    edit.one()
    return edit.model, edit.done


def make(all_bases, seed):
    """The edited model of this seed, the base and what was done."""
    chosen = random.Random(f"base {seed}")
    base = all_bases[chosen.choice(sorted(all_bases))]
    edit = Edit(base, seed)
    for _ in range(chosen.choice([1, 1, 1, 2])):
        edit.one()
    return edit.model, base, edit.done
