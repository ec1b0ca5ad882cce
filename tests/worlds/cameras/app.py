# SPDX-License-Identifier: Apache-2.0
"""The desktop app without a screen: the program app_runner (app/)."""
import pathlib


def program(build):
    """The program app_runner, or None where the app was not built."""
    path = pathlib.Path(build).resolve() / "bin" / "app_runner"
    return path if path.exists() else None
