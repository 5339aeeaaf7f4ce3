"""What measuring costs on a node: the agent with eight cards, two CPU packages and 200 cgroups at 1 s, beside node_exporter.

Both read the same fake machine (tests/data/nodes): its RAPL zones and hwmon sensors. The agent reads eight cards by a stand-in for
NVML besides, and 200 cgroups once a beat; node_exporter runs its default collectors.
"""
import os
import subprocess
import tempfile
import time
import urllib.request

import load
import peers
from support.agent import Agent
from support.fake_node import FakeNode
from support.server import Server

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CARDS = 8
CGROUPS = 200
MACHINE = "xeon-2s"


def fake_nvml(folder):
    source = os.path.join(ROOT, "libs", "sensors", "tests", "fake_nvml.cc")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-shared", "-fPIC", "-pthread", source, "-o",
                    os.path.join(folder, "libnvidia-ml.so.1")], check=True, timeout=300)


def cgroups(root):
    """A tree as systemd and Kubernetes make it: 200 pods with a container each."""
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    write(os.path.join(root, "cgroup.controllers"), "cpu memory\n")
    write(os.path.join(root, "cpu.stat"), "usage_usec 9000000000\n")
    for n in range(CGROUPS // 2):
        pod = os.path.join(root, "kubepods.slice", f"kubepods-pod{n:08x}_1111_2222_3333_{n:012x}.slice")
        for folder in (pod, os.path.join(pod, f"cri-containerd-{n:064x}.scope")):
            write(os.path.join(folder, "cpu.stat"), f"usage_usec {1_000_000 + n}\nuser_usec 0\nsystem_usec 0\n")
            write(os.path.join(folder, "cgroup.procs"), "")


def reaped_cpu_ticks(pid):
    """CPU of children that ended: any fork that came and went would show, as would its pid in `children`."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[13]) + int(fields[14])


def proportional_mib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024


def all_children(pid):
    """Of any thread of the process."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += [int(child) for child in file.read().split()]
    return sorted(found)


def measure_agent(folder, seconds, node):
    libraries = os.path.join(folder, "lib")
    tree = os.path.join(folder, "cgroup")
    os.makedirs(libraries)
    fake_nvml(libraries)
    cgroups(tree)
    server = Server(os.path.join(folder, "server"))
    server.start()
    agent = Agent(os.path.join(folder, "agent"), f"http://127.0.0.1:{server.port}", server.agent_token, sources="nvml,rapl,hwmon",
                  beat="20s", interval="1s", flags=["--host-root", node.host_root, "--attribution-cgroup-root", tree],
                  environment={"LD_LIBRARY_PATH": libraries, "FAKE_NVML_CARDS": str(CARDS)})
    agent.start()
    try:
        time.sleep(5)
        pid = agent.process.pid
        probes = all_children(pid)
        if len(probes) != 1:
            raise RuntimeError(f"expected one probe process, found {len(probes)}:\n{agent.log_tail()}")
        everybody = [pid, *probes]
        reaped = reaped_cpu_ticks(pid)
        before = sum(load.fine_cpu_seconds(one) for one in everybody)
        time.sleep(seconds)
        cpu = sum(load.fine_cpu_seconds(one) for one in everybody) - before
        _, metrics = agent.get("/metrics")
        known = sum(1 for line in metrics.splitlines() if line.startswith("tidewatt_agent_device_power_watts{"))
        if known < CARDS + 2:
            raise RuntimeError(f"only {known} devices have a power:\n{metrics}")
        if all_children(pid) != probes or reaped_cpu_ticks(pid) != reaped:
            raise RuntimeError("the agent started processes while it sampled")
        return {"cpu": cpu / seconds, "resident": load.resident_mib(pid), "probe": load.resident_mib(probes[0]),
                "proportional": sum(proportional_mib(one) for one in everybody), "devices": known}
    finally:
        agent.stop()
        server.finish()


def measure_node_exporter(folder, scrapes, node):
    with peers.node_exporter(folder, [f"--path.sysfs={node.root}"]) as peer:
        url = f"http://127.0.0.1:{peer.port}/metrics"
        text = urllib.request.urlopen(url, timeout=10).read().decode()
        if "node_rapl_package_joules_total" not in text:
            raise RuntimeError("node_exporter doesn't read the fake machine's RAPL")
        before = load.fine_cpu_seconds(peer.pid)
        for _ in range(scrapes):
            urllib.request.urlopen(url, timeout=10).read()
            time.sleep(0.2)
        return {"cpu": (load.fine_cpu_seconds(peer.pid) - before) / scrapes, "resident": load.resident_mib(peer.pid)}


def run(seconds):
    """CPU seconds per sample round and per scrape, and resident memory; node_exporter only where it is installed."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="agent-bench-", dir=os.path.join(ROOT, "build")) as folder:
        with FakeNode(os.path.join(folder, "host"), MACHINE) as node:
            # Its /sys is made up; whose the card's processes are is asked of this machine.
            os.symlink("/proc", os.path.join(node.host_root, "proc"))
            found["agent"] = measure_agent(folder, seconds, node)
            if peers.which("prometheus-node-exporter"):
                found["node_exporter"] = measure_node_exporter(folder, seconds, node)
    return found


def lines(found):
    """The section of the report."""
    agent = found["agent"]
    rows = [["tidewatt-agent and its probe process, one sample round", f"{agent['cpu'] * 1000:.2f} ms",
             f"{agent['resident']:.1f} + {agent['probe']:.1f} MiB (proportional share together: {agent['proportional']:.1f} MiB)"]]
    note = ""
    if "node_exporter" in found:
        peer = found["node_exporter"]
        rows.append(["prometheus-node-exporter, one scrape", f"{peer['cpu'] * 1000:.2f} ms", f"{peer['resident']:.1f} MiB"])
        note = f" A sample round took {agent['cpu'] / peer['cpu']:.3f} of a scrape's CPU (target: a third at most)."
    text = (f"{agent['devices']} devices with a power: {CARDS} cards by a stand-in for NVML, CPU packages and memory by RAPL, the board by hwmon; {CGROUPS} cgroups are looked at once a beat (20 s). "
            "Both programs read the same fake machine; a real vendor library adds its own time. The agent's figure includes making, spooling and sending the beats; "
            f"it started no process while it sampled.{note}")
    return rows, text
