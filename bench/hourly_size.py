#!/usr/bin/env python3
"""How large hourly rows are on disk: hourly_size.py [--nodes N] [--days N]

The server makes an empty ledger, rows are written in the order in which booking writes them (hour by hour, all accounts), and the
file is measured before and after. Values are those of a node of eight 400 W devices with counters, sampled every 20 s.
"""
import argparse
import os
import random
import sqlite3
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
os.environ.setdefault("TIDEWATT_BIN", os.path.join(ROOT, "build", "fast", "bin"))
from support.server import Server  # noqa: E402

HOUR_MS, START = 3_600_000, 490_000
FLEET, HOURS = 10_000, 5 * 8766


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, default=200)
    options.add_argument("--days", type=int, default=60)
    asked = options.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="tidewatt-size-") as folder:
        server = Server(os.path.join(folder, "s")).start()
        server.stop()
        path = os.path.join(folder, "s", "tidewatt.db")
        ledger = sqlite3.connect(path)
        ledger.execute("PRAGMA journal_mode=DELETE")
        ledger.execute("PRAGMA synchronous=OFF")
        ledger.execute("PRAGMA cache_size=-500000")
        before = os.path.getsize(path)
        accounts = asked.nodes * 9  # the node and its devices
        rows = 0
        for hour in range(START, START + asked.days * 24):
            batch = []
            for account in range(accounts):
                node = account % 9 == 0
                energy = int(rng.uniform(200, 400) * (8 if node else 1) * HOUR_MS * 1000)
                batch.append((account, hour, energy, energy, 0, energy // 20 if node else 0, 0, 0, HOUR_MS, 0, 0, 0, 180))
            ledger.executemany("INSERT INTO energy_hourly VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", batch)
            ledger.commit()
            rows += len(batch)
        ledger.close()
        size = (os.path.getsize(path) - before) / rows
    gigabytes = lambda rows_each: FLEET * HOURS * rows_each * size / 1e9  # noqa: E731
    print(f"{rows:,} hourly rows of {asked.nodes} nodes with 8 devices: {size:.1f} bytes a row")
    print(f"5 years of {FLEET:,} nodes: {gigabytes(1):.0f} GB of node rows; {gigabytes(9):.0f} GB with the rows of 8 devices each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
