# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium, its metrics by promtool.

outside_test.py MPM MODEL PICTURES: screenshots go to the folder PICTURES. Exit status 77: skipped.
"""
import http.server
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
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


class Tab:
    """A page that a test acts on, by the DevTools protocol over a pipe: messages of JSON, each with a zero byte behind it."""

    def __init__(self, folder, url):
        (reads, self.commands), (self.answers, writes) = os.pipe(), os.pipe()

        def place():
            os.dup2(os.dup(reads), 3)
            os.dup2(os.dup(writes), 4)
        self.process = subprocess.Popen(
            [need("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1280,1600",
             f"--user-data-dir={folder}"], preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)
        self.rest, self.count, self.session = b"", 0, {}
        target = self.ask("Target.createTarget", url=url)["targetId"]
        self.session = {"sessionId": self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}

    def ask(self, method, **parameters):
        self.count += 1
        os.write(self.commands, json.dumps({"id": self.count, "method": method, "params": parameters, **self.session}).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = os.read(self.answers, 1 << 16)
                assert part, "the browser has ended"
                self.rest += part
            message, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(message)
            if answer.get("id") == self.count:
                return answer["result"]

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, condition):
        for _ in range(600):
            if self.run(f"typeof data === 'object' && data !== null && Boolean({condition})"):
                return
            time.sleep(0.1)
        raise AssertionError(f"{condition}: {self.run('document.body.innerText')}")

    def close(self):
        self.ask("Browser.close")
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)


def acts(tab):
    """A click or a key puts a picture on show, also long after the calendar and the chart were drawn."""
    tab.until("$('days').querySelector('[data-taken]')")
    days = "[...$('days').querySelectorAll('.day')]"
    first = f"{days}.findIndex(day => day.dataset.taken)"
    press = "element.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    tab.run("window.drawn = $('days').firstChild, refresh().then(refresh)")
    assert tab.run("drawn === $('days').firstChild"), "a calendar that did not change stays"
    shows = "$('picture-title').textContent === 'Stored picture' && chosen && Date.parse(chosen.time) ==="
    tab.run(f"{days}[{first}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    tab.until(f"{shows} Number({days}[{first}].dataset.taken)")
    assert tab.run(f"{days}[{first}].matches('.marked')")
    tab.run("$('unchoose').click()")
    tab.until("$('picture-title').textContent === 'Last picture'")
    tab.run("data.cameras[0].last_ms += 1000; renderCalendar(camera())")
    assert tab.run("drawn === $('days').firstChild"), "also of a camera that runs"
    tab.run(f"refresh().then(() => {{ const element = $('days'); for (const key of ['Home', ...Array({days}.length).fill('ArrowRight'), 'Enter']) {press}; }})")
    tab.until(f"{shows} Number({days}.at(-1).dataset.taken) && day === {days}.length - 1")
    tab.run("$('unchoose').click()")

    # The mark of the chart stands where the drawing has the row, and a click opens the picture of that moment.
    tab.run("go({calendar: null, period: 'week'})")
    tab.until("series?.points.length > 20")
    tab.run(f"refresh().then(() => {{ const element = $('slider'); for (const key of ['Home', 'ArrowRight', 'Enter']) {press}; }})")
    tab.until("$('picture-title').textContent === 'Stored picture'")
    away = tab.run("""(() => {
      const drawing = $('drawing').firstChild, {from, to, left, right} = drawing.dataset, {middle_ms: at} = series.points[1];
      const x = Number(left) + (at - from) / (to - from) * (right - left);
      return parseFloat($('mark').style.left) - x * drawing.clientWidth / drawing.getAttribute('width'); })()""")
    assert abs(away) < 0.01, away
    assert tab.run("Math.abs(Date.parse(chosen.time) - series.points[1].middle_ms) < 3600e3")


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


class Below(http.server.BaseHTTPRequestHandler):
    """A proxy that has the page below a path, in a frame of its own page, as Home Assistant does."""
    path_of_page = "/api/ingress/x-1/"
    asked = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        kind, body = "text/html", f'<link rel="icon" href="data:,"><iframe src="{self.path_of_page}"></iframe>'.encode()
        headers, status = [], 200
        if self.path != "/":
            self.asked.append(self.path)
            try:
                assert self.path.startswith(self.path_of_page), self.path
                answer = urllib.request.urlopen(self.server.page + self.path[len(self.path_of_page):])
                kind, body = answer.headers["Content-Type"], answer.read()
                headers = [(name, answer.headers[name]) for name in ("Content-Security-Policy", "X-Frame-Options")]
            except (AssertionError, urllib.error.HTTPError):
                self.asked.append("refused " + self.path)
                status = 404
        self.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def below_a_path(database, shots, profile, detail):
    """Nothing is asked for beside the path, and the proxy's own page may frame it."""
    serve = subprocess.Popen([MPM, "serve", database, "--snapshots", shots, "--address", "127.0.0.1:0", "--proxy", "127.0.0.1"],
                             stdout=subprocess.PIPE, text=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Below)
    server.page = serve.stdout.readline().strip()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tab = Tab(profile, f"http://127.0.0.1:{server.server_port}/")
    try:
        for _ in range(600):
            if tab.run("frames.length > 0 && frames[0].document.querySelector('#overview')?.innerText.includes('demo')"):
                break
            time.sleep(0.1)
        tab.run(f"frames[0].location.hash = {json.dumps(detail)}")
        for _ in range(600):
            loaded = tab.run("frames[0].document.querySelectorAll('#days image').length > 0 && [...frames[0].document.images].every(one => one.complete)")
            if loaded and any("?thumb" in path for path in Below.asked) and any("?small" in path for path in Below.asked):
                break
            time.sleep(0.1)
        tab.run("new Promise(done => setTimeout(done, 500))")
        for part in "page.js", "page.css", "icon.svg", "api/series?", "api/chart.svg?", "?small", "?thumb":
            assert any(part in path for path in Below.asked), (part, Below.asked)
        assert not [path for path in Below.asked if path.startswith("refused")], Below.asked
    finally:
        tab.close()
        server.shutdown()
        serve.terminate()
        assert serve.wait() == 0


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
            tab = Tab(pathlib.Path(folder) / "profile", detail)
            try:
                acts(tab)
            finally:
                tab.close()
            below_a_path(database, shots, pathlib.Path(folder) / "another", urllib.parse.urlsplit(detail).fragment)
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
