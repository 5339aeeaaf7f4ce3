#!/usr/bin/env python3
"""Backtests `tidewatt forecast` on many zones and prints the tables of docs/studies/forecast.md as Markdown.

    forecast_study.py TIDEWATT CASES.json [--published DIR] [--jobs N]

CASES.json is a list of {"name", "files": [CSV.gz, ...], "value": column, "test_from", "test_to"} and, where there
are, "weather": CSV.gz and "bar": [day 1..4 of a reference method, MAPE %]; paths are relative to its folder.
--published: a folder of <ZONE>_*.csv.gz with ts_utc, ci_actual and a column ci_fcst_*: others' day-ahead forecasts,
compared on the same days with the case whose name starts with "ZONE direct".
"""
import argparse
import csv
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def joined(folder, files, scratch):
    """The years of a zone as one file."""
    if len(files) == 1:
        return os.path.join(folder, files[0])
    path = os.path.join(scratch, os.path.basename(files[0]) + ".csv")
    with open(path, "w", encoding="utf-8") as out:
        for number, name in enumerate(files):
            with gzip.open(os.path.join(folder, name), "rt", encoding="utf-8") as year:
                header = year.readline()
                out.write(header if number == 0 else "")
                out.writelines(year)
    return path


def backtest(tidewatt, series, case, weather, known):
    command = [tidewatt, "forecast", "--series", series, "--value", case["value"], "--horizon", "96h", "--backtest",
               "--test-from", case["test_from"], "--test-to", case["test_to"], "--json"]
    if weather:
        command += ["--weather", weather, "--weather-known", known]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if told.returncode != 0:
        sys.exit(f"{case['name']}: {told.stderr.strip()}")
    return json.loads(told.stdout)


def mape(result):
    return [day["mape"] for day in result["days"]]


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def days(values, digits=2):
    return " / ".join(f"{value:.{digits}f}" for value in values)


def published_mape(path, first, last):
    """MAPE of a published day-ahead forecast over the hours of the days first..last."""
    errors = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if not first <= line["ts_utc"][:10] <= last:
                continue
            said = next(float(text) for name, text in line.items() if name.startswith("ci_fcst_"))
            actual = float(line["ci_actual"])
            errors.append(abs(said - actual) / actual)
    return 100 * sum(errors) / len(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidewatt")
    parser.add_argument("cases")
    parser.add_argument("--published")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    folder = os.path.dirname(os.path.abspath(arguments.cases))
    with open(arguments.cases, encoding="utf-8") as file:
        cases = json.load(file)

    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        series = [joined(folder, case["files"], scratch) for case in cases]
        weather = [os.path.join(folder, case["weather"]) if case.get("weather") else None for case in cases]
        kinds = {"full": "24h", "past": "0h", "none": None}
        work = [(kind, index) for kind in kinds for index in range(len(cases)) if kind == "full" or weather[index]]
        answers = pool.map(lambda job: backtest(arguments.tidewatt, series[job[1]], cases[job[1]],
                                                weather[job[1]] if kinds[job[0]] else None, kinds[job[0]]), work)
        results = dict(zip(work, answers))

    print(row(["zone", "MAPE day 1-4 [%]", "MAE day 1-4 [g/kWh]", "in the 80 % band, day 1-4 [%]", "daily repeat [%]", "reference [%]", "of the reference"]))
    print(row(["---"] * 7))
    ratios = {kind: [] for kind in kinds}
    inside = []
    for index, case in enumerate(cases):
        result = results["full", index]
        own = mape(result)
        bar = case.get("bar")
        of_bar = [a / b for a, b in zip(own, bar)] if bar else []
        ratios["full"] += of_bar
        for kind in ("past", "none"):
            if bar and (kind, index) in results:
                ratios[kind] += [a / b for a, b in zip(mape(results[kind, index]), bar)]
        band = [100 * day["coverage_80"] for day in result["days"]]
        inside += band
        print(row([case["name"], days(own), days([day["mae"] for day in result["days"]], 1), days(band, 1), days(result["baselines"]["daily_repeat"]),
                   days(bar) if bar else "-", days(of_bar) if bar else "-"]))
    mean = lambda values: sum(values) / len(values)
    print(f"\nBand pooled over all zones and days: {mean(inside):.1f} %.")
    if ratios["full"]:
        print(f"Mean of all ratios to the reference: {mean(ratios['full']):.3f}, the largest {max(ratios['full']):.3f}.")

    with_weather = [index for index in range(len(cases)) if weather[index]]
    if with_weather:
        print("\n" + row(["zone", "weather known 24 h ahead", "weather up to the issue", "no weather"]))
        print(row(["---"] * 4))
        for index in with_weather:
            print(row([cases[index]["name"]] + [days(mape(results[kind, index])) for kind in kinds]))
        if ratios["past"]:
            of_weather = [mape(results["full", i])[d] / cases[i]["bar"][d] for i in with_weather for d in range(4)]
            print(row(["mean of the reference", f"{mean(of_weather):.3f}", f"{mean(ratios['past']):.3f}", f"{mean(ratios['none']):.3f}"]))

    if arguments.published:
        print("\n" + row(["zone", "published day-ahead forecast [%]", "day 1, weather known 24 h ahead [%]", "day 1, weather up to the issue [%]", "day 1, no weather [%]"]))
        print(row(["---"] * 5))
        for path in sorted(glob.glob(os.path.join(arguments.published, "*.csv.gz"))):
            zone = os.path.basename(path).split("_")[0]
            index = next((i for i, case in enumerate(cases) if case["name"].startswith(zone + " direct")), None)
            if index is None:
                continue
            published = published_mape(path, cases[index]["test_from"], cases[index]["test_to"])
            print(row([zone, f"{published:.2f}"] + [f"{mape(results[kind, index])[0]:.2f}" if (kind, index) in results else "-" for kind in kinds]))

    fits = [result["train_seconds"] for result in results.values()]
    steps = [result["forecast_ms"] for result in results.values()]
    print(f"\nFits (1 to 3.5 years): {min(fits):.2f} to {max(fits):.2f} s; a forecast: {min(steps):.2f} to {max(steps):.2f} ms.")


if __name__ == "__main__":
    main()
