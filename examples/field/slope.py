# SPDX-License-Identifier: Apache-2.0
"""A mountain side over a winter: forest, meadows and rock, snow that comes down and melts, and clouds that hide it now and then."""
import functools
import math

import cv2
import numpy as np

from light import DAY, Light, fractal, hazy, lit, mixed, photograph, random_of, sun_at, wander

HEIGHT, WIDTH = 448, 640
LATITUDE = 47
CLASSES = {"sky": "#7fb2e5", "ground": "#5d6b3a", "snow": "#f4f6ff"}
BOTTOM, BAND = 1000, 200  # m
BANDS = 6  # up to 2200 m


@functools.cache
def terrain(seed):
    """Of each pixel: elevation in m (NaN in the sky), how it lies to the light (three components), steepness and two kinds of noise."""
    random = random_of(seed, 71)
    x = np.linspace(0, 1, WIDTH, dtype=np.float32)
    ridge = 0.30 - 0.16 * np.exp(-((x - 0.36) / 0.16) ** 2) - 0.11 * np.exp(-((x - 0.78) / 0.12) ** 2)
    ridge = (ridge + 0.022 * fractal(random, 8, WIDTH, 9, 6)[4]) * HEIGHT
    y = np.arange(HEIGHT, dtype=np.float32)[:, None]
    relief = fractal(random, HEIGHT, WIDTH, 6, 7, 1.7)
    fold = -np.abs(fractal(random, HEIGHT, WIDTH, 5, 5, 2.4))  # gullies
    height = BOTTOM - 120 + 1560 * (1 - y / HEIGHT) ** 0.92 + 45 * relief + 55 * fold
    height[y < ridge] = np.nan
    shape = cv2.GaussianBlur(relief + 1.6 * fold, (0, 0), 1.2)
    right, down = cv2.Sobel(shape, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(shape, cv2.CV_32F, 0, 1) / 8
    steep = np.clip(np.hypot(right, down) * 4, 0, 1)
    return height, (right * 6, down * 6), steep, relief, fractal(random, HEIGHT, WIDTH, 120, 3, 0.7)


def masks():
    """The slope in bands of elevation, as an elevation model of the camera's view gives them, named by their lower edge in m."""
    height = terrain(0)[0]
    for number in range(BANDS):
        low = BOTTOM + number * BAND
        with np.errstate(invalid="ignore"):
            yield str(low), (height >= low) & (height < low + BAND)


def snow_line(seed, time):
    """m above the sea: high in autumn, down with each storm, and up again as it melts."""
    day = time / DAY
    winter = math.cos(2 * math.pi * (day - 20) / 365.25)  # most in January
    line = 1750 - 600 * winter
    for storm in range(int(day) - 20, int(day) + 1):
        random = random_of(seed, storm, 72)
        if random.random() < 0.16:
            age = day - storm - random.random()
            if age > 0:
                line -= random.uniform(150, 500) * math.exp(-age / random.uniform(2, 9))
    return float(np.clip(line, BOTTOM, BOTTOM + BANDS * BAND))


def draw(seed, time):
    random = random_of(seed, time, 73)
    height, (right, down), steep, relief, grain = terrain(0)
    sky = np.isnan(height)
    days = time / DAY
    elevation, azimuth = sun_at(time, LATITUDE)
    cover = float(np.clip(2.4 * wander(seed + 1, days * 1.3) - 0.7, 0, 1))
    moon = 0.5 - 0.5 * math.cos(2 * math.pi * (days / 29.53))
    light = Light(elevation, azimuth, cover, moon)
    across = -math.sin(math.radians(azimuth - 180))  # the camera looks south: the sun in the west is on the right
    facing = np.clip(0.62 + across * right + (0.3 + 0.5 * math.sin(math.radians(max(elevation, 0)))) * down, 0, 1.25)

    season = 0.5 - 0.5 * math.cos(2 * math.pi * (days - 20) / 365.25)  # 1 in July
    meadow = mixed((0.10, 0.19, 0.22), (0.06, 0.20, 0.11), np.clip(2 * season - 0.4, 0, 1))
    rock = np.array((0.23, 0.235, 0.245)) * (1 + 0.18 * grain + 0.12 * relief)[..., None]
    wood = np.array((0.028, 0.052, 0.034)) * np.clip(1 + 0.6 * grain, 0.2, 2.4)[..., None]
    at = np.nan_to_num(height, nan=9000)
    ground = mixed(mixed(wood, np.asarray(meadow) * (1 + 0.15 * grain)[..., None], np.clip((at - 1480 + 90 * relief) / 40, 0, 1)),
                   rock, np.clip((at - 1900 + 130 * relief + 500 * (steep - 0.5)) / 120, 0, 1))
    line = snow_line(seed, time)
    depth = (at - line + 26 * grain + 30 * relief - 90 * np.clip(steep - 0.55, 0, 1)) / 35
    cover_of_snow = np.clip(0.5 + depth, 0, 1)
    white = np.array((0.90, 0.88, 0.86)) * (1 + 0.03 * grain)[..., None]
    dusted = mixed(wood, white, np.clip(0.62 + 0.25 * grain, 0, 0.95))  # trees show between the snow
    white = mixed(dusted, white, np.clip((at - 1480 + 90 * relief) / 40, 0, 1))
    open_sky = np.clip(1 + 0.5 * down + 0.15 * right, 0.55, 1.3)[..., None]  # gullies are darker under clouds, too
    scene = lit(mixed(ground, white, cover_of_snow) * open_sky, light, facing)
    scene = hazy(scene, light, 0.04 + 0.06 * cover + 0.08 * np.clip(1 - np.abs(at - 1700) / 900, 0, 1))

    air = light.sky(HEIGHT, WIDTH, int(0.45 * HEIGHT))
    drifting = fractal(random_of(seed, int(time / 1800), 74), HEIGHT, WIDTH, 5, 6, 2.0)
    clouds = np.clip((drifting - 2.2 + 3.6 * cover) / 0.8, 0, 1)
    air = mixed(air, (light.ambient.mean() * 1.7 + 0.55 * light.sun) * np.array((1.02, 1, 0.98)) * (1 - 0.2 * cover), clouds)
    scene = mixed(scene, air, sky.astype(np.float32))
    base = wander(seed + 2, days * 1.7)  # low cloud on some days
    fog = np.zeros((HEIGHT, WIDTH), np.float32)
    if cover > 0.6 and base > 0.55:
        edge = 2500 - 2600 * (base - 0.55)
        fog = np.clip((at - edge + 130 * drifting) / 260, 0, 1) ** 0.7
        scene = hazy(scene, light, 0.97 * fog)
    labels = np.where(sky | (fog > 0.6), 0, np.where(cover_of_snow > 0.5, 2, 1)).astype(np.uint8)
    seen = photograph(scene, random)
    return seen, {"snow_line": round(line)}, labels
