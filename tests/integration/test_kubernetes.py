"""A control plane's questions to a real server: the extender, the webhooks over HTTPS, KEDA's triggers. No cluster is needed."""
import base64
import http.client
import json
import ssl
import subprocess
import time

import pytest
import yaml

from support.certificates import make_pair
from support.http_client import Client
from support.server import ROOT, Server, free_port

CONFIG = """
carbon:
  zones:
    DE: static g=400 boundary=life_cycle basis=consumption
    FR: static g=50 boundary=life_cycle basis=consumption
kubernetes:
  listen: 127.0.0.1:{cluster_port}
  zones: {{zone-a: DE, zone-b: FR}}
  node_budget_watts: 1000
keda:
  listen: 127.0.0.1:{keda_port}
  policies:
    batch: zone=DE min=0 steps=150:20,500:4
    night: zone=FR min=0 steps=10:3
"""


class Cluster:
    def __init__(self, folder):
        self.port, self.keda_port = free_port(), free_port()
        config = folder / "server.yaml"
        config.write_text(CONFIG.format(cluster_port=self.port, keda_port=self.keda_port))
        self.server = Server(folder / "data", flags=["--config", str(config)]).start()

    def ask(self, verb, body):
        answer = Client(self.port).request("POST", f"/k8s/{verb}", body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        assert answer.status == 200, answer
        return answer.json()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.server.finish()


def node(name, zone):
    return {"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}}, "status": {"capacity": {"cpu": "8"}}}


POD = {"metadata": {"name": "p", "labels": {"carbon-tolerance": "monthly"}}, "spec": {"containers": []}}


def test_the_extender_answers_both_cache_modes(cluster):
    nodes = [node("a", "zone-a"), node("b", "zone-b")]
    whole = {"Pod": POD, "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None}
    assert cluster.ask("extender/filter", whole)["Nodes"]["items"] == nodes
    assert cluster.ask("extender/prioritize", whole) == [{"Host": "a", "Score": 2}, {"Host": "b", "Score": 8}]
    names = {"Pod": POD, "Nodes": None, "NodeNames": ["a", "b"]}
    assert cluster.ask("extender/filter", names)["NodeNames"] == ["a", "b"]
    assert [row["Score"] for row in cluster.ask("extender/prioritize", names)] == [5, 5], "names alone tell no zone: power decides"


def test_names_alone_get_the_zone_that_the_agents_tell(cluster):
    agent = Client(cluster.server.port, cluster.server.agent_token)
    beat = {"schema": "v1", "sampled_at": "2026-01-01T00:00:00Z", "gpu_stats": []}
    for name, zone in (("known-a", "zone-a"), ("known-b", "zone-b")):
        assert agent.post("/api/v1/heartbeats", {**beat, "node_id": name, "labels": {"topology.kubernetes.io/zone": zone}}).status == 200
    body = {"Pod": POD, "NodeNames": ["known-a", "known-b"]}
    for _ in range(120):
        rows = cluster.ask("extender/prioritize", body)
        if rows[0]["Score"] != rows[1]["Score"]:
            break
        time.sleep(0.1)
    assert rows == [{"Host": "known-a", "Score": 2}, {"Host": "known-b", "Score": 8}]


def test_the_listener_serves_nothing_else(cluster):
    client = Client(cluster.port, cluster.server.ops_token)
    for path in ("/api/v1/nodes", "/", "/metrics", "/api/v1/tokens"):
        assert client.get(path).status == 404, path
    assert client.get("/readyz").status == 200
    assert Client(cluster.server.port).request("POST", "/k8s/extender/filter", body=b"{}").status == 401


def review(operation="CREATE"):
    pod = {"metadata": {"generateName": "train-", "labels": {"carbon-tolerance": "daily"},
                        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "x", "controller": True}]},
           "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "705ab4f5", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "batch", "operation": operation,
                        "object": pod, "dryRun": False}}


def test_webhooks_answer_over_https_with_the_servers_certificate(tmp_path):
    certificate, key = make_pair(str(tmp_path), "webhook")
    port, config = free_port(), tmp_path / "server.yaml"
    config.write_text(f"tls: {{certificate: {certificate}, key: {key}}}\nkubernetes: {{listen: '127.0.0.1:{port}'}}\nstore: memory\n")
    server = Server(tmp_path / "data", flags=["--config", str(config)])
    command, environment = server.command(server.port)
    with open(server.log, "ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        connection = _https(port, certificate)
        for _ in range(2):  # the connection is kept
            connection.request("POST", "/k8s/admission/mutate?timeout=10s", json.dumps(review()), {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())["response"]
            assert answer["allowed"] and answer["uid"] == "705ab4f5"
            patch = json.loads(base64.b64decode(answer["patch"]))
            assert {"op": "add", "path": "/spec/schedulingGates", "value": [{"name": "tidewatt.io/clean-window"}]} in patch
        connection.request("POST", "/k8s/admission/validate?timeout=10s", json.dumps(review("UPDATE")), {"Content-Type": "application/json"})
        assert json.loads(connection.getresponse().read())["response"] == {"uid": "705ab4f5", "allowed": True}
    finally:
        process.terminate()
        assert process.wait(30) == 0


def _https(port, certificate):
    for _ in range(200):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=certificate), timeout=10)
        try:
            connection.connect()
            return connection
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer over HTTPS")


def test_keda_reads_intensity_and_replicas_with_a_token_of_role_cluster(cluster):
    ops = Client(cluster.server.port, cluster.server.ops_token)
    token = ops.post("/api/v1/tokens", {"name": "keda", "role": "cluster"}).json()["token"]
    client = Client(cluster.server.port, token)
    assert client.get("/api/v1/carbon-intensity?region=zone-a").json()["data"]["carbon_intensity"] == 400
    data = client.get("/api/v1/keda/replicas?policy=batch").json()["data"]
    assert (data["replicas"], data["by"], data["min"], data["max"]) == (4, "signal", 0, 20)
    assert client.get("/api/v1/keda/replicas?policy=night").json()["data"]["replicas"] == 0, "50 g is above its only step"
    assert client.get("/api/v1/nodes").status == 403


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """The messages of our .proto as Python's protobuf has them."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory
    out = tmp_path_factory.mktemp("proto") / "set"
    folder = f"{ROOT}/libs/keda_grpc/proto"
    subprocess.run(["protoc", f"--proto_path={folder}", f"--descriptor_set_out={out}", f"{folder}/externalscaler.proto"], check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file:
        pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName(f"externalscaler.{name}"))


def test_keda_scales_over_grpc(cluster, messages):
    grpc = pytest.importorskip("grpc")
    with grpc.insecure_channel(f"127.0.0.1:{cluster.keda_port}") as channel:
        def call(method, request, answer):
            return channel.unary_unary(f"/externalscaler.ExternalScaler/{method}", request_serializer=lambda m: m.SerializeToString(),
                                       response_deserializer=messages(answer).FromString)(request, timeout=10)

        def of(policy):
            return messages("ScaledObjectRef")(name="worker", namespace="batch", scalerMetadata={"policy": policy, "scalerAddress": "tidewatt:7312"})

        spec = call("GetMetricSpec", of("batch"), "GetMetricSpecResponse").metricSpecs[0]
        assert (spec.metricName, spec.targetSizeFloat) == ("tidewatt-batch", 1)
        request = messages("GetMetricsRequest")(scaledObjectRef=of("batch"), metricName=spec.metricName)
        assert call("GetMetrics", request, "GetMetricsResponse").metricValues[0].metricValueFloat == 4
        assert call("IsActive", of("batch"), "IsActiveResponse").result is True
        assert call("IsActive", of("night"), "IsActiveResponse").result is False
        with pytest.raises(grpc.RpcError) as refused:
            call("IsActive", of("nobody"), "IsActiveResponse")
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND
        stream = channel.unary_stream("/externalscaler.ExternalScaler/StreamIsActive", request_serializer=lambda m: m.SerializeToString(),
                                      response_deserializer=messages("IsActiveResponse").FromString)(of("batch"))
        assert next(stream).result is True
        stream.cancel()
        newer = channel.unary_unary("/externalscaler.ExternalScaler/StreamMetricSpec")
        with pytest.raises(grpc.RpcError) as unknown:
            newer(b"", timeout=10)
        assert unknown.value.code() == grpc.StatusCode.UNIMPLEMENTED


def manifests(tidewatt, *flags):
    return subprocess.run([tidewatt, "k8s", "manifests", *flags], capture_output=True, text=True, timeout=30)


def test_manifests_are_yaml_that_the_programs_understand(tidewatt, tidewatt_agent, tmp_path):
    certificate, _ = make_pair(str(tmp_path), "ca")
    printed = manifests(tidewatt, "--image", "registry.example/tidewatt:0.1.0", "--namespace", "energy", "--ca-file", certificate)
    assert printed.returncode == 0, printed.stderr
    documents = list(yaml.safe_load_all(printed.stdout))
    kinds = [document["kind"] for document in documents]
    assert kinds == ["Namespace", "ServiceAccount", "ServiceAccount", "ConfigMap", "StatefulSet", "Service", "NetworkPolicy", "DaemonSet",
                     "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Deployment", "CronJob",
                     "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    for document in documents:
        if document["kind"].endswith("WebhookConfiguration"):
            hook = document["webhooks"][0]
            assert base64.b64decode(hook["clientConfig"]["caBundle"]).startswith(b"-----BEGIN CERTIFICATE-----")
            assert hook["failurePolicy"] == "Ignore" and hook["sideEffects"] == "NoneOnDryRun"
            assert "energy" in hook["namespaceSelector"]["matchExpressions"][0]["values"]
    config = tmp_path / "server.yaml"
    config.write_text(documents[kinds.index("ConfigMap")]["data"]["server.yaml"].replace("/tls/", f"{tmp_path}/").replace("/data", str(tmp_path)))
    make_pair(str(tmp_path), "tls")
    (tmp_path / "tls.pem").rename(tmp_path / "tls.crt")
    checked = subprocess.run([tidewatt, "server", "--config", str(config), "--check-config"], capture_output=True, text=True, timeout=30)
    assert checked.returncode == 0, checked.stderr
    command = documents[kinds.index("DaemonSet")]["spec"]["template"]["spec"]["containers"][0]["command"]
    known = subprocess.run([tidewatt_agent, "--help"], capture_output=True, text=True, timeout=30).stdout
    assert all(word in known for word in command if word.startswith("--")), command
    command = documents[kinds.index("Deployment")]["spec"]["template"]["spec"]["containers"][0]["command"]
    known = subprocess.run([tidewatt, *command[1:3], "--help"], capture_output=True, text=True, timeout=30).stdout
    assert all(word in known for word in command if word.startswith("--")), command


def counts(server):
    text = Client(server.port, server.ops_token).get("/metrics").body.decode()
    wanted = ("tidewatt_extender_", "tidewatt_admission_", "tidewatt_keda_")
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(wanted)}


def test_questions_are_counted_by_outcome_and_timed(cluster):
    before = counts(cluster.server)
    cluster.ask("extender/filter", {"Pod": POD, "NodeNames": ["a"]})
    cluster.ask("extender/prioritize", {"Pod": POD, "NodeNames": ["a"]})
    assert Client(cluster.port).request("POST", "/k8s/extender/filter", body=b"{", headers={"Content-Type": "application/json"}).status == 400
    cluster.ask("admission/mutate", review())
    cluster.ask("admission/mutate", review("UPDATE"))
    cluster.ask("admission/validate", review())
    assert Client(cluster.port).request("POST", "/k8s/admission/validate", body=b"[]", headers={"Content-Type": "application/json"}).status == 400
    ops = Client(cluster.server.port, cluster.server.ops_token)
    assert ops.get("/api/v1/keda/replicas?policy=batch").status == 200
    assert ops.get("/api/v1/keda/replicas?policy=nobody").status == 404
    after = counts(cluster.server)
    grown = {name: after[name] - before[name] for name in after if "_bucket" not in name and "_sum" not in name and after[name] != before[name]}
    assert grown == {
        'tidewatt_extender_requests_total{verb="filter",outcome="answered"}': 1, 'tidewatt_extender_requests_total{verb="filter",outcome="invalid"}': 1,
        'tidewatt_extender_requests_total{verb="prioritize",outcome="answered"}': 1, "tidewatt_extender_request_seconds_count": 3,
        'tidewatt_admission_reviews_total{webhook="mutate",outcome="held"}': 1, 'tidewatt_admission_reviews_total{webhook="mutate",outcome="unchanged"}': 1,
        'tidewatt_admission_reviews_total{webhook="validate",outcome="allowed"}': 1, 'tidewatt_admission_reviews_total{webhook="validate",outcome="invalid"}': 1,
        "tidewatt_admission_review_seconds_count": 4,
        'tidewatt_keda_answers_total{asked="replicas",outcome="signal"}': 1, 'tidewatt_keda_answers_total{asked="replicas",outcome="unknown_policy"}': 1,
        "tidewatt_keda_answer_seconds_count": 2}


def test_manifests_refuse_what_is_no_image_or_certificate(tidewatt, tmp_path):
    odd = manifests(tidewatt, "--image", "a b")
    assert odd.returncode == 2 and len(odd.stderr.splitlines()) == 1 and '"a b"' in odd.stderr, odd.stderr
    (tmp_path / "x").write_text("no certificate")
    assert manifests(tidewatt, "--image", "a", "--ca-file", str(tmp_path / "x")).returncode == 1
    assert manifests(tidewatt).returncode == 2


@pytest.mark.parametrize("line,names", [
    ("keda: {policies: {b: 'zone=XX steps=100:5'}}", "zone=XX"), ("keda: {policies: {b: 'zone=DE steps=100:20,200:19'}}", "tolerance"),
    ("keda: {policies: {'B b': 'zone=DE steps=100:5'}}", "\"B b\""), ("kubernetes: {zones: {a: XX}}", "XX"),
    ("kubernetes: {listen: '0.0.0.0:7313'}", "TLS"), ("kubernetes: {node_budgets_watts: {n: none}}", "none"),
    ("kubernetes: {fixed_carbon_weight: 0.9}", "1.5"), ("kubernetes: {team_quotas_kwh: {t: -1}}", "-1")])
def test_settings_that_can_not_be_meant_are_told(tidewatt, tmp_path, line, names):
    config = tmp_path / "server.yaml"
    config.write_text("carbon: {zones: {DE: static g=1 boundary=direct basis=consumption}}\n" + line + "\n")
    checked = subprocess.run([tidewatt, "server", "--config", str(config), "--check-config", "--data", str(tmp_path)], capture_output=True, text=True, timeout=30)
    assert checked.returncode == 2 and names in checked.stderr and len(checked.stderr.splitlines()) == 1, checked.stderr
