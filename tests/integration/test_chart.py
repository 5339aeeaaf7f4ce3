"""The chart in deploy/helm gives what `tidewatt k8s manifests` prints, byte for byte; what both give has known fields alone."""
import base64
import os
import subprocess
import sys

import jsonschema
import pytest
import yaml

from support.kube_kinds import KINDS
from support.server import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
import render_chart  # noqa: E402

CHART = os.path.join(ROOT, "deploy", "helm", "tidewatt")
PEM = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
IMAGE = "registry.example/tidewatt:0.1.0"
ALL = {"caBundle": base64.b64encode(PEM).decode(), "zone": "DE", "zoneMap": {"eu-west-3a": "FR", "eu-central-1": "DE"}, "serviceMonitor": {"enabled": True}}


def manifests(tidewatt, *flags):
    return subprocess.run([tidewatt, "k8s", "manifests", *flags], capture_output=True, text=True, check=True, timeout=60).stdout


def objects(text):
    return [one for one in yaml.safe_load_all(text) if one]


def test_its_defaults_are_the_commands_bytes(tidewatt):
    assert render_chart.render(CHART) == manifests(tidewatt, "--image", IMAGE)


def test_each_option_of_the_command_is_a_value(tidewatt, tmp_path):
    (tmp_path / "ca.crt").write_bytes(PEM)
    flags = ["--image", "r/t@sha256:0", "--namespace", "power", "--storage", "5Gi", "--zone", "DE", "--ca-file", str(tmp_path / "ca.crt")]
    values = {"image": "r/t@sha256:0", "namespace": "power", "storage": "5Gi", "zone": "DE", "caBundle": ALL["caBundle"]}
    assert render_chart.render(CHART, values) == manifests(tidewatt, *flags)


@pytest.mark.parametrize("over", ({}, ALL), ids=("defaults", "all"))
def test_each_object_has_the_fields_of_its_kind(over):
    found = objects(render_chart.render(CHART, over))
    for one in found:
        jsonschema.validate(one, KINDS[one["kind"]])
    ids = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in found]
    assert len(set(ids)) == len(ids)
    if over:
        assert {one["kind"] for one in found} == set(KINDS), "each schema is used"


def test_a_misspelt_field_is_found():
    one = next(o for o in objects(render_chart.render(CHART)) if o["kind"] == "Deployment")
    one["spec"]["template"]["spec"]["containers"][0]["recources"] = {}
    with pytest.raises(jsonschema.ValidationError, match="recources"):
        jsonschema.validate(one, KINDS["Deployment"])


def test_names_that_objects_give_each_other_exist():
    found = objects(render_chart.render(CHART, ALL))
    accounts = {o["metadata"]["name"] for o in found if o["kind"] == "ServiceAccount"}
    roles = {(o["kind"], o["metadata"]["name"]) for o in found if o["kind"] in ("Role", "ClusterRole")}
    for o in found:
        if o["kind"].endswith("RoleBinding"):
            assert (o["roleRef"]["kind"], o["roleRef"]["name"]) in roles
            assert {s["name"] for s in o["subjects"]} <= accounts
        template = o.get("spec", {}).get("jobTemplate", o).get("spec", {}).get("template")
        if template:
            assert template["spec"]["serviceAccountName"] in accounts
            claimed = {c["metadata"]["name"] for c in o["spec"].get("volumeClaimTemplates", [])}
            volumes = {v["name"] for v in template["spec"].get("volumes", [])} | claimed
            assert {m["name"] for c in template["spec"]["containers"] for m in c.get("volumeMounts", [])} <= volumes
            if "selector" in o["spec"]:
                assert o["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()


def test_what_the_accounts_may_is_this_and_no_more():
    rights = {(o["kind"], ",".join(r["apiGroups"]), ",".join(r["resources"]), ",".join(r.get("resourceNames", [])), ",".join(r["verbs"]))
              for o in objects(render_chart.render(CHART, ALL)) if o["kind"] in ("Role", "ClusterRole") for r in o["rules"]}
    assert rights == {("ClusterRole", "", "pods", "", "get,list,watch,patch"), ("ClusterRole", "batch", "jobs", "", "get,list,watch,patch"),
                      ("ClusterRole", "", "events", "", "create"), ("Role", "coordination.k8s.io", "leases", "", "create"),
                      ("Role", "coordination.k8s.io", "leases", "tidewatt-controller", "get,update")}


def test_a_zone_map_becomes_flags_of_the_controller():
    command = next(o for o in objects(render_chart.render(CHART, ALL)) if o["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[-6:] == ["--zone", "DE", "--zone-map", "eu-central-1=DE", "--zone-map", "eu-west-3a=FR"]


@pytest.mark.parametrize("over", ({"image": 'x"\ny'}, {"namespace": "Upper"}, {"zone": "a b"}, {"zoneMap": {"a": 'b"'}}, {"imagee": "x"}, {"createNamespace": "yes"}, {"caBundle": "a b"}))
def test_values_that_would_break_the_yaml_are_refused(over):
    with pytest.raises(render_chart.ChartError, match="value"):
        render_chart.render(CHART, over)


@pytest.mark.parametrize("text,said", (("{{ .Values.nothing }}", "no nothing"), ("a\n{{ .Values.image | quote }}", "t.yaml:2"), ("{{ if .Values.zone }}x", "no {{ end }}"),
                                       ('{{ include "x" . }}', 'nothing defines "x"'), ("{{ .Values.zoneMap }}", "no single value")))
def test_a_template_beyond_the_small_language_is_an_error(tmp_path, text, said):
    (tmp_path / "templates").mkdir()
    for name in ("values.yaml", "values.schema.json"):
        with open(os.path.join(CHART, name), encoding="utf-8") as file:
            (tmp_path / name).write_text(file.read(), encoding="utf-8")
    (tmp_path / "templates" / "t.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(render_chart.ChartError) as error:
        render_chart.render(str(tmp_path))
    assert said in str(error.value)
