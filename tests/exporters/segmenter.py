# SPDX-License-Identifier: Apache-2.0
"""Segmenter and a DPT-like model in PyTorch: a plain pre-norm ViT and three heads, written after the papers."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, head_scale=""):
        """`head_scale`: a learned scale per head, of the "logits" or of "q"."""
        super().__init__()
        self.heads = heads
        self.head_scale = head_scale
        if head_scale:
            self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        batch, tokens, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        if self.head_scale == "q":
            q = q * self.temperature
        logits = (q @ k.transpose(-2, -1)) * (self.temperature if self.head_scale == "logits" else self.scale)
        x = (logits.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, dim)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_ratio, eps, head_scale=""):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=eps)
        self.attn = Attention(dim, heads, head_scale)
        self.norm2 = nn.LayerNorm(dim, eps=eps)
        self.fc1 = nn.Linear(dim, mlp_ratio * dim)
        self.fc2 = nn.Linear(mlp_ratio * dim, dim)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Encoder(nn.Module):
    special = 1

    def __init__(self, image, patch, dim, depth, heads, mlp_ratio=2, eps=1e-6, head_scales=()):
        super().__init__()
        self.grid = (image[0] // patch, image[1] // patch)
        self.patch_embed = nn.Conv2d(3, dim, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + self.grid[0] * self.grid[1], dim))
        self.blocks = nn.ModuleList(Block(dim, heads, mlp_ratio, eps, *head_scales[i : i + 1]) for i in range(depth))
        self.norm = nn.LayerNorm(dim, eps=eps)

    def embed(self, image):
        x = self.patch_embed(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        return x + self.pos_embed

    def forward(self, image):
        """The tokens after each block, not normalised."""
        x = self.embed(image)
        depths = []
        for block in self.blocks:
            x = block(x)
            depths.append(x)
        return depths


class MaskTransformer(nn.Module):
    def __init__(self, dim, heads, classes, mlp_ratio=2, blocks=2, eps=1e-5):
        super().__init__()
        self.classes = classes
        self.proj_dec = nn.Linear(dim, dim)
        self.cls_emb = nn.Parameter(torch.zeros(1, classes, dim))
        self.blocks = nn.ModuleList(Block(dim, heads, mlp_ratio, eps) for _ in range(blocks))
        self.norm = nn.LayerNorm(dim, eps=eps)
        self.proj_patch = nn.Parameter(torch.zeros(dim, dim))
        self.proj_classes = nn.Parameter(torch.zeros(dim, dim))
        self.mask_norm = nn.LayerNorm(classes, eps=eps)

    def forward(self, patches):
        x = self.proj_dec(patches)
        x = torch.cat((x, self.cls_emb.expand(x.shape[0], -1, -1)), dim=1)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        patches, classes = x[:, : -self.classes], x[:, -self.classes :]
        patches, classes = patches @ self.proj_patch, classes @ self.proj_classes
        patches = patches / patches.norm(dim=-1, keepdim=True)
        classes = classes / classes.norm(dim=-1, keepdim=True)
        return self.mask_norm(patches @ classes.transpose(1, 2))


class LinearHead(nn.Linear):
    pass


class Segmenter(nn.Module):
    """Image {B, 3, H, W} -> logits {B, classes, H, W}, or labels {B, H, W}."""

    def __init__(self, encoder, head, patch, labels=False):
        super().__init__()
        self.encoder, self.head, self.patch, self.labels = encoder, head, patch, labels

    def decode(self, depths):
        """depths: the tokens after each block, on the full grid."""
        x = self.encoder.norm(depths[-1])[:, self.encoder.special :]
        height, width = self.encoder.grid
        scores = self.head(x).transpose(1, 2).reshape(x.shape[0], -1, height, width)
        logits = F.interpolate(scores, scale_factor=self.patch, mode="bilinear", align_corners=False)
        return logits.argmax(dim=1) if self.labels else logits

    def forward(self, image):
        return self.decode(self.encoder(image))


class Dpt(nn.Module):
    """Depth from the tokens after several blocks: project each to the grid, bring to one size, add, convolve."""

    def __init__(self, encoder, taps, features):
        super().__init__()
        self.encoder, self.taps = encoder, taps
        dim = encoder.pos_embed.shape[-1]
        self.project = nn.ModuleList(nn.Conv2d(dim, features, 1) for _ in taps)
        self.deconv = nn.ConvTranspose2d(features, features, 2, stride=2)
        self.head = nn.Conv2d(features, 1, 3, padding=1)

    def decode(self, depths):
        height, width = self.encoder.grid
        total = 0
        for project, tap in zip(self.project, self.taps):
            x = self.encoder.norm(depths[tap]) if tap == len(depths) - 1 else depths[tap]
            x = x[:, self.encoder.special :].transpose(1, 2).reshape(x.shape[0], -1, height, width)
            total = total + project(x)
        return self.head(F.relu(self.deconv(total)))

    def forward(self, image):
        return self.decode(self.encoder(image))
