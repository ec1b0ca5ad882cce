# SPDX-License-Identifier: Apache-2.0
"""Tensor names of public checkpoints, and how each tensor becomes one of ours. Names and shapes only, without PyTorch.

Our names are those of Segmenter and timm, as in mpm-train. A Naming translates them into the names of one source.
Nothing is guessed: a tensor that is missing, unknown or of another shape is an error that names it as the checkpoint
does.
"""

import math
import re
from collections import namedtuple
from dataclasses import dataclass, field, replace


class ExportError(Exception):
    """One line for the user: the problem and, if possible, what to do."""


@dataclass(frozen=True)
class Layout:
    """A plain pre-norm ViT and its head."""

    dim: int
    heads: int
    blocks: int
    hidden: int
    patch: int
    grid: tuple  # rows, columns of the position embedding
    class_token: bool = True
    distillation_token: bool = False
    registers: int = 0
    positioned: int = 1  # leading special tokens that have a position; the others have none
    qkv_bias: bool = True
    layer_scale: bool = False
    final_norm: bool = True
    eps: float = 1e-6
    head: str = "features"  # "mask_transformer", "linear", "classifier", or "features": no head at all
    classes: int = 0
    pool: str = ""  # a classifier sees: "token", "mean", "token+mean", or "two": one per class and distillation token
    pooled_norm: bool = False
    decoder_blocks: int = 0
    decoder_heads: int = 0
    decoder_eps: float = 1e-5

    @property
    def special(self):
        """Tokens in front of those of the patches."""
        return self.class_token + self.distillation_token + self.registers

    @property
    def patches(self):
        return self.grid[0] * self.grid[1]

    @property
    def image(self):
        """Height and width in pixels."""
        return self.grid[0] * self.patch, self.grid[1] * self.patch

    def __str__(self):
        heads = {"mask_transformer": f"mask transformer of {self.decoder_blocks} blocks", "linear": "linear head",
                 "classifier": "classifier", "features": "features"}
        return (f"ViT of {self.blocks} blocks, width {self.dim}, {self.heads} heads, patch {self.patch}, "
                f"{self.image[0]}x{self.image[1]} px, {heads[self.head]}, {self.classes} classes")


def parameters(layout):
    """Every tensor of the network: our name -> shape."""
    dim, table = layout.dim, {}

    def linear(name, outputs, inputs, bias=True):
        table[f"{name}.weight"] = (outputs, inputs)
        if bias:
            table[f"{name}.bias"] = (outputs,)

    def norm(name, size):
        table[f"{name}.weight"] = table[f"{name}.bias"] = (size,)

    def block(name, qkv_bias, layer_scale):
        norm(f"{name}.norm1", dim)
        linear(f"{name}.attn.qkv", 3 * dim, dim, qkv_bias)
        linear(f"{name}.attn.proj", dim, dim)
        norm(f"{name}.norm2", dim)
        linear(f"{name}.mlp.fc1", layout.hidden, dim)
        linear(f"{name}.mlp.fc2", dim, layout.hidden)
        if layer_scale:
            table[f"{name}.ls1.gamma"] = table[f"{name}.ls2.gamma"] = (dim,)

    if layout.class_token:
        table["encoder.cls_token"] = (1, 1, dim)
    if layout.distillation_token:
        table["encoder.dist_token"] = (1, 1, dim)
    if layout.registers:
        table["encoder.reg_token"] = (1, layout.registers, dim)
    table["encoder.pos_embed"] = (1, layout.positioned + layout.patches, dim)
    table["encoder.patch_embed.proj.weight"] = (dim, 3, layout.patch, layout.patch)
    table["encoder.patch_embed.proj.bias"] = (dim,)
    for i in range(layout.blocks):
        block(f"encoder.blocks.{i}", layout.qkv_bias, layout.layer_scale)
    if layout.final_norm:
        norm("encoder.norm", dim)

    if layout.head == "mask_transformer":
        table["decoder.cls_emb"] = (1, layout.classes, dim)
        linear("decoder.proj_dec", dim, dim)
        for i in range(layout.decoder_blocks):
            block(f"decoder.blocks.{i}", True, False)
        norm("decoder.decoder_norm", dim)
        table["decoder.proj_patch"] = table["decoder.proj_classes"] = (dim, dim)
        norm("decoder.mask_norm", layout.classes)
    elif layout.head == "linear":
        linear("decoder.head", layout.classes, dim)
    elif layout.head == "classifier":
        if layout.pooled_norm:
            norm("fc_norm", dim)
        linear("head", layout.classes, 2 * dim if layout.pool == "token+mean" else dim)
        if layout.pool == "two":
            linear("head_dist", layout.classes, dim)
    return table


@dataclass(frozen=True)
class Naming:
    """Our names -> those of a source. `{}` stands for "weight" or "bias"; a tuple holds the three parts of qkv."""

    source: str
    blocks: dict  # "encoder.blocks" -> theirs, with `{}` for the number
    in_block: dict  # the rest of the name after the number
    outside: dict
    dropped: dict = field(default_factory=dict)  # pattern of a tensor that is left out on purpose -> reason
    transposed: frozenset = frozenset()  # ours is their transpose
    convolutions: frozenset = frozenset()  # theirs is a 1x1 convolution

    def parts(self, ours):
        """The source's names of the tensors that make up `ours`; empty if it has no such tensor."""
        stem, _, kind = ours.rpartition(".")
        if kind not in ("weight", "bias"):
            stem, kind = ours, ""
        inside = re.fullmatch(r"(\w+\.blocks)\.(\d+)\.(.+)", stem)
        prefix = ""
        if inside:
            if inside[1] not in self.blocks:
                return ()
            prefix, theirs = self.blocks[inside[1]].format(inside[2]), self.in_block.get(inside[3], ())
        else:
            theirs = self.outside.get(stem, ())
        return tuple(prefix + one.format(kind) for one in ((theirs,) if isinstance(theirs, str) else theirs))


TIMM_BLOCK = {name: f"{name}.{{}}" for name in ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2")} | {
    "ls1.gamma": "ls1.gamma", "ls2.gamma": "ls2.gamma"}
_IMAGENET = "the ImageNet classifier that training started from"

SEGMENTER = Naming(
    source="Segmenter's checkpoint",
    blocks={"encoder.blocks": "encoder.blocks.{}.", "decoder.blocks": "decoder.blocks.{}."},
    in_block=TIMM_BLOCK,
    outside={name: name for name in ("encoder.cls_token", "encoder.dist_token", "encoder.pos_embed", "decoder.cls_emb",
                                     "decoder.proj_patch", "decoder.proj_classes")}
    | {name: f"{name}.{{}}" for name in ("encoder.patch_embed.proj", "encoder.norm", "decoder.proj_dec",
                                         "decoder.decoder_norm", "decoder.mask_norm", "decoder.head")},
    dropped={r"encoder\.head(_dist)?\.(weight|bias)": _IMAGENET})

MMSEGMENTATION = Naming(
    source="mmsegmentation's Segmenter",
    blocks={"encoder.blocks": "backbone.layers.{}.", "decoder.blocks": "decode_head.layers.{}."},
    in_block={"norm1": "ln1.{}", "attn.qkv": "attn.attn.in_proj_{}", "attn.proj": "attn.attn.out_proj.{}",
              "norm2": "ln2.{}", "mlp.fc1": "ffn.layers.0.0.{}", "mlp.fc2": "ffn.layers.1.{}"},
    outside={"encoder.cls_token": "backbone.cls_token", "encoder.pos_embed": "backbone.pos_embed",
             "encoder.patch_embed.proj": "backbone.patch_embed.projection.{}", "encoder.norm": "backbone.ln1.{}",
             "decoder.cls_emb": "decode_head.cls_emb", "decoder.proj_dec": "decode_head.dec_proj.{}",
             "decoder.decoder_norm": "decode_head.decoder_norm.{}", "decoder.mask_norm": "decode_head.mask_norm.{}",
             "decoder.proj_patch": "decode_head.patch_proj.weight",
             "decoder.proj_classes": "decode_head.classes_proj.weight", "decoder.head": "decode_head.conv_seg.{}"},
    transposed=frozenset(("decoder.proj_patch", "decoder.proj_classes")),  # linear layers there, matrices here
    convolutions=frozenset(("decoder.head.weight",)),
    dropped={r"decode_head\.conv_seg\.(weight|bias)": "made for every head, not used by the mask transformer"})

TIMM = Naming(
    source="a ViT of timm",
    blocks={"encoder.blocks": "blocks.{}."},
    in_block=TIMM_BLOCK,
    outside={"encoder.cls_token": "cls_token", "encoder.dist_token": "dist_token", "encoder.reg_token": "reg_token",
             "encoder.pos_embed": "pos_embed", "encoder.patch_embed.proj": "patch_embed.proj.{}",
             "encoder.norm": "norm.{}", "fc_norm": "fc_norm.{}", "head": "head.{}", "head_dist": "head_dist.{}"},
    dropped={r"mask_token": "used in training only"})

# DINOv2's own files: timm's names, except for the registers.
DINOV2 = replace(TIMM, source="a ViT of DINOv2", outside=TIMM.outside | {"encoder.reg_token": "register_tokens"})


def huggingface(model_type, shapes):
    """The names in files of transformers (not those of its modules, which changed in version 5)."""
    if model_type not in ("vit", "deit", "dinov2", "dinov2_with_registers"):
        raise ExportError(f"config.json says model_type '{model_type}'; known are vit, deit, dinov2 and "
                          "dinov2_with_registers")
    root = f"{model_type}." if any(name.startswith(f"{model_type}.") for name in shapes) else ""  # a bare backbone
    parts = tuple(f"attention.attention.{part}.{{}}" for part in ("query", "key", "value"))
    block = {"attn.qkv": parts, "attn.proj": "attention.output.dense.{}"}
    if model_type in ("vit", "deit"):
        block |= {"norm1": "layernorm_before.{}", "norm2": "layernorm_after.{}", "mlp.fc1": "intermediate.dense.{}",
                  "mlp.fc2": "output.dense.{}"}
    else:
        block |= {name: f"{name}.{{}}" for name in ("norm1", "norm2", "mlp.fc1", "mlp.fc2")}
        block |= {"ls1.gamma": "layer_scale1.lambda1", "ls2.gamma": "layer_scale2.lambda1"}
    embeddings = {"encoder.cls_token": "cls_token", "encoder.dist_token": "distillation_token",
                  "encoder.reg_token": "register_tokens", "encoder.pos_embed": "position_embeddings",
                  "encoder.patch_embed.proj": "patch_embeddings.projection.{}"}
    two = "cls_classifier.weight" in shapes
    return Naming(
        source=f"transformers' {model_type}",
        blocks={"encoder.blocks": root + "encoder.layer.{}."},
        in_block=block,
        outside={ours: f"{root}embeddings.{theirs}" for ours, theirs in embeddings.items()}
        | {"encoder.norm": root + "layernorm.{}", "head": "cls_classifier.{}" if two else "classifier.{}",
           "head_dist": "distillation_classifier.{}"},
        dropped={re.escape(root) + r"embeddings\.mask_token": "used in training only",
                 re.escape(root) + r"pooler\.dense\.(weight|bias)": "not part of features or classifier"})


def heads_of_width(dim):
    """Number of attention heads in public ViTs: they are 64 wide, except in the giant models of timm."""
    heads = {1152: 16, 1280: 16, 1408: 16, 1664: 16}.get(dim)
    if heads is None and dim % 64:
        raise ExportError(f"the width is {dim}, which does not tell the number of attention heads: give --heads")
    return heads or dim // 64


def _grid(rows, candidates, source):
    """The number of special tokens with a position and the grid of the others, where the grid is square."""
    found = {}
    for positioned in candidates:
        side = math.isqrt(max(0, rows - positioned))
        if side and side * side == rows - positioned:
            found[positioned] = side, side
    if len(found) != 1:
        raise ExportError(f"{source}: {rows} positions {'are those of more than one' if found else 'do not fit any'} "
                          "square image: give --trained-size HxW")
    return next(iter(found.items()))


def read_layout(shapes, naming, head=None, heads=None, pool=None, grid=None, eps=1e-6):
    """The layout that the shapes {name: tuple} show. `head`: "features" leaves a classifier out; None keeps any head.
    `grid`: rows and columns that the model was trained with, where they are not square."""

    def shape_of(ours):
        parts = naming.parts(ours)
        return tuple(shapes[parts[0]]) if parts and parts[0] in shapes else None

    def required(ours, dimensions):
        shape = shape_of(ours)
        name = naming.parts(ours)[0]
        if shape is None:
            raise ExportError(f"this is not {naming.source}: no tensor is called '{name}'")
        if len(shape) != dimensions or 0 in shape:
            raise ExportError(f"tensor '{name}' is {shape}, expected {dimensions} dimensions")
        return shape

    def count(what):
        i = 0
        while shape_of(f"{what}.blocks.{i}.norm1.weight"):
            i += 1
        return i

    dim, _, patch, _ = required("encoder.patch_embed.proj.weight", 4)
    hidden = required("encoder.blocks.0.mlp.fc1.weight", 2)[0]
    class_token, distilled = bool(shape_of("encoder.cls_token")), bool(shape_of("encoder.dist_token"))
    registers = required("encoder.reg_token", 3)[1] if shape_of("encoder.reg_token") else 0
    rows = required("encoder.pos_embed", 3)[1]
    if grid:
        positioned = rows - grid[0] * grid[1]
        if not 0 <= positioned <= class_token + distilled + registers:
            raise ExportError(f"{rows} positions do not fit {grid[0]} x {grid[1]} patches of {patch} px")
    else:
        leading = class_token + distilled
        positioned, grid = _grid(rows, (leading, leading + registers, 0), naming.source)

    if head is None:
        known = {"mask_transformer": "decoder.cls_emb", "linear": "decoder.head.weight", "classifier": "head.weight"}
        head = next((kind for kind, name in known.items() if shape_of(name)), "features")
    classes = {"mask_transformer": lambda: required("decoder.cls_emb", 3)[1],
               "linear": lambda: shape_of("decoder.head.weight")[0],
               "classifier": lambda: required("head.weight", 2)[0], "features": lambda: 0}[head]()
    if head != "classifier":
        pool = ""
    elif shape_of("head_dist.weight"):
        pool = "two"
    elif not pool:
        pool = "token" if class_token and not shape_of("fc_norm.weight") else "mean"
    return Layout(
        dim=dim, heads=heads or heads_of_width(dim), blocks=count("encoder"), hidden=hidden, patch=patch, grid=grid,
        class_token=class_token, distillation_token=distilled, registers=registers, positioned=positioned,
        qkv_bias=bool(shape_of("encoder.blocks.0.attn.qkv.bias")),
        layer_scale=bool(shape_of("encoder.blocks.0.ls1.gamma")),
        final_norm=head != "classifier" or not shape_of("fc_norm.weight") or bool(shape_of("encoder.norm.weight")),
        eps=eps, head=head, classes=classes, pool=pool,
        pooled_norm=head == "classifier" and bool(shape_of("fc_norm.weight")),
        decoder_blocks=count("decoder") if head == "mask_transformer" else 0,
        decoder_heads=heads_of_width(dim) if head == "mask_transformer" else 0)


Piece = namedtuple("Piece", "parts transposed shape")  # a tensor of ours: concatenate `parts`, transpose, reshape


def plan(shapes, naming, layout):
    """Our name -> Piece, and {name in the checkpoint: why it is dropped}. Together they account for every tensor."""
    dropped = dict(naming.dropped)
    if layout.head == "features":
        for ours in ("head", "head_dist", "fc_norm"):
            for name in naming.parts(f"{ours}.weight"):
                dropped[re.escape(name.removesuffix("weight")) + "(weight|bias)"] = "a classifier, replaced by --head"
    pieces, used = {}, set()
    for ours, shape in parameters(layout).items():
        parts = naming.parts(ours)
        expected = (shape[0] // len(parts), *shape[1:]) if parts else shape
        if ours in naming.convolutions:
            expected += (1, 1)
        if ours in naming.transposed:
            expected = expected[::-1]
        if not parts:
            raise ExportError(f"{naming.source} has no '{ours}'")
        for name in parts:
            if name not in shapes:
                raise ExportError(f"tensor '{name}' is missing")
            if tuple(shapes[name]) != expected:
                raise ExportError(f"tensor '{name}' is {tuple(shapes[name])}, expected {expected}")
        pieces[ours] = Piece(parts, ours in naming.transposed, shape)
        used.update(parts)
    left_out = {}
    for name in sorted(set(shapes) - used):
        why = next((why for pattern, why in dropped.items() if re.fullmatch(pattern, name)), None)
        if why is None:
            others = len(set(shapes) - used - set(left_out)) - 1
            more = f" ({others} other tensors were not looked at)" if others else ""
            raise ExportError(f"tensor '{name}' is unknown: this is not quite {naming.source}{more}")
        left_out[name] = why
    return pieces, left_out


def assemble(pieces, tensors, concatenate):
    """`tensors` of NumPy or PyTorch, with the `concatenate` of the same library -> our state dict."""

    def make(piece):
        whole = tensors[piece.parts[0]] if len(piece.parts) == 1 else concatenate([tensors[n] for n in piece.parts], 0)
        return (whole.T if piece.transposed else whole).reshape(piece.shape)

    return {ours: make(piece) for ours, piece in pieces.items()}


@dataclass(frozen=True)
class LinearHead:
    """A head in a file of its own: names of its tensors."""

    weight: str  # {classes, inputs} or {classes, inputs, 1, 1}
    bias: str
    batch_norm: str  # what stands before ".running_mean", or ""
    classes: int
    inputs: int


def read_head(shapes):
    """Finds `*weight` and `*bias` of one linear layer or 1x1 convolution, and a batch norm of its inputs, as in the
    linear heads published with DINOv2."""
    matrices = [name for name, shape in shapes.items() if len(shape) in (2, 4)]
    if len(matrices) != 1 or not matrices[0].endswith("weight") or tuple(shapes[matrices[0]][2:]) not in ((), (1, 1)):
        raise ExportError("a linear head is one 'weight' of {classes, width} or {classes, width, 1, 1} with its "
                          f"'bias'; found {', '.join(f'{n} {tuple(shapes[n])}' for n in matrices) or 'no matrix'}")
    weight = matrices[0]
    classes, inputs = shapes[weight][:2]
    expected = {weight.removesuffix("weight") + "bias": (classes,)}
    batch_norm = next((name.removesuffix(".running_mean") for name in shapes if name.endswith(".running_mean")), "")
    if batch_norm:
        expected |= {f"{batch_norm}.{part}": (inputs,) for part in ("weight", "bias", "running_mean", "running_var")}
    for name, shape in expected.items():
        if name not in shapes:
            raise ExportError(f"tensor '{name}' is missing")
        if tuple(shapes[name]) != shape:
            raise ExportError(f"tensor '{name}' is {tuple(shapes[name])}, expected {shape}")
    for name in shapes:
        if name != weight and name not in expected and name != f"{batch_norm}.num_batches_tracked":
            raise ExportError(f"tensor '{name}' is unknown: not a part of a linear head")
    return LinearHead(weight, next(iter(expected)), batch_norm, classes, inputs)


def head_tensors(head, tensors, eps=1e-5):
    """{classes, inputs} and {classes}, the batch norm folded in. Of NumPy or PyTorch, as `tensors` are."""
    weight = tensors[head.weight].reshape((head.classes, head.inputs))
    bias = tensors[head.bias]
    if not head.batch_norm:
        return weight, bias
    gamma, beta, mean, variance = (tensors[f"{head.batch_norm}.{part}"]
                                   for part in ("weight", "bias", "running_mean", "running_var"))
    scale = gamma * (variance + eps) ** -0.5
    return weight * scale, bias + weight @ (beta - mean * scale)


def with_head(layout, head):
    """The layout of `layout`, which has no head, with a head of its own file."""
    if head.inputs == layout.dim:
        return replace(layout, head="linear", classes=head.classes)
    if head.inputs == 2 * layout.dim and layout.class_token:
        return replace(layout, head="classifier", pool="token+mean", classes=head.classes)
    raise ExportError(f"the head takes {head.inputs} features, the backbone gives {layout.dim}")
