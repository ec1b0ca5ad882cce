#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders a year of the built-in scene as an archive of a camera: JPEG files with the time in their EXIF data and name.

    make_archive.py FOLDER [--scene OPTIONS] [--start TIME] [--days N] [--every HOURS] [--names FORMAT] [--offset HOURS]
                    [--no-exif] [--mpm PROGRAM]

FORMAT is that of strftime and may have folders: "%Y/%m/street_%Y_%m_%d_%H%M%S.jpg" are the names of PhenoCam. Names and
EXIF have the time of the camera's clock, --offset hours ahead of UTC. A year takes some minutes.
"""
import argparse
import datetime
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile


def exif_segment(time):
    """APP1 with DateTimeOriginal and OffsetTimeOriginal of an aware datetime."""
    offset = time.strftime("%z")
    texts = [(0x9003, time.strftime("%Y:%m:%d %H:%M:%S")), (0x9011, f"{offset[:3]}:{offset[3:]}")]
    first_text = 26 + 2 + 12 * len(texts) + 4  # behind both directories
    entries, bytes_of_texts = b"", b""
    for tag, text in texts:
        text = text.encode() + b"\0"
        entries += struct.pack("<HHII", tag, 2, len(text), first_text + len(bytes_of_texts))  # 2: ASCII
        bytes_of_texts += text
    tiff = b"II*\0" + struct.pack("<I", 8)
    tiff += struct.pack("<HHHIII", 1, 0x8769, 4, 1, 26, 0)  # one entry: where the EXIF directory is
    tiff += struct.pack("<H", len(texts)) + entries + struct.pack("<I", 0) + bytes_of_texts
    return struct.pack(">HH", 0xFFE1, 8 + len(tiff)) + b"Exif\0\0" + tiff


def main():
    parser = argparse.ArgumentParser(description="Renders a year of the built-in scene as an archive of a camera.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scene", default="seed=7&weather=auto", help="options of demo:street (docs/scene.md)")
    parser.add_argument("--start", default="2025-01-01T00:00", help="first picture, on the camera's clock")
    parser.add_argument("--days", type=float, default=365)
    parser.add_argument("--every", type=float, default=6, metavar="HOURS")
    parser.add_argument("--names", default="%Y-%m-%d_%H-%M-%S.jpg", metavar="FORMAT")
    parser.add_argument("--offset", type=float, default=0, metavar="HOURS", help="of the camera's clock, ahead of UTC")
    parser.add_argument("--no-exif", action="store_true")
    parser.add_argument("--mpm", default="mpm", help="the program")
    options = parser.parse_args()

    zone = datetime.timezone(datetime.timedelta(hours=options.offset))
    start = datetime.datetime.fromisoformat(options.start).replace(tzinfo=zone).astimezone(datetime.timezone.utc)
    frames = max(1, round(options.days * 24 / options.every))
    place = "" if "longitude=" in options.scene else f"&longitude={15 * options.offset:g}"  # noon is at 12 o'clock
    source = (f"demo:street?{options.scene}{place}&start={start:%Y-%m-%dT%H:%M:%S}&step={options.every * 3600:g}"
              f"&frames={frames}")
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as rendered:
        command = [options.mpm, "run", source, "--out", rendered, "--only", "picture", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            for done, line in enumerate(program.stdout, 1):
                frame = json.loads(line)
                time = datetime.datetime.fromisoformat(frame["time"].replace("Z", "+00:00")).astimezone(zone)
                picture = pathlib.Path(rendered) / frame["outputs"][0]
                jpeg = picture.read_bytes()
                picture.unlink()
                target = options.folder / time.strftime(options.names)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(jpeg if options.no_exif else jpeg[:2] + exif_segment(time) + jpeg[2:])
                if sys.stderr.isatty():
                    print(f"\r{done} of {frames} pictures", end="\n" if done == frames else "", file=sys.stderr)
    if program.returncode != 0:
        sys.exit(program.returncode)
    print(f"{frames} pictures in {options.folder}{os.sep}")


if __name__ == "__main__":
    main()
