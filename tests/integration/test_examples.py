"""What stands in deploy/examples: valid YAML, its Jobs are held by a real webhook, its URLs are answered by a real server."""
import base64
import json
import os
import re
import urllib.parse

import pytest
import yaml

from support.http_client import Client
from support.server import ROOT, Server, free_port

FOLDER = os.path.join(ROOT, "deploy", "examples")
FILES = sorted(os.listdir(FOLDER))


class Strict(yaml.SafeLoader):
    """Refuses a key that comes twice, of which YAML's reader would take the last."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len(set(keys)) == len(keys), f"a key comes twice: {keys}"
        return super().construct_mapping(node, deep)


def load(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return list(yaml.load_all(file.read(), Strict))


def nested(name):
    """Its objects, and those in strings of it."""
    for one in load(name):
        yield one
        inner = [t["resource"]["manifest"] for t in one.get("spec", {}).get("templates", []) if "resource" in t] if one.get("kind") == "Workflow" else []
        inner += one["data"].values() if one.get("kind") == "ConfigMap" else []
        for text in inner:
            yield from yaml.load_all(text, Strict)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    config = folder / "server.yaml"
    config.write_text("carbon:\n  zones: {DE: static g=300 boundary=life_cycle basis=consumption}\n"
                      f"kubernetes: {{listen: '127.0.0.1:{port}'}}\nkeda:\n  policies:\n    batch: zone=DE min=1 steps=150:20,400:5\n", encoding="utf-8")
    server = Server(folder / "data", flags=["--config", str(config)]).start()
    yield server, Client(port)
    server.finish()


def test_the_examples_are_those_that_the_spec_names():
    assert FILES == ["argo-workflow.yaml", "keda-fixed-cap.yaml", "keda-min-of-load-and-carbon.yaml", "kueue-job.yaml", "otel-collector.yaml", "ray-job.yaml",
                     "volcano-job.yaml"]


@pytest.mark.parametrize("name", FILES)
def test_each_is_yaml_without_doubled_keys_and_says_what_it_is(name):
    found = list(nested(name))
    assert found
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        assert file.read().startswith("# ")
    for one in found:
        assert name == "otel-collector.yaml" or {"apiVersion", "kind", "metadata"} <= one.keys()


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith(("argo", "kueue", "ray", "volcano"))])
def test_the_jobs_pods_are_held(cluster, name):
    jobs = [one for one in nested(name) if (one["apiVersion"], one["kind"]) == ("batch/v1", "Job")]
    assert jobs
    for job in jobs:
        pod = {"metadata": {"generateName": "p-", **job["spec"]["template"]["metadata"],
                            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "x", "controller": True}]}, "spec": job["spec"]["template"]["spec"]}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "batch", "operation": "CREATE", "object": pod, "dryRun": True}}
        answer = cluster[1].post("/k8s/admission/mutate", review).json()["response"]
        assert answer["allowed"] and "warnings" not in answer
        assert "tidewatt.io/clean-window" in base64.b64decode(answer["patch"]).decode()


def test_kedas_url_and_location_give_the_replicas(cluster):
    server = cluster[0]
    trigger = next(t for t in load("keda-min-of-load-and-carbon.yaml")[0]["spec"]["triggers"] if t["name"] == "carbon")
    url = urllib.parse.urlsplit(trigger["metadata"]["url"])
    value = Client(server.port, server.ops_token).get(f"{url.path}?{url.query}").json()
    for key in trigger["metadata"]["valueLocation"].split("."):
        value = value[key]
    assert value == 5
    # min(load, carbon): 3 ask for 3, 40 ask for 5; target 1 of an AverageValue is as many replicas as the value.
    spec = load("keda-min-of-load-and-carbon.yaml")[0]["spec"]
    names = re.fullmatch(r"min\((\w+), (\w+)\)", spec["advanced"]["scalingModifiers"]["formula"]).groups()
    assert set(names) == {t["name"] for t in spec["triggers"]} and spec["advanced"]["scalingModifiers"]["target"] == "1"
    assert spec["minReplicaCount"] <= min(3, value) and min(40, value) <= spec["maxReplicaCount"]


def test_the_fixed_cap_is_below_what_the_policy_may_ask():
    spec = load("keda-fixed-cap.yaml")[0]["spec"]
    assert spec["maxReplicaCount"] == 6 and "scalingModifiers" not in spec["advanced"]
    assert all(t["metadata"]["scalerAddress"].endswith(":7312") for t in spec["triggers"])


def test_the_collectors_exporter_gets_an_answer_where_it_sends(cluster):
    config = load("otel-collector.yaml")[0]
    exporter = config["exporters"]["otlphttp/tidewatt"]
    pipeline = config["service"]["pipelines"]["traces/tidewatt"]
    for part in ("receivers", "processors", "exporters"):
        assert set(pipeline[part]) <= config[part].keys()
    path = urllib.parse.urlsplit(exporter["endpoint"]).path + "/v1/traces"
    assert Client(cluster[0].port, cluster[0].agent_token).post(path, {"resourceSpans": []}).status == 200
    assert json.dumps(exporter).count("Bearer ${env:") == 1, "no token stands in the file"
