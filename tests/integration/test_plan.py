"""tidewatt plan: a file in, a plan or a one-line refusal out."""
import json
import subprocess

import pytest

from support.server import SLOW, clean_environment

PLAN = {
    "schema": "tidewatt-plan/1", "start": "2026-02-03T00:00:00Z",
    "zones": {"A": {"ci_g_per_kwh": [300, 100, 120, 300]}}, "sites": [{"id": "s", "zone": "A"}],
    "jobs": [{"id": "a", "duration_minutes": 120, "power_kw": 3, "deadline": "2026-02-03T04:00:00Z"}],
}


@pytest.fixture
def plan(tidewatt, tmp_path):
    """Runs `tidewatt plan` on a plan (or on text) in a folder of its own."""
    def run(content, *arguments, code=0, files=None):
        file = tmp_path / "plan.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        for name, text in (files or {}).items():
            (tmp_path / name).write_text(text)
        told = subprocess.run([tidewatt, "plan", str(file), *arguments], capture_output=True, text=True, timeout=60 * SLOW, env=clean_environment())
        assert told.returncode == code, told
        return told
    return run


def test_a_plan_says_when_what_it_saves_and_its_bound(plan):
    answer = json.loads(plan(PLAN, "--json").stdout)
    job = answer["jobs"][0]
    assert job["segments"] == [{"site": "s", "start": "2026-02-03T01:00:00Z", "end": "2026-02-03T03:00:00Z", "power_kw": 3, "replicas": 1}]
    assert (job["carbon_g"], job["baseline_carbon_g"], job["savings_percent"]) == (660, 1200, 45)
    assert (answer["totals"]["lower_bound_g"], answer["totals"]["gap_percent"]) == (660, 0)


def test_the_table_names_savings_reason_and_bound(plan):
    table = plan(PLAN).stdout
    assert "45.0 %" in table and "2026-02-03T01:00Z to 2026-02-03T03:00Z" in table and "No plan emits less than 0.660 kg" in table


def test_the_same_file_gives_the_same_bytes(plan):
    assert plan(PLAN, "--json").stdout == plan(PLAN, "--json").stdout


@pytest.mark.parametrize("change, said", [
    ({"jobs": [{**PLAN["jobs"][0], "dead_line": 1}]}, "unknown_key: $.jobs[0].dead_line"),
    ({"schema": "tidewatt-plan/2"}, "bad_schema: $.schema"),
    ({"jobs": [{**PLAN["jobs"][0], "timezone": "Mars/Olympus"}]}, "unknown_timezone: $.jobs[0].timezone"),
    ({"jobs": [{**PLAN["jobs"][0], "timezone": "../../etc/passwd"}]}, "unknown_timezone: $.jobs[0].timezone"),
    ({"jobs": [{**PLAN["jobs"][0], "release": "2026-03-29T02:30", "timezone": "Europe/Berlin"}]}, "nonexistent_local_time: $.jobs[0].release"),
    ({"zones": {"A": {"csv": "none.csv"}}}, "csv_unreadable: $.zones.A.csv"),
])
def test_what_is_refused_is_one_line_and_no_answer(plan, change, said):
    told = plan({**PLAN, **change}, "--json", code=1)
    assert told.stdout == "" and said in told.stderr and told.stderr.count("\n") == 1


def test_a_csv_lies_beside_the_plan_file(plan):
    csv = "start_utc,gco2_per_kwh\n" + "".join(f"2026-02-03T0{hour}:00:00Z,{value}\n" for hour, value in enumerate([300, 100, 120, 300]))
    answer = json.loads(plan({**PLAN, "zones": {"A": {"csv": "ci.csv"}}}, "--json", files={"ci.csv": csv}).stdout)
    assert answer["totals"]["carbon_g"] == 660


def test_local_times_follow_the_zones_clocks(plan):
    # The night of 25 October 2026 has an hour more in Berlin: 00:00 to 04:00 are five hours.
    change = {"start": "2026-10-24T22:00:00Z", "zones": {"A": {"ci_g_per_kwh": [300, 300, 300, 100, 90]}},
              "jobs": [{"id": "a", "duration_minutes": 120, "power_kw": 1, "timezone": "Europe/Berlin", "release": "2026-10-25T00:00", "deadline": "2026-10-25T04:00"}]}
    answer = json.loads(plan({**PLAN, **change}, "--json").stdout)
    assert answer["jobs"][0]["segments"][0]["start"] == "2026-10-25T01:00:00Z"


def test_an_optimal_plan_under_a_cap_proves_itself(plan):
    change = {"policy": "optimal", "sites": [{"id": "s", "zone": "A", "power_cap_kw": 4}],
              "jobs": [{**PLAN["jobs"][0], "id": name, "duration_minutes": 60} for name in "abc"]}
    totals = json.loads(plan({**PLAN, **change}, "--json").stdout)["totals"]
    assert totals["carbon_g"] == totals["lower_bound_g"] == 3 * (100 + 120 + 300)
    assert "baseline_capped_carbon_g" in totals
