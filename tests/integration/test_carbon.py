"""`tidewatt carbon`: answers of providers become points; published factors are cited."""
import json
import subprocess

ANSWER = '{"data":[{"from":"2031-01-01T00:00Z","to":"2031-01-01T00:30Z","intensity":{"forecast":7,"actual":null}}]}'


def carbon(tidewatt, *args, text=""):
    return subprocess.run([tidewatt, "carbon", *args], input=text, capture_output=True, text=True, timeout=20)


def test_an_answer_becomes_points(tidewatt):
    done = carbon(tidewatt, "parse", "--provider", "uk", "--endpoint", "intensity", "--json", "-", text=ANSWER)
    assert done.returncode == 0, done.stderr
    point = json.loads(done.stdout)["points"][0]
    assert (point["start"], point["gco2_per_kwh"], point["quality"]) == ("2031-01-01T00:00:00Z", 7, "forecast")


def test_an_error_body_is_one_line_and_exit_1(tidewatt):
    done = carbon(tidewatt, "parse", "--provider", "uk", "--endpoint", "intensity", "-", text='{"error":{"message":"no"}}')
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_provider_is_a_wrong_use(tidewatt):
    assert carbon(tidewatt, "parse", "--provider", "nobody", "--endpoint", "x", "-").returncode == 2


def test_chinas_compliance_value_is_told_apart(tidewatt):
    done = carbon(tidewatt, "factors", "--region", "CN", "--json")
    kinds = {f["kgco2_per_kwh"]: f["kind"] for f in json.loads(done.stdout)["factors"] if f["year"] == 2022 and f["region"] == "CN"}
    assert kinds[0.5366] == "average" and kinds[0.5703] == "ets_compliance"
