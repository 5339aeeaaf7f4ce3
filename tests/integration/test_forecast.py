"""tidewatt forecast as a person calls it: files in, JSON, table or picture out, one clear line when it can't."""
import datetime
import gzip
import json
import math
import random
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

START = datetime.datetime(2023, 1, 2)


def text_of(days, minutes=60, seed=5):
    """A daily cycle with noise, as CSV."""
    noise = random.Random(seed)
    rows, wander = ["ts_utc,load,ci"], 0.0
    for step in range(days * 24 * 60 // minutes):
        at = START + datetime.timedelta(minutes=minutes * step)
        wander = 0.95 * wander + 0.03 * noise.gauss(0, 1)
        value = (300 + 80 * math.sin(2 * math.pi * at.hour / 24)) * math.exp(wander)
        rows.append(f"{at:%Y-%m-%dT%H:%M}Z,1,{value:.2f}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    path = tmp_path_factory.mktemp("forecast") / "zone.csv.gz"
    path.write_bytes(gzip.compress(text_of(150).encode()))
    return str(path)


def forecast(tidewatt, *arguments):
    return subprocess.run([tidewatt, "forecast", *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_a_backtest_has_days_baselines_and_costs(tidewatt, series):
    told = forecast(tidewatt, "--series", series, "--value", "ci", "--horizon", "96h", "--backtest", "--test-from", "2023-05-01", "--test-to", "2023-05-25", "--json")
    assert told.returncode == 0, told.stderr
    result = json.loads(told.stdout)
    assert [day["day"] for day in result["days"]] == [1, 2, 3, 4]
    for index, day in enumerate(result["days"]):
        assert 0 < day["mape"] < result["baselines"]["persistence"][index]
        assert 0 < day["mae"] < 100 and 0.5 < day["coverage_80"] <= 1
    assert set(result["baselines"]) == {"daily_repeat", "persistence", "weekly_profile"}
    assert all(len(values) == 4 for values in result["baselines"].values())
    assert result["train_seconds"] < 2 and result["forecast_ms"] < 10 and result["issued"] == 25


def test_a_shorter_horizon_scores_its_days_only(tidewatt, series):
    told = forecast(tidewatt, "--series", series, "--value", "ci", "--horizon", "48h", "--backtest", "--test-from", "2023-05-20", "--test-to", "2023-05-22", "--json")
    assert len(json.loads(told.stdout)["days"]) == 2


def test_what_comes_after_a_day_changes_nothing_said_of_it(tidewatt, tmp_path):
    whole = text_of(120)
    lines = whole.splitlines()
    cut = 1 + 24 * 111
    changed = lines[:cut] + [line.rsplit(",", 1)[0] + ",9.5" if number % 3 else line for number, line in enumerate(lines[cut:])]
    scores = []
    for name, text in (("a", whole), ("b", "\n".join(changed) + "\n")):
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        told = forecast(tidewatt, "--series", str(path), "--value", "ci", "--horizon", "24h", "--backtest", "--test-from", "2023-04-22", "--test-to", "2023-04-22", "--json")
        scores.append(json.loads(told.stdout)["days"])
    assert scores[0] == scores[1]


def test_a_forecast_has_a_band_and_is_the_same_each_time(tidewatt, series):
    told = [forecast(tidewatt, "--series", series, "--value", "ci", "--json") for _ in range(2)]
    assert told[0].returncode == 0, told[0].stderr
    assert told[0].stdout == told[1].stdout
    result = json.loads(told[0].stdout)
    assert result["issued_at"] == "2023-06-01T00:00:00Z" and len(result["points"]) == 96
    assert result["points"][0]["start"] == "2023-06-01T00:00:00Z" and result["points"][0]["end"] == "2023-06-01T01:00:00Z"
    for point in result["points"]:
        assert 0 < point["p10"] <= point["p50"] <= point["p90"] and point["gco2_per_kwh"] > 0
        assert point["quality"] == "forecast"


def test_the_plot_is_an_svg_and_the_table_goes_with_it(tidewatt, series, tmp_path):
    picture = tmp_path / "zone.svg"
    told = forecast(tidewatt, "--series", series, "--value", "ci", "--horizon", "6h", "--plot", str(picture))
    assert told.returncode == 0 and told.stdout.count("2023-06-01T0") == 6, told
    root = ElementTree.parse(picture).getroot()
    assert root.tag.endswith("svg") and "ci, issued 2023-06-01T00:00:00Z" in "".join(root.itertext())


def test_weather_and_half_hours_are_read_and_told(tidewatt, tmp_path):
    path = tmp_path / "half.csv"
    path.write_text(text_of(40, minutes=30))
    weather = tmp_path / "weather.csv"
    weather.write_text("t,wind\n" + "".join(f"{START + datetime.timedelta(hours=hour):%Y-%m-%dT%H:%M}Z,{hour % 17}\n" for hour in range(41 * 24)))
    told = forecast(tidewatt, "--series", str(path), "--value", "ci", "--weather", str(weather), "--json")
    assert told.returncode == 0, told.stderr
    assert any("30 min" in note for note in json.loads(told.stdout)["notes"])


@pytest.mark.parametrize("arguments,code,said", [
    (["--value", "nope"], 1, 'no column "nope" (the file has: load, ci)'),
    (["--value", "ci", "--horizon", "97h"], 2, "96 whole hours"),
    (["--value", "ci", "--horizon", "90m"], 2, "whole hours"),
    (["--value", "ci", "--backtest"], 2, "--test-from"),
    (["--value", "ci", "--backtest", "--test-from", "2023-13-01", "--test-to", "2023-05-01"], 2, "no day"),
    (["--value", "ci", "--test-from", "2023-05-01"], 2, "--backtest"),
    (["--value", "ci", "--backtest", "--test-from", "2024-05-01", "--test-to", "2024-05-02"], 1, "ends before the test"),
    (["--value", "ci", "--backtest", "--test-from", "2023-05-02", "--test-to", "2023-05-01"], 1, "ends before it starts"),
    (["--value", "ci", "--weather", "/nonexistent/w.csv"], 1, "/nonexistent/w.csv"),
    (["--value", "ci", "--plot", "/nonexistent/p.svg"], 1, "/nonexistent/p.svg"),
])
def test_errors_are_one_clear_line(tidewatt, series, arguments, code, said):
    told = forecast(tidewatt, "--series", series, *arguments)
    assert told.returncode == code, told
    assert said in told.stderr and told.stderr.count("\n") == 1 and told.stdout == ""


def test_a_gzip_that_was_cut_off_is_no_shorter_series(tidewatt, tmp_path):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(text_of(60).encode())[:-2000])
    told = forecast(tidewatt, "--series", str(path), "--value", "ci")
    assert told.returncode == 1 and "cut off" in told.stderr, told
