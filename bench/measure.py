#!/usr/bin/env python3
"""Runs the benchmarks and prints what was measured; see bench/run.sh."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import date

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "integration")]

import agent_cost  # noqa: E402
import load  # noqa: E402
import payloads  # noqa: E402
import peers  # noqa: E402
from support.http_client import Client  # noqa: E402
from support.server import Server  # noqa: E402

RESULTS = os.path.join(ROOT, "docs", "operate", "benchmarks.md")
REMOTE_WRITE = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf", "X-Prometheus-Remote-Write-Version": "0.1.0"}
SETTLE_SECONDS = 3  # what a server still owes after its last answer (checkpoints, flushes) counts as its CPU


def say(text):
    print(text, file=sys.stderr, flush=True)


def core():
    """Device intervals a second on one core: the median of five runs."""
    out = subprocess.run([os.path.join(ROOT, "build", "release", "bin", "bench_ledger"), "--benchmark_format=json", "--benchmark_repetitions=5",
                          "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.4"], capture_output=True, text=True, check=True)
    found = {}
    for one in json.loads(out.stdout)["benchmarks"]:
        if one.get("aggregate_name") == "median":
            found[one["run_name"]] = one["items_per_second"]
    return found


def accepted(status, body):
    if status != 200:
        return f"HTTP {status}: {body[:200]!r}"
    bad = [s for s in re.findall(rb'"status":"([a-z]+)"', body) if s != b"accepted"]
    return f"{len(bad)} beats were not accepted: {body[:200]!r}" if bad else None


def written(status, body):
    return None if status in (200, 204) else f"HTTP {status}: {body[:200]!r}"


class Run:
    def __init__(self, name, samples, seconds, server_cpu, generator_cpu, resident):
        self.name, self.samples, self.seconds, self.server_cpu = name, samples, seconds, server_cpu
        self.generator_cpu, self.resident = generator_cpu, resident

    @property
    def per_second(self):
        return self.samples / self.seconds

    @property
    def per_cpu_second(self):
        return self.samples / self.server_cpu


def measure(name, pid, port, path, headers, groups, connections, check, samples):
    before = load.cpu_seconds(pid)
    seconds, generator = load.send_all(port, path, headers, groups, connections, check)
    time.sleep(SETTLE_SECONDS)
    run = Run(name, samples, seconds, load.cpu_seconds(pid) - before, generator, load.resident_mib(pid))
    say(f"{name}: {run.per_second:,.0f} samples/s, {run.per_cpu_second:,.0f} per server CPU second, {run.resident:.0f} MiB, "
        f"generator {generator:.2f} CPU s in {seconds:.2f} s")
    return run


def tidewatt_run(groups, nodes, rounds, connections):
    samples = nodes * rounds * payloads.DEVICES
    with tempfile.TemporaryDirectory(prefix="tidewatt-bench-", dir=os.path.join(ROOT, "build")) as folder:
        server = Server(os.path.join(folder, "server"), flags=[])
        server.start()
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.agent_token}"}
            run = measure("tidewatt", server.pid, server.port, "/api/v1/heartbeats", headers, groups, connections, accepted, samples)
            body = Client(server.port, server.ops_token, timeout=120).get_json("/api/v1/energy/accounts?scope=node&domain=gpu&cluster=bench")
            exact = payloads.expected_microjoules(nodes, rounds)
            if body["sum"]["energy_uj"] != str(exact):
                raise RuntimeError(f"the ledger holds {body['sum']['energy_uj']} uJ, exact is {exact}")
            return run
        finally:
            server.finish()


def metric(port, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(name + r"(\{|\s)", line))


def peer_run(start, counter, groups, nodes, rounds, connections):
    samples = nodes * rounds * payloads.DEVICES
    with tempfile.TemporaryDirectory(prefix="peer-bench-", dir=os.path.join(ROOT, "build")) as folder, start(folder) as peer:
        before = metric(peer.port, counter)
        run = measure(peer.name, peer.pid, peer.port, "/api/v1/write", REMOTE_WRITE, groups, connections, written, samples)
        got = metric(peer.port, counter) - before
        if got < samples:
            raise RuntimeError(f"{peer.name} took {got:.0f} of {samples} samples")
        return run


def ingest(nodes, rounds, connections, repeats):
    start = int(time.time() * 1000) - rounds * payloads.PERIOD_MS
    say(f"building payloads: {nodes} nodes x {rounds} beats x {payloads.DEVICES} devices")
    beats = payloads.beat_requests(nodes, rounds, start)
    writes = payloads.remote_write_requests(nodes, rounds, start)
    runs = []
    # Interleaved, so that a machine that gets slower or faster does so for all.
    for _ in range(repeats):
        runs.append(tidewatt_run(beats, nodes, rounds, connections))
        if peers.which("prometheus"):
            runs.append(peer_run(peers.prometheus, "prometheus_tsdb_head_samples_appended_total", writes, nodes, rounds, connections))
        if peers.which("victoria-metrics"):
            runs.append(peer_run(peers.victoria_metrics, "vm_rows_inserted_total", writes, nodes, rounds, connections))
    return runs


def medians(runs):
    """One line per server: the run with the median of samples per CPU second."""
    lines = {}
    for name in dict.fromkeys(run.name for run in runs):
        own = sorted((run for run in runs if run.name == name), key=lambda run: run.per_cpu_second)
        lines[name] = own[(len(own) - 1) // 2]
    return lines


def table(title, header, rows):
    return [f"## {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(r) + " |" for r in rows), ""]


def report(core_figures, lines, agents, nodes, rounds, connections, repeats):
    out = []
    out += table("Integration core", ["what", "a second, one core", "target"],
                 [["device intervals by power", f"{core_figures['device_intervals_by_power'] / 1e6:.1f} M", "20 M"],
                  ["device intervals by counter", f"{core_figures['device_intervals_by_counter'] / 1e6:.1f} M", "20 M"],
                  ["whole beats of 8 devices with a task each", f"{core_figures['whole_beats'] / 1e3:.0f} k beats", "—"]])
    ours = lines["tidewatt"]
    rows = []
    for run in lines.values():
        ratio = "1" if run is ours else f"{ours.per_cpu_second / run.per_cpu_second:.2f}"
        rows.append([run.name, f"{run.per_second:,.0f}", f"{run.per_cpu_second:,.0f}", ratio, f"{run.resident:.0f} MiB", f"{run.generator_cpu / run.seconds:.2f}"])
    out += table("Ingest over HTTP", ["server", "samples/s", "samples per server CPU second", "Tidewatt's ratio to it", "RSS after", "generator's CPUs"], rows)
    out += [f"{nodes} nodes × {rounds} beats × {payloads.DEVICES} devices, 100 beats a request, {connections} connections, median of {repeats}. Tidewatt took "
            f"{ours.per_second / payloads.DEVICES:,.0f} beats/s (floor: 20,000); each beat was durable before it was answered and the sum in the ledger was the exact integer. The peers get the same samples as "
            "remote_write and acknowledge before the data is safe on disk; they store samples, Tidewatt also books them to devices, nodes and tasks.", ""]
    if "agent" in agents:
        rows, text = agent_cost.lines(agents)
        out += table("On the node", ["what", "CPU", "RSS"], rows) + [text, ""]
    return "\n".join(out).rstrip() + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=500)
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--connections", type=int, default=4)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--agent-seconds", type=int, default=60)
    options.add_argument("--write", action="store_true", help="replace the figures in docs/operate/benchmarks.md")
    given = options.parse_args()
    load_before = os.getloadavg()[0]
    figures = core()
    say("core: " + ", ".join(f"{k} {v / 1e6:.2f} M/s" for k, v in figures.items()))
    agents = agent_cost.run(given.agent_seconds) if given.agent_seconds else {}
    runs = ingest(given.nodes, given.rounds, given.connections, given.repeats)
    spread = {name: [r.per_cpu_second for r in runs if r.name == name] for name in dict.fromkeys(r.name for r in runs)}
    for name, values in spread.items():
        say(f"{name}: samples per CPU second, median {statistics.median(values):,.0f}, from {min(values):,.0f} to {max(values):,.0f}")
    text = report(figures, medians(runs), agents, given.nodes, given.rounds, given.connections, given.repeats)
    print(text)
    if given.write:
        model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "unknown CPU")
        head = (f"# Benchmarks\n\nMeasured {date.today().isoformat()} on a virtual machine with {os.cpu_count()} cores ({model}), Debian 12, all on loopback; "
                f"{load_before:.1f} processes were running before it began{', so figures per second of wall clock are too low' if load_before > 0.5 else ''}. Repeat with `bench/run.sh --write`. "
                "Server CPU is user + system time from `/proc`, from the first request until 3 s after the last answer; the generator's is apart.\n\n")
        with open(RESULTS, encoding="utf-8") as file:
            others = file.read().partition("\n## Decisions")  # another command's figures stay
        with open(RESULTS, "w", encoding="utf-8") as file:
            file.write(head + text.rstrip("\n") + "\n" + others[1] + others[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
