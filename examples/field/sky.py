# SPDX-License-Identifier: Apache-2.0
"""An all-sky camera: the whole sky in a disc, with clouds that drift, the sun, stars, and the glow of a town at night."""
import functools
import math

import cv2
import numpy as np

from light import DAY, Light, fractal, mixed, photograph, random_of, sun_at, wander

SIZE, RADIUS = 480, 228  # px; the picture is a square, and the horizon a circle
MEASURED = 208  # px; below are trees and houses
LATITUDE = 48
CLASSES = {"clear": "#2f6fd0", "cloud": "#e8e8e8"}
TILE = 1024


@functools.cache
def tile(seed, kind):
    """Noise that repeats seamlessly, as ranks from 0 to 1: cloud stands where it is above 1 - cover."""
    wide, cells = ((1, 8), (1, 20), (4, 6))[kind]
    flat = fractal(random_of(seed, kind, 61), TILE, TILE, cells, 6, wide)
    ramp = np.linspace(0, 1, TILE, dtype=np.float32)  # blended with itself moved by half, so that the edges meet
    for axis in (0, 1):
        weight = np.abs(1 - 2 * ramp) if axis else np.abs(1 - 2 * ramp)[:, None]
        flat = (1 - weight) * flat + weight * np.roll(flat, TILE // 2, axis)
        flat /= np.sqrt((1 - weight) ** 2 + weight**2)
    ranks = np.empty(TILE * TILE, np.float32)
    ranks[np.argsort(flat, axis=None)] = np.linspace(0, 1, TILE * TILE, dtype=np.float32)
    return ranks.reshape(TILE, TILE)


def geometry():
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) - (SIZE - 1) / 2
    distance = np.hypot(x, y)
    zenith = np.minimum(distance / RADIUS, 1) * math.radians(88)
    return x, y, distance, zenith


def measured():
    """The round part of the picture that shows nothing but sky."""
    return geometry()[2] <= MEASURED


def masks():
    yield "sky", measured()


def draw(seed, time):
    """Picture, truth and label map of a moment."""
    random = random_of(seed, time, 62)
    x, y, distance, zenith = geometry()
    hours = time / 3600
    wet = np.clip(1.9 * wander(seed + 1, hours / 31) - 0.45, 0, 1)  # fair and cloudy days
    cover = float(np.clip(wet + 0.45 * (wander(seed + 2, hours / 4.5) - 0.5) * (1 - abs(2 * wet - 1)), 0, 1))
    cover = 0.0 if cover < 0.04 else cover
    elevation, azimuth = sun_at(time, LATITUDE)
    moon = 0.5 - 0.5 * math.cos(2 * math.pi * (time / DAY / 29.53))
    light = Light(elevation, azimuth, 0.0, moon)

    kind = int(wander(seed + 3, hours / 17) * 3) % 3  # flocks, small flocks, streaks
    heading = 2 * math.pi * wander(seed + 4, hours / 60)
    plane = 150 * np.tan(zenith * 0.92)
    gone = 90 * hours
    along, across = math.cos(heading), math.sin(heading)
    at = [(plane * part / np.maximum(distance, 1e-3) + gone * go).astype(np.float32) for part, go in ((x, along), (y, across))]
    if kind == 2:  # streaks lie along the wind
        at = [at[0] * along + at[1] * across, at[1] * along - at[0] * across]
    ranks = cv2.remap(tile(seed, kind), at[0] % TILE, at[1] % TILE, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    ranks = cv2.GaussianBlur(ranks, (0, 0), 0.8)
    soft = (0.10, 0.07, 0.22)[kind] + 0.1 * cover
    thick = np.clip((ranks - (1 - cover) * (1 + soft) + soft / 2) / soft, 0, 4) if cover > 0 else np.zeros_like(ranks)
    share = 1 - np.exp(-1.4 * thick * (0.6 if kind == 2 else 1.3))

    east, north = math.sin(math.radians(azimuth)), math.cos(math.radians(azimuth))
    up = math.sin(math.radians(elevation))
    flat = math.cos(math.radians(elevation))
    toward = np.clip(np.cos(zenith) * up + np.sin(zenith) * flat * (-x * east - y * north) / np.maximum(distance, 1e-3), -1, 1)
    apart = np.degrees(np.arccos(toward))  # degrees between each pixel and the sun

    bright = light.day * (0.5 + 0.5 * np.clip(elevation / 30, 0, 1))
    clear = mixed((0.62, 0.27, 0.10), (0.80, 0.66, 0.52), (zenith / math.radians(88)) ** 2.5) * bright
    if elevation > -8:
        glow = np.exp(-apart / 9)[..., None] * np.array((0.75, 0.85, 1.0)) * max(0.05, math.sin(math.radians(max(elevation, 0)))) ** 0.5
        dusk = np.exp(-apart / 30)[..., None] * np.array((0.12, 0.35, 0.75)) * math.exp(-((elevation / 5) ** 2))
        clear = clear + (glow + dusk) * light.day
    night = 10.0 ** -3.3
    town = np.exp(-((np.arctan2(y, x) - 0.6) / 0.9) ** 2) * np.exp((zenith - 1.5) * 2.2)
    clear = clear + night * (0.25 + 0.9 * moon * 0.6 + town[..., None]) * np.array((0.9, 0.8, 0.75))
    stars = random_of(seed, 63).random((SIZE, SIZE)) > 0.9982
    clear = clear + night * 9 * (cv2.GaussianBlur(stars.astype(np.float32), (0, 0), 0.7) * random_of(seed, 64).random((SIZE, SIZE)))[..., None]

    lining = np.exp(-apart / 22) * np.exp(-0.9 * thick) * 1.2
    shadow = np.exp(-0.35 * thick * (1 + 1.5 * cover))
    white = light.ambient.mean() * 1.15 * (0.45 + 0.75 * shadow[..., None]) * np.array((1.04, 1.0, 0.97)) * (1 - 0.35 * cover)
    white = white + light.sun * (0.55 * shadow + lining)[..., None]
    white = white + night * (0.9 + 1.2 * moon * shadow[..., None] + 4 * town[..., None]) * np.array((0.55, 0.8, 1.15))
    seen = mixed(clear, white, share)
    if elevation > 0:
        seen = seen + (np.exp(-(apart / 1.4) ** 2) * np.exp(-1.6 * thick))[..., None] * 6 * light.sun.max()

    ground = horizon(seed)
    seen = mixed(seen, np.array((0.05, 0.06, 0.05)) * (light.ambient + 0.3 * light.sun.mean()), ground)
    seen = mixed(seen, 0, cv2.GaussianBlur((distance > RADIUS).astype(np.float32), (0, 0), 0.8))
    cloud = share > 0.5
    labels = np.where(measured(), cloud, 255).astype(np.uint8)
    percent = 100 * cloud[measured()].mean()
    return photograph(seen, random), {"cloud": round(float(percent), 1)}, labels


@functools.cache
def horizon(seed):
    """Trees and roofs around: 1 where they hide the sky."""
    x, y, distance, _ = geometry()
    random = random_of(seed, 65)
    turn = (np.arctan2(y, x) / (2 * math.pi) + 0.5) * 720
    heights = 4 + 7 * np.abs(np.interp(np.arange(720), np.arange(0, 721, 6), random.standard_normal(121).cumsum() * 0.25 % 1.3))
    heights[100:150] = 13  # a house
    heights += random.standard_normal(720) * 0.7
    return (distance > RADIUS - np.clip(np.interp(turn, np.arange(720), heights), 1, RADIUS - MEASURED - 2)).astype(np.float32)
