#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DINOv3, EoMT, Depth Anything and RF-DETR of Hugging Face transformers -> ONNX, by the library's own code."""

import sys

import recipe
import sidecar
from tensors import ExportError

EXAMPLE = """\
FOLDER holds config.json, preprocessor_config.json and model.safetensors of a model page. Needs transformers.

https://huggingface.co/tue-mps/coco_panoptic_eomt_small_640_2x:
  python3 models/export/from_transformers.py coco_panoptic_eomt_small_640_2x -o eomt_s.onnx
  build/bin/mpm run street.png --model eomt_s.onnx --out pictures

https://huggingface.co/depth-anything/Depth-Anything-V2-Small-hf, for images twice as wide as high:
  python3 models/export/from_transformers.py Depth-Anything-V2-Small-hf --input-size 392x784 -o depth_s.onnx
"""

COCO_PANOPTIC_CLASSES, COCO_THINGS = 133, 80  # things first


def dinov3(transformers, config, folder):
    return transformers.DINOv3ViTModel, ("last_hidden_state",), {}


def eomt(transformers, config, folder):
    task = next((task for task in ("panoptic", "instance", "semantic") if task in folder.resolve().name), "semantic")
    kind = "EomtDinov3" if config["model_type"] == "eomt_dinov3" else "Eomt"
    return getattr(transformers, kind + "ForUniversalSegmentation"), ("masks_queries_logits", "class_queries_logits"), {"task": task}


def depth_anything(transformers, config, folder):
    metric = config.get("depth_estimation_type", "relative") == "metric"
    return transformers.DepthAnythingForDepthEstimation, ("predicted_depth",), {
        "task": "depth", "depth": "metre" if metric else "inverse"}


def rf_detr(transformers, config, folder):
    masks = any("InstanceSegmentation" in name for name in config.get("architectures") or ())
    kind = transformers.RfDetrForInstanceSegmentation if masks else transformers.RfDetrForObjectDetection
    return kind, ("pred_boxes", "logits", "pred_masks")[:3 if masks else 2], {"task": "instance" if masks else "boxes"}


KINDS = {"dinov3_vit": dinov3, "eomt": eomt, "eomt_dinov3": eomt, "depth_anything": depth_anything, "rf_detr": rf_detr}


def class_names(config):
    """id2label of config.json, without the names that transformers makes up."""
    names = config.get("id2label") or {}
    return {} if all(str(name).startswith("LABEL_") for name in names.values()) else names


def mark_stuff(classes, stuff):
    for index in stuff:
        if index >= len(classes):
            raise ExportError(f"--stuff {index}: there are {len(classes)} classes")
        classes[index]["thing"] = False


def trained_size(preprocessor):
    """The size {height, width} to which the preprocessor brings pictures; None where that depends on the picture."""
    size = preprocessor.get("size") or {}
    return (size["height"], size["width"]) if {"height", "width"} <= set(size) else None


def network(torch, model, fields):
    """The model with an image as its input and these fields as its outputs."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, image):
            result = self.model(pixel_values=image)
            return tuple(getattr(result, field) for field in fields)

    return Network().eval()


def attend_everywhere(model):
    """Zeros in place of a buffer of EoMT, which the graph would depend on: no mask in attention."""
    del model.attn_mask_probs
    model.attn_mask_probs = (0.0,) * model.config.num_blocks


def load(torch, transformers, kind, folder, random):
    try:
        if not random:
            return kind.from_pretrained(folder, local_files_only=True, dtype=torch.float32)
        print("random weights: the file shows that the model converts, and nothing else", file=sys.stderr)
        torch.manual_seed(0)
        return kind(transformers.AutoConfig.from_pretrained(folder, local_files_only=True))
    except (ImportError, OSError, ValueError) as error:  # EoMT needs scipy, for its loss
        raise ExportError(f"{folder}: {' '.join(str(error).split())[:300]}") from None


def main(arguments=None):
    options = recipe.parser(__doc__, ("FOLDER", "of one model"), EXAMPLE)
    options.add_argument("--task", choices=["semantic", "panoptic", "instance"],
                         help="of EoMT. Default: the one in the name of the folder, else semantic")
    options.add_argument("--stuff", type=recipe.ranges, metavar="80-132", default=None,
                         help="classes that are no single objects, by their indices. Default: 80-132 of 133 classes of the "
                         "task panoptic, which are COCO's; else none")
    options.add_argument("--random", action="store_true",
                         help="random weights instead of model.safetensors, to try the export with config.json alone")
    options = options.parse_args(arguments)

    torch = recipe.import_torch()
    try:
        import transformers
    except ImportError:
        raise ExportError("transformers is not installed: pip install transformers") from None
    transformers.utils.logging.disable_progress_bar()
    folder = options.checkpoint
    config, preprocessor = (sidecar.read_json(folder / name) for name in ("config.json", "preprocessor_config.json"))
    kind = KINDS.get(config.get("model_type"))
    if not kind:
        raise ExportError(f"{folder / 'config.json'}: a model of type '{config.get('model_type')}'; known are "
                          f"{', '.join(KINDS)}")
    kind, fields, facts = kind(transformers, config, folder)
    if options.task:
        if config["model_type"] not in ("eomt", "eomt_dinov3"):
            raise ExportError("--task is for EoMT")
        facts["task"] = options.task
    model = load(torch, transformers, kind, folder, options.random)
    settings = model.config
    has_queries = settings.model_type in ("eomt", "eomt_dinov3")
    if has_queries:
        attend_everywhere(model)
    backbone = getattr(settings, "backbone_config", None) or settings
    finds_objects = settings.model_type == "rf_detr"
    step = backbone.patch_size * (backbone.num_windows if finds_objects else 1)
    size = options.input_size or (trained_size(preprocessor) if finds_objects else None) or (backbone.image_size,) * 2
    if any(side % step for side in size):
        raise ExportError(f"--input-size {size[0]}x{size[1]}: both must be multiples of " +
                          (f"a patch in each window, {step}" if finds_objects else f"the patch, {step}"))
    if has_queries and options.input_size:
        raise ExportError("--input-size: EoMT has the size that it was trained with, "
                          f"{backbone.image_size}x{backbone.image_size}")
    count = settings.num_labels if facts.get("task") not in (None, "depth") else 0
    if options.classes:
        classes = sidecar.read_classes(options.classes)
    else:
        classes = sidecar.class_list(class_names(config), folder / "config.json") if count else []
    stuff = options.stuff
    if stuff is None and facts.get("task") == "panoptic" and count == COCO_PANOPTIC_CLASSES:
        stuff = range(COCO_THINGS, COCO_PANOPTIC_CLASSES)
    if stuff and not classes:
        classes = sidecar.class_list([f"class_{index}" for index in range(count)], folder)
    mark_stuff(classes, stuff or ())
    normalisation = preprocessor.get("image_mean"), preprocessor.get("image_std")
    if not all(normalisation):
        raise ExportError(f"{folder / 'preprocessor_config.json'}: no image_mean and image_std")
    recipe.write_files(options.out, network(torch, model, fields), size, fields,
                       sidecar.document(options.out.stem, size, normalisation, classes, count, **facts))
    print(f"{options.out}: {kind.__name__}, {size[0]}x{size[1]}, " + (facts.get("task") or "features"))


if __name__ == "__main__":
    sys.exit(recipe.run(main))
