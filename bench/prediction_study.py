#!/usr/bin/env python3
"""How good `tidewatt predict` is on recorded runs: prediction_study.py TIDEWATT EPOCH_ENERGY.csv.gz

The file: one row an epoch, columns system,benchmark,run,n,energy_ac_j,energy_dc_j,energy_ac_to_next_j,dur_s (an empty cell is unknown); other
columns are left alone. Prints the tables of docs/studies/prediction.md.
"""
import argparse
import collections
import csv
import gzip
import json
import os
import statistics
import subprocess
import tempfile

HORIZONS = (25, 50, 100)


def read_runs(path, column):
    runs = collections.OrderedDict()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            # A slice cut off at the end of a log may read below 0: not an epoch.
            if row[column] and float(row[column]) >= 0:
                runs.setdefault((row["system"], row["benchmark"], row["run"]), []).append((int(row["n"]), float(row[column]), row["dur_s"]))
    return {key: sorted(rows) for key, rows in runs.items()}


class Study:
    def __init__(self, tidewatt, scratch):
        self.tidewatt = tidewatt
        self.scratch = scratch
        self.files = {}

    def file_of(self, rows):
        key = id(rows)
        if key not in self.files:
            path = os.path.join(self.scratch, f"{len(self.files)}.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("epoch,energy_j,seconds\n" + "".join(f"{n},{joules},{seconds}\n" for n, joules, seconds in rows))
            self.files[key] = (path, rows)
        return self.files[key][0]

    def predict(self, rows, train, horizon, earlier=()):
        """What is said after `train` rows; None where the run is too short to compare."""
        if len(rows) < train + horizon:
            return None
        command = [self.tidewatt, "predict", "--epochs", self.file_of(rows), "--train", str(train), "--horizon", str(horizon), "--json"]
        for other in earlier:
            command += ["--earlier", self.file_of(other)]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if told.returncode != 0:
            raise SystemExit(told.stderr.strip())
        said = json.loads(told.stdout)
        low, high = said["interval_90_j"]
        actual = said["actual_energy_j"]
        plain = statistics.fmean(joules for _, joules, _ in rows[1:train]) * horizon
        return {"error": 100 * (said["predicted_energy_j"] / actual - 1), "plain": 100 * (plain / actual - 1), "inside": low <= actual <= high,
                "half": 50 * (high - low) / said["predicted_energy_j"], "model": said["model"]}


def row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(names):
    print()
    row(names)
    row(["---"] * len(names))


def summary(answers):
    errors = [answer["error"] for answer in answers]
    sizes = [abs(error) for error in errors]
    plain = statistics.fmean(abs(answer["plain"]) for answer in answers)
    return [len(answers), f"{statistics.fmean(sizes):.2f} ({statistics.fmean(errors):+.2f}, {max(sizes):.2f})", f"{plain:.2f}",
            f"{sum(answer['inside'] for answer in answers)} of {len(answers)}", f"{statistics.fmean(answer['half'] for answer in answers):.2f}"]


COLUMNS = ["runs", "error [%]: mean size (signed, worst)", "mean of epochs 2.. [%]", "inside the 90 % interval", "half-width [%]"]


def by_group(study, runs, train, horizons, earlier=False):
    groups = collections.OrderedDict()
    for (system, benchmark, _), rows in runs.items():
        groups.setdefault((system.split("-")[0], benchmark), []).append(rows)
    everything = []
    for (system, benchmark), members in sorted(groups.items()):
        for horizon in horizons:
            answers = [study.predict(rows, train, horizon, [other for other in members if other is not rows] if earlier else ()) for rows in members
                       if len(rows) >= train + horizon and (not earlier or sum(len(other) >= train + horizon for other in members) > 1)]
            if answers:
                row([f"{system} {benchmark}", f"next {horizon}"] + summary(answers))
                everything += answers
    if everything:
        print(f"\nInside the interval: {100 * statistics.fmean(answer['inside'] for answer in everything):.1f} % of {len(everything)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidewatt")
    parser.add_argument("epochs")
    arguments = parser.parse_args()
    wall, supply, whole = (read_runs(arguments.epochs, column) for column in ("energy_ac_j", "energy_dc_j", "energy_ac_to_next_j"))
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(arguments.tidewatt, scratch)
        for title, runs in (("At the wall", wall), ("After the power supply", supply)):
            print(f"\n## {title}, from the first 5 epochs")
            head(["run", "horizon"] + COLUMNS)
            by_group(study, runs, 5, HORIZONS)

        print("\n## With the other runs of the task as --earlier, at the wall")
        head(["run", "horizon"] + COLUMNS)
        by_group(study, wall, 5, HORIZONS, earlier=True)

        print("\n## After every 2 epochs: the next 25, at the wall")
        head(["epochs known"] + COLUMNS)
        for train in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20):
            answers = [study.predict(rows, train, 25) for rows in wall.values()]
            row([train] + summary([answer for answer in answers if answer]))

        print("\n## A periodic evaluation: resnet, evaluation included, the next 20")
        head(["run", "epochs known", "period found", "error [%]", "mean of epochs 2.. [%]"])
        for train in (10, 14):
            for (system, benchmark, _), rows in whole.items():
                answer = study.predict(rows, train, 20) if benchmark == "resnet" else None
                if answer:
                    found = answer["model"]["evaluation"]
                    row([f"{system.split('-')[0]} {benchmark}", train, found["period_epochs"] if found else "none", f"{answer['error']:+.2f}", f"{answer['plain']:+.2f}"])

        print("\n## A change of regime: unet3d, evaluation in every block from 50 on, the next 15")
        head(["blocks known"] + COLUMNS + ["change found"])
        unet = [rows for (_, benchmark, _), rows in whole.items() if benchmark == "unet3d"]
        for train in (30, 40, 45, 50, 51, 52, 53, 54, 56, 58):
            answers = [answer for answer in (study.predict(rows, train, 15) for rows in unet) if answer]
            row([train] + summary(answers) + [f"{sum(answer['model']['changed_at_epoch'] is not None for answer in answers)} of {len(answers)}"])


if __name__ == "__main__":
    main()
