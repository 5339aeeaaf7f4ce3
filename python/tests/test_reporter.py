import os
import sys
import tempfile
import types
import unittest
import urllib.error
import urllib.request
from unittest import mock

from fakes import Loopback, ScriptedMeter, counter
from tidewatt import Client, EpochReporter, MeterError, hooks


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def values(text):
    return {line.split("{")[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")}


class EpochReporterTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()

    def reporter(self, **options):
        options.setdefault("port", None)
        reporter = EpochReporter("job-1", clock=self.clock, **options)
        self.addCleanup(reporter.close)
        return reporter

    def test_metrics_tell_epoch_total_energy_and_step_latency(self):
        reporter = self.reporter(epochs_total=3, meter=ScriptedMeter(counter(0.0, 0.0), counter(0.0, 10.0), counter(1.0, 110.0), counter(2.0, 310.0)))
        for number in reporter.epochs():
            with reporter.step():
                self.clock.now += 0.5
            self.clock.now += 1.5
            if number == 2:
                break
        self.assertEqual(reporter.rows[0].energy_joules, 100.0)
        reporter.finish_epoch(2)
        self.assertEqual(values(reporter.metrics()), {"tidewatt_task_epoch": 2.0, "tidewatt_task_epochs_total": 3.0, "tidewatt_task_energy_joules_total": 300.0,
                                                      "tidewatt_task_step_latency_seconds": 0.5})
        self.assertIn('tidewatt_task_epoch{task_id="job-1"} 2.0\n', reporter.metrics())

    def test_what_is_not_known_has_no_line(self):
        reporter = self.reporter()
        reporter.finish_epoch()
        self.assertEqual(values(reporter.metrics()), {"tidewatt_task_epoch": 1.0})

    def test_one_unknown_epoch_makes_the_sum_unknown(self):
        reporter = self.reporter()
        reporter.finish_epoch(energy_joules=5.0)
        self.assertEqual(values(reporter.metrics())["tidewatt_task_energy_joules_total"], 5.0)
        reporter.finish_epoch()
        reporter.finish_epoch(energy_joules=5.0)
        self.assertNotIn("tidewatt_task_energy_joules_total", values(reporter.metrics()))

    def test_labels_are_escaped_and_bad_names_refused(self):
        reporter = self.reporter(labels={"team": 'a"b\\c\nd'})
        self.assertIn('team="a\\"b\\\\c\\nd"', reporter.metrics())
        with self.assertRaisesRegex(ValueError, "is no name"):
            self.reporter(labels={"a-b": "c"})
        with self.assertRaisesRegex(ValueError, "task_id is empty"):
            EpochReporter("", port=None)

    def test_serves_metrics_and_nothing_else(self):
        reporter = self.reporter(port=0, host="127.0.0.1")
        with urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/metrics", timeout=10) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            self.assertIn("tidewatt_task_epoch", answer.read().decode())
        with self.assertRaises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/etc/passwd", timeout=10)
        raised.exception.close()
        self.assertEqual(raised.exception.code, 404)

    def test_a_taken_port_stops_no_training(self):
        first = self.reporter(port=0, host="127.0.0.1")
        with self.assertLogs("tidewatt", "WARNING") as logged:
            second = self.reporter(port=first.port, host="127.0.0.1")
        self.assertIsNone(second.port)
        self.assertIn("training goes on", logged.output[0])

    def test_posts_progress_and_logs_a_change_of_state_once(self):
        status = [204]
        with Loopback({"POST /api/v1/tasks/job-1/progress": lambda _: (status[0], "", "text/plain")}) as server:
            reporter = self.reporter(epochs_total=9, client=Client(server.url))
            reporter.finish_step(0.25)
            reporter.finish_epoch(energy_joules=7.0)
            self.assertEqual(server.bodies(), [{"epoch": 1, "epochs_total": 9, "energy_joules_total": 7.0, "step_latency_seconds": 0.25}])
            with self.assertLogs("tidewatt") as logged:
                status[0] = 503
                reporter.finish_epoch()
                reporter.finish_epoch()
                status[0] = 204
                reporter.finish_epoch()
        self.assertEqual([record.levelname for record in logged.records], ["WARNING", "INFO"])

    def test_a_meter_that_fails_makes_unknown_epochs(self):
        reporter = self.reporter(meter=ScriptedMeter(counter(0.0, 0.0), MeterError("gone"), counter(2.0, 5.0), counter(3.0, 9.0)))
        with self.assertLogs("tidewatt", "INFO"):
            rows = [reporter.finish_epoch() for _ in range(3)]
        self.assertEqual([row.energy_joules for row in rows], [None, None, 4.0])

    def test_writes_the_file_that_predict_reads(self):
        path = os.path.join(tempfile.mkdtemp(), "epochs.csv")
        reporter = self.reporter(csv=path)
        self.clock.now = 2.5
        reporter.finish_epoch(energy_joules=10)
        self.clock.now = 4.0
        reporter.finish_epoch()
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), "epoch,energy_j,seconds\n1,10.0,2.5\n2,,1.5\n")

    def test_nonsense_is_refused(self):
        for energy in (-1.0, float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                self.reporter().finish_epoch(energy_joules=energy)
        with self.assertRaisesRegex(ValueError, "how many epochs"):
            next(self.reporter().epochs())


class HooksTest(unittest.TestCase):
    """Against the callbacks' shapes; the frameworks themselves aren't needed."""

    def test_huggingface_epochs_and_steps_reach_the_reporter(self):
        library = types.ModuleType("transformers")
        library.TrainerCallback = type("TrainerCallback", (), {})
        reporter = EpochReporter("job", port=None)
        with mock.patch.dict(sys.modules, {"transformers": library}):
            callback = hooks.huggingface(reporter)
        callback.on_train_begin(None, None, None)
        callback.on_step_begin(None, None, None, model=None)
        callback.on_step_end(None, None, None)
        callback.on_epoch_end(None, None, None)
        self.assertEqual(values(reporter.metrics())["tidewatt_task_epoch"], 1.0)
        self.assertIn("tidewatt_task_step_latency_seconds", reporter.metrics())

    def test_lightning_epochs_and_steps_reach_the_reporter(self):
        library = types.ModuleType("pytorch_lightning")
        library.Callback = type("Callback", (), {})
        reporter = EpochReporter("job", port=None)
        with mock.patch.dict(sys.modules, {"lightning": None, "lightning.pytorch": None, "pytorch_lightning": library}):
            callback = hooks.lightning(reporter)
        callback.on_train_start(None, None)
        callback.on_train_batch_start(None, None, None, 0)
        callback.on_train_batch_end(None, None, None, None, 0)
        callback.on_train_epoch_end(None, None)
        self.assertEqual(values(reporter.metrics())["tidewatt_task_epoch"], 1.0)


if __name__ == "__main__":
    unittest.main()
