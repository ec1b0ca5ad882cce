# SPDX-License-Identifier: Apache-2.0
"""Light and camera of the drawn scenes: where the sun is, what it lights, and how a camera shows it.

Scenes are arrays of linear light, {height, width, 3} in the order blue, green, red; 1 is white paper in the sun.
"""
import math

import cv2
import numpy as np

DAY = 86400


def sun_at(time, latitude, longitude=0.0):
    """Elevation and azimuth (clockwise from north) of the sun in degrees, to about half a degree; `time`: s since 1970 UTC."""
    days = time / DAY - 10957.5  # since 2000-01-01T12:00
    anomaly = math.radians(357.53 + 0.98560028 * days)
    ecliptic = math.radians(280.46 + 0.9856474 * days + 1.915 * math.sin(anomaly) + 0.02 * math.sin(2 * anomaly))
    declination = math.asin(math.sin(math.radians(23.44)) * math.sin(ecliptic))
    ascension = math.atan2(math.cos(math.radians(23.44)) * math.sin(ecliptic), math.cos(ecliptic))
    hour = math.radians((280.46062 + 360.98564737 * days + longitude) % 360) - ascension
    phi = math.radians(latitude)
    elevation = math.asin(math.sin(phi) * math.sin(declination) + math.cos(phi) * math.cos(declination) * math.cos(hour))
    azimuth = math.atan2(-math.sin(hour), math.tan(declination) * math.cos(phi) - math.sin(phi) * math.cos(hour))
    return math.degrees(elevation), math.degrees(azimuth) % 360


def random_of(*key):
    """Random numbers that depend on the key alone: the same picture gets the same ones in every run."""
    return np.random.default_rng([int(part) % (1 << 32) for part in key])


def wander(seed, x):
    """A smooth random curve, 0 to 1, whose values one apart in `x` are independent."""
    cell = math.floor(x)
    ends = [random_of(seed, cell + i).random() for i in (0, 1)]
    part = (1 - math.cos(math.pi * (x - cell))) / 2
    return ends[0] + part * (ends[1] - ends[0])


def fractal(random, height, width, cells, octaves=5, wide=1.0):
    """Noise of mean 0 and deviation 1 with details of all sizes; `cells`: of the coarsest across the width; `wide`: how much wider than high."""
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        across = cells * 2.0**octave
        down = across * wide * height / width
        grid = random.standard_normal((int(down) + 4, int(across) + 4)).astype(np.float32)
        x = np.linspace(1, 1 + across, width, dtype=np.float32)
        y = np.linspace(1, 1 + down, height, dtype=np.float32)
        total += cv2.remap(grid, *np.meshgrid(x, y), cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT) / 2.0**octave
    return (total - total.mean()) / total.std()


def mixed(a, b, share):
    """`a` where the share is 0, `b` where it is 1; colours or images."""
    share = np.asarray(share, np.float32)
    if share.ndim == 2:
        share = share[..., None]
    return np.asarray(a, np.float32) * (1 - share) + np.asarray(b, np.float32) * share


class Light:
    """What falls on a scene. `cover`: share of the sky under cloud; `moon`: 0 to 1."""

    def __init__(self, elevation, azimuth, cover=0.0, moon=0.0):
        self.elevation, self.azimuth, self.cover = elevation, azimuth, cover
        low = np.clip(elevation / 18, 0, 1)
        through = np.clip(1 - 1.25 * cover, 0, 1)  # of the sun, through clouds
        self.sun = mixed((0.22, 0.48, 1.0), (0.86, 0.95, 1.0), low) * 0.9 * math.sqrt(np.clip(math.sin(math.radians(elevation)), 0, 1)) * through
        day = 1 / (1 + math.exp(-(elevation + 1.5) / 1.6)) if elevation > -3 else 0.28 * 10 ** ((elevation + 3) / 3.2)
        self.day = max(day, 1e-5)
        blue = mixed((0.50, 0.33, 0.24), (0.36, 0.36, 0.35), cover) * (0.55 + 0.45 * np.clip(elevation / 30, 0, 1))
        self.ambient = (blue * self.day + np.array((1.0, 0.85, 0.7)) * 4e-4 * (0.1 + moon)).astype(np.float32)

    def sky(self, height, width, horizon):
        """The empty sky above a horizon in row `horizon`, with the glow of a low sun."""
        up = np.clip((horizon - np.arange(height, dtype=np.float32)[:, None]) / max(1, horizon), 0, 1) * np.ones((1, width), np.float32)
        clear = mixed((0.95, 0.88, 0.80), (0.85, 0.50, 0.26), np.sqrt(up))
        glow = math.exp(-((self.elevation - 1) / 5) ** 2) * (1 - self.cover)
        clear = mixed(clear, (0.40, 0.62, 1.05), 0.75 * glow * np.exp(-3 * up))
        return mixed(clear, (0.74, 0.74, 0.73), self.cover) * (self.ambient.mean() / 0.36 + 1e-4)


def lit(colour, light, shade):
    """A surface of this colour; `shade`: how much sun falls on it, 0 to 1, for each pixel."""
    return np.asarray(colour, np.float32) * (light.ambient + shade[..., None] * light.sun)


def hazy(scene, light, share):
    """The scene behind fog or distance."""
    return mixed(scene, np.float32(light.ambient.mean() * 1.6 + 0.5 * light.sun.mean()) * np.array((1.04, 1.0, 0.97)), share)


def rained(picture_light, random, amount):
    """Drops that fall through the picture, and less contrast."""
    if amount <= 0:
        return picture_light
    height, width = picture_light.shape[:2]
    drops = (random.random((height, width)) > 1 - 0.012 * amount).astype(np.float32)
    slant = np.zeros((13, 13), np.float32)
    cv2.line(slant, (8, 0), (4, 12), 1 / 9)
    drops = cv2.GaussianBlur(cv2.filter2D(drops, -1, slant), (0, 0), 0.6)
    mean = picture_light.mean()
    return mixed(picture_light, mean, 0.22 * amount) + (drops * mean * 1.1)[..., None]


def photograph(scene, random, infrared=None):
    """The scene as a camera shows it, uint8 BGR: exposure, noise, colours that drift a little, gamma. `infrared`: the share of the camera's
    lamp that falls on each pixel; the picture is then grey."""
    if infrared is not None:
        scene = np.repeat(0.4 * scene.mean(2, keepdims=True) + infrared[..., None], 3, 2)
    level = max(*np.percentile(scene, (60, 95)) * (1, 0.4), 1e-6)
    gain = 0.3 * random.uniform(0.8, 1.25) / level * np.clip(level / 0.1, 1e-4, 1) ** 0.16  # nights stay darker than days
    seen = scene.astype(np.float32) * np.float32(gain)
    if infrared is None:
        seen *= np.array((random.uniform(0.94, 1.06), 1, random.uniform(0.94, 1.06)), np.float32)
    deviation = np.float32(0.7 * (0.003 + 0.0016 * math.sqrt(gain)))
    seen += random.standard_normal(seen.shape[:2] + (1,), np.float32) * deviation
    seen += random.standard_normal(seen.shape, np.float32) * deviation
    seen = np.clip(seen, 0, None)
    seen = np.where(seen > 0.7, 0.7 + 0.3 * (1 - np.exp(-(seen - 0.7) / 0.3)), seen)  # the shoulder of its curve
    return (255 * np.clip(seen, 0, 1) ** (1 / 2.2) + 0.5).astype(np.uint8)
