#!/usr/bin/python3
"""The inference engine beside the same formulas in NumPy, in one run, one thread each: aif.py TIDEWATT [FOLDER_OF_BENCH_MODELS]

Both take the same steps in turn; the sums of G must agree to 1e-9 relative. Prints a table with the ratio of CPU per step.
"""
import glob
import json
import os
import subprocess
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = os.path.join(HERE, "..", "..", "shared", "data", "aif-golden", "bench")


def measured(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = sys.argv[2] if len(sys.argv) > 2 else DEFAULT
    print("| model | policies' G, step 0 | NumPy us/step | Tidewatt us/step | ratio | heap allocations/step |\n|---|---|---|---|---|---|")
    wrong = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        reference, ours = [], []
        for _ in range(2):  # in turn, so that a noisy minute hits both
            reference.append(measured(["/usr/bin/python3", os.path.join(HERE, "aif_reference.py"), "time", path, "4"]))
            ours.append(measured([sys.argv[1], "aif", "bench", path, "--steps", "4", "--json"]))
            ours.append(measured([sys.argv[1], "aif", "bench", path, "--steps", "400", "--json"]))
        for mine, theirs in zip(ours[0]["g_sum"], reference[0]["g_sum"]):
            wrong += not abs(mine - theirs) <= 1e-9 * max(1, abs(theirs))
        slow = min(r["cpu_us_per_step_median"] for r in reference)
        fast = min(r["cpu_us_per_step_median"] for r in ours)
        name = os.path.basename(path).removesuffix(".json").removeprefix("timing-")
        print(f"| {name} | {ours[0]['g_sum'][0]:.9f} | {slow:.0f} | {fast:.2f} | {slow / fast:.0f} | {ours[0]['heap_allocations_per_step']} |")
    print("results agree" if not wrong else f"{wrong} sums of G differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
