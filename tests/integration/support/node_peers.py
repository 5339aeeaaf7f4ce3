"""Real peers of a node's meters from Debian, and a Redfish service: each on a loopback port of its own, none needs root."""
import json
import os
import shutil
import signal
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .server import SLOW, clean_environment, free_port


def tool(name):
    """The tool's path, also outside a user's PATH; skips where Debian's package isn't installed."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if not found:
        pytest.skip(f"{name} isn't installed (tools/setup.sh test)")
    return found


def script(path, text):
    path.write_text("#!/bin/sh\n" + text, encoding="ascii")
    path.chmod(0o755)
    return str(path)


class Process:
    def __init__(self, argv, log, cwd=None):
        with open(log, "ab") as file:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=cwd, env=clean_environment())
        self.log = log

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5 * SLOW)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def until(condition, seconds, what):
    deadline = time.monotonic() + seconds * SLOW
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def power_sensor_record(name, multiplier):
    """A full sensor record (IPMI 2.0, table 43-1) of a reading in watts."""
    text = name.encode("ascii")
    body = [0x20, 0x00, 0x01, 0x07, 0x01, 0x01, 0x40, 0x0B, 0x01, 0, 0, 0, 0, 0, 0, 0x00, 0x06, 0x00, 0x00, multiplier, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0xFF, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xC0 | len(text), *text]
    return [0x00, 0x00, 0x51, 0x01, len(body), *body]


class Bmc(Process):
    """ipmi_sim with one sensor in watts and without DCMI; `tool` is ipmitool as the agent calls it, over the network."""

    def __init__(self, folder, watts):
        folder.mkdir(parents=True)
        simulator, ipmitool = tool("ipmi_sim"), tool("ipmitool")
        port = free_port()
        auth = "".join(f"    allowed_auths_{level} none md2 md5 straight\n" for level in ("callback", "user", "operator", "admin"))
        (folder / "lan.conf").write_text(
            f'name "fake"\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 {port}\n    priv_limit admin\n{auth}'
            '    guid a123456789abcdefa123456789abcdef\n  endlan\n  user 2 true "meter" "secret" admin 10 none md2 md5 straight\n')
        record = " ".join(f"{byte:#04x}" for byte in power_sensor_record("Pwr Consumption", 2))
        no_events = " ".join(["0" * 15] * 4)
        (folder / "bmc.emu").write_text(
            "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nsel_enable 0x20 1000 0x0a\n"
            f"main_sdr_add 0x20 {record}\nsensor_add 0x20 0 1 0x0b 1\nsensor_set_value 0x20 0 1 {watts // 2:#04x} 0\n"
            f"sensor_set_event_support 0x20 0 1 enable scanning per-state {no_events}\nmc_enable 0x20\n")
        (folder / "state").mkdir()
        (folder / "password").write_text("secret\n")
        super().__init__([simulator, "-c", str(folder / "lan.conf"), "-f", str(folder / "bmc.emu"), "-s", str(folder / "state"), "-n"],
                         str(folder / "log"))
        self.argv = [ipmitool, "-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", str(port), "-U", "meter", "-f", str(folder / "password"),
                     "-N", "1", "-R", "1"]
        self.tool = script(folder / "ipmitool", 'exec %s "$@"\n' % " ".join(self.argv))
        until(lambda: subprocess.run([*self.argv, "mc", "info"], capture_output=True, timeout=30, check=False).returncode == 0, 20,
              "ipmi_sim doesn't answer")


class Pdu(Process):
    """snmpd whose `pass` script is a rack unit: outlets 3 and 4 in watts."""

    def __init__(self, folder, community):
        folder.mkdir(parents=True)
        snmpd = tool("snmpd")
        tool("snmpget")
        self.port = free_port()
        self.values = folder / "values"
        self.set(410, 395)
        base = ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7"
        answer = script(folder / "outlets", f"""read third fourth < {self.values}
case "$1 $2" in
  "-g {base}.3") echo "{base}.3"; echo integer; echo "$third" ;;
  "-g {base}.4") echo "{base}.4"; echo integer; echo "$fourth" ;;
esac
""")
        (folder / "snmpd.conf").write_text(f"rocommunity {community} 127.0.0.1\npass {base} {answer}\n")
        super().__init__([snmpd, "-f", "-Lo", "-C", "-c", str(folder / "snmpd.conf"), "-I", "-system_mib", "-p", str(folder / "pid"),
                          f"udp:127.0.0.1:{self.port}"], str(folder / "log"), cwd=str(folder))
        conf = folder / "client"
        conf.mkdir()
        (conf / "snmp.conf").write_text(f"defVersion 2c\ndefCommunity {community}\n")
        environment = clean_environment({"SNMPCONFPATH": str(conf), "SNMP_PERSISTENT_DIR": str(conf)})
        until(lambda: b"INTEGER" in subprocess.run(["snmpget", "-m", "", "-On", "-r", "0", "-t", "1", f"127.0.0.1:{self.port}", f"{base}.3"],
                                                   capture_output=True, timeout=30, check=False, env=environment).stdout,
              20, "snmpd doesn't answer")

    def set(self, third, fourth):
        temporary = self.values.with_suffix(".new")
        temporary.write_text(f"{third} {fourth}\n")
        os.replace(temporary, self.values)


class Redfish:
    """A Redfish service over TLS with a certificate of its own making. `power` None = the BMC restarts; `status` = what it answers."""

    def __init__(self, folder, account="meter:secret"):
        folder.mkdir(parents=True)
        import base64
        self.wanted = "Basic " + base64.b64encode(account.encode()).decode()
        self.power, self.status, self.delay = 421, 200, 0.0
        self.asked = 0
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run([tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
        self.certificate = str(certificate)
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                peer.asked += 1
                time.sleep(peer.delay)
                status, body = peer.answer(self.path, self.headers.get("authorization"))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, str(key))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"https://localhost:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, authorization):
        if authorization != self.wanted:
            return 401, {"error": {"message": "no"}}
        if self.status != 200:
            return self.status, {"error": {"message": "later"}}
        chassis = "/redfish/v1/Chassis"
        documents = {
            chassis: {"Members": [{"@odata.id": f"{chassis}/Enclosure"}, {"@odata.id": f"{chassis}/1"}]},
            f"{chassis}/Enclosure": {"Id": "Enclosure"},
            f"{chassis}/1": {"Power": {"@odata.id": f"{chassis}/1/Power"}},
            f"{chassis}/1/Power": {"PowerControl": [{"PowerConsumedWatts": self.power, "PowerCapacityWatts": 1600,
                                                     "PowerMetrics": {"AverageConsumedWatts": 333}}],
                                   "PowerSupplies": [{"PowerInputWatts": 200}, {"PowerInputWatts": 221}]},
        }
        return (200, documents[path]) if path in documents else (404, {"error": {"message": path}})

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
