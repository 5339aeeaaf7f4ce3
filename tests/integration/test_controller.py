"""The controller against an API server that behaves as badly as real ones may: gates open at the window or at the latest start, once, whatever dies."""
import http.server
import json
import signal
import subprocess
import threading
import time

import pytest

from support.fake_kube import GATE, FakeKube, gates_of, hang_up, hold, lose_answer, too_many
from support.server import SLOW, binary, clean_environment, free_port

LEASE = 6 * SLOW


def wait_for(condition, seconds=20, what=""):
    ends = time.monotonic() + seconds * SLOW
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(what or "it didn't come to be")


def utc(offset=0.0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))


def pod(name, latest=3600.0, planned=None, labels=None, other_gates=(), **spec):
    """As the webhook makes them."""
    annotations = {"tidewatt.io/latest-start": utc(latest)}
    if planned is not None:
        annotations["tidewatt.io/planned-start"] = utc(planned)
    return {"metadata": {"name": name, "labels": {"tidewatt.io/carbon-tolerance": "daily", **(labels or {})}, "annotations": annotations},
            "spec": {"schedulingGates": [*({"name": g} for g in other_gates), {"name": GATE}], "containers": [], **spec}, "status": {"phase": "Pending"}}


def job(name, latest=3600.0, suspend=True, labels=None, annotations=None):
    return {"metadata": {"name": name, "labels": {"tidewatt.io/carbon-tolerance": "daily", **(labels or {})},
                         "annotations": {"tidewatt.io/suspended-until-clean": "hold", "tidewatt.io/latest-start": utc(latest), **(annotations or {})}},
            "spec": {"suspend": suspend, "template": {"spec": {}}}}


class Controller:
    def __init__(self, kube, folder, server="http://127.0.0.1:1", token="the-token", flags=()):
        self.token_file = folder / f"token-{time.monotonic_ns()}"
        self.token_file.write_text(token + "\n")
        self.log = folder / f"controller-{time.monotonic_ns()}.log"
        command = [binary("tidewatt"), "k8s", "controller", "--api-server", kube.url, "--api-token-file", str(self.token_file), "--namespace", "tidewatt",
                   "--server", server, "--zone", "DE", "--lease-duration", f"{int(LEASE)}s", "--refresh", "1s", "--settle", "1s", *flags]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=clean_environment(), stdout=log, stderr=log)

    def text(self):
        return self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def finish(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            assert self.process.wait(30 * SLOW) == 0, self.text()


@pytest.fixture
def kube():
    with FakeKube() as made:
        yield made


@pytest.fixture
def start(kube, tmp_path):
    made = []

    def begin(**options):
        made.append(Controller(kube, tmp_path, **options))
        return made[-1]

    yield begin
    for one in made:
        one.finish()


class Forecaster:
    """What the controller asks a Tidewatt server; the hours are set by the test."""

    def __init__(self):
        self.hours, self.tasks, self.asked = [], {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.asked.append(self.path)
                body = None
                if "/forecast" in self.path:
                    body = {"forecast": outer.points()}
                elif "/tasks/pod%2F" in self.path:
                    body = outer.tasks.get(self.path.split("pod%2F")[1].split("/")[0])
                text = json.dumps(body or {"detail": "not found"}).encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def points(self):
        hour = int(time.time()) // 3600 * 3600
        return [{"start": time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(hour + 3600 * i)),
                 "end": time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(hour + 3600 * (i + 1))), "gco2_per_kwh": g} for i, g in enumerate(self.hours)]


@pytest.fixture
def forecaster():
    made = Forecaster()
    yield made
    made.http.shutdown()
    made.http.server_close()


def opened(kube, name, resource="pods"):
    item = kube.get(resource, name)
    return item if item and "tidewatt.io/opened" in (item["metadata"].get("labels") or {}) else None


def test_a_gate_opens_at_the_latest_start_without_a_server(kube, start):
    due = time.time() + 3
    first = kube.add("pods", pod("due", latest=3, other_gates=["example.com/other"]))
    kube.add("pods", pod("later", latest=3600))
    start()
    item = wait_for(lambda: opened(kube, "due"))
    assert time.time() >= due - 1.0, "its latest start is in whole seconds"
    assert item["metadata"]["labels"]["tidewatt.io/opened"] == "latest-start"
    assert gates_of(item) == ["example.com/other"], "others' gates stay"
    assert "latest start" in item["metadata"]["annotations"]["tidewatt.io/decision"]
    event = wait_for(lambda: kube.items("events"))[0]
    assert (event["involvedObject"]["uid"], event["reason"]) == (first["metadata"]["uid"], "CleanWindowOpened")
    assert gates_of(kube.get("pods", "later")) == [GATE]
    assert kube.removals == {first["metadata"]["uid"]: 1}


def test_pods_that_were_overdue_while_nobody_looked_are_let_go_at_once(kube, start):
    names = [f"p{i}" for i in range(30)]
    for name in names:
        kube.add("pods", pod(name, latest=-60))
    kube.page_limit = 7  # the list comes in pages
    start()
    wait_for(lambda: all(opened(kube, name) for name in names))
    assert sorted(kube.removals.values()) == [1] * 30


def test_the_plan_stands_on_the_pod_and_holds_without_the_server(kube, start, forecaster):
    forecaster.hours = [500, 500, 500] + [50] * 6 + [500] * 30
    made = pod("train", latest=20 * 3600, labels={"estimated-duration-hours": "5"})
    kube.add("pods", made)
    one = start(server=forecaster.url)
    planned = wait_for(lambda: kube.get("pods", "train")["metadata"]["annotations"].get("tidewatt.io/planned-start"))
    hour = int(time.time()) // 3600 * 3600
    assert planned in {time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(hour + 3600 * 3)), time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(hour + 3600 * 2))}
    assert gates_of(kube.get("pods", "train")) == [GATE]
    forecaster.hours = [20] * 6 + [500] * 30  # now it is clean
    item = wait_for(lambda: opened(kube, "train"))
    assert item["metadata"]["labels"]["tidewatt.io/opened"] == "window"
    one.finish()
    # Another process, and no server: what was planned holds.
    kube.add("pods", pod("planned", latest=3600, planned=2))
    start()
    assert wait_for(lambda: opened(kube, "planned"))["metadata"]["labels"]["tidewatt.io/opened"] == "window"


def test_a_server_without_a_signal_holds_nobody(kube, start, forecaster):
    kube.add("pods", pod("p"))
    start(server=forecaster.url)
    item = wait_for(lambda: opened(kube, "p"))
    assert item["metadata"]["labels"]["tidewatt.io/opened"] == "no-signal"


def test_a_crash_between_decision_and_patch_loses_nothing(kube, start):
    uid = kube.add("pods", pod("p", latest=1))["metadata"]["uid"]
    entered, until = threading.Event(), threading.Event()
    kube.fault("PATCH", "/pods/p", hold(entered, until))
    one = start()
    assert entered.wait(20 * SLOW), "it decided, and asked"
    one.kill()
    until.set()
    assert gates_of(kube.get("pods", "p")) == [GATE] and not kube.removals
    start()
    wait_for(lambda: opened(kube, "p"))
    assert kube.removals == {uid: 1}
    assert len(wait_for(lambda: kube.items("events"))) == 1


def test_a_crash_after_the_patch_and_before_the_event_tells_it_once(kube, start):
    uid = kube.add("pods", pod("p", latest=1))["metadata"]["uid"]
    entered, until = threading.Event(), threading.Event()
    kube.fault("POST", "/events", hold(entered, until))
    one = start()
    assert entered.wait(20 * SLOW)
    one.kill()
    until.set()
    assert opened(kube, "p") and not kube.items("events")
    start()
    wait_for(lambda: kube.items("events"))
    time.sleep(1)
    assert len(kube.items("events")) == 1 and kube.removals == {uid: 1}


def test_an_answer_that_is_lost_opens_no_gate_twice(kube, start):
    uid = kube.add("pods", pod("p", latest=1))["metadata"]["uid"]
    kube.fault("PATCH", "/pods/p", lose_answer)
    start()
    wait_for(lambda: kube.items("events"))
    time.sleep(2)
    assert kube.removals == {uid: 1} and len(kube.items("events")) == 1


def test_a_gate_that_somebody_else_opened_is_left_alone(kube, start):
    uid = kube.add("pods", pod("p", latest=1))["metadata"]["uid"]

    def somebody_else(_handler):
        kube.change("pods", "p", lambda item: item["spec"].pop("schedulingGates"))
        return "answer"

    kube.fault("PATCH", "/pods/p", somebody_else)
    start()
    wait_for(lambda: kube.count("PATCH", "/pods/p", 422))
    time.sleep(2)
    assert kube.count("PATCH", "/pods/p") == 1, "asked once, and not again"
    assert kube.removals == {} and not opened(kube, "p"), uid


def test_a_pod_of_the_same_name_is_another_pod(kube, start):
    kube.add("pods", pod("p", latest=1))

    def replaced(_handler):
        kube.delete("pods", "p")
        kube.add("pods", pod("p", latest=3600))
        return "answer"

    kube.fault("PATCH", "/pods/p", replaced)
    start()
    wait_for(lambda: kube.count("PATCH", "/pods/p", 422))
    time.sleep(1.5)
    assert gates_of(kube.get("pods", "p")) == [GATE] and not kube.removals


def test_annotations_written_meanwhile_are_not_overwritten(kube, start):
    item = pod("p")
    del item["metadata"]["annotations"]
    item["metadata"]["labels"]["tidewatt.io/carbon-tolerance"] = "immediate"
    kube.add("pods", item)

    def somebody_else(_handler):
        kube.change("pods", "p", lambda one: one["metadata"].update(annotations={"theirs": "kept"}))
        return "answer"

    kube.fault("PATCH", "/pods/p", somebody_else)
    start()
    item = wait_for(lambda: opened(kube, "p"))
    assert item["metadata"]["annotations"]["theirs"] == "kept"


@pytest.mark.parametrize("as_event", [False, True])
def test_forgotten_versions_are_listed_again(kube, start, as_event):
    kube.gone_as_event = as_event
    kube.bookmark_every = 60  # its last version is the list's
    start()
    wait_for(lambda: kube.count("GET", "/pods.*watch=1.*nodeName") and kube.writes("/leases"))
    with kube.lock:
        kube.add("pods", pod("unseen", latest=0))
        kube.compact()
    wait_for(lambda: opened(kube, "unseen"))
    wait_for(lambda: kube.count("GET", "/pods.*limit=.*nodeName") >= 2)
    kube.add("pods", pod("after", latest=0))
    wait_for(lambda: opened(kube, "after"))


def test_bookmarks_carry_a_watch_over_a_break_without_a_list(kube, start):
    kube.bookmark_every = 0.2
    start()
    wait_for(lambda: kube.writes("/leases"))
    for i in range(20):  # the collection's version moves on, nothing of it is selected
        kube.add("pods", {"metadata": {"name": f"other-{i}"}, "spec": {"nodeName": "n1"}})
    last = kube.now
    time.sleep(1)
    kube.forgotten = last - 1
    kube.break_watches()
    kube.add("pods", pod("p", latest=0))
    wait_for(lambda: opened(kube, "p"))
    lists = [path for method, path, *_ in kube.requests if method == "GET" and "limit=" in path and "nodeName" in path]
    assert len(lists) == 1, "a bookmark told where to go on"


def test_too_many_requests_are_answered_with_patience(kube, start):
    kube.add("pods", pod("p", latest=1))
    told = []
    patience = too_many(3)

    def act(handler):
        told.append(time.monotonic())
        return patience(handler)

    kube.fault("PATCH", "/pods/p", act)
    kube.fault("GET", "/pods.*limit", too_many(1))
    start()
    wait_for(lambda: opened(kube, "p"))
    assert kube.writes("/pods/p")[0][2] - told[0] >= 3


def test_broken_connections_are_opened_again(kube, start):
    kube.fault("GET", "/pods", hang_up, times=3)
    kube.fault("PATCH", "/pods/p", hang_up)
    start()
    wait_for(lambda: kube.count("GET", "/pods.*watch=1.*nodeName"))
    for _ in range(3):
        kube.break_watches()
        time.sleep(0.2)
    uid = kube.add("pods", pod("p", latest=0))["metadata"]["uid"]
    wait_for(lambda: opened(kube, "p"))
    assert kube.removals == {uid: 1}


def test_a_renewed_token_is_taken(kube, start):
    one = start()
    wait_for(lambda: kube.writes("/leases"))
    one.token_file.write_text("newer")
    with kube.lock:
        kube.tokens = {"newer"}
    kube.break_watches()
    kube.add("pods", pod("p", latest=0))
    wait_for(lambda: opened(kube, "p"))
    assert kube.writes("/pods/p")[0][0] == "newer"


def test_of_two_replicas_one_acts_and_the_other_follows_after_the_lease(kube, start):
    kube.tokens = {"a", "b"}
    first = start(token="a")
    wait_for(lambda: kube.writes("/leases"))
    second = start(token="b")
    wait_for(lambda: "another replica leads" in second.text())
    for i in range(10):
        kube.add("pods", pod(f"p{i}", latest=0))
    wait_for(lambda: all(opened(kube, f"p{i}") for i in range(10)))
    assert {who for who, *_ in kube.writes("/pods/")} == {"a"}
    first.kill()
    killed = time.monotonic()
    kube.add("pods", pod("last", latest=0))
    wait_for(lambda: opened(kube, "last"))
    who, _, at = kube.writes("/pods/last")[0]
    last_sign = max(at for w, _, at in kube.writes("/leases") if w == "a")
    assert who == "b" and at - last_sign >= LEASE and last_sign < killed
    assert sorted(kube.removals.values()) == [1] * 11


def test_a_leader_that_ends_gives_the_lease_back(kube, start):
    kube.tokens = {"a", "b"}
    first = start(token="a")
    wait_for(lambda: kube.writes("/leases"))
    start(token="b")
    first.finish()
    ended = time.monotonic()
    wait_for(lambda: {who for who, *_ in kube.writes("/leases")} == {"a", "b"})
    assert time.monotonic() - ended < LEASE


@pytest.mark.parametrize("how", ["stopped", "cut off"])
def test_a_leader_that_cannot_renew_stops_before_another_starts(kube, start, how):
    kube.tokens = {"a", "b"}
    first = start(token="a")
    wait_for(lambda: "leading" in first.text())
    start(token="b")
    if how == "stopped":
        first.process.send_signal(signal.SIGSTOP)
    else:  # its Lease alone: it could still write to pods
        def cut(handler):
            return hang_up(handler) if kube.writer(handler) == "a" else "answer"
        kube.fault("PUT", "/leases", cut, times=10**6)
    wait_for(lambda: any(who == "b" for who, *_ in kube.writes("/leases")), seconds=40)
    for i in range(20):
        kube.add("pods", pod(f"p{i}", latest=0))
    first.process.send_signal(signal.SIGCONT)
    wait_for(lambda: all(opened(kube, f"p{i}") for i in range(20)))
    assert {who for who, *_ in kube.writes("/pods/")} == {"b"}
    assert sorted(kube.removals.values()) == [1] * 20


def test_a_suspended_job_is_resumed_once_and_its_pods_do_not_wait_again(kube, start):
    uid = kube.add("jobs", job("train", latest=1))["metadata"]["uid"]
    kube.add("jobs", job("theirs", latest=1, annotations={"tidewatt.io/suspended-until-clean": "no"}))
    kube.add("jobs", job("of-kueue", latest=1, labels={"kueue.x-k8s.io/queue-name": "q"}))
    start()
    item = wait_for(lambda: opened(kube, "train", "jobs"))
    assert item["spec"]["suspend"] is False and kube.resumed == {uid: 1}
    inner = pod("train-x", latest=86400)
    inner["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": uid, "controller": True}]
    kube.add("pods", inner)
    assert wait_for(lambda: opened(kube, "train-x"))["metadata"]["labels"]["tidewatt.io/opened"] == "job"
    kube.change("jobs", "train", lambda one: one["spec"].update(suspend=True))
    time.sleep(2)
    assert kube.get("jobs", "train")["spec"]["suspend"], "who suspends it again has a reason"
    for name in ("theirs", "of-kueue"):
        assert kube.get("jobs", name)["spec"]["suspend"], name


def test_ungate_lets_go_what_is_overdue_or_everything(kube, tmp_path):
    kube.add("pods", pod("overdue", latest=-5))
    kube.add("pods", pod("waiting", latest=3600, planned=-60))
    kube.add("jobs", job("late", latest=-5))
    token = tmp_path / "token"
    token.write_text("the-token")
    command = [binary("tidewatt"), "k8s", "ungate", "--api-server", kube.url, "--api-token-file", str(token)]

    def run(*flags):
        return subprocess.run([*command, *flags], env=clean_environment(), capture_output=True, text=True, timeout=30)

    assert run().returncode == 2
    kube.page_limit = 1
    done = run("--expired")
    assert (done.returncode, done.stdout) == (0, "2 let go, 1 still held, 0 failed\n"), done.stderr
    assert opened(kube, "overdue") and opened(kube, "late", "jobs") and gates_of(kube.get("pods", "waiting")) == [GATE]
    done = run("--all")
    assert (done.returncode, done.stdout) == (0, "1 let go, 0 still held, 0 failed\n"), done.stderr
    assert opened(kube, "waiting")["metadata"]["labels"]["tidewatt.io/opened"] == "by-hand"
    kube.tokens = set()
    assert "Unauthorized (401)" in run("--all").stderr


def ended_pod(kube, name):
    def end(item):
        item["spec"]["nodeName"] = "n1"
        item["status"] = {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"finishedAt": utc()}}}]}
    return kube.change("pods", name, end)["metadata"]["uid"]


def test_what_a_pod_came_to_is_written_on_it(kube, start, forecaster):
    start(server=forecaster.url, flags=["--account-within", "4s"])
    for name in ("known", "unpriced", "unknown"):
        kube.add("pods", pod(name, latest=0))
        wait_for(lambda n=name: opened(kube, n))
    forecaster.tasks[kube.get("pods", "known")["metadata"]["uid"]] = {"energy_kwh": 1.5, "carbon_kgco2e": 0.6, "coverage": 1}
    forecaster.tasks[kube.get("pods", "unpriced")["metadata"]["uid"]] = {"energy_kwh": 2.5, "carbon_hidden_reason": "no_factor_configured", "coverage": 1}
    for name in ("known", "unpriced", "unknown"):
        ended_pod(kube, name)

    def notes(name):
        found = kube.get("pods", name)["metadata"]["annotations"]
        return {k.removeprefix("tidewatt.io/"): v for k, v in found.items() if k.startswith(("tidewatt.io/carbon", "tidewatt.io/energy"))}

    wait_for(lambda: notes("known"))
    assert notes("known") == {"energy-kwh": "1.5", "carbon-kgco2e": "0.6"}
    wait_for(lambda: notes("unpriced") and notes("unknown"))
    assert notes("unpriced") == {"energy-kwh": "2.5", "carbon-missing": "the server has no emission factor"}
    assert notes("unknown") == {"carbon-missing": "the server knows no such task: no agent reported this pod"}
    wait_for(lambda: sum(e["reason"] == "CarbonAccounted" for e in kube.items("events")) == 3)


def test_a_kubeconfig_says_where_and_who(kube, tmp_path):
    config = tmp_path / "config"
    (tmp_path / "token").write_text("the-token")
    text = {"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "ours"}}],
            "clusters": [{"name": "k", "cluster": {"server": kube.url}}], "users": [{"name": "u", "user": {"tokenFile": "token"}}]}
    config.write_text(json.dumps(text))
    command = [binary("tidewatt"), "k8s", "controller", "--kubeconfig", str(config), "--zone", "DE", "--server", f"http://127.0.0.1:{free_port()}"]
    process = subprocess.Popen(command, env=clean_environment(), stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: kube.get("leases", "tidewatt-controller", "ours"))
    finally:
        process.terminate()
        assert process.wait(30 * SLOW) == 0
    text["users"][0]["user"] = {"client-certificate": "x"}
    config.write_text(json.dumps(text))
    refused = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=20)
    assert refused.returncode == 1 and "give --api-token-file" in refused.stderr
    environment = {k: v for k, v in clean_environment().items() if not k.startswith("KUBE")}
    nowhere = subprocess.run(command[:3], env=environment, capture_output=True, text=True, timeout=20)
    assert nowhere.returncode == 1 and "--kubeconfig FILE or --api-server URL" in nowhere.stderr
