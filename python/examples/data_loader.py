# SPDX-License-Identifier: Apache-2.0
"""Labels images in the workers of a PyTorch data loader: data_loader.py MODEL.onnx IMAGES

Each worker loads the model once, when it gets its first image. Needs torch and opencv-python.
"""
import pathlib
import sys

import cv2
import torch
from torch.utils.data import DataLoader, Dataset

import mpm


class LabelledImages(Dataset):
    def __init__(self, model, paths):
        self.model, self.paths, self.estimator = model, paths, None

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if self.estimator is None:
            self.estimator = mpm.Estimator(self.model, threads=1)
        image = cv2.resize(cv2.imread(str(self.paths[index])), (640, 448))
        return torch.from_numpy(image), torch.from_numpy(self.estimator.estimate(image).labels)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: data_loader.py MODEL.onnx IMAGES", file=sys.stderr)
        sys.exit(2)
    dataset = LabelledImages(sys.argv[1], sorted(pathlib.Path(sys.argv[2]).iterdir()))
    for images, labels in DataLoader(dataset, batch_size=2, num_workers=2):
        print(tuple(images.shape), tuple(labels.shape), labels.unique().tolist())
