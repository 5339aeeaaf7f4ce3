"""Rules and dashboards in deploy/ against a real Prometheus that scrapes a real server and agent: each query has an answer."""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse

import pytest
import yaml

from support.agent import Agent
from support.http_client import Client
from support.server import ROOT, SLOW, Server, free_port

PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
DEPLOY = os.path.join(ROOT, "deploy")
RULES = os.path.join(DEPLOY, "prometheus", "tidewatt-rules.yaml")
DASHBOARDS = sorted(os.listdir(os.path.join(DEPLOY, "grafana")))
# Only with a certificate, and only with forward.url: looked up in the source.
CONDITIONAL = {"tidewatt_tls_certificate_end_timestamp_seconds", "tidewatt_forward_samples_total"}


def load(name):
    with open(os.path.join(DEPLOY, "grafana", name), encoding="utf-8") as file:
        return json.load(file)


def rules():
    with open(RULES, encoding="utf-8") as file:
        return [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]


def queries(name):
    """What Grafana asks with all variables at All."""
    for panel in load(name)["panels"]:
        for target in panel["targets"]:
            text = re.sub(r'"\$(cluster|node|zone)"', '".*"', target["expr"]).replace("$__rate_interval", "1m")
            assert "$" not in text, text
            yield panel["title"], text


def names_in(text):
    return set(re.findall(r"\b(?:tidewatt|process)_[a-z0-9_]+\b", re.sub(r"tidewatt:[a-z0-9_:]+", "", text)))


def series(page):
    return [line for line in page.splitlines() if line and not line.startswith("#")]


def exported(page):
    return {re.match(r"[a-zA-Z_:][\w:]*", line).group(0) for line in series(page)}


class Scene:
    """A server with a static signal, an agent with eight simulated cards, and a Prometheus that scrapes both."""

    def __init__(self, folder):
        self.folder = folder
        config = folder / "server.yaml"
        config.write_text("carbon:\n  zones:\n    DE: static g=300 boundary=life_cycle basis=consumption\n", encoding="utf-8")
        self.server = Server(folder / "data", None, ["--config", str(config)]).start()
        self.agent = Agent(folder / "agent", f"http://127.0.0.1:{self.server.port}", self.server.agent_token, node_id="n1", sources="sim:gpus=8").start()
        self.port = free_port()
        job = lambda name, port, labels: {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": labels}]}  # noqa: E731
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "500ms", "evaluation_interval": "500ms"}, "rule_files": [RULES],
            "scrape_configs": [job("tidewatt-server", self.server.port, {}), job("tidewatt-agent", self.agent.port, {"carbon_zone": "DE"})]}), encoding="utf-8")
        self.prometheus = subprocess.Popen(
            [PROMETHEUS, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, query):
        answer = Client(self.port).get("/api/v1/query?" + urllib.parse.urlencode({"query": query}))
        assert answer.status == 200, (query, answer.body)
        return answer.json()["data"]["result"]

    def until(self, query):
        deadline = time.monotonic() + 40 * SLOW
        while True:
            try:
                if found := self.ask(query):
                    return found
            except OSError:
                pass
            assert time.monotonic() < deadline, f"no data: {query}"
            time.sleep(0.3)

    def server_page(self):
        return Client(self.server.port, self.server.ops_token).get("/metrics").body.decode()

    def finish(self):
        self.prometheus.terminate()
        self.prometheus.wait(timeout=30)
        self.agent.stop()
        self.server.finish()


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    if PROMETHEUS is None:
        pytest.skip("prometheus isn't installed")
    made = Scene(tmp_path_factory.mktemp("scene"))
    try:
        made.until("tidewatt:agent_send_failures:ratio_rate5m >= 0")
        yield made
    finally:
        made.finish()


@pytest.mark.skipif(PROMTOOL is None, reason="promtool isn't installed")
@pytest.mark.parametrize("command", (["check", "rules", "tidewatt-rules.yaml"], ["test", "rules", "tidewatt-rules_test.yaml"],
                                     ["check", "config", "--syntax-only", "prometheus.yaml"],
                                     ["check", "config", "--syntax-only", "prometheus-lean.yaml"]), ids=" ".join)
def test_promtool_agrees(command):
    checked = subprocess.run([PROMTOOL, *command], cwd=os.path.join(DEPLOY, "prometheus"), capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_alert_says_what_to_do_and_is_seen_firing():
    with open(os.path.join(DEPLOY, "prometheus", "tidewatt-rules_test.yaml"), encoding="utf-8") as file:
        tested = file.read()
    alerts = [rule for rule in rules() if "alert" in rule]
    assert len(alerts) > 20
    for rule in alerts:
        assert len(rule["annotations"]["action"]) > 30 and rule["annotations"]["summary"], rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical"), rule["alert"]
        assert f'alertname="{rule["alert"]}"' in tested, f"{rule['alert']} fires in no test"


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_has_ids_of_its_own_and_no_panel_lies_on_another(name):
    board = load(name)
    assert [load(other)["uid"] for other in DASHBOARDS].count(board["uid"]) == 1
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


def test_each_query_of_each_dashboard_has_data(scene):
    empty = []
    for name in DASHBOARDS:
        for title, query in queries(name):
            try:
                scene.until(query)
            except AssertionError as error:
                empty.append(f"{name}: {title}: {error}")
                break
    assert not empty, "\n".join(empty)


def test_each_recording_rule_has_data_and_its_figures_fit(scene):
    for rule in rules():
        if "record" in rule:
            scene.until(rule["record"])
    node = scene.ask("tidewatt:node_power:watts")
    assert [one["metric"]["node_id"] for one in node] == ["n1"]
    watts, grams = (float(scene.ask(f"avg_over_time({name}[20s])")[0]["value"][1])
                    for name in ("tidewatt:zone_power:watts", "tidewatt:zone_emissions:grams_per_hour"))
    assert grams == pytest.approx(watts / 1000 * 300, rel=0.1)


def test_rules_and_dashboards_name_no_metric_that_nobody_exports(scene):
    known = exported(scene.server_page()) | exported(scene.agent.get("/metrics")[1])
    with open(os.path.join(ROOT, "libs", "api", "src", "metrics.cc"), encoding="utf-8") as file:
        source = file.read()
    assert all(f'"{name}"' in source for name in CONDITIONAL)
    texts = [rule["expr"] for rule in rules()] + [query for name in DASHBOARDS for _, query in queries(name)]
    assert set().union(*(names_in(text) for text in texts)) - known - CONDITIONAL == set()
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    assert {name for text in texts for name in re.findall(r"tidewatt:[a-z0-9_:]+", text)} <= recorded


def test_no_alert_fires_where_all_is_well(scene):
    assert scene.ask('ALERTS{alertstate="firing"}') == []


def test_a_nodes_series_are_few_and_the_lean_scrape_is_30_at_most(scene):
    page = scene.agent.get("/metrics")[1]
    assert len(series(page)) <= 64, "eight cards, two CPUs, memory, input: docs/operate/prometheus.md says 60"
    with open(os.path.join(DEPLOY, "prometheus", "prometheus-lean.yaml"), encoding="utf-8") as file:
        relabel = yaml.safe_load(file)["scrape_configs"][1]["metric_relabel_configs"][0]
    kept = [line for line in series(page) if re.fullmatch(relabel["regex"], re.match(r"\w+", line).group(0))]
    assert 20 < len(kept) <= 30, len(kept)
    needed = {name for rule in rules() for name in names_in(rule["expr"]) if name.startswith("tidewatt_agent_")}
    assert {name for name in needed if not re.fullmatch(relabel["regex"], name)} == set(), "the lean scrape feeds every rule"


def test_the_servers_series_dont_grow_with_tasks_and_nodes(scene):
    before = len(series(scene.server_page()))
    ops = Client(scene.server.port, scene.server.ops_token)
    for i in range(200):
        assert ops.post("/api/v1/tasks", {"task_id": f"t{i}", "team": f"team-{i}", "kind": "training"}).status < 300
    agent = Client(scene.server.port, scene.server.agent_token)
    for i in range(50):
        beat = {"schema": "v1", "node_id": f"far-{i}", "cluster": f"c{i}", "gpu_stats": [{"index": 0, "uuid": f"G{i}", "power_watts": 5, "source": "nvml"}]}
        assert agent.post("/api/v1/heartbeats", [beat]).status == 200
    after = len(series(scene.server_page()))
    assert after == before, (before, after)
    assert after <= 160
