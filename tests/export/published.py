# SPDX-License-Identifier: Apache-2.0
"""The tensors of public checkpoints, {name: shape}, from their own code and independent of models/export."""


def _layer(names, prefix, dim, hidden):
    """names: norm 1, attention in, attention out, norm 2, MLP in, MLP out; each with a place for weight or bias."""
    sizes = ((dim,), (3 * dim, dim), (dim, dim), (dim,), (hidden, dim), (dim, hidden))
    shapes = {}
    for name, shape in zip(names, sizes):
        shapes[prefix + name % "weight"] = shape
        shapes[prefix + name % "bias"] = shape[:1]
    return shapes


def _both(name, *shape):
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


TIMM_LAYER = ("norm1.%s", "attn.qkv.%s", "attn.proj.%s", "norm2.%s", "mlp.fc1.%s", "mlp.fc2.%s")
MMSEG_LAYER = ("ln1.%s", "attn.attn.in_proj_%s", "attn.attn.out_proj.%s", "ln2.%s", "ffn.layers.0.0.%s",
               "ffn.layers.1.%s")


def timm(dim=192, blocks=12, patch=16, tokens=197, classes=1000, distilled=False, layer_scale=False, registers=0,
         prefix=""):
    """VisionTransformer; `tokens`: rows of pos_embed."""
    shapes = {"cls_token": (1, 1, dim), "pos_embed": (1, tokens, dim)} | _both("patch_embed.proj", dim, 3, patch, patch)
    if distilled:
        shapes |= {"dist_token": (1, 1, dim)} | _both("head_dist", classes, dim)
    if registers:
        shapes["reg_token"] = (1, registers, dim)
    for i in range(blocks):
        shapes |= _layer(TIMM_LAYER, f"blocks.{i}.", dim, 4 * dim)
        if layer_scale:
            shapes |= {f"blocks.{i}.ls1.gamma": (dim,), f"blocks.{i}.ls2.gamma": (dim,)}
    shapes |= _both("norm", dim) | (_both("head", classes, dim) if classes else {})
    return {prefix + name: shape for name, shape in shapes.items()}


def dinov2(dim=384, blocks=12, grid=37, registers=0):
    """dinov2_vits14_pretrain.pth and, with registers, dinov2_vits14_reg4_pretrain.pth."""
    shapes = timm(dim, blocks, 14, grid * grid + 1, classes=0, layer_scale=True) | {"mask_token": (1, dim)}
    return shapes | ({"register_tokens": (1, registers, dim)} if registers else {})


def segmenter(dim=192, blocks=12, patch=16, grid=32, classes=150, decoder_blocks=2, distilled=False, mask=True):
    """"model" in checkpoint.pth."""
    shapes = timm(dim, blocks, patch, grid * grid + 1 + distilled, 1000, distilled, prefix="encoder.")
    if not mask:
        return shapes | _both("decoder.head", classes, dim)
    shapes |= {"decoder.cls_emb": (1, classes, dim), "decoder.proj_patch": (dim, dim),
               "decoder.proj_classes": (dim, dim)}
    shapes |= _both("decoder.proj_dec", dim, dim) | _both("decoder.decoder_norm", dim)
    shapes |= _both("decoder.mask_norm", classes)
    for i in range(decoder_blocks):
        shapes |= _layer(TIMM_LAYER, f"decoder.blocks.{i}.", dim, 4 * dim)
    return shapes


def mmsegmentation(dim=192, blocks=12, patch=16, grid=32, classes=150, mask=True, conv_seg=True):
    """"state_dict"; conv_seg: older versions of the mask head kept an unused convolution."""
    shapes = {"backbone.cls_token": (1, 1, dim), "backbone.pos_embed": (1, grid * grid + 1, dim)}
    shapes |= _both("backbone.patch_embed.projection", dim, 3, patch, patch) | _both("backbone.ln1", dim)
    for i in range(blocks):
        shapes |= _layer(MMSEG_LAYER, f"backbone.layers.{i}.", dim, 4 * dim)
    if conv_seg or not mask:
        shapes |= _both("decode_head.conv_seg", classes, dim, 1, 1)
    if mask:
        shapes |= {"decode_head.cls_emb": (1, classes, dim), "decode_head.patch_proj.weight": (dim, dim),
                   "decode_head.classes_proj.weight": (dim, dim)}
        shapes |= _both("decode_head.dec_proj", dim, dim)
        shapes |= _both("decode_head.decoder_norm", dim) | _both("decode_head.mask_norm", classes)
        for i in range(2):
            shapes |= _layer(MMSEG_LAYER, f"decode_head.layers.{i}.", dim, 4 * dim)
    return shapes


def huggingface(kind="vit", dim=192, blocks=12, patch=16, grid=14, classes=1000, root=None, teacher=False):
    """model.safetensors of ViT-, DeiT- and Dinov2ForImageClassification; root "": of the bare backbone."""
    root = f"{kind}." if root is None else root
    modern = kind.startswith("dinov2")
    rows = grid * grid + (2 if kind == "deit" else 1)
    shapes = {"cls_token": (1, 1, dim), "position_embeddings": (1, rows, dim)}
    shapes |= _both("patch_embeddings.projection", dim, 3, patch, patch)
    if kind == "deit":
        shapes["distillation_token"] = (1, 1, dim)
    if modern:
        shapes["mask_token"] = (1, dim)
    if kind == "dinov2_with_registers":
        shapes["register_tokens"] = (1, 4, dim)
    shapes = {f"{root}embeddings.{name}": shape for name, shape in shapes.items()} | _both(f"{root}layernorm", dim)
    for i in range(blocks):
        layer = f"{root}encoder.layer.{i}."
        norms, mlp = (("norm1", "norm2"), ("mlp.fc1", "mlp.fc2")) if modern else (
            ("layernorm_before", "layernorm_after"), ("intermediate.dense", "output.dense"))
        for part in ("query", "key", "value"):
            shapes |= _both(f"{layer}attention.attention.{part}", dim, dim)
        shapes |= _both(f"{layer}attention.output.dense", dim, dim)
        shapes |= _both(layer + norms[0], dim) | _both(layer + norms[1], dim)
        shapes |= _both(layer + mlp[0], 4 * dim, dim) | _both(layer + mlp[1], dim, 4 * dim)
        if modern:
            shapes |= {f"{layer}layer_scale1.lambda1": (dim,), f"{layer}layer_scale2.lambda1": (dim,)}
    if not root:
        return shapes | (_both("pooler.dense", dim, dim) if kind in ("vit", "deit") else {})
    if teacher:
        return shapes | _both("cls_classifier", classes, dim) | _both("distillation_classifier", classes, dim)
    return shapes | _both("classifier", classes, 2 * dim if modern else dim)


def dinov2_head(dim=384, classes=150):
    """"state_dict" of dinov2_vits14_ade20k_linear_head.pth."""
    norm = {f"decode_head.bn.{part}": (dim,) for part in ("weight", "bias", "running_mean", "running_var")}
    return _both("decode_head.conv_seg", classes, dim, 1, 1) | norm | {"decode_head.bn.num_batches_tracked": ()}
