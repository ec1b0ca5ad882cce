# SPDX-License-Identifier: Apache-2.0
"""A staff gauge on the wall of a bridge: a river that rises after rain and falls again, seen from the other bank, lit by a lamp at night."""
import functools
import math

import cv2
import numpy as np

from light import DAY, Light, fractal, hazy, lit, mixed, photograph, rained, random_of, sun_at, wander

HEIGHT, WIDTH = 720, 1280
LATITUDE = 48
ZERO, METRE = 560, 90  # px: row of the mark 0 m, and a metre
BOARD = (890, 922)  # columns of the board, which reaches from 0 to 2 m
WALL = 690  # its left edge
STATES = ["low", "normal", "high", "flood"]
LIMITS = [0.5, 1.0, 1.5]  # m: where each state but the first begins


@functools.cache
def rain_of(seed, day):
    """Of the rain that begins on a day: m, when on the day, and in how many days the water rises and falls. None: no rain."""
    random = random_of(seed, day, 81)
    if random.random() > 0.22:
        return None
    return random.uniform(0.3, 1.5), random.random(), random.uniform(0.12, 0.5), random.uniform(1.2, 4)


def level(seed, time):
    """m: each rain is a wave that comes within hours and goes within days."""
    day = time / DAY
    total = 0.22 + 0.12 * wander(seed + 1, day / 9)
    for begun in range(int(day) - 16, int(day) + 1):
        rain = rain_of(seed, begun)
        if rain:
            age = day - begun - rain[1]
            if age > 0:
                total += 1.25 * rain[0] * (math.exp(-age / rain[3]) - math.exp(-age / rain[2]))
    return min(total, 1.95)


@functools.cache
def surfaces(seed):
    """Colour of all that is dry, without light, and which part is sky."""
    random = random_of(seed, 82)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    grain, coarse = fractal(random, HEIGHT, WIDTH, 90, 4), fractal(random, HEIGHT, WIDTH, 9, 6)
    crowns = 150 + 34 * fractal(random, 8, WIDTH, 16, 6)[3]
    sky = y < crowns
    colour = np.array((0.045, 0.105, 0.060)) * np.clip(1 + 0.55 * fractal(random, HEIGHT, WIDTH, 36, 5), 0.15, 3)[..., None]  # trees
    meadow = np.array((0.07, 0.20, 0.14)) * (1 + 0.18 * grain)[..., None]
    colour = mixed(colour, meadow, np.clip((y - 335 - 6 * coarse) / 4, 0, 1))
    stones = np.array((0.21, 0.225, 0.235)) * np.clip(1 + 0.3 * coarse, 0.4, 2)[..., None]
    colour = mixed(colour, stones, np.clip((y - 372 - 5 * coarse) / 5, 0, 1))
    wall = np.array((0.30, 0.32, 0.335)) * (1 + 0.09 * coarse + 0.04 * grain)[..., None]
    for row in range(60, HEIGHT, 82):  # joints of the blocks
        wall[row:row + 3] *= 0.6
        for column in range(WALL + (row // 82 % 2) * 70, WIDTH, 140):
            wall[row:row + 82, column:column + 3] *= 0.65
    wall *= (1 - 0.4 * np.clip((y - 420 + 14 * coarse) / 120, 0, 1))[..., None]  # darker where floods were
    on_wall = (x >= WALL) & (y > 88)
    colour[on_wall] = wall[on_wall]
    deck = (y > 60) & (y <= 104) & (x >= WALL - 34)  # the bridge above it
    colour[deck] = (np.array((0.40, 0.41, 0.42)) * (1 + 0.05 * grain)[..., None])[deck]
    colour[(y > 104) & (y < 122) & (x >= WALL)] *= 0.45
    board = np.full((2 * METRE * 8, (BOARD[1] - BOARD[0]) * 8, 3), (0.78, 0.80, 0.80), np.float32)
    for part in range(40):  # black and, in each second metre, red marks of 5 cm
        low = board.shape[0] - part * METRE * 8 // 20
        ink = (0.03, 0.03, 0.03) if part < 20 else (0.05, 0.04, 0.45)
        if part % 2 == 0:
            board[low - METRE * 8 // 20:low, board.shape[1] // 2:] = ink
        if part % 4 == 2:
            cv2.putText(board, str(part // 2), (8, low + 14), cv2.FONT_HERSHEY_DUPLEX, 2.2, ink, 7, cv2.LINE_AA)
    board[:, :6] = board[:, -6:] = (0.2, 0.2, 0.2)
    small = cv2.resize(board, None, fx=1 / 8, fy=1 / 8, interpolation=cv2.INTER_AREA)
    colour[ZERO - 2 * METRE:ZERO, BOARD[0]:BOARD[1]] = small
    return colour.astype(np.float32), sky & ~on_wall & ~deck, on_wall | deck, grain


def draw(seed, time):
    random = random_of(seed, time, 83)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    colour, sky, on_wall, grain = surfaces(0)
    water = level(seed, time)
    hours = time / 3600
    elevation, azimuth = sun_at(time, LATITUDE)
    cover = float(np.clip(2 * wander(seed + 2, hours / 23) - 0.4, 0, 1))
    rain = max(0.0, cover - 0.7) / 0.3 * wander(seed + 3, hours / 5)
    light = Light(elevation, azimuth, cover, 0.3)

    line = np.where(x >= WALL, ZERO - METRE * water, 416 - 22 * water)  # where the water begins
    wet = np.clip(1 - (line - y - 3) / (14 + 26 * wander(seed + 4, hours / 20)), 0, 1) * (x >= WALL) * (y > 200)  # splashed
    colour = colour * (1 - 0.4 * wet)[..., None]
    wall_sun = np.clip(math.cos(math.radians(azimuth - 200)), 0, 1) * (x > WALL + 120 * math.tan(math.radians(np.clip(azimuth - 200, -60, 60))))
    shade = np.where(on_wall, 0.85 * wall_sun, 0.75 * np.clip(1 + 0.3 * grain, 0, 1.3)).astype(np.float32)
    dry = mixed(lit(colour, light, shade), light.sky(HEIGHT, WIDTH, 200), sky.astype(np.float32))
    lamp = None
    if elevation < -5:  # the camera's own lamp
        lamp = np.exp(-((x - 860) / 520) ** 2 - ((y - 440) / 330) ** 2) * 0.05
        lamp = lamp * colour.mean(2) * np.where(on_wall, 1, 0.25) * ~sky

    waves = fractal(random, HEIGHT, WIDTH, 26, 4, 3.0)
    rough = 0.6 + 1.2 * wander(seed + 5, hours / 7) + rain
    below = np.clip(y - line, 0, None)
    mirror_y = np.clip(line - below * 0.9 + waves * rough * (1.5 + below / 14), 0, HEIGHT - 1)
    mirror_x = np.clip(x + waves * rough * (0.5 + below / 40), 0, WIDTH - 1)
    sample = lambda image: cv2.remap(image.astype(np.float32), mirror_x.astype(np.float32), mirror_y.astype(np.float32), cv2.INTER_LINEAR)
    reflected = np.clip(0.62 - 0.0011 * below, 0.25, 1) * 0.85
    brown = np.clip((water - 0.4) / 0.9, 0, 1)
    body = lit(mixed((0.075, 0.085, 0.055), (0.10, 0.17, 0.21), brown), light, np.full((HEIGHT, WIDTH), 0.35, np.float32))
    deep = y - line + 0.8 * rough * waves  # an edge that ripples
    in_water = np.clip(deep, 0, 1)
    foam = np.clip(1 - np.abs(deep - 1.5) / 1.5, 0, 1) * 0.18 * rough
    scene = mixed(dry, mixed(body, sample(dry), reflected), in_water)
    scene = mixed(scene, scene + 0.5 * light.ambient, foam)
    if lamp is not None:
        lamp = lamp * (1 - in_water) + in_water * (0.35 * sample(lamp) * reflected + 0.0007 + 0.006 * foam)
    scene = hazy(scene, light, (0.03 + 0.25 * rain * (1 - on_wall * 0.5)).astype(np.float32))
    scene = rained(scene, random, rain)
    state = sum(water >= limit for limit in LIMITS)
    return photograph(scene.astype(np.float32), random, lamp), {"gauge": STATES[state], "level": round(water, 2)}, None
