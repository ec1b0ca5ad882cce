# SPDX-License-Identifier: Apache-2.0
"""Depth Anything 3 for one picture in PyTorch, written after the paper (arXiv 2511.10647): a DINOv2 whose later blocks
normalise q and k, rotate them by the place of a patch, and attend by turns inside a picture and among pictures; a camera token
takes the place of the class token there; and a DPT head."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, normalises):
        super().__init__()
        self.heads, self.normalises = heads, normalises
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        if normalises:
            self.q_norm, self.k_norm = nn.LayerNorm(dim // heads), nn.LayerNorm(dim // heads)

    @staticmethod
    def rotated(x, positions):
        """x {B, heads, T, width}, the patches turned by positions {N, 2 width}: the first half of a head by the row, the second by
        the column; special tokens stay."""
        special = x.shape[2] - positions.shape[0]
        cosine, sine = positions.chunk(2, dim=-1)
        front, x = x[:, :, :special], x[:, :, special:]
        parts = [part.chunk(2, dim=-1) for part in x.chunk(2, dim=-1)]
        turned = torch.cat([part for first, second in parts for part in (-second, first)], dim=-1)
        return torch.cat((front, x * cosine + turned * sine), dim=2)

    def forward(self, x, positions):
        batch, tokens, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        if self.normalises:
            q, k = self.q_norm(q), self.k_norm(k)
        if positions is not None:
            q, k = self.rotated(q, positions), self.rotated(k, positions)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(batch, tokens, dim))


class Block(nn.Module):
    """`late`: q and k are normalised and rotated. `camera`: the camera token takes the place of the class token in front."""

    def __init__(self, dim, heads, late=False, camera=False):
        super().__init__()
        self.late = late
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, heads, late)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.scale1, self.scale2 = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.ones(dim))
        self.camera = nn.Parameter(torch.zeros(1, 1, dim)) if camera else None

    def forward(self, x, positions):
        if self.camera is not None:
            x = x.clone()
            x[:, 0] = self.camera.expand(x.shape[0], -1, -1)[:, 0]  # as its authors do; exporters make a ScatterND or a ScatterElements of it
        x = x + self.scale1 * self.attn(self.norm1(x), positions if self.late else None)
        return x + self.scale2 * self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Encoder(nn.Module):
    """`start`: the first late block. From there on, each odd block attends among the pictures, where all patches of a picture have
    one place."""

    special = 1

    def __init__(self, image, patch, dim, depth, heads, start=None):
        super().__init__()
        self.grid = (image[0] // patch, image[1] // patch)
        self.start = depth if start is None else start
        self.patch_embed = nn.Conv2d(3, dim, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + self.grid[0] * self.grid[1], dim))
        self.blocks = nn.ModuleList(Block(dim, heads, i >= self.start, i == start) for i in range(depth))
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        places = torch.cartesian_prod(*(torch.arange(1.0, side + 1) for side in self.grid))
        width = dim // heads
        frequency = 100.0 ** -(torch.arange(0, width // 2, 2) / (width // 2))
        for name, at in (("apart", places), ("together", torch.ones_like(places))):
            angle = (at[:, :, None] * frequency).repeat_interleave(2, dim=1).flatten(1)  # row, row, column, column
            self.register_buffer(name, torch.cat((angle.cos(), angle.sin()), dim=1))

    def positions(self, image):
        """Cosines and sines {N, 2 head_dim} of each block."""
        return [self.together if i >= self.start and i % 2 else self.apart for i in range(len(self.blocks))]

    def embed(self, image):
        x = self.patch_embed(image).flatten(2).transpose(1, 2)
        return torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed

    def forward(self, image):
        """The tokens after each block, not normalised."""
        x, depths = self.embed(image), []
        for block, positions in zip(self.blocks, self.positions(image)):
            x = block(x, positions)
            depths.append(x)
        return depths


class DepthAnything3(nn.Module):
    """Depth, and the confidence in it or the sky. With late blocks, a tap is the last block inside the picture beside the last one
    of all."""

    def __init__(self, encoder, taps, features=8):
        super().__init__()
        self.encoder, self.taps = encoder, taps
        self.doubled = encoder.start < len(encoder.blocks)
        dim = encoder.pos_embed.shape[-1] * (2 if self.doubled else 1)
        self.norm = nn.LayerNorm(dim)
        self.project = nn.ModuleList(nn.Conv2d(dim, features, 1) for _ in taps)
        self.resize = nn.ModuleList((nn.ConvTranspose2d(features, features, 2, stride=2), nn.Identity()))
        self.refine = nn.ModuleList(nn.Conv2d(features, features, 3, padding=1) for _ in taps)
        self.out = nn.Sequential(nn.Conv2d(features, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1))

    @staticmethod
    def places(x):
        """Sines and cosines of the place of each pixel, a tenth of which the head adds to its maps {1, C, h, w}."""
        channels, height, width = x.shape[1:]
        down, right = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
        frequency = 100.0 ** -(torch.arange(channels // 4) / (channels // 4))
        angles = torch.cat([place[None] * frequency[:, None, None] for place in (right, down)])
        return torch.cat((angles.sin(), angles.cos()))[None].to(x.dtype)

    def tokens(self, depths, tap):
        x = self.encoder.norm(depths[tap])
        local = tap - 1 if tap >= self.encoder.start and tap % 2 else tap
        return self.norm(torch.cat((depths[local], x), dim=-1) if self.doubled else x)[:, self.encoder.special :]

    def decode(self, depths):
        height, width = self.encoder.grid
        total = None
        for tap, project, resize, refine in zip(self.taps, self.project, self.resize, self.refine):
            x = self.tokens(depths, tap).transpose(1, 2).reshape(depths[0].shape[0], -1, height, width)
            x = project(x)
            x = refine(resize(x + 0.1 * self.places(x)))
            x = x if total is None else F.interpolate(x, total.shape[2:], mode="bilinear", align_corners=True)
            total = x if total is None else total + x
        first, second = self.out(total + 0.1 * self.places(total)).split(1, dim=1)
        return first.exp(), second.exp() + 1 if self.doubled else F.relu(second)

    def forward(self, image):
        return self.decode(self.encoder(image))
