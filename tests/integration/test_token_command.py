"""tidewatt token: what an operator types to say who may use the server."""
import json
import os
import stat
import subprocess

import pytest

from support.http_client import Client
from support.server import SLOW, clean_environment


@pytest.fixture
def token(tidewatt, server):
    """Runs `tidewatt token ...` as that server's operator."""
    def run(*arguments, code=0):
        told = subprocess.run([tidewatt, "token", *arguments, "--server", f"http://127.0.0.1:{server.port}", "--token-file", f"{server.data}/ops.token"],
                              capture_output=True, text=True, timeout=60 * SLOW, env=clean_environment())
        assert told.returncode == code, told
        return told.stdout if code == 0 else told.stderr
    return run


def may_read(server, secret):
    return Client(server.port, secret).get("/api/v1/nodes").status == 200


def test_a_token_is_made_listed_rotated_and_revoked(server, token):
    made = json.loads(token("create", "dash", "--role", "viewer", "--expires-in", "90d", "--json"))
    assert may_read(server, made["token"])
    rotated = json.loads(token("rotate", "dash", "--grace", "1h", "--json"))
    assert may_read(server, made["token"]) and may_read(server, rotated["token"])
    assert rotated["expires_at"] == made["expires_at"]
    listed = token("list")
    assert made["id"] in listed and rotated["id"] in listed and made["token"] not in listed and rotated["token"] not in listed
    assert made["id"] in token("rotate", "dash", code=1), "two are active: it must ask which"
    token("revoke", made["id"])
    assert not may_read(server, made["token"]) and may_read(server, rotated["token"])
    assert made["id"] not in token("list") and made["id"] in token("list", "--all")
    last = json.loads(token("rotate", "dash", "--json"))
    assert not may_read(server, rotated["token"]) and may_read(server, last["token"])
    assert token("rotate", rotated["id"], code=1).count("\n") == 1


def test_a_secret_goes_to_a_file_that_only_its_owner_reads(server, token, tmp_path):
    path = tmp_path / "vision.token"
    shown = token("create", "vision", "--role", "tenant", "--team", "vision", "--secret-file", str(path))
    secret = path.read_text().strip()
    assert secret not in shown and str(path) in shown
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert Client(server.port, secret).get_json("/api/v1/session")["team"] == "vision"


def test_a_token_that_rotates_itself_leaves_no_file_with_the_old_secret(server, token):
    before = server.ops_token
    rotated = json.loads(token("rotate", "operator", "--json"))
    assert rotated["own"] and server.ops_token == rotated["token"] != before
    assert "operator" in token("list"), "the next command works"
    server.stop()
    server.start()
    assert len([line for line in token("list").splitlines() if "operator" in line]) == 1, "the next start made no other"


@pytest.mark.parametrize("arguments,named", [
    (["create", "x", "--role", "boss"], "--role"),
    (["create", "x", "--role", "tenant"], "--team"),
    (["create", "x", "--role", "viewer", "--team", "a"], "--team"),
    (["create", "", "--role", "viewer"], "NAME"),
    (["create", "x", "--role", "viewer", "--expires-in", "soon"], "--expires-in"),
    (["rotate", "x", "--grace", "8d"], "--grace"),
    (["rotate", "x", "--grace", "1"], "--grace"),
])
def test_wrong_uses_name_what_is_wrong(token, arguments, named):
    told = token(*arguments, code=2)
    assert named in told and told.count("\n") == 1, told


@pytest.mark.parametrize("arguments", [["rotate", "nobody"], ["revoke", "nobody"]])
def test_an_unknown_token_is_told_with_where_to_look(token, arguments):
    told = token(*arguments, code=1)
    assert '"nobody"' in told and "token list" in told, told


def test_who_is_not_ops_is_told_so(tidewatt, server):
    secret = Client(server.port, server.ops_token).post("/api/v1/tokens", {"name": "v", "role": "viewer"}).json()["token"]
    told = subprocess.run([tidewatt, "token", "list", "--server", f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=60 * SLOW,
                          env=clean_environment({"TIDEWATT_TOKEN": secret}))
    assert told.returncode == 1 and "viewer" in told.stderr, told
