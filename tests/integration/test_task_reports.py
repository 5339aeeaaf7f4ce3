"""A training job reports to a real server: its prediction appears with the fifth epoch and is judged at the end."""
import os
import subprocess
import sys

from support.http_client import Client
from support.server import ROOT

sys.path.insert(0, os.path.join(ROOT, "python"))
import tidewatt  # noqa: E402


def test_prediction_appears_after_five_epochs_and_its_error_at_the_end(shared_server):
    ops = Client(shared_server.port, shared_server.ops_token)
    client = tidewatt.Client(f"http://127.0.0.1:{shared_server.port}", shared_server.agent_token)
    with tidewatt.EpochReporter("bert-42", epochs_total=20, port=None, client=client) as reporter:
        for epoch in range(1, 21):
            reporter.finish_epoch(epoch, energy_joules=1500.0 if epoch == 1 else 1000.0 + epoch % 3)
            task = ops.get("/api/v1/tasks/bert-42").json()
            assert task["progress"]["epoch"] == epoch
            if epoch < 5:
                assert (task["prediction"], task["prediction_reason"]) == (None, "too_few_epochs")
            elif epoch < 20:
                low, high = task["prediction"]["interval_90_joules"]
                assert low <= task["prediction"]["energy_joules"] <= high
                assert task["prediction"]["epochs"] == 20 - epoch
    assert task["prediction_reason"] == "all_epochs_done"
    first = task["first_prediction"]
    assert first["trained_epochs"] == 5 and first["epochs"] == 15
    assert abs(first["error_percent"]) < 1
    assert first["in_interval"]


def test_a_report_that_comes_twice_counts_once_and_outlives_the_server(server):
    client = tidewatt.Client(f"http://127.0.0.1:{server.port}", server.agent_token)
    assert client.request("POST", "/tasks/t1/progress", {"epoch": 1, "energy_joules_total": 5.0}) == {"status": "accepted"}
    assert client.request("POST", "/tasks/t1/progress", {"epoch": 1, "energy_joules_total": 9.0}) == {"status": "duplicate"}
    server.stop()
    server.start()
    progress = Client(server.port, server.ops_token).get("/api/v1/tasks/t1").json()["progress"]
    assert progress["energy_joules_total"] == 5.0


def test_the_example_trainer_reports_to_a_server(shared_server):
    script = os.path.join(ROOT, "python", "examples", "train.py")
    done = subprocess.run([sys.executable, script, "--epochs", "6", "--samples", "50", "--port", "0", "--agent", "http://127.0.0.1:1",
                           "--server", f"http://127.0.0.1:{shared_server.port}"],
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "TIDEWATT_TOKEN": shared_server.agent_token},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    task = Client(shared_server.port, shared_server.ops_token).get("/api/v1/tasks/example-fit").json()
    assert task["progress"]["epoch"] == 6
    assert task["progress"]["energy_joules_total"] is None, "without an agent the energy is unknown, not 0"
