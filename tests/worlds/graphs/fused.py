# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX Runtime's optimizers and quantizers write in place of several of ONNX (domain com.microsoft)."""
import math

import numpy as np
from onnx import TensorProto

DOMAIN = "com.microsoft"


def packed(numbers, bits):
    """Bytes of numbers along the last axis, the lowest bits first."""
    each = 8 // bits
    numbers = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, -numbers.shape[-1] % each)])
    numbers = numbers.reshape(*numbers.shape[:-1], -1, each)
    return (numbers << np.arange(0, 8, bits)).sum(-1).astype(np.uint8)


def unpacked(values, bits):
    return (values[..., None] >> np.arange(0, 8, bits) & (1 << bits) - 1).reshape(*values.shape[:-1], -1)


class FusedOperators:
    """What they compute, for the evaluator."""

    def op_SimplifiedLayerNormalization(self, given, x, scale):
        return self.op_RMSNormalization(given, x, scale)

    def fused_BiasGelu(self, given, x, bias):
        return self.op_Gelu({}, x + bias)

    def fused_FastGelu(self, given, x, bias=None):
        return self.op_Gelu({"approximate": "tanh"}, x if bias is None else x + bias)

    def fused_QuickGelu(self, given, x):
        return self.op_Swish({"alpha": given.get("alpha", 1.702)}, x)

    def fused_SkipLayerNormalization(self, given, x, skip, scale, bias=None, more=None):
        total = x + skip if more is None else x + skip + more
        return [self.op_LayerNormalization({"epsilon": given.get("epsilon", 1e-12)}, total, scale, bias), total, total, total]

    def fused_SkipSimplifiedLayerNormalization(self, given, x, skip, scale, more=None):
        total = x + skip if more is None else x + skip + more
        return [self.op_RMSNormalization({"epsilon": given.get("epsilon", 1e-12)}, total, scale), total, total, total]

    def fused_FusedMatMul(self, given, a, b):
        a = a.swapaxes(-1, -2) if given.get("transA", 0) else a
        b = b.swapaxes(-1, -2) if given.get("transB", 0) else b
        return given.get("alpha", 1.0) * (a @ b)

    def fused_FusedConv(self, given, x, w, b=None, addend=None):
        sums = self.op_Conv({key: value for key, value in given.items() if key != "activation"}, x, w, b)
        sums = sums if addend is None else sums + addend
        return {"Relu": self.op_Relu, "Sigmoid": self.op_Sigmoid, "Tanh": self.op_Tanh}[given["activation"]]({}, sums)

    def fused_MultiHeadAttention(self, given, q, k, v, bias=None):
        if bias is not None:
            q, k, v = (part + more for part, more in zip((q, k, v), np.split(bias, 3)))
        heads = {"q_num_heads": given["num_heads"], "kv_num_heads": given["num_heads"]}
        mask = np.tri(q.shape[1], dtype=bool) if given.get("unidirectional", 0) else None
        return self.op_Attention({**heads, **({"scale": given["scale"]} if "scale" in given else {})}, q, k, v, mask)

    def fused_Attention(self, given, x, weights, bias):
        return self.fused_MultiHeadAttention(given, *np.split(x @ weights + bias, 3, -1))

    def fused_MatMulNBits(self, given, x, numbers, scales, zeros=None, order=None, bias=None):
        inputs, outputs, block, bits = given["K"], given["N"], given["block_size"], given["bits"]
        blocks = -(-inputs // block)
        if zeros is None:
            zeros = np.full((outputs, blocks), 1 << (bits - 1))
        elif zeros.dtype.kind == "i":
            zeros = unpacked(zeros.reshape(outputs, -1), bits)[:, :blocks]
        w = (unpacked(numbers, bits) - zeros.reshape(outputs, blocks, 1)) * scales.reshape(outputs, blocks, 1)
        return self.op_MatMul({}, x, w.reshape(outputs, -1)[:, :inputs].T) + (0 if bias is None else bias)


class Fuser:
    """Writes them, for the builder of a graph."""

    def is_optimised(self):
        return self.style("made by") == "optimiser"

    def fused_activation(self, x, kind):
        if kind == "quick":
            return self.op("QuickGelu", x, alpha=1.702, domain=DOMAIN)
        bias = self.weight(self.shape(x)[-1], scale=0.2) if kind == "erf" or self.maybe() else None
        return self.op("BiasGelu" if kind == "erf" else "FastGelu", x, bias, domain=DOMAIN)

    def fused_norm(self, x, y, rms):
        """The norm of x + y, and the sum. A bias of what made y comes with the norm."""
        width, turned = self.shape(x)[-1], self.maybe(0.3)
        parts = [y, x] if turned else [x, y]
        parts.append(self.weight(width, scale=0.3, offset=1.0))
        if not rms:
            parts.append(self.weight(width, scale=0.2) if self.maybe(0.9) else None)
        parts.append(self.weight(width, scale=0.2) if not turned and self.maybe() else None)
        name = "SkipSimplifiedLayerNormalization" if rms else "SkipLayerNormalization"
        names = self.op(name, *parts, outputs=4, epsilon=1e-5, domain=DOMAIN)
        self.nodes[-1].output[1] = self.nodes[-1].output[2] = ""
        return names[0], names[3]

    def fused_attention(self, x, o):
        dim, given = self.shape(x)[-1], {"num_heads": o["heads"], "domain": DOMAIN}
        if self.maybe():
            given["scale"] = 0.3
        if not self.only_common and self.maybe(0.3):
            self.features |= {"causal", "rare"}
            given["unidirectional"] = 1
        if self.maybe():
            return self.op("Attention", x, self.weight(dim, 3 * dim), self.weight(3 * dim, scale=0.2), **given)
        parts = [self.linear(x, dim, bias=self.maybe(0.3)) for _ in range(3)]
        return self.op("MultiHeadAttention", *parts, self.weight(3 * dim, scale=0.2) if self.maybe() else None, **given)

    def few_bits(self, x, out, bias):
        """A product with weights of a few bits, in blocks along the inputs."""
        inputs, (bits, block) = self.shape(x)[-1], self.pick((4, 16), (4, 32), (8, 16), (2, 16))
        blocks = -(-inputs // block)
        numbers = self.numbers.integers(0, 1 << bits, (out, blocks, block))
        scales = self.constant(3 / math.sqrt(inputs) / (1 << bits) * self.numbers.uniform(0.5, 1, (out, blocks)))
        zeros, kind = None, self.pick("middle", "packed", "floats")
        if kind == "packed":
            zeros = self.constant(packed(self.numbers.integers(0, 1 << bits, (out, blocks)), bits))
        if kind == "floats":
            zeros = self.constant((1 << (bits - 1)) + self.numbers.uniform(-1, 1, (out, blocks)))
        return self.op("MatMulNBits", x, self.constant(packed(numbers, bits)), scales, zeros, None, bias, K=inputs, N=out, bits=bits,
                       block_size=block, domain=DOMAIN)

    def in_halves(self, x):
        """fp16 and back, as ONNX Runtime's converter leaves it between two nodes."""
        return self.op("Cast", self.op("Cast", x, to=TensorProto.FLOAT16), to=TensorProto.FLOAT)
