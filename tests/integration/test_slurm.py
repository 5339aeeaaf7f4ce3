"""A real Slurm, with the hook, the server and an agent with a replayed meter on each node. Ten seconds play an hour (360 times as
fast): the signal is 500 g/kWh, and 50 in the hours 3 to 9 of the trial."""
import datetime
import json
import os
import re
import subprocess
import time

import pytest

from support.agent import Agent
from support.http_client import Client
from support.server import SLOW, Server, binary, clean_environment
from support.slurm_cluster import SlurmCluster, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")

SPEED = 360
HOUR = 3600 / SPEED
CLEAN = (3, 9)
TRIAL_BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
WATTS = {"n1": 210, "n2": 330, "n3": 120}
BURN = "timeout {seconds} sh -c 'while :; do :; done'; exit 0"


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Trial:
    """A trial that begins now, on a clock of its own."""

    def __init__(self, folder, clean=CLEAN):
        self.origin = time.time()
        self.signal = os.path.join(str(folder), "ci.csv")
        with open(self.signal, "w", encoding="ascii") as file:
            file.write("time,gco2_per_kwh\n")
            for hour in range(96):
                value = 50 if clean[0] <= hour < clean[1] else 500
                file.write(f"{(TRIAL_BEGIN + datetime.timedelta(hours=hour)).isoformat()},{value}\n")
        self.flags = ["--signal", self.signal, "--trial-clock", f"2026-01-01T00:00:00Z@{SPEED}", "--trial-since", rfc3339(self.origin)]

    def at(self, hour):
        return self.origin + hour * HOUR


def run(*words):
    done = subprocess.run([binary("tidewatt"), "slurm", *words], env=clean_environment(), capture_output=True, text=True, timeout=60 * SLOW)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Meters:
    """An agent on each node: a replayed meter for its packages, and the cgroups of its own slurmd."""

    def __init__(self, folder, cluster, server):
        self.agents, self.mounts = [], []
        for node in cluster.nodes:
            log = os.path.join(str(folder), f"{node}.csv")
            with open(log, "w", encoding="ascii") as file:
                file.write("t_ms,node,meter,watts\n")
                for i in range(1200):
                    file.write(f"{1_700_000_000_000 + i * 500},{node},cpu_package,{WATTS[node] + i % 7}\n")
            root = os.path.join(str(folder), f"cgroup-{node}")
            below = os.path.join(root, "cpuacct", f"slurm_{node}")
            os.makedirs(below)
            subprocess.run(["mount", "--bind", f"/sys/fs/cgroup/cpuacct/slurm_{node}", below], check=True)
            self.mounts.append(below)
            self.agents.append(Agent(os.path.join(str(folder), f"agent-{node}"), f"http://127.0.0.1:{server.port}", server.agent_token,
                                     node_id=node, sources=f"replay:{log}", flags=("--attribution-cgroup-root", root)).start())

    def stop(self):
        codes = [agent.stop() for agent in self.agents]
        for mount in self.mounts:
            subprocess.run(["umount", mount], check=False)
        self.mounts = []
        return codes


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture
def meters(tmp_path, cluster):
    server = Server(tmp_path / "server").start()
    # A cgroup of Slurm's own is there once a node ran its first job.
    for node in cluster.nodes:
        cluster.wait_for(cluster.submit("-t1", "-w", node), "COMPLETED")
    made = Meters(tmp_path, cluster, server)
    made.server = server
    yield made
    made.stop()
    server.finish()


def booked(server, seconds=20):
    """The accounts of nodes and tasks, once nothing more comes."""
    client, before = Client(server.port, server.ops_token), None
    deadline = time.monotonic() + seconds * SLOW
    while True:
        now = {scope: {a["id"]: a for a in client.get_json(f"/api/v1/energy/accounts?scope={scope}")["accounts"]} for scope in ("node", "task")}
        if now == before and now["node"]:
            return now
        assert time.monotonic() < deadline
        before = now
        time.sleep(1)


def test_jobs_wait_for_the_clean_window_and_their_energy_adds_up(cluster, meters, tmp_path):
    trial = Trial(tmp_path)
    run("sync", "--once", "--table", cluster.table, *trial.flags)
    time.sleep(1.1)  # the hook looks once a second here
    submitted = time.time()
    daily = cluster.submit("-t1", "-w", "n1", comment="carbon:daily", script=BURN.format(seconds=6))
    immediate = cluster.submit("-t1", "-w", "n2", comment="carbon:immediate", script=BURN.format(seconds=6))
    silent = cluster.submit("-t1", "-w", "n3", script=BURN.format(seconds=6))
    chosen = cluster.submit("-t1", "-w", "n3", "--begin=now+1", comment="carbon:daily", script=BURN.format(seconds=3))
    meters.server.kill()  # whatever follows needs no server
    blind = cluster.submit("-t1", "-w", "n2", comment="carbon:weekly", script=BURN.format(seconds=6))
    for job in (immediate, silent, chosen):
        cluster.wait_for(job, "RUNNING", "COMPLETED")
        assert int(cluster.job(job)["StartTime"]) - submitted < 8 * SLOW
    for job in (daily, blind):
        waiting = cluster.job(job)
        assert waiting["JobState"] == "PENDING" and waiting["AdminComment"] == "tidewatt"
        assert abs(int(waiting["EligibleTime"]) - trial.at(CLEAN[0])) <= 1
    meters.server.start()
    for job in (daily, immediate, silent, chosen, blind):
        cluster.wait_for(job, "COMPLETED", seconds=90)
    for job in (daily, blind):
        started = int(cluster.job(job)["StartTime"])
        assert int(trial.at(CLEAN[0])) - 1 <= started <= trial.at(CLEAN[0]) + 5 * SLOW

    time.sleep(3)
    assert meters.stop() == [0, 0, 0]
    accounts = booked(meters.server)
    nodes = {name: accounts["node"][name] for name in cluster.nodes}
    tasks = {name: int(a["energy_uj"]) for name, a in accounts["task"].items()}
    whole = sum(int(a["energy_uj"]) for a in nodes.values())
    assert whole > 0 and sum(tasks.values()) + sum(int(a["unattributed_uj"]) for a in nodes.values()) == whole
    jobs = (daily, immediate, silent, chosen, blind)
    assert {f"slurm/{job}" for job in jobs} <= set(tasks)
    assert all(tasks[f"slurm/{job}"] > 0 for job in jobs)

    said = json.loads(run("report", "--accounting-file", cluster.completions, "--json", "--server", f"http://127.0.0.1:{meters.server.port}",
                          "--token-file", os.path.join(meters.server.data, "ops.token"), *trial.flags))
    of = {one["job"]: one for one in said["jobs"]}
    for job in jobs:
        assert int(of[job]["energy_uj"]) == tasks[f"slurm/{job}"]
        assert re.match(r"[\d.]+ (Wh|kWh)", of[job]["receipt"]), of[job]
    assert "90 % under run-now" in of[daily]["receipt"]
    assert of[daily]["mean_ci_g_per_kwh"] == pytest.approx(50) and of[daily]["run_now_ci_g_per_kwh"] == pytest.approx(500)
    assert of[daily]["saved_g"] == pytest.approx(9 * of[daily]["carbon_g"])
    assert of[daily]["waited_seconds"] > 20
    assert of[immediate]["saved_g"] == pytest.approx(0, abs=1e-9)
    table = run("report", "--accounting-file", cluster.completions, "--job", daily, "--server", f"http://127.0.0.1:{meters.server.port}",
                "--token-file", os.path.join(meters.server.data, "ops.token"))
    assert "—" in table.splitlines()[1]  # no signal is named: what was saved isn't known


def test_hook_inside_slurmctld_takes_50_microseconds(cluster, tmp_path):
    trial = Trial(tmp_path)
    run("sync", "--once", "--table", cluster.table, *trial.flags)
    time.sleep(1.1)
    before = len(re.findall(r"hook_us=(-?\d+)", cluster.log_text()))
    jobs = [cluster.submit("-t1", comment="carbon:daily") for _ in range(60)]
    cluster.call("scancel", *jobs)
    costs = sorted(int(us) for us in re.findall(r"hook_us=(-?\d+)", cluster.log_text())[before:])
    assert len(costs) == 60
    # The clock counts all threads of slurmctld, and each call comes to cold caches: the middle one is the hook's.
    print(f"hook in slurmctld: median {costs[30]} us, p95 {costs[57]} us, most {costs[-1]} us of CPU time")
    assert costs[30] <= 50 * SLOW


def test_without_a_table_jobs_start_at_once(cluster, tmp_path):
    for text in (None, "rubbish", f"tidewatt-slurm/1 made=1 expires={int(time.time()) - 1}\nend.\n"):
        if os.path.exists(cluster.table):
            os.unlink(cluster.table)
        if text is not None:
            cluster.write("windows.table", text)
        time.sleep(1.1)
        job = cluster.submit("-t1", comment="carbon:daily")
        cluster.wait_for(job, "COMPLETED", seconds=15)


def controller_flags(cluster, trial, tmp_path):
    return ["--once", "--json", "--slurm-conf", cluster.conf, "--state", str(tmp_path / "controller.json"), "--min-run", "1s", *trial.flags]


def test_controller_delays_without_the_hook_and_keeps_a_deadline(cluster, tmp_path):
    if os.path.exists(cluster.table):
        os.unlink(cluster.table)
    time.sleep(1.1)
    # All CPUs are taken, so that the others wait in the queue as on a busy cluster.
    holders = [cluster.submit("-t2", "-w", node, "--exclusive", script="sleep 60") for node in cluster.nodes]
    for job in holders:
        cluster.wait_for(job, "RUNNING")
    trial = Trial(tmp_path, clean=(8, 14))
    waits = cluster.submit("-t1", comment="carbon:daily")
    dies = cluster.submit("-t1", "--deadline=now+2minutes", comment="carbon:daily")
    asked = cluster.submit("-t1", "--hold", comment="carbon:daily")
    flags = controller_flags(cluster, trial, tmp_path)
    assert f'"job":"{waits}"' in run("controller", "--dry-run", *flags) and cluster.job(waits)["Reason"] != "BeginTime"
    run("controller", *flags)
    assert abs(int(cluster.job(waits)["EligibleTime"]) - trial.at(8)) <= 2
    # By its deadline less its length: later, Slurm would remove it.
    assert int(cluster.job(dies)["EligibleTime"]) + 60 <= int(cluster.job(dies)["Deadline"])
    assert cluster.job(asked)["Reason"] == "JobHeldUser"
    # The signal goes: what was decided stays, in Slurm itself.
    os.rename(trial.signal, trial.signal + ".gone")
    assert run("controller", *flags) == ""
    assert abs(int(cluster.job(waits)["EligibleTime"]) - trial.at(8)) <= 2
    cluster.call("scancel", *holders, waits, dies, asked)


def test_controller_requeues_and_survives_its_death(cluster, tmp_path):
    if os.path.exists(cluster.table):
        os.unlink(cluster.table)
    time.sleep(1.1)
    trial = Trial(tmp_path, clean=(4, 10))
    job = cluster.submit("-t1", "--requeue", comment="carbon:daily:requeue", script="sleep 20")
    plain = cluster.submit("-t1", "--requeue", comment="carbon:daily", script="sleep 20")
    cluster.wait_for(job, "RUNNING")
    time.sleep(2)
    flags = controller_flags(cluster, trial, tmp_path)
    # One round is one process: it is gone between holding the job and letting it go.
    assert '"action":"requeue_hold"' in run("controller", *flags)
    held = cluster.wait_for(job, "PENDING", "REQUEUE_HOLD")
    assert held["Priority"] == "0" and held["Restarts"] == "1"
    assert json.loads((tmp_path / "controller.json").read_text())["jobs"][job]["stage"] == "requeueing"
    cluster.until(lambda: '"action":"release"' in run("controller", *flags), "it is never released")
    freed = cluster.job(job)
    assert freed["Priority"] != "0" and abs(int(freed["EligibleTime"]) - trial.at(4)) <= 2
    assert cluster.job(plain)["Restarts"] == "0"
    started = int(cluster.wait_for(job, "RUNNING")["StartTime"])
    assert int(trial.at(4)) - 1 <= started <= trial.at(4) + 5 * SLOW
    cluster.call("scancel", job, plain)


def test_slurmctld_that_is_gone_is_said_in_one_line(cluster, tmp_path):
    trial = Trial(tmp_path)
    flags = controller_flags(cluster, trial, tmp_path)
    broken = tmp_path / "slurm.conf"
    broken.write_text("ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nAuthType=auth/none\nMessageTimeout=2\nNodeName=x\n")
    flags[flags.index(cluster.conf)] = str(broken)
    done = subprocess.run([binary("tidewatt"), "slurm", "controller", *flags], env=clean_environment(), capture_output=True, text=True, timeout=90)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "squeue" in done.stderr
