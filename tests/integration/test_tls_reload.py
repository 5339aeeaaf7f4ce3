"""The certificate changes while the server runs: new connections get it, the old ones go on."""
import http.client
import os
import shutil
import signal
import ssl
import time

import pytest

from support.certificates import der_of, make_pair, served
from support.server import SLOW, Server


class TlsServer(Server):
    """Serves HTTPS with the files cert.pem and cert.key of its own folder."""

    def __init__(self, folder):
        super().__init__(os.path.join(folder, "data"))
        self.folder = str(folder)
        self.certificate, self.key = make_pair(self.folder, "cert")
        self.first = der_of(self.certificate)
        self.flags = ["--tls-cert", self.certificate, "--tls-key", self.key]

    def start(self):
        import subprocess
        command, environment = self.command(self.port)
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        wait_for(self.answers, self)
        return self

    def answers(self):
        assert self.process.poll() is None, self.log_tail()
        try:
            return self.connect().status == 200
        except OSError:
            return False

    def connect(self):
        """A connection that trusts whatever is there, with the answer of /healthz read."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
        connection.status = ask(connection)
        return connection

    def replace(self, certificate, key):
        """As certbot and cert-manager do: the new files take the old ones' names, one after the other."""
        for new, old in ((certificate, self.certificate), (key, self.key)):
            shutil.copy(new, old + ".new")
            os.replace(old + ".new", old)

    def whole_log(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()


def ask(connection):
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def wait_for(happens, server, seconds=30):
    deadline = time.monotonic() + seconds * SLOW
    while not happens():
        assert time.monotonic() < deadline, server.log_tail()
        time.sleep(0.05)


@pytest.fixture
def tls_server(tmp_path):
    server = TlsServer(tmp_path)
    server.start()
    yield server
    server.finish()


def test_sighup_gives_new_connections_the_new_certificate_and_keeps_the_old_ones(tls_server, tmp_path):
    old = tls_server.connect()
    old_socket = old.sock
    certificate, key = make_pair(str(tmp_path), "new")
    tls_server.replace(certificate, key)
    os.kill(tls_server.pid, signal.SIGHUP)
    wait_for(lambda: served(tls_server.port) == der_of(certificate), tls_server)
    assert ask(old) == 200
    assert old.sock is old_socket, "the old connection was dropped"
    assert old.sock.getpeercert(binary_form=True) == tls_server.first


def test_a_changed_file_is_noticed_without_a_signal(tls_server, tmp_path):
    certificate, key = make_pair(str(tmp_path), "new")
    tls_server.replace(certificate, key)
    wait_for(lambda: served(tls_server.port) == der_of(certificate), tls_server, seconds=40)


@pytest.mark.parametrize("broken", ["mismatch", "garbage", "gone"])
def test_a_broken_pair_keeps_the_old_one_and_says_what_to_do(tls_server, tmp_path, broken):
    if broken == "mismatch":
        shutil.copy(make_pair(str(tmp_path), "other")[1], tls_server.key)
    elif broken == "garbage":
        with open(tls_server.certificate, "w", encoding="ascii") as file:
            file.write("-----BEGIN CERTIFICATE-----\nhalf a fil")
    else:
        os.remove(tls_server.certificate)
    os.kill(tls_server.pid, signal.SIGHUP)
    wait_for(lambda: "can't be taken" in tls_server.whole_log(), tls_server)
    line = next(line for line in tls_server.whole_log().splitlines() if "can't be taken" in line)
    assert "the one before stays in use" in line and "give " in line, line
    assert (tls_server.key if broken == "mismatch" else tls_server.certificate) in line, line
    assert served(tls_server.port) == tls_server.first
    # And the repaired pair is taken.
    certificate, key = make_pair(str(tmp_path), "repaired")
    tls_server.replace(certificate, key)
    os.kill(tls_server.pid, signal.SIGHUP)
    wait_for(lambda: served(tls_server.port) == der_of(certificate), tls_server)


def test_without_tls_a_sighup_changes_nothing(server):
    os.kill(server.pid, signal.SIGHUP)
    wait_for(lambda: "no TLS certificate" in open(server.log, encoding="utf-8").read(), server)
    server.assert_alive()
