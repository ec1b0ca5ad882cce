#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the two tables of docs/models.md from suite.json; with --check it only says whether they are up to date."""
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/models.md"


def tables():
    """The rows of each, by its heading."""
    rows, refused = {}, []
    for model in json.loads(pathlib.Path(__file__).with_name("suite.json").read_text()):
        if model["verdict"] != "convert":
            refused.append(f"| {model['source']} | {model['reason']} |\n")
            continue
        row = rows.setdefault(model["source"], {"exports": [], "head": model["head"],
                                                "merged": "yes" if model["merges"] else "no"})
        export = f"{model['exporter']} {model['opset']}"
        if export not in row["exports"]:
            row["exports"].append(export)
        if model["equals_pytorch"]:
            row["merged"] = "equal"
    converted = [f"| {source} | {', '.join(row['exports'])} | {row['head'].replace('_', ' ')} | {row['merged']} |\n"
                 for source, row in rows.items()]
    return {"| model | exporters, opsets | head | merged |\n|---|---|---|---|\n": converted,
            "| model | reason |\n|---|---|\n": refused}


def page():
    text = PAGE.read_text()
    for heading, rows in tables().items():
        before, behind = text.split(heading)
        text = before + heading + "".join(rows) + re.sub(r"^(\|.*\n)*", "", behind)
    return text


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit("the tables of docs/models.md are not up to date: run tests/exporters/models_page.py")
