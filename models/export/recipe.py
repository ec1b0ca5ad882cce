# SPDX-License-Identifier: Apache-2.0
"""Shared by the from_*.py scripts: reading checkpoints, options, writing ONNX. Imports PyTorch only when needed."""

import argparse
import contextlib
import json
import logging
import math
import os
import pathlib
import pickle
import re
import sys
import warnings
from dataclasses import replace

import sidecar
import tensors
from tensors import ExportError

LARGEST_ONNX = 2**31 - 2**20  # Protobuf's limit, less the graph


def import_torch():
    try:
        import torch
    except ImportError:
        raise ExportError("PyTorch is not installed: pip install -r models/export/requirements.txt") from None
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 6):
        # Before 2.6, weights_only=True can be bypassed (CVE-2025-32434).
        raise ExportError(f"PyTorch {torch.__version__} is too old to open a checkpoint safely: 2.6 or later is needed")
    return torch


def numbers(text):
    parts = [float(part) for part in text.split(",")]
    if len(parts) != 3:
        raise ValueError
    return tuple(parts)


def size(text):
    height, width = (int(part) for part in text.lower().split("x"))
    if height < 1 or width < 1:
        raise ValueError
    return height, width


def ranges(text):
    """"1,3-5" -> [1, 3, 4, 5]"""
    result = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        result.extend(range(int(first), int(last or first) + 1))
    return result


size.__name__, numbers.__name__, ranges.__name__ = "HxW", "R,G,B", "1,3-5"  # what argparse calls a value that does not fit


def parser(description, checkpoint, example):
    """The options that every script has."""
    result = argparse.ArgumentParser(description=description, epilog=example,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("checkpoint", type=pathlib.Path, metavar=checkpoint[0], help=checkpoint[1])
    result.add_argument("-o", "--out", type=pathlib.Path, required=True, metavar="OUT.onnx",
                        help="the file to write; OUT.json is written beside it")
    result.add_argument("--input-size", type=size, metavar="HxW",
                        help="input of the network in pixels, multiples of the patch; positions are resized as the "
                        "source does. Default: the size that the model was trained with")
    result.add_argument("--classes", type=pathlib.Path, metavar="FILE",
                        help="class names: one per line, JSON, or YAML (README.md)")
    return result


def add_head_options(result):
    result.add_argument("--head", type=pathlib.Path, metavar="FILE",
                        help="a linear head: 'weight' {classes, width} and 'bias' {classes} in .pth or .safetensors, "
                        "under any prefix, also with a batch norm before it. A weight {classes, 2 width} makes a "
                        "classifier over class token and mean patch. Default: the model's own classifier")


def run(script, arguments=None):
    """Calls script(), turns an ExportError into one line and status 1."""
    try:
        script(arguments)
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def naming_the_file(path):
    """Puts the file's name in front of errors."""
    try:
        yield
    except ExportError as error:
        raise ExportError(f"{path}: {error}") from None


def load(path):
    """The contents of a checkpoint as nested dicts and lists with CPU tensors. Runs no code from it."""
    torch = import_torch()
    if not path.is_file():
        raise ExportError(f"{path}: no such file")
    with naming_the_file(path):
        if path.suffix == ".safetensors":
            return read_safetensors(path, torch)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            named = re.search(r"GLOBAL (\S+)", str(error))
            raise ExportError(
                f"not opened: to read it, code that it names would have to run{f' ({named[1]})' if named else ''}. If "
                "you trust where it is from, save its tensors alone: python3 -c \"import torch; c = torch.load("
                "'IN.pth', map_location='cpu', weights_only=False); torch.save(c.get('state_dict', c.get('model', c)), "
                "'OUT.pth')\""
            ) from None
        except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
            reason = str(error).partition("\n")[0][:120] or "it ends too early"
            raise ExportError(f"not a PyTorch checkpoint, or cut short: {reason}") from None


def read_safetensors(path, torch):
    """The format is a length, a JSON header and raw little-endian numbers."""
    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
             "I64": torch.int64}
    content = bytearray(path.read_bytes())
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:start])
        header.pop("__metadata__", None)
        result = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            result[name] = torch.frombuffer(content, dtype=types[entry["dtype"]], offset=start + begin,
                                            count=math.prod(entry["shape"])).reshape(entry["shape"])
            if result[name].nbytes != end - begin:
                raise ValueError(name)
        return result
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ExportError(f"not a safetensors file, or cut short ({error})") from None


def tensors_in(checkpoint, *keys):
    """The tensors of a checkpoint that may keep them under one of `keys`, as float32."""
    torch = import_torch()
    for key in keys:
        if isinstance(checkpoint, dict) and isinstance(checkpoint.get(key), dict):
            checkpoint = checkpoint[key]
            break
    if not isinstance(checkpoint, dict) or not checkpoint or not all(
            isinstance(value, torch.Tensor) for value in checkpoint.values()):
        raise ExportError("it holds no table of tensors" + (f" under '{keys[0]}'" if keys else ""))
    for name, tensor in checkpoint.items():
        if not torch.isfinite(tensor).all():
            raise ExportError(f"tensor '{name}' has a NaN or an infinity")
    return {name: tensor.float() for name, tensor in checkpoint.items()}


def shapes_of(state):
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def convert(state, naming, layout, head=None):
    """Our state dict, to which `head` is added later. Lists the tensors that are left out on stderr."""
    if layout.head == "features" and not head:
        raise ExportError("it has no classifier: give --head")
    torch = import_torch()
    pieces, dropped = tensors.plan(shapes_of(state), naming, layout)
    for name, why in dropped.items():
        print(f"left out: {name} ({why})", file=sys.stderr)
    return tensors.assemble(pieces, state, torch.cat)


def add_head(state, layout, path):
    """`state` and `layout` without a head -> with the head in `path`."""
    with naming_the_file(path):
        tensors_of_head = tensors_in(load(path), "state_dict")
        head = tensors.read_head(shapes_of(tensors_of_head))
        layout = tensors.with_head(layout, head)
        name = "decoder.head" if layout.head == "linear" else "head"
        weight, bias = tensors.head_tensors(head, tensors_of_head)
    return state | {f"{name}.weight": weight, f"{name}.bias": bias}, layout


def write(options, state, layout, normalisation, classes, resize):
    """OUT.json, then OUT.onnx; each appears whole or not at all. `resize`: interpolate()'s arguments for positions."""
    import_torch()
    from network import network, resized_positions

    if options.classes:
        classes = sidecar.read_classes(options.classes)
    if options.input_size:
        if any(side % layout.patch for side in options.input_size):
            raise ExportError(f"--input-size {options.input_size[0]}x{options.input_size[1]}: both must be multiples "
                              f"of the patch, {layout.patch}")
        grid = tuple(side // layout.patch for side in options.input_size)
        if grid != layout.grid:
            state = state | {"encoder.pos_embed": resized_positions(
                state["encoder.pos_embed"], layout.positioned, layout.grid, grid, **resize)}
            layout = replace(layout, grid=grid)
    facts = sidecar.document(options.out.stem, layout.image, normalisation, classes, layout.classes)
    if 4 * sum(tensor.numel() for tensor in state.values()) > LARGEST_ONNX:
        raise ExportError("this model does not fit into one ONNX file, which ends at 2 GB")

    model = network(layout)
    model.load_state_dict(state, strict=True)
    write_files(options.out, model.eval(), layout.image, ["logits"], facts)
    print(f"{options.out}: {layout}")


def write_files(out, model, size, outputs, facts):
    """OUT.json with the text `facts`, then OUT.onnx."""
    torch = import_torch()
    if out.suffix != ".onnx":
        raise ExportError(f"{out}: the name must end in .onnx")
    replace_file(out.with_suffix(".json"), lambda path: path.write_text(facts, encoding="utf-8"))
    replace_file(out, lambda path: export(torch, model, size, outputs, path))


def export(torch, model, size, outputs, path):
    image = torch.zeros(2, 3, *size)  # a batch of one would become part of the graph
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(model, (image,), str(path), input_names=["image"], output_names=list(outputs),
                              dynamic_shapes={"image": {0: torch.export.Dim("batch", min=1)}}, opset_version=18,
                              dynamo=True, external_data=False, verbose=False)
    except ImportError as error:
        raise ExportError(f"{error}: pip install -r models/export/requirements.txt") from None


def replace_file(path, write_to):
    """write_to(a temporary path beside it), then rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_to(temporary)
        temporary.replace(path)
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
