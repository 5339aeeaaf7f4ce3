#!/usr/bin/env bash
# Runs the acceptance checks beside this checkout against a binary: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]
# Each writes RESULTS_FOLDER/NAME.count, whose last line is "N passed, N failed".
set -uo pipefail
exe=${1:?usage: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]}
results=${2:?usage: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]}
checks=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../shared/checks" && pwd) || exit 1
mkdir -p "$results"
runs=6
[ "${3:-}" = long ] && runs=12
bad=0
for check in ledger mlperf_energy power_tools; do
  echo "== $check"
  RUNS=$runs python3 "$checks/$check.py" "$exe" | tee "$results/$check.count"
  [ "${PIPESTATUS[0]}" = 0 ] || bad=1
done
exit "$bad"
