# SPDX-License-Identifier: Apache-2.0
"""A camera's stream of MJPEG over HTTP."""
import http.server
import threading


def serve(pictures):
    """Its port. `pictures(name)` yields the JPEGs of http://127.0.0.1:PORT/NAME and takes the time between them; None: there is no such camera."""

    class Stream(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            jpegs = pictures(self.path[1:])
            if jpegs is None:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
            self.end_headers()
            try:
                for jpeg in jpegs:
                    self.wfile.write(b"--next\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg + b"\r\n")
            except OSError:
                pass

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stream)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
