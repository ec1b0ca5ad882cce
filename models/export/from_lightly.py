#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""EoMT on DINOv3 for semantic segmentation, of LightlyTrain -> ONNX, by the library's own code."""

import sys

import recipe
import sidecar
from tensors import ExportError

EXAMPLE = """\
CHECKPOINT is a .pt file: exported_best.pt of your own training, or one of the published models, which
`lightly_train.load_model("dinov3/vitt16-eomt-coco")` downloads. Needs lightly-train, which is AGPL-3.0 or commercial:
https://github.com/lightly-ai/lightly-train

  python3 models/export/from_lightly.py out/exported_models/exported_best.pt -o eomt_t16.onnx
  build/bin/mpm run street.png --model eomt_t16.onnx --out pictures
"""


def network(torch, model):
    """The masks of the queries and their class scores: LightlyTrain's own export gives labels of one size alone."""

    class Queries(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, image):
            masks, classes = self.model.forward_train(image, return_logits_per_layer=False)
            return masks[-1], classes[-1]

    return Queries().eval()


def main(arguments=None):
    options = recipe.parser(__doc__, ("CHECKPOINT", "exported_best.pt, or a published model"), EXAMPLE).parse_args(arguments)
    torch = recipe.import_torch()
    try:
        from lightly_train._task_models import task_model_helpers
    except ImportError:
        raise ExportError("LightlyTrain is not installed: pip install lightly-train") from None
    checkpoint = recipe.load(options.checkpoint)
    with recipe.naming_the_file(options.checkpoint):
        if not isinstance(checkpoint, dict) or "model_class_path" not in checkpoint:
            raise ExportError("no model of LightlyTrain: it names no class of a model")
        if "dinov3_eomt_semantic_segmentation" not in checkpoint["model_class_path"]:
            raise ExportError(f"a model of {checkpoint['model_class_path']}, expected EoMT on DINOv3 for semantic segmentation")
        model = task_model_helpers.init_model_from_checkpoint(checkpoint, device="cpu").eval().float()
    size = tuple(model.image_size)
    if options.input_size and options.input_size != size:
        raise ExportError(f"--input-size: this model has the size that it was trained with, {size[0]}x{size[1]}")
    classes = (sidecar.read_classes(options.classes) if options.classes
               else sidecar.class_list(list(model.classes.values()), options.checkpoint))
    normalisation = model.image_normalize["mean"], model.image_normalize["std"]
    recipe.write_files(options.out, network(torch, model), size, ("masks_queries_logits", "class_queries_logits"),
                       sidecar.document(options.out.stem, size, normalisation, classes, len(model.classes), task="semantic"))
    print(f"{options.out}: {model.model_name}, {size[0]}x{size[1]}, semantic")


if __name__ == "__main__":
    sys.exit(recipe.run(main))
