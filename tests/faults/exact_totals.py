#!/usr/bin/env python3
"""Feeds servers with repeated and shuffled beats while things break, and compares the sums with the exact integers.

exact_totals.py [--store sqlite|postgres] [--servers N] [--beats N] [--faults kill,restart,pause,clock] [--every S] [--seed N]

  kill     a server is killed (-9) at random moments and started again
  restart  PostgreSQL is stopped at once (immediate) and started again
  pause    PostgreSQL is frozen (SIGSTOP) for some seconds
  clock    agents' wall clocks jump by an hour, back and forth, inside a boot

Every batch is sent, in part more than once, to servers picked by chance, until each beat is answered `accepted` or `duplicate`;
a lost connection or `retry` means: again. Beats of one node come shuffled within a window. The programs are those of TIDEWATT_BIN.
The last line says what was compared; exit 1 when any sum differs from its exact integer.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
os.environ.setdefault("TIDEWATT_BIN", os.path.join(ROOT, "build", "fast", "bin"))
from support.beats import rfc3339  # noqa: E402
from support.http_client import Client  # noqa: E402
from support.postgres import Postgres  # noqa: E402
from support.server import Server  # noqa: E402

DEVICES, PERIOD_MS, BATCH, WINDOW, SENDERS = 8, 20_000, 100, 3, 8


class Node:
    """Constant power per device; every other device has a counter too. Shuffled inside a window, the sum stays exact."""

    def __init__(self, number, beats, jumps, order):
        self.id, self.count = f"node-{number:05}", beats
        start = int(time.time() * 1000) - beats * PERIOD_MS - 60_000
        self.watts = [100 + (number * 7 + d * 13) % 400 for d in range(DEVICES)]
        offsets = [0] * beats
        if jumps:
            for at in range(1, beats):
                offsets[at] = order.choice([-3_600_000, 0, 3_600_000]) if order.random() < 0.02 else offsets[at - 1]
        self.beats = [json.dumps(self.beat(number, i, start, offsets[i])) for i in range(beats)]

    def beat(self, number, i, start, offset):
        devices = []
        for d, watts in enumerate(self.watts):
            device = {"index": d, "uuid": f"{self.id}-GPU-{d}", "power_watts": watts, "quality": "measured", "source": "nvml",
                      "holders": [{"task_id": f"job-{number // 4}", "state": "running"}]}
            if d % 2:
                device["energy_joules_total"] = watts * i * PERIOD_MS // 1000
            devices.append(device)
        return {"schema": "v1", "node_id": self.id, "boot_id": f"boot-{self.id}", "agent_id": "agent", "seq": i + 1,
                "sampled_at": rfc3339(start + i * PERIOD_MS + offset), "monotonic_ms": 1_000_000 + i * PERIOD_MS, "gpu_stats": devices}

    def expected_uj(self):
        return sum(self.watts) * 1000 * PERIOD_MS * (self.count - 1)

    def shuffled(self, order):
        """The first one stays first: it sets the start."""
        rest = list(range(1, self.count))
        for at in range(0, len(rest), WINDOW):
            part = rest[at:at + WINDOW]
            order.shuffle(part)
            rest[at:at + WINDOW] = part
        return [self.beats[i] for i in [0, *rest]]


class Sender(threading.Thread):
    """As some agents: a batch holds beats of several nodes; each is sent until it is answered for good."""

    def __init__(self, servers, nodes, seed, counts):
        super().__init__(daemon=True)
        self.servers, self.nodes, self.order, self.counts, self.fault = servers, nodes, random.Random(seed), counts, None

    def run(self):
        try:
            queues = [node.shuffled(self.order) for node in self.nodes]
            sent = []
            while any(queues):
                batch = []
                for queue in queues:
                    batch += queue[:WINDOW]
                    del queue[:WINDOW]
                    if len(batch) >= BATCH:
                        self.deliver(batch)
                        sent, batch = batch, []
                if batch:
                    self.deliver(batch)
                    sent = batch
                if self.order.random() < 0.2:
                    self.deliver(self.order.sample(sent, max(1, len(sent) // 2)))  # as after a lost answer
        except Exception as problem:  # told by the main thread
            self.fault = problem

    def deliver(self, batch):
        deadline = time.monotonic() + 300
        while batch:
            server = self.order.choice(self.servers)
            client = Client(server.port, server.token, timeout=20)
            try:
                answer = client.request("POST", "/api/v1/heartbeats", ("[" + ",".join(batch) + "]").encode())
                results = answer.json()["results"] if answer.status == 200 else [{"status": "retry"}] * len(batch)
            except Exception:  # the server is away, or was killed in the middle of its answer
                results = [{"status": "retry"}] * len(batch)
            client.close()
            for result in results:
                self.counts[result["status"]] = self.counts.get(result["status"], 0) + 1
                if result["status"] == "rejected":
                    raise AssertionError(f"a beat was rejected: {result}")
            batch = [beat for beat, result in zip(batch, results) if result["status"] == "retry"]
            if batch:
                if time.monotonic() > deadline:
                    raise AssertionError(f"{len(batch)} beats stay unbooked for 300 s")
                time.sleep(0.2)


def break_things(faults, every, servers, postgres, order, over, told):
    while not over.wait(order.uniform(0.3, 1.7) * every):
        fault = order.choice(faults)
        told[fault] = told.get(fault, 0) + 1
        if fault == "kill":
            server = order.choice(servers)
            server.kill()
            time.sleep(order.uniform(0, 0.5))
            try:
                server.start()
            except AssertionError:  # its PostgreSQL is away
                time.sleep(1)
                server.start()
        elif fault == "restart":
            postgres.stop("immediate")
            postgres.start()
        elif fault == "pause":
            pids = [int(p) for p in subprocess.run(["pgrep", "-f", postgres.data], capture_output=True, text=True).stdout.split()]
            children = [int(p) for pid in pids for p in
                        subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]
            for pid in {*pids, *children}:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(order.uniform(1, 4))
            for pid in {*pids, *children}:
                os.kill(pid, signal.SIGCONT)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    options.add_argument("--servers", type=int, default=1)
    options.add_argument("--beats", type=int, default=20_000)
    options.add_argument("--faults", default="", help="kill,restart,pause,clock")
    options.add_argument("--every", type=float, default=2, help="seconds from one fault to the next, on average")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    faults = [f for f in asked.faults.split(",") if f]
    if asked.store == "sqlite" and (asked.servers != 1 or {"restart", "pause"} & set(faults)):
        options.error("several servers, restart and pause need --store postgres")
    order = random.Random(asked.seed)
    per_node = 200
    nodes = [Node(i, per_node, "clock" in faults, order) for i in range(max(SENDERS, asked.beats // per_node))]
    postgres = Postgres() if asked.store == "postgres" else None
    servers, over, told, counts = [], threading.Event(), {}, {}
    with tempfile.TemporaryDirectory(prefix="tidewatt-exact-") as folder:
        try:
            flags = ["--store", postgres.url] if postgres else []
            for i in range(asked.servers):
                server = Server(os.path.join(folder, f"s{i}"), flags=flags)
                servers.append((server.share_tokens_of(servers[0]) if servers and postgres else server).start())
            for server in servers:
                server.token = server.agent_token
            senders = [Sender(servers, nodes[i::SENDERS], asked.seed * 1000 + i, counts) for i in range(SENDERS)]
            began = time.monotonic()
            breaker = threading.Thread(target=break_things, daemon=True, args=(
                [f for f in faults if f != "clock"], asked.every, servers, postgres, order, over, told))
            for sender in senders:
                sender.start()
            if set(faults) - {"clock"}:
                breaker.start()
            while any(sender.is_alive() for sender in senders):
                time.sleep(2)
                done = counts.get("accepted", 0)
                print(f"\r{done:,} accepted, {counts.get('duplicate', 0):,} duplicate, {counts.get('retry', 0):,} retried; "
                      f"faults {told or 'none'}", end="", file=sys.stderr, flush=True)
            over.set()
            if breaker.is_alive():
                breaker.join()
            print(file=sys.stderr)
            for sender in senders:
                if sender.fault:
                    raise SystemExit(f"FAIL: {sender.fault}")
            took = time.monotonic() - began
            return compare(servers, nodes, asked, told, counts, took)
        finally:
            over.set()
            for server in servers:
                if server.process is not None and server.process.poll() is None:
                    server.stop()
            if postgres:
                postgres.close()


def compare(servers, nodes, asked, told, counts, took):
    wrong = 0
    for server in servers:
        ops = Client(server.port, server.ops_token, timeout=60)
        booked = {a["id"]: a for a in ops.get_json("/api/v1/energy/accounts?scope=node&domain=gpu")["accounts"]}
        tasks = ops.get_json("/api/v1/energy/accounts?scope=task&domain=gpu")["accounts"]
        devices = ops.get_json("/api/v1/energy/accounts?scope=device&domain=gpu")["accounts"]
        for node in nodes:
            if int(booked[node.id]["energy_uj"]) != node.expected_uj():
                wrong += 1
                print(f"{node.id}: {booked[node.id]['energy_uj']} uJ, exactly {node.expected_uj()} were expected")
        total = sum(node.expected_uj() for node in nodes)
        for name, accounts in (("tasks", tasks), ("devices", devices)):
            if (found := sum(int(a["energy_uj"]) for a in accounts)) != total:
                wrong += 1
                print(f"{name}: {found} uJ, exactly {total} were expected")
    beats = sum(node.count for node in nodes)
    print(f"{asked.store}, {len(servers)} servers, {beats:,} beats of {DEVICES} devices, {counts.get('duplicate', 0):,} answered duplicate, "
          f"{counts.get('retry', 0):,} retried, faults {told or 'none'}{' and clock jumps' if 'clock' in asked.faults else ''}, {took:.0f} s: "
          f"{sum(node.expected_uj() for node in nodes)} uJ, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
