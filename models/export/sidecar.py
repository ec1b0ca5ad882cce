# SPDX-License-Identifier: Apache-2.0
"""MODEL.json beside MODEL.onnx: sizes, normalisation, class names and colours (docs/converter.md)."""

import colorsys
import json
import pathlib

from tensors import ExportError

HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def colour(index):
    """Colours that differ clearly from class to class: hues a golden angle apart, at three brightnesses."""
    red, green, blue = colorsys.hsv_to_rgb(index * 0.61803398875 % 1, (0.75, 0.5, 1.0)[index % 3],
                                           (0.85, 1.0, 0.6)[index // 3 % 3])
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _colour_text(value, where):
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 3 and all(0 <= channel <= 255 for channel in value):
        return "#" + "".join(f"{int(channel):02x}" for channel in value)
    raise ExportError(f"{where}: {value!r} is not a colour such as \"#8040ff\" or [128, 64, 255]")


def class_list(entries, where):
    """Names, {"name", "color"} objects or {"0": name} -> [{"name", "color"}]. Missing colours are generated."""
    if isinstance(entries, dict):
        try:
            entries = {int(index): name for index, name in entries.items()}
        except ValueError:
            raise ExportError(f"{where}: the names must be numbered from 0") from None
        if sorted(entries) != list(range(len(entries))):
            raise ExportError(f"{where}: the names must be numbered from 0 without a gap")
        entries = [entries[i] for i in range(len(entries))]
    classes = []
    for i, entry in enumerate(entries):
        entry = entry if isinstance(entry, dict) else {"name": entry}
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip():
            raise ExportError(f"{where}: class {i} has no name")
        classes.append({"name": name.strip(),
                        "color": _colour_text(entry["color"], where) if entry.get("color") else colour(i)})
    return classes


def read_yaml(path):
    """Plain values and tuples only."""
    try:
        import yaml
    except ImportError:
        raise ExportError(f"{path}: reading YAML needs PyYAML: pip install pyyaml") from None

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda loader, node: loader.construct_sequence(node))
    try:
        return yaml.load(pathlib.Path(path).read_text(encoding="utf-8"), Loader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ExportError(f"{path}: {' '.join(str(error).split())}") from None


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: {error}") from None


def read_classes(path):
    """.json: a list, {"0": name}, or another MODEL.json; .yml: as in Segmenter's ade20k.yml; else one name per line."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix in (".yml", ".yaml"):
        entries = read_yaml(path)
    elif suffix == ".json":
        entries = read_json(path)
        entries = entries.get("classes", entries) if isinstance(entries, dict) else entries
    else:
        try:
            entries = [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
        except (OSError, ValueError) as error:
            raise ExportError(f"{path}: {error}") from None
    if not isinstance(entries, (list, dict)) or not entries:
        raise ExportError(f"{path}: no list of class names")
    return class_list(entries, path)


def document(name, image, normalisation, classes, count, **facts):
    """The JSON text. `image`: height, width; `classes`: of class_list(), may be empty; `count`: of the network; `facts`:
    more fields."""
    if classes and len(classes) != count:
        raise ExportError(f"{len(classes)} class names for a network of {count} classes")
    mean, std = normalisation
    facts = {"name": name, "input": {"height": image[0], "width": image[1], "channels": "RGB"},
             "mean": list(mean), "std": list(std), **facts}
    if classes:
        facts["classes"] = classes
    return json.dumps(facts | {"ignore": 255}, indent=2, ensure_ascii=False) + "\n"
