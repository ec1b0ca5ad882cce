#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins pictures side by side, 200 px high: sheet.py OUT.jpg PICTURE..."""
import sys

import cv2


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tiles = []
    for name in sys.argv[2:]:
        picture = cv2.imread(name)
        if picture is None:
            sys.exit(f"sheet.py: there is no picture '{name}'")
        tiles.append(cv2.resize(picture, (round(picture.shape[1] * 200 / picture.shape[0]), 200), interpolation=cv2.INTER_AREA))
    cv2.imwrite(sys.argv[1], cv2.hconcat(tiles), [cv2.IMWRITE_JPEG_QUALITY, 85])


if __name__ == "__main__":
    main()
