"""The same device samples as heartbeats for Tidewatt and as remote_write requests for its peers, built beforehand."""
import ctypes
import ctypes.util
import json
import struct
from datetime import datetime, timezone

DEVICES = 8
BEATS_A_REQUEST = 100
PERIOD_MS = 20_000


def milliwatts(node, round_number, device):
    """Power that differs by node, device and time, so that no store can fold it away."""
    return 300_000 + (node * 7919 + round_number * 104_729 + device * 1_299_709) % 400_000


def rfc3339(at_ms):
    return datetime.fromtimestamp(at_ms / 1000, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def beat(node, round_number, at_ms):
    devices = [
        {"index": d, "uuid": f"GPU-{node:06d}-{d}", "vendor": "nvidia", "model": "H100", "metrics_available": ["power", "util"],
         "power_watts": milliwatts(node, round_number, d) / 1000, "power_limit_watts": 700, "util": 0.97, "source": "nvml",
         "quality": "measured", "holders": [{"task_id": f"train-{node // 8}", "state": "running"}]}
        for d in range(DEVICES)]
    return {"schema": "v1", "cluster": "bench", "node_id": f"node-{node:06d}", "boot_id": f"boot-{node:06d}",
            "agent_id": f"agent-{node:06d}", "agent_version": "0.1.0", "seq": round_number + 1, "sampled_at": rfc3339(at_ms),
            "monotonic_ms": 1_000_000 + round_number * PERIOD_MS, "zone": "bench", "cpu": {"util": 0.31, "cores": 64},
            "gpu_stats": devices}


def expected_microjoules(nodes, rounds):
    """Exact energy of all nodes: the first beat only sets the start."""
    return sum(milliwatts(n, r, d) * PERIOD_MS for n in range(nodes) for r in range(1, rounds) for d in range(DEVICES))


def beat_requests(nodes, rounds, start_ms):
    """requests[group] = the bodies of one group of nodes, in order."""
    groups = []
    for first in range(0, nodes, BEATS_A_REQUEST):
        members = range(first, min(nodes, first + BEATS_A_REQUEST))
        groups.append([json.dumps([beat(n, r, start_ms + r * PERIOD_MS) for n in members], separators=(",", ":")).encode()
                       for r in range(rounds)])
    return groups


# -- remote_write 1.0: snappy block of a protobuf WriteRequest --------------------------------------------------------
def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def label(name, value):
    return field(1, field(1, name.encode()) + field(2, value.encode()))


def series_labels(node, device):
    """Sorted by name, as the protocol asks."""
    pairs = (("__name__", "gpu_power_watts"), ("cluster", "bench"), ("gpu", str(device)), ("instance", f"node-{node:06d}"),
             ("model", "H100"), ("source", "nvml"), ("task", f"train-{node // 8}"), ("uuid", f"GPU-{node:06d}-{device}"))
    return b"".join(label(name, value) for name, value in pairs)


def snappy_compressor():
    name = ctypes.util.find_library("snappy") or "libsnappy.so.1"
    library = ctypes.CDLL(name)
    library.snappy_max_compressed_length.restype = ctypes.c_size_t
    library.snappy_max_compressed_length.argtypes = [ctypes.c_size_t]

    def compress(data):
        size = ctypes.c_size_t(library.snappy_max_compressed_length(len(data)))
        out = ctypes.create_string_buffer(size.value)
        if library.snappy_compress(data, ctypes.c_size_t(len(data)), out, ctypes.byref(size)) != 0:
            raise RuntimeError("snappy_compress failed")
        return out.raw[:size.value]

    return compress


def remote_write_requests(nodes, rounds, start_ms):
    compress = snappy_compressor()
    groups = []
    for first in range(0, nodes, BEATS_A_REQUEST):
        members = range(first, min(nodes, first + BEATS_A_REQUEST))
        known = [(n, d, series_labels(n, d)) for n in members for d in range(DEVICES)]
        bodies = []
        for r in range(rounds):
            at = varint(1 << 3 | 1), varint(2 << 3) + varint(start_ms + r * PERIOD_MS)
            request = bytearray()
            for n, d, labels in known:
                sample = at[0] + struct.pack("<d", milliwatts(n, r, d) / 1000) + at[1]
                request += field(1, labels + field(2, sample))
            bodies.append(compress(bytes(request)))
        groups.append(bodies)
    return groups
