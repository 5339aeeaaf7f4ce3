"""tidewatt study: the published tables come out again, where their data is at hand."""
import gzip
import json
import os
import subprocess
import xml.etree.ElementTree

import pytest

from support.server import clean_environment

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data")


def study(tidewatt, name, data=DATA):
    return subprocess.run([tidewatt, "study", name, "--data", data, "--json"], capture_output=True, text=True, timeout=120,
                          env=clean_environment())


@pytest.mark.skipif(not os.path.isdir(DATA), reason="the studies' data isn't at hand")
def test_published_figures_come_out_again(tidewatt):
    eurosys = json.loads(study(tidewatt, "eurosys24").stdout)
    assert eurosys["compared_with_published"] >= 70 * 6 and eurosys["largest_difference_g"] < 1e-4, eurosys["largest_difference_g"]
    gaia = {row["start_hour"]: row for row in json.loads(study(tidewatt, "gaia").stdout)["rows"]}
    wanted = {"lowest_slot": 0.780037, "lowest_window": 0.683704, "carbon_time": 0.724888, "ecovisor": 0.639105, "wait_awhile": 0.546196,
              "oracle_window": 0.614376, "nowait_cost": 562.171256}
    assert {name: round(gaia[7000][name], 6) for name in wanted} == wanted
    wait = json.loads(study(tidewatt, "wait-awhile").stdout)
    assert wait["largest_difference_points"] <= 0.15, wait
    answer = json.loads(study(tidewatt, "caiso").stdout)
    caiso = {(row["year"], row["job_hours"], row["slack_hours"], row["kind"]): row for row in answer["rows"]}
    assert round(caiso["2020", 4, 12, "one_window"]["forecast_percent"], 2) == 28.61
    assert round(caiso["2020", 24, 48, "one_window"]["forecast_percent"], 2) == -0.07
    assert round(caiso["2020", 24, 24, "interrupting"]["perfect_percent"], 2) == 23.19
    # The rule to do no harm, in every cell of every year.
    assert len(caiso) == 4 * 16 * 2
    for cell, row in caiso.items():
        assert row["no_harm_percent"] >= -0.05, (cell, row)
        assert row["forecast_percent"] <= 0 or row["no_harm_percent"] >= 0.95 * row["forecast_percent"], (cell, row)


@pytest.mark.skipif(not os.path.isdir(DATA), reason="the studies' data isn't at hand")
def test_three_days_without_a_signal_miss_no_deadline(tidewatt):
    answer = json.loads(study(tidewatt, "outage").stdout)
    for row in answer["rows"]:
        assert row["jobs"] > 1000 and row["outages"] > 15, row
        assert row["deadlines_missed"] == 0 and row["waiting_for_the_signal"] == 0, row
        assert 0 < row["in_outage_percent"] < row["perfect_percent"], row


def year_data(folder):
    """Two weeks' jobs and a month of five zones, clean at night."""
    zones = folder / "traces" / "carbon-123zones-2022"
    zones.mkdir(parents=True)
    for zone in ("AU-SA", "DE", "GB", "PL", "US-CAL-CISO"):
        lines = ["start_utc,gco2_per_kwh"]
        lines += [f"2022-01-{1 + hour // 24:02}T{hour % 24:02}:00:00Z,{100 if hour % 24 < 6 else 400}" for hour in range(24 * 31)]
        with gzip.open(zones / f"{zone}.csv.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    (folder / "traces" / "gaia").mkdir()
    with gzip.open(folder / "traces" / "gaia" / "pai-100k.csv.gz", "wt") as file:
        file.write(f"arrival_time,length,cpus\n{24 * 17},0.25,40\n" + "".join(f"{24 * 18 + 1.5 * i},{0.5 + i % 5},2\n" for i in range(100)))


def test_a_small_year_by_hand_made_data(tidewatt, tmp_path):
    year_data(tmp_path)
    figure = tmp_path / "year.svg"
    done = subprocess.run([tidewatt, "study", "year", "--data", str(tmp_path), "--json", "--figure", str(figure)], capture_output=True, text=True,
                          timeout=120, env=clean_environment())
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["peak_cpus"] <= answer["cap_cpus"] + 1e-6
    saved = {(row["length"], row["slack_hours"], row["policy"]): row["saved_percent"] for row in answer["rows"]}
    assert saved["all", 24, "pieces_perfect"] > 30
    assert saved["all", 24, "pieces"] > 0.95 * saved["all", 24, "pieces_perfect"], "every day is like the last"
    assert saved["all", 6, "pieces"] < saved["all", 24, "pieces"]
    assert all(row["late_without_failure"] == 0 for row in answer["rows"])
    assert xml.etree.ElementTree.fromstring(figure.read_text()).tag.endswith("svg")


def test_missing_data_is_told(tidewatt, tmp_path):
    for name in ("eurosys24", "gaia", "wait-awhile", "caiso", "year", "outage", "cooling"):
        done = study(tidewatt, name, str(tmp_path))
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and str(tmp_path) in done.stderr, done
