#!/usr/bin/env python3
"""1,000 agents come back at once after an outage: reconnect.py [--agents N] [--beats N] [--store URL]

Each has a connection of its own and a backlog of beats, sends up to 50 a request and does what an agent does: `retry`, 503 and 429
mean again, after the time that the server asks for. Prints how long answers took, how many were put off, the server's greatest memory,
and compares the sum with the exact integer. Exit 1 when it differs.
"""
import argparse
import asyncio
import json
import os
import random
import resource
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
os.environ.setdefault("TIDEWATT_BIN", os.path.join(ROOT, "build", "fast", "bin"))
from support.beats import NodeScript, chunks  # noqa: E402
from support.http_client import Client  # noqa: E402
from support.server import Server  # noqa: E402


async def agent(server, batches, start, answers, put_off):
    bodies = [json.dumps(batch).encode() for batch in batches]  # before the clock runs: it is the server that is measured
    await start.wait()
    reader = writer = None
    for batch, ready in zip(batches, bodies):
        body = ready
        while batch:
            head = (f"POST /api/v1/heartbeats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
                    f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
            began = time.monotonic()
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(head + body)
                await writer.drain()
                lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
                headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
                text = await reader.readexactly(int(headers["content-length"]))
            except (OSError, asyncio.IncompleteReadError):
                writer = None
                put_off[0] += 1
                await asyncio.sleep(random.uniform(0.5, 2))
                continue
            answers.append(time.monotonic() - began)
            status = int(lines[0].split()[1])
            if status == 200:
                results = json.loads(text)["results"]
                left = [b for b, r in zip(batch, results) if r["status"] == "retry"]
                assert all(r["status"] in ("accepted", "duplicate", "retry") for r in results), results
                if left:
                    put_off[0] += 1
                    await asyncio.sleep(random.uniform(0.5, 2))
                batch, body = left, json.dumps(left).encode()
            else:
                assert status in (429, 503), (status, text[:200])
                put_off[0] += 1
                await asyncio.sleep(float(headers.get("retry-after", 1)) * random.uniform(1, 2))
    if writer is not None:
        writer.close()


def memory_mib(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024


async def run(server, scripts):
    start, answers, put_off = asyncio.Event(), [], [0]
    agents = [asyncio.create_task(agent(server, chunks(s.beats(), 50), start, answers, put_off)) for s in scripts]
    await asyncio.sleep(0.1)
    began = time.monotonic()
    start.set()
    await asyncio.gather(*agents)
    return time.monotonic() - began, sorted(answers), put_off[0]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--agents", type=int, default=1000)
    options.add_argument("--beats", type=int, default=100, help="of each agent's backlog")
    options.add_argument("--store", default="")
    options.add_argument("--rest", type=float, default=0, help="seconds without work before the idle memory is read")
    asked = options.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    scripts = [NodeScript(f"n{i:04}", beats=asked.beats, devices=8, salt=i) for i in range(asked.agents)]
    with tempfile.TemporaryDirectory(prefix="tidewatt-reconnect-") as folder:
        server = Server(os.path.join(folder, "s"), flags=["--store", asked.store] if asked.store else []).start()
        try:
            server.token = server.agent_token
            took, answers, put_off = asyncio.run(run(server, scripts))
            ops = Client(server.port, server.ops_token, timeout=60)
            booked = sum(int(a["energy_uj"]) for a in ops.get_json("/api/v1/energy/accounts?scope=node&domain=gpu")["accounts"])
            time.sleep(asked.rest)
            peak, idle = memory_mib(server.pid, "VmHWM"), memory_mib(server.pid, "VmRSS")
        finally:
            server.stop()
    exact = sum(s.expected_uj() for s in scripts)
    at = lambda share: answers[int(share * (len(answers) - 1))]  # noqa: E731
    print(f"{asked.agents} agents x {asked.beats} beats of 8 devices in {took:.1f} s ({asked.agents * asked.beats / took:,.0f} beats/s): "
          f"answers p50 {at(0.5):.3f} s, p99 {at(0.99):.3f} s, slowest {answers[-1]:.3f} s; {put_off} times put off; "
          f"memory at most {peak:.0f} MiB, then {idle:.0f} MiB; {booked} uJ, {'exact' if booked == exact else f'expected {exact}'}")
    return 0 if booked == exact else 1


if __name__ == "__main__":
    sys.exit(main())
