"""Beats with known integers, and the exact energy they must add up to."""
import time
from datetime import datetime, timezone

PERIOD_MS = 20_000


def rfc3339(at_ms):
    return datetime.fromtimestamp(at_ms / 1000, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_ms():
    return int(time.time() * 1000)


class NodeScript:
    """The beats of one node: constant period, powers that differ by device and beat.

    expected_uj(n) is the energy of the first n beats: mW x ms = uJ, the first beat only sets the start.
    """

    def __init__(self, node_id, beats, devices=2, start_ms=None, period_ms=PERIOD_MS, task=True, salt=0, cluster="default", **extra):
        self.node_id, self.devices, self.period_ms = node_id, devices, period_ms
        self.cluster = cluster
        self.start_ms = start_ms if start_ms is not None else now_ms() - beats * period_ms - 60_000
        self.count, self.task, self.salt, self.extra = beats, task, salt, extra

    def milliwatts(self, beat, device):
        return 100_000 + (beat * 7919 + device * 104_729 + self.salt * 31) % 300_000

    def task_id(self, device):
        return f"{self.node_id}-task-{device}"

    def beat(self, i):
        devices = []
        for d in range(self.devices):
            device = {"index": d, "uuid": f"{self.node_id}-GPU-{d}", "vendor": "nvidia", "model": "H100",
                      "metrics_available": ["power"], "power_watts": self.milliwatts(i, d) / 1000, "source": "nvml",
                      "quality": "measured", "holders": []}
            if self.task:
                device["holders"] = [{"task_id": self.task_id(d), "state": "running"}]
            devices.append(device)
        return {"schema": "v1", "cluster": self.cluster, "node_id": self.node_id, "boot_id": f"boot-{self.node_id}",
                "agent_id": "agent-1", "agent_version": "0.1.0", "seq": i + 1,
                "sampled_at": rfc3339(self.start_ms + i * self.period_ms), "monotonic_ms": 5_000_000 + i * self.period_ms,
                "zone": "test", "gpu_stats": devices, **self.extra}

    def beats(self):
        return [self.beat(i) for i in range(self.count)]

    def expected_uj(self, beats=None):
        return sum(self.expected_device_uj(d, beats) for d in range(self.devices))

    def expected_device_uj(self, device, beats=None):
        last = self.count if beats is None else beats
        return sum(self.milliwatts(i, device) * self.period_ms for i in range(1, last))


def chunks(items, size):
    return [items[i:i + size] for i in range(0, len(items), size)]
