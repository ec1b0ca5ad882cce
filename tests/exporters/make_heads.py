#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/heads: operators of heads, and what ONNX's reference implementation makes of them.

    make_heads.py --out tests/data/heads

heads.onnx reads `features`, the output of hf_deit_dynamo20.onnx beside it. Each of its outputs is one case, named after it. Names
that begin with one_image are of heads that mix the images of a batch, those with refused of what the converter refuses.
heads.reference.json has what onnx.reference computes for the features of hf_deit_dynamo20.reference.json, checked here against ONNX
Runtime. The same versions write the same bytes.
"""

import argparse
import base64
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSET = 20
ENCODER = "hf_deit_dynamo20"
SPECIAL, GRID = 2, (4, 6)
C = 8  # channels of the map in most cases
# The reference implementation fails on these, or moves places outside the map to its border before it weighs pixels, which PyTorch does not.
NOT_IN_RUNTIME = {"conv_2_1_2_lower", "conv_3_1_2_upper"}  # dilation with automatic padding
FROM_RUNTIME = {"pad_crops", "deconv_groups", "deconv_output_shape", "pad_shifts", "sample_cubic_border", "pool_3_2_1_lower", "pool_5_2_1_lower"}


class Heads:
    """A graph with one output per case."""

    def __init__(self):
        self.nodes, self.constants, self.outputs = [], [], []
        self.random = np.random.default_rng(11)
        self.count = 0

    def constant(self, array):
        array = np.asarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape):
        return self.constant(self.random.normal(size=shape).round(3))

    def node(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"t{self.count}_{i}" for i in range(outputs)]
        inputs = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def case(self, name, value):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(name)

    def of(self, name, op, *inputs, **attributes):
        self.case(name, self.node(op, *inputs, **attributes))


def ints(*values):
    return np.array(values, np.int64)


def add_resizes(g, x):
    sizes = {"up": (7, 9), "down": (3, 4)}
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        for mode in ("linear", "cubic"):
            way = "up" if mode == "cubic" else "down"
            g.of(f"resize_{mode}_{coordinates}", "Resize", x, "", "", ints(1, C, *sizes[way]), mode=mode,
                 coordinate_transformation_mode=coordinates)
    for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
        g.of(f"resize_nearest_{rounding}", "Resize", x, "", "", ints(1, C, 7, 9), mode="nearest", nearest_mode=rounding)
    g.of("resize_nearest_whole", "Resize", x, "", np.float32([1, 1, 2, 2]), mode="nearest",
         coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    g.of("resize_scale_within_a_pixel", "Resize", x, "", np.float32([1, 1, 1.3, 1.7]), mode="linear")
    g.of("resize_cubic_outside", "Resize", x, "", "", ints(1, C, 7, 9), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    g.of("resize_antialias", "Resize", x, "", "", ints(1, C, 3, 4), mode="linear", antialias=1, exclude_outside=1)
    g.of("resize_antialias_cubic", "Resize", x, "", "", ints(1, C, 2, 5), mode="cubic", antialias=1, exclude_outside=1)
    g.of("resize_channels", "Resize", x, "", "", ints(1, 5, 4, 6), mode="linear")
    g.of("resize_axes", "Resize", x, "", "", ints(6, 5), mode="cubic", axes=[2, 3])
    g.of("resize_of_three_dimensions", "Resize", g.node("Reshape", x, ints(1, C, 24)), "", "", ints(1, C, 30), mode="linear")
    # OpenCV multiplies by 1 / 49, and 49 * (1 / 49.0) < 1.
    g.of("resize_nearest_by_49", "Resize", g.node("Slice", x, ints(0), ints(1), ints(1)), "", np.float32([1, 1, 49, 1]),
         mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    g.of("resize_to_one_row", "Resize", x, "", "", ints(1, C, 1, 5), mode="linear",
         coordinate_transformation_mode="pytorch_half_pixel")
    g.of("resize_to_the_same", "Resize", x, "", "", ints(1, C, 4, 6), mode="cubic")


def add_pads_and_pools(g, x):
    for mode in ("constant", "reflect", "edge", "wrap"):
        g.of(f"pad_{mode}", "Pad", x, ints(0, 0, 1, 3, 0, 0, 2, 1), mode=mode)
    g.of("pad_value", "Pad", x, ints(0, 1, 0, 0, 0, 0, 0, 2), np.float32(-1.5))
    g.of("pad_axes", "Pad", x, ints(1, 2), "", ints(-1), mode="reflect")
    g.of("pad_crops", "Pad", x, ints(0, 0, -1, 0, 0, 0, 0, -2))
    g.of("pad_of_nothing", "Pad", x, ints(0, 0, 0, 0, 0, 0, 0, 0))
    g.of("pool_padded_average", "AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    g.of("pool_padded_average_counts", "AveragePool", x, kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1)
    g.of("pool_same_average", "AveragePool", x, kernel_shape=[2, 3], auto_pad="SAME_LOWER")
    g.of("pool_same_upper_average", "AveragePool", x, kernel_shape=[2, 3], strides=[2, 1], auto_pad="SAME_UPPER")
    g.of("pool_dilated_average", "AveragePool", x, kernel_shape=[2, 2], dilations=[2, 3])
    g.of("pool_dilated_max", "MaxPool", x, kernel_shape=[2, 3], dilations=[2, 2], pads=[1, 1, 0, 1])
    g.of("pool_global_max", "GlobalMaxPool", x)


def add_transposed_convolutions(g, x):
    g.of("deconv_dilated", "ConvTranspose", x, g.weights(C, 3, 3, 2), g.weights(3), strides=[2, 2], dilations=[2, 3])
    g.of("deconv_padded_by_side", "ConvTranspose", x, g.weights(C, 3, 3, 3), g.weights(3), strides=[2, 2], pads=[0, 1, 2, 0])
    g.of("deconv_output_padding", "ConvTranspose", x, g.weights(C, 2, 3, 3), strides=[2, 3], pads=[1, 1, 1, 1],
         output_padding=[1, 2])
    g.of("deconv_groups", "ConvTranspose", x, g.weights(C, 3, 3, 3), g.weights(12), strides=[2, 2], pads=[1, 1, 1, 1], group=4)
    g.of("deconv_depthwise", "ConvTranspose", x, g.weights(C, 1, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1], group=C)
    g.of("deconv_same", "ConvTranspose", x, g.weights(C, 2, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER")
    g.of("deconv_output_shape", "ConvTranspose", x, g.weights(C, 2, 3, 3), strides=[2, 2], output_shape=[8, 12])


def add_sampling(g, x):
    places = g.constant(g.random.uniform(-1.4, 1.4, (1, 5, 7, 2)).round(3))
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            g.of(f"sample_{mode}_{padding}", "GridSample", x, places, mode=mode, padding_mode=padding,
                 align_corners=int(padding == "border"))
    learned = g.node("Tanh", g.node("Reshape", g.node("Slice", x, ints(0), ints(2), ints(1)), ints(1, 4, 6, 2)))
    g.of("sample_learned_places", "GridSample", x, learned, align_corners=1, padding_mode="reflection")


def add_deformable_attention(g, features, x):
    """Multi-scale deformable attention as transformers and mmsegmentation write it in plain operators: two levels, two heads, three points."""
    heads, width, points, queries = 2, 8, 3, 26
    levels = [(4, 6), (2, 3)]
    small = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    flat = [g.node("Transpose", g.node("Reshape", level, ints(1, 16, -1)), perm=[0, 2, 1]) for level in (x, small)]
    value = g.node("Reshape", g.node("Concat", *flat, axis=1), ints(1, 30, heads, width))
    offsets = g.node("Reshape", g.node("MatMul", features, g.weights(16, heads * 2 * points * 2)),
                     ints(1, queries, heads, 2, points, 2))
    weights = g.node("Reshape", g.node("MatMul", features, g.weights(16, heads * 2 * points)), ints(1, queries, heads, 2 * points))
    weights = g.node("Softmax", weights, axis=-1)
    weights = g.node("Reshape", g.node("Transpose", weights, perm=[0, 2, 1, 3]), ints(heads, 1, queries, 2 * points))
    reference = g.constant(g.random.uniform(0, 1, (1, queries, 1, 1, 1, 2)).round(3))
    sizes = g.constant(np.float32([[w, h] for h, w in levels]).reshape(1, 1, 1, 2, 1, 2))
    places = g.node("Add", reference, g.node("Div", g.node("Tanh", offsets), sizes))
    places = g.node("Sub", g.node("Mul", places, np.float32(2)), np.float32(1))
    parts = g.node("Split", value, ints(24, 6), axis=1, outputs=2)
    sampled = []
    for level, (height, length) in enumerate(levels):
        maps = g.node("Transpose", g.node("Reshape", parts[level], ints(1, -1, heads * width)), perm=[0, 2, 1])
        maps = g.node("Reshape", maps, ints(heads, width, height, length))
        grid = g.node("Gather", places, np.int64(level), axis=3)
        grid = g.node("Reshape", g.node("Transpose", grid, perm=[0, 2, 1, 3, 4]), ints(heads, queries, points, 2))
        sampled.append(g.node("Unsqueeze", g.node("GridSample", maps, grid, mode="linear"), ints(-2)))
    stacked = g.node("Reshape", g.node("Concat", *sampled, axis=-2), ints(heads, width, queries, 2 * points))
    summed = g.node("ReduceSum", g.node("Mul", stacked, weights), ints(-1), keepdims=0)
    g.of("deformable_attention", "Transpose", g.node("Reshape", summed, ints(1, heads * width, queries)), perm=[0, 2, 1])


def add_gathers(g, features, x):
    scores = g.node("ReduceMax", features, ints(-1), keepdims=0)
    values, best = g.node("TopK", scores, ints(5), axis=1, outputs=2)
    g.case("topk_values", values)
    g.case("topk_indices", g.node("Cast", best, to=TensorProto.FLOAT))
    smallest, places = g.node("TopK", x, ints(3), axis=2, largest=0, outputs=2)
    g.case("topk_smallest", smallest)
    g.case("topk_smallest_indices", g.node("Cast", places, to=TensorProto.FLOAT))
    wide = g.node("Expand", g.node("Unsqueeze", best, ints(-1)), ints(1, 5, 16))
    g.of("gather_elements_best", "GatherElements", features, wide, axis=1)
    g.of("gather_nd_best", "GatherND", features, g.node("Unsqueeze", best, ints(-1)), batch_dims=1)
    g.of("one_image_gather_best", "Gather", g.node("Squeeze", features, ints(0)), g.node("Squeeze", best, ints(0)), axis=0)
    g.of("gather_rows_of_a_table", "Gather", g.weights(26, 4), best, axis=0)
    half = g.node("Cast", g.node("Div", best, ints(2)), to=TensorProto.FLOAT)
    g.case("whole_numbers_divided", half)
    g.of("whole_numbers_as_floats", "Div", g.node("Cast", best, to=TensorProto.FLOAT), np.float32(2))
    g.case("whole_numbers_rest", g.node("Cast", g.node("Mod", best, ints(3)), to=TensorProto.FLOAT))
    g.of("gather_elements_constant", "GatherElements", features, g.random.integers(-16, 16, (1, 26, 5)), axis=2)
    g.of("gather_nd_constant", "GatherND", x, np.stack([g.random.integers(0, side, 9) for side in (C, 4, 6)], -1)[None],
         batch_dims=1)
    g.of("one_image_gather_nd", "GatherND", x, g.constant(np.int64([[0, 0, 0, 0], [0, 1, 1, 1]])))
    g.of("one_image_gather_from_behind", "Gather", features, g.node("Squeeze", g.node("Sub", best, ints(26)), ints(0)), axis=1)
    g.of("gather_several", "Gather", features, ints(3, 0, -1), axis=2)
    tied, order = g.node("TopK", g.node("Round", features), ints(6), axis=2, outputs=2)
    g.case("topk_of_ties", tied)
    g.case("topk_indices_of_ties", g.node("Cast", order, to=TensorProto.FLOAT))
    g.of("slice_with_steps", "Slice", features, ints(1), ints(16), ints(2), ints(2))
    g.of("slice_backwards", "Slice", features, ints(2, -1), ints(9, -25), ints(1, 2), ints(3, -1))
    g.of("tile", "Tile", g.node("Slice", features, ints(0), ints(2), ints(2)), ints(1, 2, 2))
    g.of("split_sizes", "Concat", *reversed(g.node("Split", features, ints(3, 9, 4), axis=2, outputs=3)), axis=2)
    g.of("expand_token", "Expand", g.node("Slice", features, ints(0), ints(1), ints(1)), ints(1, 7, 16))
    g.of("argmax_last", "Cast", g.node("ArgMax", g.node("Round", features), axis=-1, select_last_index=1), to=TensorProto.FLOAT)
    g.of("argmin", "Cast", g.node("ArgMin", x, axis=1, keepdims=0), to=TensorProto.FLOAT)


def add_arithmetic(g, features, x):
    tokens, ranked = g.node("Tanh", features), g.node("Tanh", x)
    for equation, left, right in (
            ("bnc,bmc->bnm", tokens, features), ("...c,...c", tokens, features), ("...ij,...kj->...ik", tokens, features),
            ("bqc,bchw->bqhw", g.node("Slice", tokens, ints(0), ints(C), ints(2)), x), ("bchw,bqc->bqhw", x, g.weights(1, 3, C)),
            ("bnc,cd->dbn", tokens, g.weights(16, 5)), ("bnc,bnc->bn", tokens, features), ("abxy,abyz->abxz", x, g.weights(1, 1, 6, 3)),
            ("bi,bj->bij", g.node("ReduceMax", x, ints(2, 3), keepdims=0), g.node("ReduceMin", x, ints(1, 3), keepdims=0))):
        kind = "one_image_einsum_" if equation.endswith("dbn") else "einsum_"
        g.of(kind + "".join(c if c.isalpha() else "_" for c in equation), "Einsum", left, right, equation=equation)
    g.of("einsum_implicit", "Einsum", ranked, g.weights(C, 3), equation="bchw,ck")
    g.of("einsum_of_many_rows", "Einsum", tokens, g.weights(600, 16), equation="bnc,dc->bnd")
    positive = g.node("Add", g.node("Abs", x), np.float32(0.25))
    for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceLogSumExp", "ReduceLogSum", "ReduceL1", "ReduceL2", "ReduceProd",
               "ReduceSumSquare"):
        of = positive if op == "ReduceLogSum" else x
        g.of(f"{op.lower()}_inner", op, of, ints(1, 3), keepdims=0)
        g.of(f"{op.lower()}_middle", op, of, ints(1, 2))
    for op in ("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Neg", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Tanh"):
        g.of(f"function_{op.lower()}", op, g.node("Mul", x, np.float32(1.7)))
    g.of("function_gelu_erf", "Gelu", x)
    for op in ("Log", "Reciprocal", "Sqrt"):
        g.of(f"function_{op.lower()}", op, positive)
    mean = g.node("ReduceMean", positive, ints(1, 3))  # {1, 1, 4, 1}
    for op in ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"):  # a constant in front, behind, and another tensor
        g.of(f"{op.lower()}_of_a_constant", op, g.constant(g.random.uniform(0.5, 2, (C, 1, 1)).round(3)), positive)
        g.of(f"{op.lower()}_with_a_constant", op, positive, g.constant(g.random.uniform(0.5, 2, (4, 1)).round(3)))
        g.of(f"{op.lower()}_of_tensors", op, mean, positive)
    whole = g.node("Round", x)
    for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        g.of(f"compare_{op.lower()}", "Cast", g.node(op, whole, g.node("Round", g.node("ReduceMean", x, ints(1)))), to=TensorProto.FLOAT)
    above, below = g.node("Greater", x, np.float32(0.2)), g.node("Less", x, np.float32(0.6))
    for op in ("And", "Or", "Xor"):
        g.of(f"truths_{op.lower()}", "Cast", g.node(op, above, below), to=TensorProto.FLOAT)
    g.of("truths_not", "Cast", g.node("Not", above), to=TensorProto.FLOAT)
    g.of("is_nan", "Cast", g.node("IsNaN", g.node("Sqrt", x)), to=TensorProto.FLOAT)
    negative = g.node("Cast", g.node("Mul", x, np.float32(9)), to=TensorProto.INT32)
    g.of("mod", "Cast", g.node("Mod", negative, np.int32([4])), to=TensorProto.FLOAT)
    g.of("lp_normalization", "LpNormalization", tokens, axis=-1)
    g.of("matmul_of_tokens", "MatMul", tokens, g.node("Transpose", features, perm=[0, 2, 1]))
    g.of("repeated_by_a_constant", "Mul", g.node("ReduceMean", x, ints(1)), g.weights(1, C, 1, 1))
    for op, attributes in (("HardSwish", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("Mish", {}), ("Selu", {}),
                           ("Celu", {"alpha": 0.7}), ("ThresholdedRelu", {"alpha": 0.25}), ("Softsign", {}), ("Softplus", {}),
                           ("Elu", {"alpha": 0.7}), ("LeakyRelu", {"alpha": 0.2}), ("Gelu", {"approximate": "tanh"}),
                           ("LogSoftmax", {"axis": 1}), ("Softmax", {"axis": 2})):
        g.of(f"function_{op.lower()}", op, x, **attributes)
    g.of("prelu", "PRelu", x, g.weights(C, 1, 1))
    g.of("clip", "Clip", x, np.float32(-0.5), np.float32(0.75))
    g.of("clip_below", "Clip", features, np.float32(0))
    g.of("where_compared", "Where", g.node("LessOrEqual", x, g.node("ReduceMean", x, ints(1))), x, np.float32(-1))
    g.of("where_of_both", "Where", g.node("And", g.node("Greater", x, np.float32(-0.5)), g.node("Less", x, np.float32(0.5))), x,
         g.node("Neg", x))
    g.of("cast_of_truths", "Mul", g.node("Cast", g.node("Greater", x, np.float32(0)), to=TensorProto.FLOAT), x)
    g.of("cast_to_whole", "Cast", g.node("Cast", g.node("Mul", x, np.float32(3)), to=TensorProto.INT64), to=TensorProto.FLOAT)
    g.of("cast_to_truths", "Cast", g.node("Cast", g.node("Round", x), to=TensorProto.BOOL), to=TensorProto.FLOAT)
    g.of("sum_of_four", "Sum", g.weights(C, 1, 1), g.weights(6), x, g.node("Tanh", x))
    g.of("mean_of_three", "Mean", x, g.node("Tanh", x), g.weights(C, 1, 1))
    g.of("max_of_three", "Max", x, g.node("Neg", x), np.float32([0.25]))
    g.of("fmod", "Mod", x, np.float32([0.3]), fmod=1)
    g.of("depth_to_space", "DepthToSpace", x, blocksize=2)
    g.of("depth_to_space_crd", "DepthToSpace", x, blocksize=2, mode="CRD")
    g.of("space_to_depth", "SpaceToDepth", x, blocksize=2)
    g.of("instance_norm", "InstanceNormalization", x, g.weights(C), g.weights(C), epsilon=1e-3)
    g.of("instance_norm_of_groups", "InstanceNormalization", g.node("Reshape", x, ints(1, 4, -1)), g.weights(4), g.weights(4))
    g.of("group_norm", "GroupNormalization", x, g.weights(4), g.weights(4), num_groups=4)


def add_convolutions(g, features, x):
    for side, stride, dilation, lower in ((2, 1, 1, True), (3, 2, 1, True), (4, 1, 1, True), (4, 2, 1, True), (5, 2, 1, True), (1, 3, 1, True),
                                          (2, 1, 2, True), (4, 1, 1, False), (3, 1, 2, False)):
        pad, name = "SAME_LOWER" if lower else "SAME_UPPER", f"{side}_{stride}_{dilation}_{'lower' if lower else 'upper'}"
        g.of(f"conv_{name}", "Conv", x, g.weights(2, C, side, side), strides=[stride] * 2, dilations=[dilation] * 2, auto_pad=pad)
        if dilation == 1 and side > 1:
            g.of(f"pool_{name}", "MaxPool", x, kernel_shape=[side] * 2, strides=[stride] * 2, ceil_mode=1, auto_pad=pad)
    y = g.node("Relu", g.node("Conv", x, g.weights(4, C, 3, 3), pads=[1, 1, 1, 1]))
    y = g.node("Concat", y, g.node("Tanh", y), axis=1)
    g.of("conv_pool_softmax", "Softmax", g.node("Flatten", g.node("GlobalAveragePool", y)), axis=1)
    # Attention that is no block: its keys and values are maps that a convolution made, its queries are learned.
    q = g.node("LayerNormalization", g.weights(4, C), g.weights(C), g.weights(C), epsilon=1e-3)
    q = g.node("Unsqueeze", g.node("Gemm", q, g.weights(C, C), g.weights(C), transB=1), ints(0))
    keys = g.node("Reshape", g.node("Conv", x, g.weights(C, 1, 3, 3), group=C, pads=[1, 1, 1, 1]), ints(1, C, -1))
    g.of("learned_queries_read_maps", "MatMul", g.node("Softmax", g.node("MatMul", q, keys), axis=-1),
         g.node("Transpose", keys, perm=[0, 2, 1]))
    grid = g.node("Tanh", g.node("Reshape", g.node("Slice", features, ints(SPECIAL), ints(2**31), ints(1)), ints(1, *GRID, 16)))
    g.of("matmul_of_a_grid", "MatMul", grid, g.weights(16, 3))
    two = g.node("CastLike", np.int64(2), g.node("Tanh", features))
    g.of("cast_like_a_tensor", "Mul", g.node("CastLike", features, two), two)


def add_lost_ranks(g, features, x):
    """Operators of which OpenCV 4.6 makes a tensor of another rank, or fails, as soon as there are two images."""
    mean = lambda *axes: g.node("ReduceMean", x, ints(*axes))
    token, row = g.node("Gather", features, np.int64(-1), axis=1), g.node("Gather", x, np.int64(-1), axis=2)
    g.of("mean_conv", "Conv", mean(1), g.weights(2, 1, 3, 3))
    for name, value, axis in (("channels", mean(1), 3), ("columns", mean(3), 1), ("columns_left", mean(1, 2), 3), ("pixels", mean(2, 3), 1),
                              ("token", token, 1), ("channel", g.node("Gather", x, np.int64(3), axis=1), 2)):
        g.of(f"softmax_of_{name}", "Softmax", value, axis=axis)
    g.of("mean_tanh", "Tanh", mean(1, 3))
    g.of("mean_concat", "Concat", g.node("Tanh", x), mean(1), axis=1)
    g.of("mean_slice", "Slice", g.node("ReduceMean", g.node("Tanh", x), ints(1)), ints(1), ints(3), ints(2))
    g.of("mean_resize", "Resize", mean(1), "", "", ints(1, 1, 6, 10), mode="linear")
    g.case("one_token", token)
    g.case("one_row", row)
    g.of("one_pixel_of_a_row", "Gather", row, np.int64(-2), axis=2)
    g.of("one_channel_as_a_list", "Gather", x, ints(-2), axis=1)
    g.of("sub_of_one_number", "Sub", x, g.constant(np.float32([[[[0.75]]]])))


def add_almost_attention(g, features):
    """What an operator of ours would compute wrong: attention with a part that it lacks."""
    queries, tokens = 26, g.node("Tanh", features)
    split = lambda value, heads=2: g.node("Transpose", g.node("Reshape", value, ints(1, -1, heads, 16 // heads)), perm=[0, 2, 1, 3])
    turned = lambda value: g.node("Transpose", value, perm=[0, 1, 3, 2])
    back = lambda value: g.node("Reshape", g.node("Transpose", value, perm=[0, 2, 1, 3]), ints(1, -1, 16))
    q, k, v = (split(g.node("MatMul", features, g.weights(16, 16))) for _ in range(3))
    logits = g.node("MatMul", q, turned(k))
    attend = lambda scores, values: back(g.node("MatMul", g.node("Softmax", scores, axis=-1), values))
    learned = g.node("MatMul", g.weights(1, 2, 1, 8), turned(k))
    positions = lambda of: g.node("Einsum", of, g.weights(queries, 8), equation="bhqc,kc->bhqk")
    rotated = lambda of: g.node("Add", g.node("Mul", of, cosine), g.node("Mul", g.node(
        "Concat", g.node("Neg", g.node("Slice", of, ints(4), ints(8), ints(3))), g.node("Slice", of, ints(0), ints(4), ints(3)), axis=-1), sine))
    angles = np.tile(g.random.uniform(0, 1, (queries, 4)), 2).round(3)
    cosine, sine = g.constant(np.cos(angles)), g.constant(np.sin(angles))
    for name, value in (("plain", attend(logits, v)), ("learned_query", attend(learned, v)),
                        ("keys_of_other_heads", attend(g.node("MatMul", q, turned(g.node("Gather", k, ints(1, 0), axis=1))), v)),
                        ("two_learned_queries", attend(g.node("MatMul", g.weights(1, 2, 2, 8), turned(k)), v))):
        g.case(f"attention_{name}", value)
    shares, per_head = g.node("Softmax", logits, axis=-1), g.weights(1, 2, 1, 1)
    times_per_head = lambda scores: attend(g.node("Mul", scores, per_head), v)
    by_token = lambda value: g.node("Mul", value, g.weights(1, 1, queries, 8))
    for name, value in (
            ("learned_query_plus_a_constant", attend(g.node("Add", learned, g.weights(1, 2, 1, queries)), v)),
            ("learned_query_per_head", times_per_head(learned)), ("bias_per_head", times_per_head(g.node("Add", logits, g.weights(queries, queries)))),
            ("positions_per_head", times_per_head(g.node("Add", logits, positions(q)))),
            ("learned_query_plus_positions", attend(g.node("Add", learned, positions(q)), v)),
            ("softmax_of_a_softmax", attend(shares, v)), ("softmax_plus_positions", back(g.node("MatMul", g.node("Add", shares, positions(q)), v))),
            ("keys_scaled_by_token", attend(g.node("MatMul", q, turned(by_token(k))), v)), ("values_scaled_by_token", attend(logits, by_token(v))),
            ("values_rotated", attend(logits, rotated(v))), ("queries_rotated", attend(g.node("MatMul", rotated(q), turned(k)), v)),
            ("values_of_other_tokens", attend(logits, g.node("Slice", v, ints(-1), ints(-100), ints(2), ints(-1)))),
            ("values_of_another_width", g.node("MatMul", shares, g.node("Slice", v, ints(0), ints(5), ints(3)))),
            ("over_queries", back(g.node("MatMul", g.node("Softmax", logits, axis=2), v)))):
        g.case(f"refused_{name}", value)
    for name, value in (("learned", learned), ("alone", logits), ("plus_a_constant", g.node("Add", logits, g.weights(queries, queries))),
                        ("times_a_factor_per_head", g.node("Mul", logits, g.weights(1, 2, 1, 1)))):
        g.of(f"logits_{name}", "Identity", value)
    g.of("matmul_of_ranked_weights", "MatMul", tokens, g.weights(1, 16, 3))
    for name, value in (("shifted", g.node("Add", features, g.weights(16))), ("scaled", g.node("Mul", features, np.float32(0.1)))):
        parts = g.node("Reshape", value, ints(1, queries, 2, 8))
        g.of(f"norm_of_{name}_parts", "LayerNormalization", parts, g.weights(8), g.weights(8), axis=-1, epsilon=1e-2)


def add_mixed_images(g, features):
    x = g.node("Tanh", features)
    for name, op, *inputs, attributes in (
            ("transpose", "Transpose", {"perm": [1, 0, 2]}), ("flat", "Reshape", ints(-1), {}), ("squeeze", "Squeeze", ints(0), {}),
            ("softmax", "Softmax", {"axis": 0}), ("concat", "Concat", x, {"axis": 0}), ("slice", "Slice", ints(0), ints(1), ints(0), {}),
            ("mean", "ReduceMean", ints(1, 2), {"keepdims": 1})):
        g.of(f"one_image_{name}" if name != "mean" else "mean_of_an_image", op, x, *inputs, **attributes)
    # Heads as rows of the batch, as deformable attention has them for GridSample.
    rows, width = 4, 4
    r = g.node("Reshape", g.node("Reshape", x, ints(1, rows, -1)), ints(rows, -1, width))
    doubled = g.node("Concat", r, r, axis=2)
    turned = lambda perm: g.node("Transpose", g.node("Transpose", r, perm=perm), perm=perm)
    for name, value in (("as_they_are", r), ("sum", g.node("Add", r, g.node("Tanh", r))), ("turned", turned([0, 2, 1])),
                        ("softmax", g.node("Softmax", r, axis=2)), ("slice", g.node("Slice", doubled, ints(3), ints(3 + width), ints(2))),
                        ("times_columns", g.node("Mul", r, g.weights(1, width))), ("times_one", g.node("Mul", r, g.weights(1, 1, width)))):
        g.of(f"rows_{name}", "Tanh", g.node("Reshape", value, ints(1, -1, 16)))
        g.case(f"one_image_rows_{name}", g.node("Tanh", value))  # they stay rows
    for name, value in (("times_rows", g.node("Mul", r, g.weights(rows, 1, 1))), ("mixed_softmax", g.node("Softmax", r, axis=0)),
                        ("mixed_turn", turned([1, 0, 2])), ("mixed_sum", g.node("Add", r, g.node("Slice", g.node("Tanh", r), ints(1), ints(2), ints(0))))):
        g.of(f"one_image_rows_{name}", "Tanh", g.node("Reshape", value, ints(1, -1, 16)))


def add_joined_convolutions(g, x):
    """What stands around convolutions becomes part of them."""
    stem = g.node("Conv", x, g.weights(6, C, 3, 3), g.weights(6), pads=[1, 1, 1, 1])
    y = g.node("Conv", g.node("Relu", stem), g.weights(6, 6, 3, 3), pads=[1, 1, 1, 1])
    y = g.node("ConvTranspose", g.node("Add", stem, y), g.weights(6, 5, 2, 2), g.weights(5), strides=[2, 2])
    y = g.node("BatchNormalization", y, g.weights(5), g.weights(5), g.weights(5), g.constant(g.random.uniform(0.5, 2, 5).round(3)))
    y = g.node("Resize", g.node("Relu", y), "", np.float32([1, 1, 2, 2]), mode="linear")
    g.of("conv_joined", "Conv", y, g.weights(2, 5, 1, 1))
    y = g.node("MaxPool", g.node("Concat", stem, x, axis=1), kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 0])
    g.of("conv_concat", "Conv", g.node("Add", y, g.node("Tanh", y)), g.weights(4, 7, 3, 1), g.weights(4), group=2)


def add_shifts(g, x):
    """Two axes change, and the result is as large after the first of them as at the end."""
    g.of("slice_backwards_twice", "Slice", x, ints(-1, -1), ints(-9, -9), ints(2, 3), ints(-1, -1))
    g.of("pad_shifts", "Pad", x, ints(0, 0, 1, -1, 0, 0, -1, 1))


def add_folded(g, features):
    """Constants that the converter computes."""
    product = g.node("Gemm", g.weights(4, 3), g.weights(3, 4), g.weights(4, 1))
    for name, value in (("fmod", g.node("Mod", g.weights(16), np.float32([0.3]), fmod=1)), ("gemm_bias_per_row", g.node("Reshape", product, ints(16)))):
        g.of(f"folded_{name}", "Add", features, value)


def build():
    g = Heads()
    features = "features"
    patches = g.node("Slice", features, ints(SPECIAL), ints(2**31), ints(1))
    whole = g.node("Reshape", g.node("Transpose", patches, perm=[0, 2, 1]), ints(1, 16, *GRID))
    x = g.node("Slice", whole, ints(0), ints(C), ints(1))
    add_resizes(g, x)
    add_pads_and_pools(g, x)
    add_transposed_convolutions(g, x)
    add_sampling(g, x)
    add_gathers(g, features, x)
    add_arithmetic(g, features, x)
    add_convolutions(g, features, x)
    add_lost_ranks(g, features, x)
    add_almost_attention(g, features)
    add_mixed_images(g, features)
    add_deformable_attention(g, features, whole)
    add_joined_convolutions(g, x)
    add_shifts(g, x)
    add_folded(g, features)
    inputs = [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, SPECIAL + GRID[0] * GRID[1], 16])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in g.outputs]
    graph = helper.make_graph(g.nodes, "heads", inputs, outputs, g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def part(model, name):
    """The model with this output alone."""
    graph, needed, nodes = model.graph, {name}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            nodes.insert(0, node)
            needed |= set(node.input)
    kept = helper.make_graph(nodes, name, graph.input, [o for o in graph.output if o.name == name],
                             [c for c in graph.initializer if c.name in needed])
    return helper.make_model(kept, opset_imports=model.opset_import, ir_version=model.ir_version)


def as_json(name, array):
    array = np.ascontiguousarray(array, np.float32)
    return {"name": name, "dtype": "float32", "shape": list(array.shape), "data_b64": base64.b64encode(array.tobytes()).decode()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    reference = json.loads((out.parent / f"{ENCODER}.reference.json").read_text())
    given = reference["outputs"][0]
    features = np.frombuffer(base64.b64decode(given["data_b64"]), np.float32).reshape(given["shape"])
    model = build()
    outputs = []
    for output in model.graph.output:
        alone = part(model, output.name)
        session = onnxruntime.InferenceSession(alone.SerializeToString(), providers=["CPUExecutionProvider"])
        known = output.name not in NOT_IN_RUNTIME
        expected = session.run(None, {"features": features})[0] if known else None
        if output.name not in FROM_RUNTIME:
            found, expected = expected, ReferenceEvaluator(alone).run(None, {"features": features})[0]
            if known and (found.shape != expected.shape or np.abs(found - expected).max() > 1e-4):
                raise SystemExit(f"{output.name}: ONNX Runtime and the reference implementation differ")
        outputs.append(as_json(output.name, expected))
    onnx.save(model, out / "heads.onnx")
    (out / "heads.reference.json").write_text(json.dumps({"inputs": reference["inputs"], "outputs": outputs}, indent=0) + "\n")
    print(f"{len(outputs)} cases in {out}")


if __name__ == "__main__":
    main()
