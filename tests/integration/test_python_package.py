"""The Python package: its own tests, its example with a real agent, and its client against a real server."""
import json
import os
import re
import subprocess
import sys
import time

from support.agent import Agent
from support.server import ROOT, SLOW, clean_environment

PACKAGE = os.path.join(ROOT, "python")


def run_python(*arguments, cwd=PACKAGE, timeout=120):
    environment = clean_environment({"PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"})
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout * SLOW, check=False)


def test_its_own_tests_pass():
    told = run_python("-m", "unittest", "discover", "-s", "tests", "-t", "tests")
    assert told.returncode == 0, told.stderr
    assert int(re.search(r"Ran (\d+) tests", told.stderr).group(1)) >= 30


def test_the_example_measures_with_the_agent_and_its_file_is_predicted(tidewatt, server, tmp_path):
    agent = Agent(tmp_path / "agent", f"http://127.0.0.1:{server.port}", server.agent_token).start()
    try:
        deadline = time.monotonic() + 20 * SLOW
        while True:
            try:
                if "tidewatt_agent_device_power_watts" in agent.get("/metrics")[1]:
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline, "the agent shows no power"
            time.sleep(0.05)
        epochs = tmp_path / "epochs.csv"
        told = run_python("examples/train.py", "--epochs", "6", "--samples", "20000", "--port", "0", "--agent", f"http://127.0.0.1:{agent.port}", "--csv", str(epochs))
    finally:
        agent.stop()
    assert told.returncode == 0, told.stderr
    rows = epochs.read_text().splitlines()
    assert rows[0] == "epoch,energy_j,seconds" and len(rows) == 7
    assert all(float(row.split(",")[1]) > 0 and float(row.split(",")[2]) > 0 for row in rows[1:]), rows
    said = subprocess.run([tidewatt, "predict", "--epochs", str(epochs), "--train", "5", "--horizon", "10", "--json"], capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["predicted_energy_j"] > 0


def test_without_an_agent_the_example_runs_and_energy_is_unknown(tmp_path):
    epochs = tmp_path / "epochs.csv"
    told = run_python("examples/train.py", "--epochs", "2", "--samples", "100", "--port", "0", "--agent", "http://127.0.0.1:9", "--csv", str(epochs))
    assert told.returncode == 0, told.stderr
    assert "energy unknown: the agent at http://127.0.0.1:9 does not answer" in told.stdout
    assert [row.split(",")[1] for row in epochs.read_text().splitlines()[1:]] == ["", ""]


def test_the_client_registers_lists_and_is_refused_in_the_server_s_words(server):
    script = """
import sys
from tidewatt import Client, TidewattError
client = Client(sys.argv[1], token_file=sys.argv[2])
client.register_task("py-1", team="search", kind="training")
client.task_event("py-1", "started")
print([task["task_id"] for task in client.tasks(range="24h")], list(client.nodes()))
try:
    client.node_energy("nowhere")
except TidewattError as error:
    print(error.status, error.code)
try:
    Client(sys.argv[1], "wrong").task_energy("py-1")
except TidewattError as error:
    print(error.status)
"""
    told = run_python("-c", script, f"http://127.0.0.1:{server.port}", f"{server.data}/ops.token")
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert lines[0].endswith("[]") and lines[1].startswith("404 ") and lines[2] == "401"
