#!/usr/bin/env python3
"""Runs a command beside a demo that has data: with_demo.py TIDEWATT COMMAND...

The command finds the demo by $TIDEWATT_URL, an operator's token in $TOKEN, and the login link in $LOGIN_LINK.
"""
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

from demo_once import Demo, wait_for_data


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="tidewatt-demo-") as folder:
        demo = Demo([sys.argv[1], "demo", "--port", "0", "--data", folder])
        try:
            problem = wait_for_data(demo, time.monotonic() + 90)
            if problem:
                print(f"with_demo: {problem}", file=sys.stderr)
                return 1
            link = urllib.parse.urlsplit(demo.link)
            with open(os.path.join(folder, "ops.token"), encoding="ascii") as file:
                token = file.read().strip()
            found = {"TIDEWATT_URL": f"http://{link.netloc}", "TOKEN": token, "LOGIN_LINK": demo.link}
            return subprocess.run(sys.argv[2:], env={**os.environ, **found}, check=False).returncode
        finally:
            demo.stop()


if __name__ == "__main__":
    sys.exit(main())
