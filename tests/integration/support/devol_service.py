"""A small service in a process of its own: GET /work takes one of its workers for a while. Prints its two ports.

Its power is reckoned from its workers, for tests: nothing measures it.
"""
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tidewatt import Service

NAME, TRAP = sys.argv[1], len(sys.argv) > 2 and sys.argv[2] == "trap"
SECONDS = 0.02
service = Service(NAME, objectives=["p95(latency_ms) <= 120 over 3s"])
free = threading.Condition()
state = {"workers": 4, "busy": 0}


@service.parameter("workers", value=4, minimum=1, maximum=4)
def set_workers(value):
    with free:
        state["workers"] = int(value)
        free.notify_all()


def work():
    begin = time.monotonic()
    with free:
        free.wait_for(lambda: state["busy"] < state["workers"], timeout=5)
        state["busy"] += 1
    # The trap: with fewer workers than all, each request takes long, whatever the load.
    time.sleep(0.3 if TRAP and state["workers"] < 4 else SECONDS)
    with free:
        state["busy"] -= 1
        free.notify()
    service.sample("latency_ms", (time.monotonic() - begin) * 1000)
    service.sample("requests", 1)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        work()
        self.send_response(204)
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(service.serve(), server.server_address[1], flush=True)
while True:
    service.sample("power_w", 10 + 20 * state["workers"])
    time.sleep(0.1)
