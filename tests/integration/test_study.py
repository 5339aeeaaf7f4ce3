"""tidewatt study: the published tables come out again, where their data is at hand."""
import json
import os
import subprocess

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
    caiso = {(row["job_hours"], row["slack_hours"]): row for row in json.loads(study(tidewatt, "caiso").stdout)["rows"]}
    assert round(caiso[4, 12]["one_window_forecast_percent"], 2) == 28.61
    assert round(caiso[24, 48]["one_window_forecast_percent"], 2) == -0.07


def test_missing_data_is_told(tidewatt, tmp_path):
    for name in ("eurosys24", "gaia", "wait-awhile", "caiso"):
        done = study(tidewatt, name, str(tmp_path))
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and str(tmp_path) in done.stderr, done
