# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of a world and the files that describe its regions."""
import datetime
import json

import cv2
import numpy as np


def draw(size, scene, picture, mirrored=False):
    """One picture, 8-bit BGR. All pictures of a scene show the same texture in another light, so the view never moves."""
    width, height = size
    random_ = np.random.default_rng(picture["seed"])
    if picture["kind"] == "dark":
        image = np.full((height, width, 3), random_.integers(0, 12), np.float64)
    elif picture["kind"] == "white":
        image = np.full((height, width, 3), random_.integers(252, 256), np.float64)
    elif picture["kind"] == "flat":
        image = np.full((height, width, 3), random_.integers(90, 160), np.float64)
    else:
        # Cells of 4 px: far more contrast than the limit of a fogged picture, in a dim one, too.
        texture = np.random.default_rng(scene).uniform(20, 235, (height // 4, width // 4, 1)) * np.random.default_rng(scene + 1).uniform(0.6, 1, (height // 4, width // 4, 3))
        image = cv2.resize(texture, (width, height), interpolation=cv2.INTER_LINEAR)
        for _ in range(2):  # things that come and go
            x, y = random_.integers(0, width - 8), random_.integers(0, height - 8)
            image[y:y + height // 4, x:x + width // 5] = random_.uniform(20, 235, 3)
        image *= random_.uniform(0.9, 1.1, 3)
        image *= picture["level"] / (image @ [0.114, 0.587, 0.299]).mean()
        image += random_.normal(0, 2, image.shape)
        if "moved" in picture:
            small = np.random.default_rng(picture["moved"])
            x, y = small.integers(0, width - width // 6), small.integers(0, height - height // 6)
            image[y:y + height // 6, x:x + width // 6] = small.uniform(60, 180, 3)
    if mirrored:
        image = image[:, ::-1]
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def mask_of(size, region):
    """The pixels of a region, without regard to its dates."""
    width, height = size
    x0, y0, x1, y1 = region["rectangle"]
    mask = np.zeros((height, width), bool)
    mask[y0:y1 + 1, x0:x1 + 1] = True
    return mask


def iso(ms):
    """2026-03-01T10:00:00.000Z"""
    moment = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def write_regions(path, size, regions):
    """Writes a file of docs/regions.md, and the masks that it names beside it."""
    elements = []
    for index, region in enumerate(regions):
        element = {"name": region["name"]}
        mask = mask_of(size, region)
        if region["form"] == "polygon":
            x0, y0, x1, y1 = region["rectangle"]
            element.update(width=size[0], height=size[1], polygons=[[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]])
        elif region["form"] == "mask":
            element["mask"] = f"{path.stem}_{index}.png"
            cv2.imwrite(str(path.parent / element["mask"]), mask.astype(np.uint8) * 255)
        else:
            # Run lengths: outside and inside in turns, row by row.
            flat = mask.ravel()
            ends = np.flatnonzero(np.diff(flat.astype(np.int8))) + 1
            runs = np.diff([0, *ends, flat.size]).tolist()
            element.update(width=size[0], height=size[1], mask=[0, *runs] if flat[0] else runs)
        for key in "from", "to":
            if key in region:
                element[key] = iso(region[key])
        if region.get("ignore"):
            element["ignore"] = True
        elements.append(element)
    path.write_text(json.dumps({"regions": elements}))
