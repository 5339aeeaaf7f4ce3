#!/usr/bin/env python3
"""Starts a demo, waits until it is ready and its pages have data, says what is there, stops it.

    demo_once.py TIDEWATT demo [OPTIONS]

Exit 0 when the demo answered with known power and booked energy within the time limit ($DEMO_ONCE_SECONDS, 90).
"""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse


class Demo:
    """A running `tidewatt demo`: its output is passed on and searched for the login link."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.link = None
        self.link_seen = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            print(line, end="", flush=True)
            found = re.search(r"https?://\S+/login\?\S*code=\S+", line)
            if found and not self.link:
                self.link = found.group(0)
                self.link_seen.set()
        self.link_seen.set()

    def stop(self):
        """Stops it as a person would (Ctrl-C); returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            print("demo_once: the demo did not stop within 20 s of SIGINT and was killed", file=sys.stderr)
            code = 1
        self.reader.join(timeout=5)
        return code


class Visitor:
    """One browser: keeps the session cookie."""

    def __init__(self, host, port):
        self.host, self.port, self.cookie = host, port, None

    def get(self, target):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        connection.request("GET", target, headers={"Cookie": self.cookie} if self.cookie else {})
        answer = connection.getresponse()
        body = answer.read()
        if answer.getheader("Set-Cookie"):
            self.cookie = answer.getheader("Set-Cookie").split(";", 1)[0]
        connection.close()
        return answer.status, body


def wait_for_data(demo, deadline):
    if not demo.link_seen.wait(max(0.0, deadline - time.monotonic())) or not demo.link:
        return "the demo printed no login link"
    link = urllib.parse.urlsplit(demo.link)
    visitor = Visitor(link.hostname, link.port or 80)
    said = "nothing was tried"
    signed_in = False
    while time.monotonic() < deadline:
        if demo.process.poll() is not None:
            return f"the demo ended with exit code {demo.process.returncode}"
        try:
            status, _ = visitor.get("/readyz")
            if status == 200 and not signed_in:
                status, _ = visitor.get(f"{link.path}?{link.query}")
                if status != 303:
                    return f"the login link was answered {status}, expected 303"
                signed_in = True
            if signed_in:
                status, body = visitor.get("/api/v1/dashboard/stats?range=24h")
                stats = json.loads(body) if status == 200 else {}
                power = stats.get("power_now", {}).get("power_watts")
                energy = int(stats.get("energy_summary", {}).get("energy_uj") or 0)
                if power and energy > 0:
                    nodes = stats.get("nodes", {}).get("live")
                    print(f"demo_once: {nodes} nodes live, {power / 1000:.1f} kW now, {energy / 3.6e12:.4f} kWh booked (simulated)")
                    return None
                said = f"dashboard answered {status}, power {power}, energy {energy} uJ"
        except (OSError, ValueError, http.client.HTTPException) as problem:
            said = str(problem)
        time.sleep(0.5)
    return f"no data in time: {said}"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    limit = float(os.environ.get("DEMO_ONCE_SECONDS", "90"))
    demo = Demo(sys.argv[1:])
    problem = "stopped"
    try:
        problem = wait_for_data(demo, time.monotonic() + limit)
    except KeyboardInterrupt:
        problem = "stopped by Ctrl-C"
    finally:
        code = demo.stop()
    if problem is None and code not in (0, 130):
        problem = f"the demo ended with exit code {code} after SIGINT"
    if problem:
        print(f"demo_once: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
