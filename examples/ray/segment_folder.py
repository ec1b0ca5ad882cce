# SPDX-License-Identifier: Apache-2.0
"""Segments a folder of images on a Ray cluster, and evaluates if there are labels.

    segment_folder.py MODEL.onnx IMAGES OUTPUT [--labels DIR] [--ignore N] [--workers N] [--threads N] [--schedule 2,5]

Every worker loads the model once. OUTPUT gets a label map NAME.png for each image, images.parquet (path, tokens, area of
each class, ms), and evaluation.json (mIoU, accuracy, confusion matrix) with --labels. All machines need the model, the
images, OUTPUT and the labels under the same paths. Needs ray[data], opencv-python-headless and mpm-layer.
"""
import argparse
import json
import os
import pathlib
import shutil

import cv2
import numpy as np
import ray

import mpm


class Segment:
    """Runs in a process of its own, on a batch of rows with one path each."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.estimator = mpm.Estimator(arguments.model, schedule=arguments.schedule, threads=arguments.threads)
        self.classes = self.estimator.info["classes"]

    def __call__(self, batch):
        rows = [self.segment(path) for path in batch["path"]]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def segment(self, path):
        image = cv2.imread(path)
        if image is None:
            raise OSError(f"cannot read the image '{path}'")
        result = self.estimator.estimate(image)
        name = pathlib.Path(path).stem
        # A killed worker leaves no half a file, and an image that is done again gives the same bytes.
        target = pathlib.Path(self.arguments.output) / f"{name}.png"
        temporary = target.with_name(f".{name}.{os.getpid()}.png")
        if not cv2.imwrite(str(temporary), result.labels):
            raise OSError(f"cannot write '{temporary}'")
        os.replace(temporary, target)
        areas = np.bincount(result.labels.ravel(), minlength=self.classes) / result.labels.size
        return {"path": path, "tokens": np.array(result.tokens), "areas": areas, "ms": result.ms["total"]}


def label_maps(folder, paths):
    for path in paths:
        labels = cv2.imread(os.path.join(folder, f"{pathlib.Path(path).stem}.png"), cv2.IMREAD_UNCHANGED)
        if labels is None:
            raise OSError(f"cannot read the label map of '{path}' in '{folder}'")
        yield labels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=os.path.abspath)
    parser.add_argument("images", type=os.path.abspath)
    parser.add_argument("output", type=os.path.abspath)
    parser.add_argument("--labels", type=os.path.abspath, help="folder of label maps with the names of the images")
    parser.add_argument("--ignore", type=int, default=255, help="label of pixels that do not count (255)")
    parser.add_argument("--schedule", type=lambda text: tuple(map(int, text.split(","))) if text != "none" else ())
    parser.add_argument("--workers", type=int, default=1, help="processes, on all machines (1)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each (1)")
    arguments = parser.parse_args()

    paths = sorted(str(path) for path in pathlib.Path(arguments.images).iterdir()
                   if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    if not paths:
        parser.error(f"there is no image in '{arguments.images}'")
    if len({pathlib.Path(path).stem for path in paths}) < len(paths):
        parser.error("two images have one name, and their label maps would replace each other")
    os.makedirs(arguments.output, exist_ok=True)
    ray.init(address=os.environ.get("RAY_ADDRESS"), ignore_reinit_error=True)
    # Small blocks: a killed worker repeats few images. Ray starts it again and gives its block to another.
    rows = (ray.data.from_items([{"path": path} for path in paths], override_num_blocks=max(1, len(paths) // 8))
            .map_batches(Segment, fn_constructor_args=(arguments,), batch_size=8, num_cpus=arguments.threads,
                         compute=ray.data.ActorPoolStrategy(size=arguments.workers))
            .sort("path").materialize())
    table = os.path.join(arguments.output, "images.parquet")
    shutil.rmtree(table, ignore_errors=True)  # of an earlier run
    rows.write_parquet(table)
    print(f"{rows.count()} label maps and images.parquet in {arguments.output}")
    if arguments.labels:
        names = mpm.info(arguments.model)["class_names"]
        result = mpm.evaluate(label_maps(arguments.output, paths), label_maps(arguments.labels, paths), classes=len(names),
                              ignore=arguments.ignore)
        iou = {name: None if np.isnan(value) else 100 * value for name, value in zip(names, result.iou)}
        pathlib.Path(arguments.output, "evaluation.json").write_text(json.dumps(
            {"images": result.images, "miou": 100 * result.mean_iou, "pixel_accuracy": 100 * result.pixel_accuracy, "iou": iou,
             "confusion": result.confusion.tolist()}))
        print(f"mIoU {100 * result.mean_iou:.3f}, pixel accuracy {100 * result.pixel_accuracy:.3f}")


if __name__ == "__main__":
    main()
