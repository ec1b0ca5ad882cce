# SPDX-License-Identifier: Apache-2.0
"""Draws assets/example.jpg, a street that nobody owns, for the first run and the README. Same seed, same picture.

    python3 assets/make_example.py assets/example.jpg
"""
import sys

import cv2
import numpy as np

WIDTH, HEIGHT, SCALE = 640, 480, 2  # drawn at twice the size, so that edges come out smooth
HORIZON = 210
VANISHING = (330, HORIZON)


def noise(random, shape, grain):
    """Smooth noise in -1..1: `grain` px between independent values."""
    small = random.uniform(-1, 1, (shape[0] // grain + 2, shape[1] // grain + 2)).astype(np.float32)
    return cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)


def fill(picture, random, points, colour, texture=0.0, grain=4):
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(np.array(points) * SCALE).astype(np.int32)], 255)
    paint = np.array(colour, np.float32) * np.ones_like(picture)
    if texture:
        paint *= 1 + texture * noise(random, picture.shape[:2], grain * SCALE)[..., None]
        paint *= 1 + texture / 2 * random.standard_normal(picture.shape[:2])[..., None].astype(np.float32)
    picture[mask > 0] = paint[mask > 0]


def towards_horizon(x, y, t):
    """The point that a line from (x, y) to the vanishing point has reached at t in 0..1."""
    return (x + (VANISHING[0] - x) * t, y + (VANISHING[1] - y) * t)


def building(picture, random, side, near, far, height, colour):
    """A wall between two distances along the street (t of towards_horizon), with windows in perspective."""
    foot = (-150, 430) if side < 0 else (860, 430)
    a, b = towards_horizon(*foot, near), towards_horizon(*foot, far)
    top_a, top_b = (a[0], a[1] - height * (1 - near)), (b[0], b[1] - height * (1 - far))
    fill(picture, random, [a, b, top_b, top_a], colour, 0.06, 6)
    for row in np.arange(0.12, 0.9, 0.2):
        for column in np.arange(0.06, 0.92, 0.16):
            def at(u, v):
                # Perspective along the wall: equal steps in the street are equal steps in 1 / (1 - t).
                t = 1 - 1 / (1 / (1 - near) + u * (1 / (1 - far) - 1 / (1 - near)))
                foot_u = towards_horizon(*foot, t)
                return (foot_u[0], foot_u[1] - v * height * (1 - t))
            corners = [at(column, row), at(column + 0.09, row), at(column + 0.09, row + 0.11), at(column, row + 0.11)]
            glass = random.uniform(0.5, 1.0)
            fill(picture, random, corners, (95 * glass, 80 * glass, 62 * glass))


def tree(picture, random, x, foot, size):
    fill(picture, random, [(x - 0.05 * size, foot), (x + 0.05 * size, foot), (x + 0.03 * size, foot - 0.6 * size),
                           (x - 0.03 * size, foot - 0.6 * size)], (45, 58, 70), 0.1)
    for _ in range(170):
        angle, radius = random.uniform(0, 2 * np.pi), np.sqrt(random.uniform())
        px, py = x + np.cos(angle) * radius * 0.38 * size, foot - 0.85 * size + np.sin(angle) * radius * 0.36 * size
        light = 0.55 + 0.4 * (foot - 0.5 * size - py) / size + random.uniform(-0.12, 0.12)
        colour = np.array((48, 105, 72)) * light
        cv2.circle(picture, (int(px * SCALE), int(py * SCALE)), int(random.uniform(0.03, 0.075) * size * SCALE),
                   colour.tolist(), -1, cv2.LINE_AA)


def car(picture, random, x, foot, size, colour):
    def p(u, v):
        return (x + u * size, foot - v * size)
    fill(picture, random, [p(-.62, -.04), p(.62, -.04), p(.55, .1), p(-.55, .1)], (52, 50, 50))
    fill(picture, random, [p(-.5, .08), p(.5, .08), p(.52, .45), p(-.52, .45)], colour, 0.03)
    fill(picture, random, [p(-.45, .45), p(.45, .45), p(.34, .78), p(-.34, .78)], colour, 0.03)
    fill(picture, random, [p(-.38, .48), p(.38, .48), p(.29, .73), p(-.29, .73)], (70, 62, 52))
    for u in (-.45, .27):
        fill(picture, random, [p(u, -.02), p(u + .18, -.02), p(u + .18, .14), p(u, .14)], (28, 28, 28))
        fill(picture, random, [p(u, .27), p(u + .18, .27), p(u + .18, .38), p(u, .38)], (50, 45, 200))
    fill(picture, random, [p(-.13, .2), p(.13, .2), p(.13, .29), p(-.13, .29)], (200, 220, 225))


def pedestrian(picture, random, x, foot, size, coat):
    def p(u, v):
        return (x + u * size, foot - v * size)
    fill(picture, random, [p(-.1, 0), p(-.02, 0), p(0, .45), p(.04, 0), p(.12, 0), p(.1, .5), p(-.1, .5)], (60, 45, 40))
    fill(picture, random, [p(-.13, .45), p(.13, .45), p(.15, .8), p(.06, .85), p(-.06, .85), p(-.15, .8)], coat, 0.05)
    cv2.circle(picture, (int(x * SCALE), int((foot - .92 * size) * SCALE)), int(.075 * size * SCALE), (130, 160, 200), -1,
               cv2.LINE_AA)


def draw():
    random = np.random.default_rng(7)
    picture = np.zeros((HEIGHT * SCALE, WIDTH * SCALE, 3), np.float32)
    rows = np.linspace(0, 1, HEIGHT * SCALE, dtype=np.float32)[:, None, None]
    picture[:] = np.array((235, 200, 160)) * (1 - rows) + np.array((250, 240, 230)) * rows
    clouds = np.clip(noise(random, picture.shape[:2], 90 * SCALE) + 0.5 * noise(random, picture.shape[:2], 35 * SCALE), 0, 1)
    picture += (np.array((252, 250, 248)) - picture) * clouds[..., None] * 0.7

    fill(picture, random, [(0, HORIZON - 4), (WIDTH, HORIZON - 4), (WIDTH, HORIZON + 20), (0, HORIZON + 20)], (110, 125, 120), .1)
    fill(picture, random, [(0, HEIGHT), (0, 330), VANISHING, (WIDTH, 330), (WIDTH, HEIGHT)], (150, 158, 165), 0.05, 3)
    fill(picture, random, [(-140, HEIGHT), VANISHING, (760, HEIGHT)], (98, 96, 95), 0.05, 5)
    for t0 in np.arange(0.0, 0.95, 0.11):
        a, b = towards_horizon(318, HEIGHT, t0), towards_horizon(318, HEIGHT, t0 + 0.05)
        wide = 6 * (1 - t0)
        fill(picture, random, [(a[0] - wide, a[1]), (a[0] + wide, a[1]), (b[0] + wide * .9, b[1]), (b[0] - wide * .9, b[1])],
             (215, 218, 220))
    for near, far, height, colour in ((.72, .9, 420, (120, 140, 165)), (.42, .7, 560, (105, 128, 178)), (-.1, .4, 470, (165, 180, 190))):
        building(picture, random, -1, near, far, height, colour)
    for near, far, height, colour in ((.7, .88, 520, (150, 160, 170)), (.45, .68, 400, (92, 110, 150)), (.1, .42, 610, (140, 165, 185))):
        building(picture, random, 1, near, far, height, colour)

    for x, foot, size in ((200, 262, 110), (448, 258, 100), (560, 300, 190), (92, 300, 170)):
        tree(picture, random, x, foot, size)
    for x, foot, height in ((150, 300, 220), (500, 290, 190)):
        fill(picture, random, [(x - 2, foot), (x + 2, foot), (x + 2, foot - height), (x - 2, foot - height)], (95, 95, 95))
        fill(picture, random, [(x - 2, foot - height), (x + 22, foot - height - 4), (x + 22, foot - height + 2), (x + 2, foot - height + 4)], (90, 90, 90))
    car(picture, random, 275, 268, 44, (150, 90, 60))
    car(picture, random, 392, 300, 78, (60, 60, 175))
    car(picture, random, 196, 335, 118, (185, 185, 180))
    pedestrian(picture, random, 532, 352, 92, (80, 60, 130))
    pedestrian(picture, random, 556, 349, 86, (60, 110, 160))
    pedestrian(picture, random, 128, 338, 74, (130, 90, 50))

    picture = cv2.resize(np.clip(picture, 0, 255), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    picture = cv2.GaussianBlur(picture, (0, 0), 0.6) + random.standard_normal(picture.shape) * 2.5  # a lens and a sensor
    return np.clip(picture, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    cv2.imwrite(sys.argv[1], draw(), [cv2.IMWRITE_JPEG_QUALITY, 93])
