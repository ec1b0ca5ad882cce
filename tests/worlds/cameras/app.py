# SPDX-License-Identifier: Apache-2.0
"""What is asked of the desktop app by the program app_runner (app/): to measure a folder as `mpm monitor` does."""
import json
import pathlib

OF_MODEL = ("model", "reduce", "threads", "refine", "input-size")  # said on the command line of the app
TEXTS = ("regions", "hide", "night", "night-hours", "quality", "time-zone")
LISTS = ("states", "alarm")


def program(build):
    """The program app_runner, or None where the app was not built."""
    path = pathlib.Path(build).resolve() / "bin" / "app_runner"
    return path if path.exists() else None


def can_measure(step):
    """Whether a person can do in the app what this step does."""
    return step["kill"] is None and not any(step.get(key) for key in ("room", "shard", "recompute", "implicit"))


def question(player, step, model):
    """What app_runner gets for a step: as a person who chose all of it for this source before."""
    folder = player.folder / player.script["sources"][step["source"]]["folder"]
    settings = player.folder / f"app{step['source']}"
    settings.mkdir(exist_ok=True)
    camera = settings / "camera.toml"
    camera.write_text(watch_file(player.folder, folder, player.options(step)))
    return {"folder": str(folder), "camera": str(camera), "settings": str(settings), "db": str(player.folder / step["db"]), "model": str(model),
            "reduce": step["reduce"], **step["settings"]}


def watch_file(room, folder, arguments):
    """Options of `mpm monitor`, which runs in `room`, as a watch file."""
    said = {"source": str(folder), "times": "auto"}
    words = iter(map(str, arguments))
    for word in words:
        key, equals, value = word.removeprefix("--").partition("=")
        value = value if equals else next(words)
        if key in ("regions", "states", "hide") and value != "none":
            value = str(room / value)
        if key in LISTS:
            said.setdefault(key, []).append(value)
        elif key not in OF_MODEL:
            said[key] = value if key in TEXTS else float(value)
    return "[[camera]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
