# SPDX-License-Identifier: Apache-2.0
"""How a ViT is written down: the choices of encoder.py and steps.py. A choice that stands twice is made twice as often."""

# The spellings that exporters and people use. At least 85 % of the graphs that have no others must run and be equal
# (FLOORS in __init__.py); run.py prints the share.
COMMON = {
    # The image and its patches
    "image": ("first", "first", "first", "first", "last", "bytes last", "bgr gather", "bgr flip", "bgr split"),
    "batch": (1, 1, 1, "any", "any", 2),
    "patches": ("conv", "conv", "conv", "conv", "conv last", "linear", "linear by pixel", "padded"),
    "special": (0, 1, 1, 2, 5),
    "special place": ("front", "front", "front", "behind", "both"),
    "positions": ("before", "after", "none", "before", "special apart"),
    # The file
    "storage": ("raw",) * 7 + ("field", "half", "double", "node", "identity", "shared"),
    "halves": ("nowhere",) * 12 + ("between nodes",),
    "made by": ("exporter",) * 6 + ("optimiser",),
    # How one operation is written
    "shape": ("constant", "constant", "open", "copied", "computed", "computed one by one"),
    "linear": ("matmul", "matmul", "matmul", "gemm", "conv", "conv along tokens", "einsum", "few bits"),
    "norm": ("op", "op", "op", "op", "squares", "power", "reciprocal", "mean of squares", "folded"),
    "erf": ("op", "half last", "half inside", "half first", "halved"),
    "tanh": ("op", "powers", "products"),
    "activation": ("erf", "erf", "erf", "tanh", "quick", "silu", "relu", "squared relu", "elu", "mish", "hard swish"),
    # Attention
    "qkv": ("gather", "slice", "split", "chunk", "separate", "separate", "tokens first", "one key head", "grouped", "heads first",
            "unbind", "einsum dense"),
    "heads": ("apart", "apart", "apart", "in the batch", "behind tokens"),
    "scale": ("q", "both", "scores", "scores", "none", "k", "projected q", "per head", "quotient"),
    "product": ("matmul", "matmul", "einsum"),
    "mask": ("none", "none", "none", "none", "zeros", "sum of zeros", "where", "one minus ones"),
    "softmax": ("op", "op", "op", "by hand", "by hand without maximum", "cast", "guarded"),
    "context": ("matmul", "matmul", "einsum"),
    "q and k": ("plain", "plain", "plain", "plain", "norm", "cosine"),
    "length": ("by op", "root of a sum", "limited", "not below"),
    "rotary": ("halves", "halves", "pairs"),
    "rotary rows": ("patches", "patches", "all"),
    "rotary tables": ("one", "one", "per head"),
    "rotary made": ("constant", "constant", "outer product"),
    "rotary sum": ("turned", "turned", "parts"),
    "rotary columns": ("all", "all", "first"),
    # Blocks
    "block": ("sequential", "sequential", "sequential", "sequential", "parallel", "parallel, one norm"),
    "between": ("nothing", "nothing", "nothing", "nothing", "positions", "late tokens", "replaced token"),
    "head": ("features", "class token", "mean", "linear", "mlp", "argmax", "map", "pool query", "decoder", "mask"),
}

# What few would write, behind the same choices: equal or refused.
RARE = {
    "patches": ("overlapping",),
    "linear": ("weights on the left",),
    "norm": ("mean by sum",),
    "activation": ("leaky relu", "softplus"),
    "qkv": ("columns first",),
    "product": ("keys first",),
    "softmax": ("log",),
    "context": ("turned",),
    "mask": ("halves",),
    "between": ("interaction",),
    "head": ("chain", "chain", "chain", "chain", "token chain", "token chain"),
}
