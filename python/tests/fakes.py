"""Stand-ins: a meter whose readings are written down, an agent and a server on loopback."""
import http.server
import json
import threading

from tidewatt import Device, MeterError, Reading

GPU = Device("gpu", "0", "GPU-1")


def counter(at, joules, device=GPU):
    return Reading(at, {}, {device: joules})


def power(at, watts, device=GPU):
    return Reading(at, {device: watts}, {})


class ScriptedMeter:
    """Gives the readings one after the other, then the last for ever; an exception is raised."""

    def __init__(self, *readings):
        self._left = list(readings)

    def read(self):
        reading = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if isinstance(reading, MeterError):
            raise reading
        return reading


class Loopback:
    """An HTTP server: `answers` maps "METHOD /path" to (status, body, content type); `asked` keeps what came."""

    def __init__(self, answers):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                asked.append((self.command, self.path, self.headers.get("Authorization"), self.rfile.read(length)))
                found = answers.get(f"{self.command} {self.path.split('?')[0]}", (404, "", "text/plain"))
                status, body, kind = found(self.path) if callable(found) else found
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", body)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def bodies(self):
        return [json.loads(body) for _, _, _, body in self.asked if body]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
