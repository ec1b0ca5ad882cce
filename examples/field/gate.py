# SPDX-License-Identifier: Apache-2.0
"""A gate between a track and a meadow: opened a few times a day, now and then left open over night; cows, snow, rain, and a lamp at night."""
import functools
import math

import cv2
import numpy as np

from light import DAY, Light, fractal, hazy, lit, mixed, photograph, rained, random_of, sun_at, wander

HEIGHT, WIDTH = 480, 720
LATITUDE = 50
HORIZON, FOOT = 168, 318  # rows: of the horizon, and of the ground at the gate
LEFT, RIGHT, TALL = 292, 446, 74  # px: the posts, and the height of the gate
STATES = ["closed", "open"]


@functools.cache
def openings(seed, day):
    """Hours from and to which the gate is open, counted from midnight of a day."""
    random = random_of(seed, day, 91)
    spans = []
    for _ in range(random.integers(1, 5)):
        begin = random.uniform(5.5, 20)
        spans.append((begin, begin + min(6.0, 0.15 + random.exponential(1.6)), random.uniform(48, 104)))
    if random.random() < 0.2:
        spans.append((random.uniform(17, 20), random.uniform(29, 32), random.uniform(48, 104)))  # forgotten
    return spans


def angle(seed, time):
    """Degrees by which the gate is open, 0 where it is closed."""
    day = int(time // DAY)
    for begun in (day - 1, day):
        for begin, end, wide in openings(seed, begun):
            if begun * DAY + begin * 3600 <= time < begun * DAY + end * 3600:
                return wide
    return 0.0


@functools.cache
def surfaces(seed):
    random = random_of(seed, 92)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    grain, coarse = fractal(random, HEIGHT, WIDTH, 150, 3, 1.3), fractal(random, HEIGHT, WIDTH, 8, 6, 2.0)
    woods = HORIZON - 20 + 9 * fractal(random, 8, WIDTH, 14, 5)[3]
    tree = (y < HORIZON + 2) & (y > woods)
    meadow = (y >= HORIZON)
    middle = 368 + 26 * np.sin((y - HORIZON) / 95)
    half = 5 + np.clip(y - HORIZON - 30, 0, None) * 0.36
    track = np.clip((half - np.abs(x - middle) + 5 * coarse) / 8, 0, 1) * (y > HORIZON + 42)
    rut = np.exp(-((np.abs(x - middle) / half - 0.55) / 0.16) ** 2) * track
    top = FOOT - 92 + 10 * coarse + 5 * grain
    hedge = (y > top) & (y < FOOT + 6 + 3 * grain) & ((x < LEFT - 26 + 6 * coarse) | (x > RIGHT + 30 + 6 * coarse))
    return grain, coarse, tree, meadow, track.astype(np.float32), rut.astype(np.float32), hedge


def gate_mask(wide):
    """Share of each pixel that the gate covers, drawn four times as large."""
    large = np.zeros((HEIGHT * 4, WIDTH * 4), np.uint8)
    turn = math.radians(wide)
    length = RIGHT - LEFT - 8
    scale = 1 / (1 + 0.42 * math.sin(turn))
    far_x = LEFT + 6 + length * math.cos(turn) * scale + 14 * math.sin(turn)
    far_foot = HORIZON + (FOOT - HORIZON) * scale
    at = lambda share, up: (int(4 * (LEFT + 6 + share * (far_x - LEFT - 6))),
                            int(4 * (FOOT - 8 - up * (TALL - 8) + share * (far_foot - FOOT + 8 - 8 * scale + up * (TALL - 8) * (1 - scale)))))
    for up in (0.0, 0.2, 0.42, 0.68, 1.0):
        cv2.line(large, at(0, up), at(1, up), 255, 15 if up in (0, 1) else 11, cv2.LINE_AA)
    for share in (0.0, 0.5, 1.0):
        cv2.line(large, at(share, 0), at(share, 1), 255, 17 if share != 0.5 else 11, cv2.LINE_AA)
    cv2.line(large, at(0, 0), at(1, 1), 255, 9, cv2.LINE_AA)
    return cv2.resize(large, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.float32) / 255


def posts():
    mask = np.zeros((HEIGHT, WIDTH), np.float32)
    for at in (LEFT - 6, RIGHT - 6):
        mask[FOOT - TALL - 14:FOOT + 4, at:at + 12] = 1
    return mask


def cows(seed, time):
    """Cattle on the meadow behind the gate: ellipses with legs, small as they are far."""
    mask = np.zeros((HEIGHT, WIDTH), np.float32)
    for cow in range(4):
        near = wander(seed + 10 + cow, time / 2900)
        foot = HORIZON + 12 + 95 * near
        x, size = WIDTH * (wander(seed + 20 + cow, time / 2300) * 1.2 - 0.1), 0.11 * (foot - HORIZON) + 4
        cv2.ellipse(mask, (int(x), int(foot - size * 0.9)), (int(size), int(size * 0.52)), 0, 0, 360, 1, -1, cv2.LINE_AA)
        cv2.circle(mask, (int(x + size * 1.1), int(foot - size * 1.1)), max(1, int(size * 0.3)), 1, -1, cv2.LINE_AA)
        for leg in (-0.7, -0.5, 0.5, 0.7):
            cv2.line(mask, (int(x + leg * size), int(foot - size * 0.6)), (int(x + leg * size), int(foot)), 1, max(1, int(size * 0.16)))
    return mask


def draw(seed, time):
    random = random_of(seed, time, 93)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    grain, coarse, tree, meadow, track, rut, hedge = surfaces(0)
    days, hours = time / DAY, time / 3600
    elevation, azimuth = sun_at(time, LATITUDE)
    cover = float(np.clip(2.2 * wander(seed + 1, hours / 21) - 0.6, 0, 1))
    rain = max(0.0, cover - 0.6) / 0.4 * wander(seed + 2, hours / 4)
    fog = max(0.0, wander(seed + 3, hours / 7) - 0.72) / 0.28 if elevation < 25 else 0.0
    winter = 0.5 + 0.5 * math.cos(2 * math.pi * (days - 20) / 365.25)
    snow = float(np.clip(4 * (wander(seed + 4, days / 5) + winter - 1.55), 0, 1))
    light = Light(elevation, azimuth, cover, 0.5)

    grass = mixed((0.045, 0.17, 0.10), (0.08, 0.17, 0.15), winter) * np.clip(1 + 0.3 * grain + 0.12 * coarse, 0.2, 2)[..., None]
    colour = mixed(np.full((HEIGHT, WIDTH, 3), 0.2, np.float32), grass, meadow.astype(np.float32))
    colour = mixed(colour, np.array((0.20, 0.24, 0.27)) * (1 + 0.15 * grain)[..., None] * (1 - 0.3 * rain), track)
    colour = mixed(colour, (0.16, 0.20, 0.23), 0.6 * rut)
    white = np.array((0.86, 0.84, 0.83))
    colour = mixed(colour, white, snow * np.clip(0.93 - 0.5 * rut + 0.12 * coarse, 0, 1) * meadow)
    green = np.array((0.03, 0.085, 0.045)) * (1 - 0.35 * winter) * np.clip(1 + 0.6 * grain, 0.1, 2.5)[..., None]
    colour = mixed(colour, mixed(green, white, 0.3 * snow * np.clip(grain, 0, 1)), tree.astype(np.float32))
    colour = mixed(colour, (0.09, 0.10, 0.12), cows(seed, time) * (y < FOOT - 24))
    side = math.sin(math.radians(azimuth))  # the camera looks north; the sun lies behind it, at its right in the morning
    reach = 60 / math.tan(math.radians(max(elevation, 4)))
    shade = np.full((HEIGHT, WIDTH), 0.55 + 0.45 * math.sin(math.radians(max(elevation, 0))), np.float32)
    shade *= np.clip(1 + 0.12 * grain, 0.4, 1.3)
    wide = angle(seed, time)
    bars = gate_mask(wide)
    shift = np.float32([[1, 0, -0.5 * side * reach], [0, 1, 10]])
    lower_hedge = cv2.warpAffine(hedge.astype(np.float32), np.float32([[1, 0, 0], [0, 1, 12]]), (WIDTH, HEIGHT))
    shadow = cv2.warpAffine(np.maximum(lower_hedge, bars), shift, (WIDTH, HEIGHT))
    shade *= 1 - 0.75 * cv2.GaussianBlur(shadow, (0, 0), 1.5) * (y > FOOT - 20)
    colour = mixed(colour, mixed(green * 1.1, white, 0.4 * snow * np.clip(grain + 0.3, 0, 1)), hedge.astype(np.float32))
    scene = mixed(lit(colour, light, shade), light.sky(HEIGHT, WIDTH, HORIZON), ((~meadow & ~tree) & ~hedge).astype(np.float32))
    scene = hazy(scene, light, (0.10 * np.clip((FOOT - 70 - y) / 90, 0, 1) * ~hedge).astype(np.float32))
    wood = lit(np.array((0.33, 0.37, 0.39)) * (1 + 0.12 * grain)[..., None] * (1 - 0.35 * rain), light, np.full((HEIGHT, WIDTH), 0.6, np.float32))
    wood = mixed(wood, lit(white, light, shade), 0.35 * snow)
    things = np.maximum(bars, posts())
    scene = mixed(scene, wood, things)
    lamp = None
    if elevation < -5:
        surface = mixed(colour, (0.2, 0.2, 0.2), things).mean(2)
        lamp = 0.05 * surface * np.exp(-((x - 370) / 230) ** 2 - ((y - 330) / 130) ** 2) * np.where(meadow | (things > 0) | hedge, 1, 0)
        lamp = lamp * (1 - 0.5 * fog) + 0.0025 * fog
    scene = hazy(scene, light, (fog * np.clip(0.9 - (y - HORIZON) / 420, 0.25, 0.9)).astype(np.float32))
    scene = rained(scene, random, rain if snow < 0.5 else 0)
    return photograph(scene.astype(np.float32), random, lamp), {"gate": STATES[wide > 0]}, None
