"""`tidewatt aif`: model files run, decisions replay, bad files are one line."""
import json
import subprocess

import pytest

SENSOR = {
    "format": "tidewatt-aif/1", "id": "two-sensors",
    "model": {"num_obs": [2, 2], "num_states": [2], "num_controls": [2], "A_factor_list": [[0], [0]], "B_factor_list": [[0]],
              "A": [{"shape": [2, 2], "data": [1, 0, 0, 1]}, {"shape": [2, 2], "data": [1, 0, 0, 1]}],
              "B": [{"shape": [2, 2, 2], "data": [1, 0.5, 0, 0.5, 0, 0.5, 1, 0.5]}],
              "C": [{"shape": [2], "data": [0, 0]}, {"shape": [2], "data": [0, 0]}], "D": [{"shape": [2], "data": [0.5, 0.5]}]},
    "params": {"policy_len": 1, "gamma": 1},
    "episodes": [{"steps": [{"obs": [None, None]}, {"obs": [0, None]}, {"obs": [0, 0]}]}],
}


def aif(tidewatt, *args, text=None, cwd=None):
    return subprocess.run([tidewatt, "aif", *args], input=text, capture_output=True, text=True, timeout=60, cwd=cwd)


def steps_of(tidewatt, model, mode):
    done = aif(tidewatt, "run", "-", "--mode", mode, "--json", text=json.dumps(model))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["episodes"][0]["steps"]


def test_two_sensors_of_one_bit_tell_one_bit_in_exact_mode_alone(tidewatt):
    exact = steps_of(tidewatt, SENSOR, "exact")[0]
    assert exact["G_terms"]["states_info_gain"][0] == pytest.approx(0.6931471805599453, abs=1e-12)
    compat = steps_of(tidewatt, SENSOR, "compat")[0]
    assert compat["G_terms"]["states_info_gain"][0] == pytest.approx(2 * 0.6931471805599453, abs=1e-5)


def test_a_chance_constraint_masks_what_may_violate(tidewatt):
    model = json.loads(json.dumps(SENSOR))
    model["params"]["constraints"] = [{"modality": 0, "violating": [1], "delta": 0.01}]
    last = steps_of(tidewatt, model, "exact")[2]
    assert last["mask"]["allowed_policies"] == [1, 0] and last["action"] == [0] and last["first_actions"] == [1, 0]


def test_each_decision_replays_and_a_flipped_bit_is_found(tidewatt, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(SENSOR))
    records = aif(tidewatt, "run", "model.json", "--records", cwd=tmp_path).stdout.splitlines()
    assert len(records) == 3
    for record in records:
        assert len(record) <= 2048
        parsed = json.loads(record)
        assert sum(parsed["terms"].values()) == pytest.approx(parsed["G"], abs=1e-12)
        told = aif(tidewatt, "explain", "-", text=record, cwd=tmp_path)
        assert told.returncode == 0 and "bit for bit" in told.stdout and "why not" in told.stdout, told
    raw = records[1].encode()
    for place in range(0, len(raw), 3):
        flipped = bytearray(raw)
        flipped[place] ^= 1
        assert subprocess.run([tidewatt, "aif", "explain", "-"], input=bytes(flipped), capture_output=True, cwd=tmp_path).returncode == 1
    (tmp_path / "model.json").write_text(json.dumps(SENSOR).replace('"gamma": 1', '"gamma": 2'))
    told = aif(tidewatt, "explain", "-", text=records[0], cwd=tmp_path)
    assert told.returncode == 1 and "not the file" in told.stderr


@pytest.mark.parametrize("change,named", [
    (lambda m: m["model"]["A"][0]["data"].__setitem__(0, 0.5), "A[0] column 0"),
    (lambda m: m["model"]["B"][0].__setitem__("shape", [2, 4]), "B[0].shape"),
    (lambda m: m["model"]["A_factor_list"].__setitem__(0, [7]), "A_factor_list"),
    (lambda m: m["episodes"][0]["steps"][0].__setitem__("obs", [5, 0]), "obs[0]"),
    (lambda m: m["params"].__setitem__("policy_len", 30), "policies"),
    (lambda m: m["params"].__setitem__("learn", ["A"]), "pA"),
    (lambda m: m.__setitem__("format", "other/9"), "format"),
])
def test_a_bad_file_is_one_line_and_exit_1(tidewatt, change, named):
    model = json.loads(json.dumps(SENSOR))
    change(model)
    done = aif(tidewatt, "run", "-", "--json", text=json.dumps(model))
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.strip().splitlines()) == 1
    assert named in done.stderr, done.stderr


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100000, '{"format": 1}', "nan"])
def test_what_is_no_model_is_refused(tidewatt, text):
    done = aif(tidewatt, "run", "-", text=text)
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1


def test_a_wrong_mode_is_a_wrong_use(tidewatt):
    assert aif(tidewatt, "run", "-", "--mode", "guess").returncode == 2


def test_bench_allocates_nothing_per_step(tidewatt):
    model = {**SENSOR["model"], "policy_len": 2, "gamma": 4, "obs": [[0, 0], [1, 1]]}
    done = aif(tidewatt, "bench", "-", "--steps", "50", "--json", text=json.dumps(model))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["heap_allocations_per_step"] in (0, None)
