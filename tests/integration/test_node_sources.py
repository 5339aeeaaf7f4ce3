"""What measures a CPU or a whole node, by the real agent: fake machines below a folder, real peers on loopback ports. No root."""
import json
import os
import subprocess
import threading
import time
import urllib.request

import pytest
from support.agent import Agent, Proxy
from support.fake_node import FakeNode, machines
from support.node_peers import Bmc, Pdu, Process, Redfish, script, tool, until
from support.server import SLOW, clean_environment, free_port


@pytest.fixture
def beats_of(server, tmp_path):
    """beats_of(sources, flags): a running agent; its .beats() are those that reached the server."""
    made = []

    def start(sources, flags=(), interval="100ms"):
        proxy = Proxy(lambda: server.port)
        agent = Agent(tmp_path / f"agent-{len(made)}", proxy.url, server.agent_token, sources=sources, interval=interval, flags=flags)
        made.append((agent, proxy))
        agent.beats = proxy.beats
        return agent.start()

    yield start
    for agent, proxy in made:
        agent.stop()
        proxy.close()


def device(beat, domain, index=None):
    for part in ("rails", "platform", "gpu_stats"):
        for one in beat.get(part, []):
            if one.get("domain") == domain and (index is None or one["index"] == index):
                return one
    return None


def known(beat, domain, index=None):
    found = device(beat, domain, index)
    return found is not None and found.get("power_watts") is not None


def total(beat, domain):
    return sum(one["power_watts"] for one in beat.get("rails", []) if one["domain"] == domain and one.get("power_watts") is not None)


def wait_for(agent, condition, what, seconds=25):
    """The first beat from now on that is as wanted."""
    start = len(agent.beats())
    found = []

    def look():
        found[:] = [beat for beat in agent.beats()[start:] if condition(beat)]
        return bool(found)

    until(look, seconds, f"{what}\n{json.dumps(agent.beats()[-1:])}\n{agent.log_tail()}")
    return found[0]


def test_every_machine_says_what_makes_its_total(tidewatt, tmp_path):
    for machine in machines():
        node = FakeNode(tmp_path / machine, machine)
        run = subprocess.run([tidewatt, "power", "detect", "--json", "--host-root", node.host_root], capture_output=True, text=True,
                             timeout=60 * SLOW, env=clean_environment())
        assert run.returncode == 0, run.stderr
        found = json.loads(run.stdout)
        if any(s["usable"] for s in found["sources"] if s["source"] in ("nvml", "nvidia-smi", "ipmi")):
            pytest.skip("this machine has meters of its own")
        assert found["total"] == node.expect["total"], machine


@pytest.mark.parametrize("machine", [m for m in machines() if m not in ("vm", "kunpeng-2s")])
def test_counters_become_the_power_they_are_driven_with(machine, beats_of, tmp_path):
    with FakeNode(tmp_path / "host", machine) as node:
        agent = beats_of("rapl", ["--host-root", node.host_root])
        for domain, watts in {**node.expect["parts"], **node.expect.get("beside", {})}.items():
            beat = wait_for(agent, lambda b, d=domain, w=watts: abs(total(b, d) - w) < 0.1 * w, f"{domain} of {watts} W")
            assert all(one["source"] == "rapl" for one in beat["rails"])
        assert agent.stop() == 0
        # No beat had a mirror, a core or a spike.
        for beat in agent.beats():
            for domain, watts in node.expect["parts"].items():
                assert total(beat, domain) < 1.5 * watts, beat


def test_a_machine_without_any_source_still_beats(beats_of, tmp_path):
    agent = beats_of("auto", ["--host-root", FakeNode(tmp_path / "host", "vm").host_root])
    beat = wait_for(agent, lambda b: True, "a beat")
    assert not beat.get("rails") and not beat.get("platform")
    status, _ = agent.get("/healthz")
    assert status in (200, 503)


@pytest.mark.parametrize("fault", ["gone", "empty", "garbage", "folder", "fifo", "above the range"])
def test_a_zone_that_fails_takes_no_other_along(fault, beats_of, tmp_path):
    with FakeNode(tmp_path / "host", "xeon-2s") as node:
        agent = beats_of("rapl", ["--host-root", node.host_root])
        wait_for(agent, lambda b: known(b, "cpu_package", 0) and known(b, "cpu_package", 1), "both packages")
        node.take_counter_away("intel-rapl:1")
        path = node.counter("intel-rapl:1")
        if fault == "folder":
            os.mkdir(path)
        elif fault == "fifo":
            os.mkfifo(path)  # whoever opens it waits for a writer that never comes
        elif fault != "gone":
            node.write("class/powercap/intel-rapl:1/energy_uj", {"empty": "", "garbage": "12x4"}.get(fault, str(2**64 - 1)))
        beat = wait_for(agent, lambda b: not known(b, "cpu_package", 1), f"package 1 unknown ({fault})")
        following = wait_for(agent, lambda b: b["seq"] > beat["seq"] and not known(b, "cpu_package", 1), "still unknown")
        assert abs(device(following, "cpu_package", 0)["power_watts"] - 120) < 20, following
        if fault == "folder":
            os.rmdir(path)
        node.broken.clear()
        healed = wait_for(agent, lambda b: known(b, "cpu_package", 1), "package 1 is back")
        assert device(healed, "cpu_package", 1)["power_watts"] < 130, "what was drawn meanwhile is no spike"


def dcmi(watts, state="activated"):
    return (f"    Instantaneous power reading:                  {watts} Watts\n    Maximum during sampling period:               9999 Watts\n"
            f"    Power reading state is:                   {state}\n")


def test_a_tool_that_hangs_is_killed_and_never_piles_up(beats_of, tmp_path):
    started, mode = tmp_path / "started", tmp_path / "mode"
    mode.write_text("good")
    (tmp_path / "good").write_text(dcmi(312))
    fake = script(tmp_path / "ipmitool", f"""echo $$ >> {started}
case $(cat {mode}) in
  good) cat {tmp_path}/good ;;
  hang) sleep 1000 & sleep 1000 ;;
  lies) echo '    DCMI request failed because: Node busy (c0)' ;;
  junk) head -c 100000 /dev/zero ;;
esac
""")
    with FakeNode(tmp_path / "host", "laptop-psys") as node:
        agent = beats_of(f"ipmi:tool={fake};interval=1s;deadline=500ms,rapl", ["--host-root", node.host_root])
        beat = wait_for(agent, lambda b: known(b, "platform"), "the BMC's power")
        assert device(beat, "platform")["power_watts"] == 312 and device(beat, "platform")["source"] == "ipmi-dcmi"
        for trouble in ("hang", "lies", "junk"):
            mode.write_text(trouble)
            before = len(started.read_text().split())
            beat = wait_for(agent, lambda b: not known(b, "platform"), f"unknown: {trouble}")
            # While the tool is in trouble the others are measured, and the power stays unknown.
            wait_for(agent, lambda b: known(b, "cpu_package") and not known(b, "platform"), "the package goes on")
            pids = [int(pid) for pid in started.read_text().split()[before:]]
            assert len(pids) <= 6, "a tool in trouble is asked less and less often"
            time.sleep(1.0)
            alive = [pid for pid in pids[:-1] if os.path.exists(f"/proc/{pid}")]
            assert not alive, f"left behind: {alive}"
            mode.write_text("good")
            wait_for(agent, lambda b: known(b, "platform"), "the BMC's power again", seconds=60)


def test_ipmi_of_a_simulated_bmc(beats_of, tidewatt, tmp_path):
    """Debian's ipmitool and ipmi_sim: a sensor in watts is read; DCMI, which that BMC lacks, is unknown and no number."""
    with Bmc(tmp_path / "bmc", 266) as bmc:
        agent = beats_of(f"ipmi:tool={bmc.tool};sensor=Pwr Consumption;interval=1s")
        beat = wait_for(agent, lambda b: known(b, "platform"), "the sensor's power")
        assert device(beat, "platform")["power_watts"] == 266
        other = beats_of(f"ipmi:tool={bmc.tool};interval=1s")
        wait_for(other, lambda b: True, "a beat")
        assert not any(known(b, "platform") for b in other.beats())
        bmc.stop()
        wait_for(agent, lambda b: not known(b, "platform"), "a dead BMC", seconds=60)
    for command, wanted in (("sdr", 266), ("sensor list", 266)):
        with Bmc(tmp_path / command.replace(" ", "-"), 266) as bmc:
            text = subprocess.run([*bmc.argv, *command.split()], capture_output=True, text=True, timeout=60, check=True).stdout
        run = subprocess.run([tidewatt, "power", "parse", "--tool", "ipmi", "--command", "ipmitool " + command, "-", "--json"], input=text,
                             capture_output=True, text=True, timeout=60, env=clean_environment())
        assert json.loads(run.stdout)["devices"][0]["power_watts"] == wanted, text


def test_redfish_over_tls(beats_of, tmp_path):
    credentials = tmp_path / "bmc-account"
    credentials.write_text("meter:secret\n")
    credentials.chmod(0o600)
    with Redfish(tmp_path / "redfish") as bmc:
        options = f"credentials={credentials};interval=1s;deadline=2s"
        agent = beats_of(f"redfish:{bmc.url};ca={bmc.certificate};{options}")
        beat = wait_for(agent, lambda b: known(b, "platform"), "the service is searched and its power read")
        assert device(beat, "platform")["power_watts"] == 421 and device(beat, "platform")["source"] == "redfish"
        bmc.power = None
        wait_for(agent, lambda b: not known(b, "platform"), "null while the BMC restarts")
        bmc.power = 500
        wait_for(agent, lambda b: known(b, "platform") and device(b, "platform")["power_watts"] == 500, "back")
        bmc.status = 503
        wait_for(agent, lambda b: not known(b, "platform"), "an error is unknown, not the last reading")
        bmc.status = 200

        distrusting = beats_of(f"redfish:{bmc.url};{options}")
        wait_for(distrusting, lambda b: True, "a beat")
        assert not any(known(b, "platform") for b in distrusting.beats())
        assert "certificate" in distrusting.log_tail()
        insecure = beats_of(f"redfish:{bmc.url}/redfish/v1/Chassis/1/Power;insecure=true;{options}")
        wait_for(insecure, lambda b: known(b, "platform"), "insecure asks for no certificate")

        wait_for(agent, lambda b: known(b, "platform"), "back again", seconds=60)
        bmc.delay = 1000
        wait_for(agent, lambda b: not known(b, "platform"), "a BMC that never answers")
        assert "meter:secret" not in agent.log_tail()


def test_outlets_of_a_pdu(beats_of, tmp_path):
    secret = "rackPower7"
    community = tmp_path / "community"
    community.write_text(secret + "\n")
    base = ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7"
    with Pdu(tmp_path / "pdu", secret) as pdu:
        shown = set()
        watching = threading.Event()

        def watch():
            while not watching.wait(0.002):
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        with open(f"/proc/{pid}/cmdline", "rb") as file:
                            if secret.encode() in file.read():
                                shown.add(pid)
                    except OSError:
                        pass

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        agent = beats_of(f"snmp:127.0.0.1:{pdu.port};oid={base}.3;oid={base}.4;community={community};interval=1s")
        wait_for(agent, lambda b: total(b, "pdu") == 410 + 395, "both outlets")
        pdu.set(500, -1)
        beat = wait_for(agent, lambda b: total(b, "pdu") == 500, "an outlet that isn't there")
        assert not known(beat, "pdu", 1)
        watching.set()
        watcher.join()
        assert not shown, "the community stood on a command line"
        conf = os.path.join(agent.spool, "snmp", f"127.0.0.1_{pdu.port}", "snmp.conf")
        assert os.stat(conf).st_mode & 0o777 == 0o600
        pdu.stop()
        wait_for(agent, lambda b: not known(b, "pdu", 0), "a dead PDU", seconds=60)


def exported(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("node_")}


def test_node_exporter_reads_the_same_tree(beats_of, tmp_path):
    """Same zones, same power; what differs is in docs/method/metering.md."""
    with FakeNode(tmp_path / "host", "xeon-2s") as node:
        port = free_port()
        argv = [tool("prometheus-node-exporter"), f"--path.sysfs={node.root}", "--collector.disable-defaults", "--collector.rapl",
                "--collector.hwmon", f"--web.listen-address=127.0.0.1:{port}"]
        with Process(argv, str(tmp_path / "exporter.log")):
            agent = beats_of("rapl,hwmon", ["--host-root", node.host_root])
            beat = wait_for(agent, lambda b: known(b, "platform") and abs(total(b, "cpu_package") - 210) < 21, "our reading")
            begin, before = time.monotonic(), exported(port)
            time.sleep(3)
            end, after = time.monotonic(), exported(port)
            joules = {name: after[name] - before[name] for name in after if name.startswith("node_rapl_") and name in before}
            packages = {name: j / (end - begin) for name, j in joules.items() if name.startswith("node_rapl_package_joules_total")}
            # Its mirror of package 0 is a series of its own: whoever adds them counts it twice. Ours is there once.
            assert len(packages) == 3, packages
            assert abs(sum(packages.values()) - (120 + 90 + 120)) < 35, packages
            assert len([one for one in beat["rails"] if one["domain"] == "cpu_package"]) == 2
            assert abs(total(beat, "dram") - sum(j / (end - begin) for n, j in joules.items() if "dram" in n)) < 5
            averages = [value for name, value in after.items() if "hwmon" in name and "power_average_watt" in name]
            assert device(beat, "platform")["power_watts"] in averages, averages
            # At a zone that can't be read it gives up, and what comes after that zone is lost too; for us it is that zone alone.
            node.take_counter_away("intel-rapl:1")
            os.mkdir(node.counter("intel-rapl:1"))
            until(lambda: not any("intel-rapl:1:0" in name for name in exported(port)), 10, "the memory below that package is lost")
            lost = wait_for(agent, lambda b: not known(b, "cpu_package", 1), "our zone is unknown")
            wait_for(agent, lambda b: b["seq"] > lost["seq"] and known(b, "cpu_package", 0) and known(b, "dram", 1), "others aren't")
            os.rmdir(node.counter("intel-rapl:1"))
