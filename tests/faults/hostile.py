#!/usr/bin/env python3
"""Clients that mean harm beside one that measures: hostile.py [--bodies N] [--slow N] [--markdown]

A node sends a beat ten times a second all the time. Beside it come bad bodies, connections that never finish their request, bodies
that are too large, and requests whose end two readers would see at different places. Prints how long the node's answers took and
what each attack got. Exit 1 when one of them was taken, answered with 500, or the node's sum isn't the exact integer.
"""
import argparse
import asyncio
import collections
import gzip
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
from reconnect import memory_mib  # noqa: E402
from support.beats import NodeScript  # noqa: E402
from support.http_client import Client  # noqa: E402
from support.server import Server  # noqa: E402


def head(server, more="", target="/api/v1/heartbeats"):
    return (f"POST {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.agent_token}\r\n"
            f"Content-Type: application/json\r\n{more}").encode()


async def answer(reader):
    """(status, may the connection be used again)"""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(lines[0].split()[1]), headers.get("connection") != "close", body


def bad_body(rng, good):
    """A body that no server should book, and the headers it comes with."""
    def replaced(key, value):
        beat = dict(good, **{key: value})
        return json.dumps([beat]).encode()
    kind = rng.randrange(10)
    text = json.dumps([good]).encode()
    if kind == 0:
        return text[:rng.randrange(1, len(text))], ""
    if kind == 1:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))), ""
    if kind == 2:
        return b"[" * rng.randrange(2, 5000) + b"]" * rng.randrange(5000), ""
    if kind == 3:
        return replaced("node_id", rng.choice([None, 7, "", " ", "a\nb", "x" * 100_000, [], {}])), ""
    if kind == 4:
        return replaced("sampled_at", rng.choice([1, "yesterday", "2026-13-01T00:00:00Z", "9" * 400])), ""
    if kind == 5:
        return replaced("gpu_stats", rng.choice([7, {}, [7], [[]], [{"index": -1}], [{"index": 10**30}], "x"])), ""
    if kind == 6:
        return text.replace(b'"seq": ', b'"seq": -'), ""
    if kind == 7:
        packed = gzip.compress(text)
        return packed[:rng.randrange(1, len(packed) - 8)], "Content-Encoding: gzip\r\n"
    if kind == 8:
        return bytes(rng.randrange(256) for _ in range(60)), f"Content-Encoding: {rng.choice(['gzip', 'zstd', 'br', 'x'])}\r\n"
    return text.replace(b"node_id", b"node_\xff\xfe", 1), ""


async def send_bad_bodies(server, count, statuses, seed):
    rng, good = random.Random(seed), NodeScript("bad", beats=1, devices=2).beat(0)
    reader = writer = None
    for _ in range(count):
        body, more = bad_body(rng, good)
        if writer is None:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            writer.write(head(server, f"{more}Content-Length: {len(body)}\r\n\r\n") + body)
            await writer.drain()
            status, again, text = await answer(reader)
        except (OSError, asyncio.IncompleteReadError):
            status, again, text = "closed", False, b""
        if status == 200:  # a list is answered beat by beat
            status = collections.Counter(r["status"] for r in json.loads(text)["results"]).most_common(1)[0][0]
        statuses[status] += 1
        if not again:
            writer.close()
            writer = None


async def hold_open(server, statuses):
    """Half a request, then a byte now and then for as long as the server bears it."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"POST /api/v1/heartbeats HTTP/1.1\r\nHost: x\r\nX-A: ")
        dropped = asyncio.create_task(reader.read(4096))
        while not dropped.done():
            writer.write(b"a")
            await asyncio.wait({dropped}, timeout=5)
        first = dropped.result().split(b"\r\n")[0].decode()
        statuses[first.split(" ")[1] if first else "closed"] += 1
        writer.close()
    except OSError:
        statuses["closed"] += 1


async def send_too_much(server, statuses):
    million = b"x" * (1 << 20)

    async def one(more, pieces):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        got = asyncio.create_task(answer(reader))
        try:
            writer.write(head(server, more + "\r\n"))
            for piece in pieces:
                if got.done():
                    break
                writer.write(piece)
                await writer.drain()
            status, _, _ = await asyncio.wait_for(got, 20)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            status = "closed"
        statuses[status] += 1
        writer.close()

    bomb = gzip.compress(b"[" + b" " * (512 << 20), 9)
    for _ in range(4):
        await asyncio.gather(
            one(f"Content-Length: {1 << 30}\r\n", [million] * 64), one("Content-Length: 99999999999999999999\r\n", []),
            one("Transfer-Encoding: chunked\r\n", [b"100000\r\n" + million + b"\r\n"] * 64),
            one(f"Content-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n", [bomb]))


def ambiguous(server, beat):
    """Requests that hide a second one from a reader who sees their end elsewhere."""
    inner = json.dumps([beat]).encode()
    hidden = head(server, f"Content-Length: {len(inner)}\r\n\r\n") + inner
    n = len(hidden)
    for more in (f"Content-Length: 0\r\nContent-Length: {n}\r\n", f"Content-Length: 0, {n}\r\n", f"Content-Length: +{n}\r\n",
                 f"Content-Length: -1\r\n", f"Content-Length: 0x{n:x}\r\n", f"Content-Length : 0\r\n", f"Content-Length:\x0b0\r\n",
                 f"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                 "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked, gzip\r\n", "Transfer-Encoding : chunked\r\n",
                 "Transfer-Encoding:\r\n chunked\r\n", "X: a\r\n Content-Length: 0\r\n", "Transfer-Encoding: chunked\nX: a\r\n"):
        yield head(server, more + "\r\n") + b"0\r\n\r\n" + hidden
    for chunk in (b"0x0\r\n\r\n", b"-1\r\n\r\n", b"ffffffffffffffff0\r\n\r\n", b"0\n\n", b"1\r\nab\r\n0\r\n\r\n", b" 0\r\n\r\n"):
        yield head(server, "Transfer-Encoding: chunked\r\n\r\n") + chunk + hidden


async def send_ambiguous(server, statuses, beat):
    for request in ambiguous(server, beat):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(request)
        writer.write_eof()
        text = await asyncio.wait_for(reader.read(-1), 30)
        codes = [line.split()[1].decode() for line in text.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
        statuses[" then ".join(codes) or "closed"] += 1
        writer.close()


class Measuring:
    """The node that must not notice: a beat ten times a second."""

    def __init__(self, server):
        self.server, self.script, self.sent, self.took, self.stop = server, NodeScript("good", beats=100_000, devices=8), 0, [], False

    async def run(self):
        reader = writer = None
        while not self.stop:
            body = json.dumps([self.script.beat(self.sent)]).encode()
            began = time.monotonic()
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                writer.write(head(self.server, f"Content-Length: {len(body)}\r\n\r\n") + body)
                status, again, _ = await answer(reader)
                assert status in (200, 429, 503), status
            except (OSError, asyncio.IncompleteReadError):
                status, again = 503, False
            self.took.append(time.monotonic() - began)
            self.sent += status == 200
            if not again:
                writer = None
            await asyncio.sleep(0.1)

    def answers(self):
        took, self.took = sorted(self.took), []
        return took or [0.0]


async def attack(server, asked):
    node = Measuring(server)
    measuring = asyncio.create_task(node.run())
    await asyncio.sleep(3)
    rows = []

    async def phase(name, work, statuses):
        node.answers()
        began = time.monotonic()
        await work
        await asyncio.sleep(0.5)
        took = node.answers()
        rows.append((name, dict(statuses), time.monotonic() - began, took[len(took) // 2], took[int(0.99 * (len(took) - 1))],
                     memory_mib(server.pid, "VmRSS"), memory_mib(server.pid, "VmHWM")))

    nothing = collections.Counter()
    await phase("nothing else", asyncio.sleep(5), nothing)
    bodies = collections.Counter()
    await phase(f"{asked.bodies:,} bad bodies", asyncio.gather(
        *(send_bad_bodies(server, asked.bodies // 8, bodies, i) for i in range(8))), bodies)
    slow = collections.Counter()
    await phase(f"{asked.slow:,} slow connections", asyncio.gather(*(hold_open(server, slow) for _ in range(asked.slow))), slow)
    large = collections.Counter()
    await phase("16 bodies of up to 512 MiB", send_too_much(server, large), large)
    smuggled = collections.Counter()
    hidden = NodeScript("hidden", beats=1).beat(0)
    await phase(f"{sum(1 for _ in ambiguous(server, hidden))} ambiguous requests", send_ambiguous(server, smuggled, hidden), smuggled)
    node.stop = True
    await measuring
    return rows, node


def refused(statuses):
    return all(str(s) in ("closed", "rejected", "501") or str(s).startswith("4") and "then" not in str(s) for s in statuses)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bodies", type=int, default=100_000)
    options.add_argument("--slow", type=int, default=3000)
    options.add_argument("--markdown", action="store_true", help="a table for docs/operate/limits.md")
    asked = options.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (16384, 16384))
    with tempfile.TemporaryDirectory(prefix="tidewatt-hostile-") as folder:
        server = Server(os.path.join(folder, "s")).start()
        try:
            rows, node = asyncio.run(attack(server, asked))
            ops = Client(server.port, server.ops_token, timeout=60)
            accounts = {a["id"]: a for a in ops.get_json("/api/v1/energy/accounts?scope=node&domain=gpu")["accounts"]}
        finally:
            server.stop()
    line = "| {} | {} | {} | {} | {} | {} | {} |" if asked.markdown else "{:28} {:60} {:>7} {:>9} {:>9} {:>9} {:>9}"
    print(line.format("beside the node", "what it got", "s", "p50 ms", "p99 ms", "RSS MiB", "peak MiB"))
    if asked.markdown:
        print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, statuses, seconds, p50, p99, rss, peak in rows:
        got = ", ".join(f"{count:,} x {status}" for status, count in sorted(statuses.items(), key=str)) or "-"
        print(line.format(name, got, f"{seconds:.0f}", f"{p50 * 1000:.1f}", f"{p99 * 1000:.1f}", f"{rss:.0f}", f"{peak:.0f}"))
    booked, exact = int(accounts.get("good", {}).get("energy_uj", 0)), node.script.expected_uj(node.sent)
    print(f"\nThe node's {node.sent:,} beats: {booked} uJ, {'exact' if booked == exact else f'expected {exact}'}.")
    good = booked == exact and set(accounts) == {"good"} and all(refused(row[1]) for row in rows)
    if not good:
        print(f"a request that should have been refused was not, or a sum differs (nodes booked: {sorted(accounts)})", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
