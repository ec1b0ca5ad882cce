# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium, its metrics by promtool.

outside_test.py MPM MODEL PICTURES: screenshots go to the folder PICTURES. Exit status 77: skipped.
"""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

MPM, MODEL, PICTURES = sys.argv[1:]
HOSTILE = '<script>document.title = "broken"</script><img src=x onerror="document.title = 1">'


def need(program):
    if not shutil.which(program):
        print(f"skipped: {program} is not installed")
        sys.exit(77)
    return program


def browse(url, *options):
    command = [need("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
               "--v=0", "--virtual-time-budget=5000", *options, url]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, complaints
    return done.stdout


def recorded(folder):
    """A database and pictures of two days of a street whose class and state have names that are markup."""
    start = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() - 2 * 86400))
    database, watch = folder / "a.db", folder / "watch.toml"
    watch.write_text("[[camera]]\nmerge-maps = true\n")
    done = subprocess.run([MPM, "monitor", f"demo:street?start={start}&step=7200&frames=25&size=112x160", "--model", MODEL, "--db", database,
                           "--every", "0", "--watch", watch, "--snapshots", folder / "shots", "--snapshot-every", "0", "--lat", "48", "--lon", "0"],
                          capture_output=True, text=True)
    if "scene" in done.stderr and done.returncode != 0:
        print("skipped: built without the scene")
        sys.exit(77)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(database) as connection:
        names = json.loads(connection.execute("SELECT classes FROM series").fetchone()[0])
        connection.execute("UPDATE series SET classes = ?", [json.dumps([HOSTILE, *names[1:]])])
        connection.executemany("INSERT INTO state_change (series, name, time_ms, state) VALUES (1, ?, ?, ?)",
                               [(HOSTILE, int(time.time() * 1000) - hours * 3600000, HOSTILE) for hours in (40, 20)])
        connection.execute("INSERT INTO event (source, time_ms, kind, severity, message) VALUES (1, ?, 1, 2, ?)", [int(time.time() * 1000) - 60000, HOSTILE])
    return database, folder / "shots"


def main():
    need("promtool")
    with tempfile.TemporaryDirectory() as folder:
        database, shots = recorded(pathlib.Path(folder))
        server = subprocess.Popen([MPM, "serve", database, "--snapshots", shots, "--address", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            metrics = urllib.request.urlopen(url + "metrics").read()
            assert b"onerror" in metrics
            subprocess.run(["promtool", "check", "metrics"], input=metrics, check=True)

            camera = json.load(urllib.request.urlopen(url + "api/cameras"))["cameras"][0]["name"]
            detail = f"{url}#{urllib.parse.urlencode({'camera': camera, 'period': 'week'})}"
            page = browse(detail, "--dump-dom")
            assert "&lt;script&gt;document.title" in page and "<script>document" not in page and "<img src=\"x\"" not in page
            assert f"<title>{camera.replace('&', '&amp;')}</title>" in page, "no name ran as a script"
            assert "<polyline" in page and 'data-left="' in page and page.count("&lt;script&gt;document.title") >= 2, "the chart of the server, with its states"
            assert ".png-0" in page and "Error: " in page and "Merge map</label>" in page
            calendar = browse(f"{detail}&calendar=open", "--dump-dom")
            assert 'class="day"' in calendar and "?thumb" in calendar and "the sun at" in calendar
            detail += "&calendar=open"
            pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
            for size in "1280,1600", "390,2600":
                for light in "", "--force-dark-mode":
                    name = pathlib.Path(PICTURES) / f"page_{size.split(',')[0]}{'_dark' if light else ''}.png"
                    browse(detail, f"--window-size={size}", f"--screenshot={name}", *filter(None, [light]))
                    assert name.stat().st_size > 20000, name
        finally:
            server.terminate()
            assert server.wait() == 0


main()
