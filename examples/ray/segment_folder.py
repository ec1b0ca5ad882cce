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
        row = {"path": path, "tokens": np.array(result.tokens), "areas": areas, "ms": result.ms["total"]}
        if self.arguments.labels:
            row["confusion"] = self.confusion(name, result.labels)
        return row

    def confusion(self, name, predicted):
        path = os.path.join(self.arguments.labels, f"{name}.png")
        truth = cv2.imread(path, cv2.IMREAD_UNCHANGED)
        if truth is None:
            raise OSError(f"cannot read the label map '{path}'")
        return mpm.evaluate([predicted], [truth], classes=self.classes, ignore=self.arguments.ignore).confusion.ravel()


def evaluation(rows, classes):
    confusion = sum(np.asarray(row["confusion"]) for row in rows).reshape(len(classes), len(classes))
    right = np.diag(confusion)
    united = confusion.sum(0) + confusion.sum(1) - right
    iou = [float(100 * r / u) if u else None for r, u in zip(right, united)]
    return {"images": len(rows), "miou": float(np.mean([value for value in iou if value is not None])),
            "pixel_accuracy": float(100 * right.sum() / confusion.sum()), "iou": dict(zip(classes, iou)),
            "confusion": confusion.tolist()}


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
    (rows.drop_columns(["confusion"]) if arguments.labels else rows).write_parquet(table)
    print(f"{rows.count()} label maps and images.parquet in {arguments.output}")
    if arguments.labels:
        result = evaluation(rows.take_all(), mpm.info(arguments.model)["class_names"])
        pathlib.Path(arguments.output, "evaluation.json").write_text(json.dumps(result))
        print(f"mIoU {result['miou']:.3f}, pixel accuracy {result['pixel_accuracy']:.3f}")


if __name__ == "__main__":
    main()
