"""A machine's sysfs in a folder (tests/data/nodes), with counters that move while a test looks at them."""
import json
import os
import threading
import time

NODES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "nodes")


def machines():
    return sorted(name for name in os.listdir(NODES) if os.path.isdir(os.path.join(NODES, name)))


class FakeNode:
    """`root` is what stands for /sys, in `host_root` for /. Use it as a context: counters move inside."""

    def __init__(self, folder, machine):
        self.host_root = str(folder)
        self.root = os.path.join(self.host_root, "sys")
        with open(os.path.join(NODES, machine, "expect.json"), encoding="utf-8") as file:
            self.expect = json.load(file)
        with open(os.path.join(NODES, machine, "sysfs.txt"), encoding="utf-8") as file:
            for line in file:
                path, _, value = line.rstrip("\n").partition(": ") if ": " in line else (line.rstrip("\n")[:-1], "", "")
                self.write(path.removeprefix("/sys/"), value)
        self.raw = {}
        self.ranges = {}
        for zone in self.expect["watts"]:
            self.raw[zone] = int(self.read(f"class/powercap/{zone}/energy_uj"))
            self.ranges[zone] = int(self.read(f"class/powercap/{zone}/max_energy_range_uj"))
        self.broken = set()  # zones whose counter the test has taken away
        self.stop = threading.Event()
        self.thread = None

    def path(self, relative):
        return os.path.join(self.root, relative)

    def read(self, relative):
        with open(self.path(relative), encoding="ascii") as file:
            return file.read().strip()

    def write(self, relative, value):
        os.makedirs(os.path.dirname(self.path(relative)), exist_ok=True)
        temporary = self.path(relative) + ".new"
        with open(temporary, "w", encoding="ascii") as file:
            file.write(value + "\n" if value else "")
        os.replace(temporary, self.path(relative))  # as a counter is read: whole

    def advance(self, seconds):
        """All counters at once, so that mirrors stay mirrors."""
        mirrors = self.expect.get("mirrors", {})
        for zone, watts in self.expect["watts"].items():
            source = mirrors.get(zone)
            self.raw[zone] = self.raw[source] if source else (self.raw[zone] + round(watts * seconds * 1e6)) % (self.ranges[zone] + 1)
        for zone, raw in self.raw.items():
            if zone not in self.broken:
                self.write(f"class/powercap/{zone}/energy_uj", str(raw))

    def counter(self, zone):
        return self.path(f"class/powercap/{zone}/energy_uj")

    def take_counter_away(self, zone):
        self.broken.add(zone)
        time.sleep(0.05)
        os.unlink(self.counter(zone))

    def __enter__(self):
        def move():
            last = time.monotonic()
            while not self.stop.wait(0.02):
                now = time.monotonic()
                self.advance(now - last)
                last = now

        self.thread = threading.Thread(target=move, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
