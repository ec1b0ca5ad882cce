#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The objects that `mpm run` writes beside those of RF-DETR's post-processing in transformers, on three pictures.

    python tests/exporters/compare_objects.py --mpm build/bin/mpm

Both get the same pixels: a picture that is resized beforehand, and one at the size of the network input.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np
import onnxruntime
import torch
from transformers.models.rf_detr.image_processing_rf_detr import RfDetrImageProcessor

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SIZES = [(45, 61), (97, 40), (32, 32)]  # height, width


class Outputs:
    def __init__(self, boxes, logits, masks=None):
        self.logits, self.pred_boxes, self.pred_masks = (None if a is None else torch.from_numpy(a) for a in (logits, boxes, masks))


def resized(image):
    """The network input of mpm: cv2's bilinear resize of bytes, then (value / 255 - 0.5) / 0.5, RGB."""
    small = cv2.resize(image, (32, 32), interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(((small[:, :, ::-1].astype(np.float32) / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None])


def of_mpm(command, model, task, picture, folder):
    subprocess.run([command, "run", picture, "--model", model, "--task", task, "--out", folder], check=True, capture_output=True)
    stem = folder / picture.stem
    return (json.loads(stem.with_name(stem.name + "_segments.json").read_text())["segments"],
            cv2.imread(str(stem) + "_segments.png", cv2.IMREAD_UNCHANGED))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", type=pathlib.Path, required=True, help="the command")
    mpm = parser.parse_args().mpm.resolve()
    processor, objects, far = RfDetrImageProcessor(), 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, task in (("hf_rf_detr_dynamo18", "boxes"), ("hf_rf_detr_seg_dynamo18", "boxes"),
                           ("hf_rf_detr_seg_dynamo18", "instance")):
            model = folder / f"{file}.onnx"
            model.write_bytes((DATA / model.name).read_bytes())
            model.with_suffix(".json").write_text(json.dumps({"task": task}))
            session = onnxruntime.InferenceSession(model)
            for seed, size in enumerate(SIZES):
                image = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
                picture = folder / f"{seed}.png"
                cv2.imwrite(str(picture), image)
                found = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"image": resized(image)})))
                outputs = Outputs(found.get("dets", found.get("boxes")), found.get("labels", found.get("logits")), found.get("masks"))
                own, ids = of_mpm(mpm, model, task, picture, folder)
                boxes = processor.post_process_object_detection(outputs, 0.5, [size])[0]
                if task == "instance":
                    wanted = processor.post_process_instance_segmentation(outputs, 0.5, target_sizes=[size])[0]
                    pairs = [(one["label_id"], one["score"]) for one in wanted["segments_info"]]
                    differing = int((np.maximum(wanted["segmentation"].numpy(), 0) != ids).sum())
                    assert differing == 0, f"{file}, {size}: {differing} pixels of masks differ"
                else:
                    pairs = [(int(c), float(s)) for c, s in zip(boxes["labels"], boxes["scores"])]
                    for one, box in zip(own, boxes["boxes"].numpy(), strict=True):
                        far = max(far, float(np.abs(np.array(one["box"]) - box).max()))
                assert [one["class"] for one in own] == [f"class_{label}" for label, _ in pairs], f"{file}, {size}: {own} {pairs}"
                assert np.allclose([one["score"] for one in own], [score for _, score in pairs], atol=1e-5)
                objects += len(own)
    assert far < 1e-3, f"boxes differ by {far} px"
    print(f"{objects} objects, equal to transformers'; boxes to {far:.1g} px")


if __name__ == "__main__":
    main()
