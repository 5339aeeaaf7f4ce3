#!/usr/bin/env bash
# Runs the acceptance checks beside this checkout against a binary: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]
# Each writes RESULTS_FOLDER/NAME.count, whose last line is "N passed, N failed".
set -uo pipefail
exe=${1:?usage: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]}
results=${2:?usage: check_acceptance.sh TIDEWATT RESULTS_FOLDER [long]}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checks=$(cd "$here/../../shared/checks" && pwd) || exit 1
mkdir -p "$results"
runs=6
[ "${3:-}" = long ] && runs=12
bad=0
run_check() {  # NAME ARGUMENT...
  local name=$1
  shift
  echo "== $name"
  RUNS=$runs python3 "$checks/$name.py" "$exe" "$@" | tee "$results/$name.count"
  [ "${PIPESTATUS[0]}" = 0 ] || bad=1
}
run_check power_tools
run_check ledger
run_check mlperf_energy
run_check carbon_api
# All zones take two minutes; a few of each kind tell most of it.
[ "${3:-}" = long ] || export ZONES="${ZONES:-CISO lifecycle,DE direct,ERCO direct H2-2022,SE life,AU-NSW,US-CAL}"
run_check forecast
unset ZONES
run_check predict
run_check plan_cases
run_check aif_golden
exit "$bad"
