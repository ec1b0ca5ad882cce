# SPDX-License-Identifier: Apache-2.0
"""A plain ViT with Segmenter's two heads or a classifier, in PyTorch. Its tensors are those of tensors.parameters()."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


def named(**modules):
    """Modules that run one after the other, under the names of their tensors."""
    return nn.Sequential(OrderedDict(modules))


class Attention(nn.Module):
    def __init__(self, dim, heads, qkv_bias):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        """x {B, T, dim}"""
        batch, tokens, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(batch, tokens, dim))


class LayerScale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, dim, heads, hidden, eps, qkv_bias=True, layer_scale=False):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=eps)
        self.attn = Attention(dim, heads, qkv_bias)
        self.ls1 = LayerScale(dim) if layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm(dim, eps=eps)
        self.mlp = named(fc1=nn.Linear(dim, hidden), gelu=nn.GELU(), fc2=nn.Linear(hidden, dim))
        self.ls2 = LayerScale(dim) if layer_scale else nn.Identity()

    def forward(self, x):
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class Encoder(nn.Module):
    """Image {B, 3, H, W} -> tokens {B, special + patches, dim}: class, distillation, registers, then the raster."""

    def __init__(self, layout):
        super().__init__()
        dim, self.positioned = layout.dim, layout.positioned
        for name, count in (("cls_token", layout.class_token), ("dist_token", layout.distillation_token),
                            ("reg_token", layout.registers)):
            self.register_parameter(name, nn.Parameter(torch.zeros(1, int(count), dim)) if count else None)
        self.pos_embed = nn.Parameter(torch.zeros(1, layout.positioned + layout.patches, dim))
        self.patch_embed = named(proj=nn.Conv2d(3, dim, layout.patch, stride=layout.patch))
        self.blocks = nn.Sequential(*(Block(dim, layout.heads, layout.hidden, layout.eps, layout.qkv_bias,
                                            layout.layer_scale) for _ in range(layout.blocks)))
        self.norm = nn.LayerNorm(dim, eps=layout.eps) if layout.final_norm else nn.Identity()

    def forward(self, image):
        x = self.patch_embed(image).flatten(2).transpose(1, 2) + self.pos_embed[:, self.positioned :]
        special = [token for token in (self.cls_token, self.dist_token, self.reg_token) if token is not None]
        if special:
            front = torch.cat(special, dim=1)
            front = torch.cat((front[:, : self.positioned] + self.pos_embed[:, : self.positioned],
                               front[:, self.positioned :]), dim=1)
            x = torch.cat((front.expand(x.shape[0], -1, -1), x), dim=1)
        return self.norm(self.blocks(x))


class MaskTransformer(nn.Module):
    """Patch tokens {B, N, dim} -> scores {B, N, classes}: cosines of patches and class embeddings, normalised."""

    def __init__(self, layout):
        super().__init__()
        dim, self.classes = layout.dim, layout.classes
        self.cls_emb = nn.Parameter(torch.zeros(1, layout.classes, dim))
        self.proj_dec = nn.Linear(dim, dim)
        self.blocks = nn.Sequential(*(Block(dim, layout.decoder_heads, layout.hidden, layout.decoder_eps)
                                      for _ in range(layout.decoder_blocks)))
        self.decoder_norm = nn.LayerNorm(dim, eps=layout.decoder_eps)
        self.proj_patch = nn.Parameter(torch.zeros(dim, dim))
        self.proj_classes = nn.Parameter(torch.zeros(dim, dim))
        self.mask_norm = nn.LayerNorm(layout.classes, eps=layout.decoder_eps)

    def forward(self, patches):
        x = torch.cat((self.proj_dec(patches), self.cls_emb.expand(patches.shape[0], -1, -1)), dim=1)
        x = self.decoder_norm(self.blocks(x))
        patches, classes = x[:, : -self.classes] @ self.proj_patch, x[:, -self.classes :] @ self.proj_classes
        patches = patches / patches.norm(dim=-1, keepdim=True)
        classes = classes / classes.norm(dim=-1, keepdim=True)
        return self.mask_norm(patches @ classes.transpose(1, 2))


class Segmenter(nn.Module):
    """Image {B, 3, H, W} -> logits {B, classes, H, W}."""

    def __init__(self, layout):
        super().__init__()
        self.layout = layout
        self.encoder = Encoder(layout)
        self.decoder = (MaskTransformer(layout) if layout.head == "mask_transformer"
                        else named(head=nn.Linear(layout.dim, layout.classes)))

    def forward(self, image):
        scores = self.decoder(self.encoder(image)[:, self.layout.special :])
        scores = scores.transpose(1, 2).reshape(image.shape[0], self.layout.classes, *self.layout.grid)
        return F.interpolate(scores, size=self.layout.image, mode="bilinear", align_corners=False)


class Classifier(nn.Module):
    """Image {B, 3, H, W} -> logits {B, classes}."""

    def __init__(self, layout):
        super().__init__()
        self.special, self.pool = layout.special, layout.pool
        self.encoder = Encoder(layout)
        self.fc_norm = nn.LayerNorm(layout.dim, eps=layout.eps) if layout.pooled_norm else nn.Identity()
        self.head = nn.Linear(2 * layout.dim if self.pool == "token+mean" else layout.dim, layout.classes)
        self.head_dist = nn.Linear(layout.dim, layout.classes) if self.pool == "two" else None

    def forward(self, image):
        x = self.encoder(image)
        if self.pool == "two":
            return (self.head(x[:, 0]) + self.head_dist(x[:, 1])) / 2
        pooled = [x[:, 0]] if "token" in self.pool else []
        if "mean" in self.pool:
            pooled.append(x[:, self.special :].mean(dim=1))
        return self.head(self.fc_norm(torch.cat(pooled, dim=-1)))


def network(layout):
    return (Classifier if layout.head == "classifier" else Segmenter)(layout)


def resized_positions(positions, positioned, grid, new_grid, mode, antialias):
    """{1, positioned + rows * columns, dim} for another grid; the rows of special tokens are kept."""
    patches = positions[:, positioned:].reshape(1, *grid, -1).permute(0, 3, 1, 2)
    patches = F.interpolate(patches, size=new_grid, mode=mode, align_corners=False, antialias=antialias)
    return torch.cat((positions[:, :positioned], patches.flatten(2).transpose(1, 2)), dim=1)
