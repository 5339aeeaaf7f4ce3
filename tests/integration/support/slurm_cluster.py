"""A real Slurm on loopback: munged, slurmctld and some slurmd from Debian's packages, with a configuration of its own in a folder."""
import os
import shutil
import socket
import subprocess
import time

from .server import ROOT, SLOW, free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
HOOK = os.path.join(ROOT, "deploy", "slurm", "job_submit.lua")


def why_not():
    """Why no cluster can be started here; empty where one can."""
    if os.geteuid() != 0:
        return "slurmd needs root"
    missing = [p for p in PROGRAMS if shutil.which(p, path="/usr/bin:/usr/sbin") is None]
    if missing:
        return f"not installed: {', '.join(missing)} (tools/setup.sh test)"
    for controller in ("freezer", "cpuacct", "memory"):
        if not os.path.isdir(f"/sys/fs/cgroup/{controller}"):
            return f"no cgroup v1 {controller} at /sys/fs/cgroup"
    return ""


class SlurmCluster:
    def __init__(self, folder, nodes=("n1", "n2", "n3"), cpus=2):
        self.folder, self.nodes, self.cpus = str(folder), list(nodes), cpus
        self.conf = os.path.join(self.folder, "slurm.conf")
        self.table = os.path.join(self.folder, "windows.table")
        self.completions = os.path.join(self.folder, "jobcomp")
        self.ctld_log = os.path.join(self.folder, "slurmctld.log")
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}, "SLURM_CONF": self.conf,
                            "SLURM_TIME_FORMAT": "%s"}
        self.processes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def configure(self):
        host = socket.gethostname()
        lines = [f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={self.cpus}" for n in self.nodes]
        self.write("slurm.conf", f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.path("munge.socket")}
CredType=cred/munge
StateSaveLocation={self.path("state")}
SlurmdSpoolDir={self.path("spool-%n")}
SlurmctldPidFile={self.path("slurmctld.pid")}
SlurmdPidFile={self.path("slurmd-%n.pid")}
SlurmctldLogFile={self.ctld_log}
SlurmdLogFile={self.path("slurmd-%n.log")}
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/cgroup
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/cgroup
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobCompType=jobcomp/filetxt
JobCompLoc={self.completions}
JobSubmitPlugins=lua
KillWait=2
MailProg=/bin/true
{chr(10).join(lines)}
PartitionName=p Nodes={",".join(self.nodes)} Default=YES MaxTime=1-0 DefaultTime=10 State=UP
""")
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        # The hook as it is installed, timed from outside of it: CPU time, so that a busy machine doesn't count.
        self.write("job_submit.lua", f"""dofile("{HOOK}")
tidewatt.path = "{self.table}"
tidewatt.look_every = 1
function slurm_job_submit(job_desc, part_list, submit_uid)
  local before = os.clock()
  local begin = os.clock()  -- what the clock itself takes is taken off
  local result = tidewatt.submit(job_desc, part_list, submit_uid)
  slurm.log_info("hook_us=%d", (os.clock() - begin - (begin - before)) * 1e6)
  return result
end
return slurm.SUCCESS
""")
        for name in ("state", *(f"spool-{n}" for n in self.nodes)):
            os.makedirs(self.path(name), exist_ok=True)
        with open(self.path("munge.key"), "wb") as file:
            file.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o600)

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        self.configure()
        munge = ["munged", "-F", "--force", "--num-threads=2"]
        for option, name in (("key-file", "munge.key"), ("socket", "munge.socket"), ("log-file", "munged.log"), ("pid-file", "munged.pid"),
                             ("seed-file", "munge.seed")):
            munge.append(f"--{option}={self.path(name)}")
        self.launch("munged", munge)
        self.until(lambda: os.path.exists(self.path("munge.socket")), "munged has no socket")
        self.start_controller()
        for node in self.nodes:
            self.launch(f"slurmd-{node}", ["slurmd", "-D", "-N", node, "-f", self.conf])
        self.until(lambda: self.call("sinfo", "-h", "-o", "%D %t").strip() == f"{len(self.nodes)} idle", "the nodes aren't idle")
        return self

    def start_controller(self):
        self.controller = self.launch("slurmctld", ["slurmctld", "-D", "-f", self.conf])

    def launch(self, name, command):
        environment = {**self.environment, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        with open(self.path(f"{name}.err"), "ab") as errors:
            process = subprocess.Popen(command, env=environment, stdout=errors, stderr=errors)
        self.processes.append(process)
        return process

    def until(self, wanted, what, seconds=30):
        deadline = time.monotonic() + seconds * SLOW
        while not wanted():
            assert time.monotonic() < deadline, f"{what}\n{self.log_tail()}"
            time.sleep(0.1)

    def log_tail(self):
        try:
            with open(self.ctld_log, encoding="utf-8", errors="replace") as file:
                return file.read()[-3000:]
        except OSError:
            return ""

    def log_text(self):
        with open(self.ctld_log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def call(self, *command, check=False):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        assert not check or done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def submit(self, *options, script="exit 0", comment=None):
        """The job's id."""
        words = ["sbatch", "--parsable", "--output=/dev/null", *options]
        if comment is not None:
            words.append(f"--comment={comment}")
        self.write("job.sh", f"#!/bin/bash\n{script}\n", 0o755)
        return self.call(*words, self.path("job.sh"), check=True).strip()

    def job(self, job_id):
        """Fields as scontrol shows them, times in seconds since 1970."""
        shown = self.call("scontrol", "-o", "show", "job", job_id)
        return dict(word.split("=", 1) for word in shown.split() if "=" in word)

    def wait_for(self, job_id, *states, seconds=60):
        self.until(lambda: self.job(job_id).get("JobState") in states, f"job {job_id} never was {states}", seconds)
        return self.job(job_id)

    def stop(self):
        for job in self.call("squeue", "-h", "-o", "%A").split():
            self.call("scancel", "--full", "--signal=KILL", job)
            self.call("scancel", job)
        time.sleep(1)
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(15 * SLOW)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # slurmd leaves its empty cgroups behind.
        for controller in os.listdir("/sys/fs/cgroup"):
            for node in self.nodes:
                for folder, _, _ in os.walk(f"/sys/fs/cgroup/{controller}/slurm_{node}", topdown=False):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        pass
