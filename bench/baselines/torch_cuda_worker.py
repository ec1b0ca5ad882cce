#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the GPU, the baseline of bench/cuda/cuda_bench.cpp: the same networks and the same imposed numbers of tokens.

--models: models of transformers in place of plain ViTs, beside cuda_net_bench, which runs what --models --export FOLDER writes:
the same weights. Writes a JSON object per line to stdout, times in ms. --rehearse runs tiny networks once on the CPU, to test the script.
"""
import argparse
import contextlib
import functools
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

PATCH, CLASSES = 16, 150


class Scale:
    """Sizes, as in cuda_bench.cpp."""

    def __init__(self, side, counts, pairing_dim, repeats, sizes, device):
        self.side, self.counts, self.pairing_dim, self.repeats = side, counts, pairing_dim, repeats
        self.sizes, self.device = sizes, device
        self.grid = side // PATCH
        self.patches = self.grid**2


# Of bench/models/export_transformers.py, with the tokens that MPM(2,5) leaves. The first are measured first.
MODELS = {"dinov3_b": (770, 591), "depth_anything_b": (1029, 790), "eomt_dinov3": (1203, 923), "depth_anything": (1029, 790)}

REAL = Scale(512, (740, 540), 768, 9,
             {"T": (192, 3, 12), "S": (384, 6, 12), "B": (768, 12, 12), "L": (1024, 16, 24)}, "cuda")
REHEARSAL = Scale(64, (12, 9), 64, 1, {name: (64, 1, 6) for name in "TSBL"}, "cpu")


def best_neighbours(tokens):
    """Index of the most similar other row of every row; the N x N matrix is stored, as eager PyTorch does it."""
    unit = F.normalize(tokens.float(), dim=-1)
    similarity = unit @ unit.transpose(1, 2)
    similarity.diagonal(dim1=1, dim2=2).fill_(float("-inf"))
    return similarity.argmax(dim=-1)


def merge_pairs(tokens, best):
    """Tokens {B, N, d} with mutual pairs averaged, padded to the largest count, and the merge map {B, N}."""
    batch, count, dim = tokens.shape
    index = torch.arange(count, device=tokens.device).expand(batch, count)
    mutual = (best.gather(1, best) == index) & (best != index)
    leads = ~(mutual & (best < index))
    scan = leads.long().cumsum(1) - 1
    cluster = torch.where(leads, scan, scan.gather(1, best))
    kept = int(leads.sum(1).max())
    merged = torch.zeros(batch, kept, dim, device=tokens.device, dtype=tokens.dtype)
    merged.scatter_add_(1, cluster.unsqueeze(-1).expand(-1, -1, dim), tokens)
    sizes = torch.zeros(batch, kept, device=tokens.device, dtype=tokens.dtype)
    sizes.scatter_add_(1, cluster, torch.ones_like(cluster, dtype=tokens.dtype))
    return merged / sizes.clamp(min=1).unsqueeze(-1), cluster


@functools.cache
def imposed_best(batch, count, kept, device):
    """Pairs that leave `kept` of `count` tokens. Random weights would leave another number."""
    index = torch.arange(count, device=device)
    best = torch.where(index < 2 * (count - kept), index ^ 1, torch.zeros_like(index))
    return best.expand(batch, count).contiguous()


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        batch, count, dim = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, count, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, count, dim))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Vit(nn.Module):
    def __init__(self, scale, size, merging):
        super().__init__()
        dim, heads, depth = scale.sizes[size]
        self.scale = scale
        self.merging = merging
        self.embed = nn.Conv2d(3, dim, PATCH, PATCH)
        self.special = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.randn(1, scale.patches + 1, dim))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(dim, eps=1e-6), nn.Linear(dim, CLASSES)

    def forward(self, image):
        x = self.embed(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.special.expand(len(x), -1, -1), x], dim=1) + self.position
        cluster = None
        for i, block in enumerate(self.blocks):
            if self.merging and i in (2, 5):
                tokens = x[:, 1:]
                best_neighbours(tokens)
                best = imposed_best(len(x), tokens.shape[1], self.scale.counts[i == 5], x.device)
                tokens, step = merge_pairs(tokens, best)
                cluster = step if cluster is None else step.gather(1, cluster)
                x = torch.cat([x[:, :1], tokens], dim=1)
            x = block(x)
        x = self.norm(x)[:, 1:]
        if cluster is not None:
            x = x.gather(1, cluster.unsqueeze(-1).expand(-1, -1, x.shape[-1]))
        scores = self.head(x).transpose(1, 2).unflatten(2, (self.scale.grid, self.scale.grid))
        return F.interpolate(scores.float(), size=(self.scale.side, self.scale.side), mode="bilinear").argmax(1).to(torch.uint8)


def milliseconds(scale, work):
    """Median over repeats of the mean of a few calls in a row; the same procedure as cuda_bench's."""
    def run(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        if scale.device == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e3 / calls

    if scale.repeats == 1:
        return run(1)
    run(3)
    calls = max(1, min(100, int(20 / run(2))))
    return statistics.median(run(calls) for _ in range(scale.repeats))


def show(**row):
    print(json.dumps(row), flush=True)


ATTENTION = {"default": None, "cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
MODES = {"reduce-overhead": "reduce-overhead", "max-autotune": "max-autotune", "compiled": None}


def first_line(error):
    return (str(error).strip() or repr(error)).splitlines()[0][:200]


class Ways:
    """ms of one network by each way that PyTorch has: its attention, then with the fastest of them each mode of compiling.

    A way that fails, or for which no time is left, has a text in place of a number. The row is shown again after each way, because
    compiling may take longer than this script has.
    """

    def __init__(self, scale, net, image, time_left, **row):
        self.scale, self.net, self.image, self.time_left = scale, net, image, time_left
        self.row = row | {"ways": {}}
        self.attention = "default"

    @torch.inference_mode()
    def measure(self, name, attention, net):
        ways = self.row["ways"]
        ways[name] = "no time left"
        if self.time_left():
            try:
                with contextlib.nullcontext() if ATTENTION[attention] is None else sdpa_kernel(ATTENTION[attention]):
                    ways[name] = milliseconds(self.scale, lambda: net(self.image))
            except Exception as error:  # a backend that this device lacks, or no host compiler
                ways[name] = first_line(error)
        measured = {way: ms for way, ms in ways.items() if isinstance(ms, float)}
        if measured:
            best = min(measured, key=measured.get)
            self.row |= {"best": best, "best_ms": measured[best]}
        show(**self.row)
        return ways[name]

    def eager(self):
        choices = list(ATTENTION) if self.scale.device == "cuda" else ["default"]
        times = {attention: self.measure(f"eager, {attention} attention", attention, self.net) for attention in choices}
        times = {attention: ms for attention, ms in times.items() if isinstance(ms, float)}
        self.attention = min(times, key=times.get, default="default")

    def compiled(self, mode):
        torch.compiler.reset()
        compiled = torch.compile(self.net, dynamic=False, mode=MODES[mode])
        self.measure(f"{mode}, {self.attention} attention", self.attention, compiled)


def models_of_transformers(scale, export, time_left):
    """Whether all of them were made."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
    import export_transformers

    models, failed = [], False
    for name, imposed in MODELS.items():
        side = None
        if scale is REHEARSAL:
            imposed, side = scale.counts, scale.grid * (14 if name.startswith("depth") else PATCH)
        try:  # an older transformers may lack a model
            if export:
                export_transformers.export(export / f"{name}.onnx", name, imposed, side, is_spread=True)
                continue
            net, _, side = export_transformers.network(name, imposed, side, is_spread=True)
        except Exception as error:
            print(f"{name}: {first_line(error)}", file=sys.stderr)
            failed = True
            continue
        image = torch.rand(1, 3, side, side, device=scale.device, dtype=torch.bfloat16)
        models.append(Ways(scale, net.to(scale.device, torch.bfloat16), image, time_left, what="torch_net", model=name, precision="bf16"))
        models[-1].eager()
        models[-1].compiled("reduce-overhead")
    for mode in ("max-autotune", "compiled"):
        for model in models:
            model.compiled(mode)
    return not failed


@torch.inference_mode()
def plain_vits(scale, time_left):
    device = scale.device
    tokens = torch.rand(32, scale.patches, scale.pairing_dim, device=device) * 2 - 1
    narrow = tokens.bfloat16()
    show(what="torch_mpm_call", eager_fp32_ms=milliseconds(scale, lambda: merge_pairs(tokens, best_neighbours(tokens))),
         eager_bf16_ms=milliseconds(scale, lambda: merge_pairs(narrow, best_neighbours(narrow))),
         bmm_bf16_ms=milliseconds(scale, lambda: narrow @ narrow.transpose(1, 2)))
    del tokens, narrow

    # Those of the targets first.
    runs = [(size, batch, torch.bfloat16, "bf16")
            for size, batch in (("B", 32), ("L", 32), ("B", 1), ("S", 1), ("T", 1), ("S", 32), ("T", 32), ("L", 1))]
    runs.append(("B", 32, torch.float32, "fp32"))
    for size, batch, dtype, name in runs:
        if not time_left():
            show(what="torch_left_out", size=size, batch=batch, precision=name)
            continue
        image = torch.rand(batch, 3, scale.side, scale.side, device=device, dtype=dtype)
        full = Vit(scale, size, False).to(device, dtype).eval()
        merged = Vit(scale, size, True).to(device, dtype).eval()
        ways = Ways(scale, full, image, time_left, what="torch_vit", size=size, batch=batch, precision=name,
                    mpm_ms=milliseconds(scale, lambda: merged(image)))
        ways.eager()
        for mode in MODES if dtype == torch.bfloat16 else ():
            ways.compiled(mode)
        del full, merged, ways
        if device == "cuda":
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=200, help="start no further network after this time")
    parser.add_argument("--rehearse", action="store_true", help="tiny networks on the CPU, each once")
    parser.add_argument("--models", action="store_true", help="models of transformers in place of plain ViTs")
    parser.add_argument("--export", type=pathlib.Path, metavar="FOLDER", help="of --models: write them as ONNX, run nothing")
    arguments = parser.parse_args()
    scale = REHEARSAL if arguments.rehearse else REAL
    begin = time.monotonic()

    def time_left():
        return time.monotonic() - begin < arguments.seconds

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if not arguments.export:
        show(what="torch", version=torch.__version__,
             name=torch.cuda.get_device_name() if scale.device == "cuda" else "rehearsal on the CPU")
    if arguments.models:
        sys.exit(0 if models_of_transformers(scale, arguments.export, time_left) else 1)
    else:
        plain_vits(scale, time_left)


if __name__ == "__main__":
    main()
