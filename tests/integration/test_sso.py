"""Sign-in through an OpenID Connect issuer, honest and not."""
import http.client
import os
import threading
import time
import urllib.parse

import pytest

from support.fake_issuer import FakeIssuer
from support.http_client import Client
from support.server import SLOW, Server


class Browser:
    """Follows nothing by itself; keeps cookies by name."""

    def __init__(self, port):
        self.port, self.cookies = port, {}

    def get(self, target, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())} if self.cookies else {}
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        if answer.getheader("Set-Cookie"):
            name, value = answer.getheader("Set-Cookie").split(";", 1)[0].split("=", 1)
            self.cookies[name] = value
        return answer

    def start(self, next_page="/nodes"):
        """Where it is sent to."""
        answer = self.get("/login/sso?next=" + urllib.parse.quote(next_page, safe=""))
        assert answer.status == 303, (answer.status, answer.body)
        return answer.getheader("Location")

    def come_back(self, url):
        """Where it ends after the issuer sent it to `url`."""
        parts = urllib.parse.urlsplit(url)
        answer = self.get(f"{parts.path}?{parts.query}")
        assert answer.status == 303, (answer.status, answer.body)
        return answer.getheader("Location")

    def session(self):
        return self.get("/api/v1/session")


def start_server(folder, issuer, roles='{admins: ops, vision-team: "tenant:vision"}', more=""):
    server = Server(os.path.join(folder, "server"))
    secret = os.path.join(folder, "client.secret")
    with open(secret, "w", encoding="ascii") as file:
        file.write(issuer.client_secret + "\n")
    config = os.path.join(folder, "server.yaml")
    with open(config, "w", encoding="ascii") as file:
        file.write(f"oidc:\n  issuer: {issuer.url}\n  client_id: tidewatt\n  client_secret_file: {secret}\n  timeout: 1s\n"
                   f"  role_claim: groups\n  roles: {roles}\n{more}")
    server.flags = ["--config", config]
    return server.start()


@pytest.fixture(scope="module", params=["ec", "rsa"])
def both(request, tmp_path_factory):
    """An issuer of each kind of key with a server that trusts it."""
    folder = str(tmp_path_factory.mktemp("sso"))
    issuer = FakeIssuer(folder, kind=request.param)
    server = start_server(folder, issuer, more="rate_limits: {sign_ins_per_minute: 0}\n")
    yield issuer, server
    server.finish()
    issuer.stop()


@pytest.fixture
def pair(both):
    issuer, server = both
    issuer.lie, issuer.delay, issuer.groups = None, 0, ["admins"]
    yield issuer, server
    issuer.delay = 0


def test_a_good_sign_in_opens_a_session_with_the_mapped_role(pair):
    issuer, server = pair
    browser = Browser(server.port)
    assert browser.come_back(issuer.authorize(browser.start())) == "/nodes"
    assert browser.session().status == 200 and b'"role":"ops"' in browser.session().body
    audit = Client(server.port, server.ops_token).get_json("/api/v1/audit")["entries"]
    opened = next(e for e in audit if e["action"] == "session.opened")
    assert opened["actor"] == "alice" and "SSO" in opened["subject"], opened
    assert browser.cookies["tidewatt_session"] not in str(audit)


def test_a_group_of_a_team_gives_that_teams_view(pair):
    issuer, server = pair
    issuer.groups = ["others", "vision-team"]
    browser = Browser(server.port)
    browser.come_back(issuer.authorize(browser.start()))
    assert b'"role":"tenant","team":"vision"' in browser.session().body


def test_somebody_without_a_mapped_group_is_not_let_in(pair):
    issuer, server = pair
    issuer.groups = ["visitors"]
    browser = Browser(server.port)
    assert browser.come_back(issuer.authorize(browser.start())) == "/login-page?error=sso_no_role"
    assert browser.session().status == 401


@pytest.mark.parametrize("lie", ["nonce", "aud", "iss", "expired", "early", "signature"])
def test_a_token_that_is_not_for_us_or_not_the_issuers_is_refused(pair, lie):
    issuer, server = pair
    issuer.lie = lie
    browser = Browser(server.port)
    assert browser.come_back(issuer.authorize(browser.start())) == "/login-page?error=sso_refused"
    assert browser.session().status == 401


@pytest.mark.parametrize("lie", ["none", "hs256"])
def test_unsigned_tokens_and_those_signed_with_the_secret_are_refused(pair, lie):
    issuer, server = pair
    issuer.lie = lie
    browser = Browser(server.port)
    assert browser.come_back(issuer.authorize(browser.start())).startswith("/login-page?error=sso_")
    assert browser.session().status == 401


def test_an_answer_works_once_and_in_its_browser_only(pair):
    issuer, server = pair
    browser, thief = Browser(server.port), Browser(server.port)
    back = issuer.authorize(browser.start())
    assert thief.come_back(back) == "/login-page?error=sso_expired"
    assert browser.come_back(back) == "/nodes"
    assert browser.come_back(back) == "/login-page?error=sso_expired"


@pytest.mark.parametrize("next_page", ["//evil.example", "https://evil.example/", "/\\evil.example"])
def test_sso_leads_to_pages_of_this_server_only(pair, next_page):
    issuer, server = pair
    browser = Browser(server.port)
    assert browser.come_back(issuer.authorize(browser.start(next_page))) == "/"


def test_neither_secret_nor_token_is_in_the_log(pair):
    issuer, server = pair
    issuer.lie = "aud"
    browser = Browser(server.port)
    browser.come_back(issuer.authorize(browser.start()))
    with open(server.log, encoding="utf-8") as file:
        log = file.read()
    assert "another-client" in log, log
    assert issuer.client_secret not in log and "eyJ" not in log and "code-" not in log, log


def test_the_page_learns_that_there_is_sso(pair):
    _, server = pair
    assert Client(server.port).get_json("/api/v1/sign-in") == {"sso_path": "/login/sso"}


def test_without_sso_there_is_none(server):
    assert Client(server.port).get_json("/api/v1/sign-in") == {"sso_path": None}
    assert Client(server.port).get("/login/sso").problem()["code"] == "not_found"


def test_an_issuer_that_is_down_is_told_tokens_still_work_and_it_comes_back(tmp_path):
    issuer = FakeIssuer(str(tmp_path))
    server = start_server(str(tmp_path), issuer)
    issuer.stop()
    try:
        browser = Browser(server.port)
        assert browser.start() == "/login-page?error=sso_down"
        assert Client(server.port).post("/api/v1/session", {"token": server.ops_token}).status == 204
        issuer.start()
        assert browser.come_back(issuer.authorize(browser.start())) == "/nodes"
    finally:
        issuer.stop()
        server.finish()


def test_a_slow_issuer_is_given_up_and_holds_nobody_else_up(tmp_path):
    issuer = FakeIssuer(str(tmp_path))
    server = start_server(str(tmp_path), issuer)
    try:
        browser = Browser(server.port)
        back = issuer.authorize(browser.start())
        issuer.delay = 20
        ends = []
        waiting = [threading.Thread(target=lambda: ends.append(browser.come_back(back)))]
        # More people than there are threads: those beyond one are told to ask again.
        waiting += [threading.Thread(target=Browser(server.port).get, args=("/login/sso/callback?state=x&code=y",)) for _ in range(6)]
        began = time.monotonic()
        for thread in waiting:
            thread.start()
            while "/token" not in issuer.asked:  # the first one first
                time.sleep(0.01)
        while waiting[0].is_alive():
            asked = time.monotonic()
            assert Client(server.port, server.ops_token).get("/api/v1/nodes").status == 200
            assert time.monotonic() - asked < 0.8 * SLOW, "reads wait for the issuer"
            time.sleep(0.05)
        for thread in waiting:
            thread.join()
        assert ends == ["/login-page?error=sso_down"]
        assert time.monotonic() - began < 8 * SLOW
    finally:
        issuer.delay = 0
        server.finish()
        issuer.stop()


def test_settings_that_cannot_work_are_told_at_once(tmp_path, tidewatt):
    import subprocess
    config = tmp_path / "server.yaml"
    config.write_text("listen: 0.0.0.0:7310\ninsecure_listen: true\noidc:\n  issuer: http://issuer.example\n  scopes: email\n  roles: {a: boss}\n")
    told = subprocess.run([tidewatt, "server", "--config", str(config), "--check-config"], capture_output=True, text=True, timeout=30)
    assert told.returncode == 2
    for wrong in ("oidc.issuer", "oidc.client_id", "oidc.public_url", "oidc.scopes", "oidc.roles"):
        assert wrong in told.stderr, told.stderr
