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
run_check ledger
run_check mlperf_energy
run_check carbon_api
# All zones take two minutes; a few of each kind tell most of it.
[ "${3:-}" = long ] || export ZONES="${ZONES:-CISO lifecycle,DE direct,ERCO direct H2-2022,SE life,AU-NSW,US-CAL}"
run_check forecast
unset ZONES
run_check predict
run_check plan_cases

# Only the vendors' tools that have a parser: the others are documented as unknown.
cases=$checks/../data/power-tools
picked=$(mktemp -d)
trap 'rm -rf "$picked"' EXIT
tools=$(sed -n 's/.*Tool{"\([a-z0-9-]*\)".*/\1/p' "$here/../libs/metering/src/tool_parsers.cc")
if [ -n "$tools" ] && [ -f "$cases/expected.json" ] && "$exe" --help | grep -q "^  power "; then
  python3 - "$cases" "$picked" $tools <<'PY'
import json, os, sys
cases, picked, tools = sys.argv[1], sys.argv[2], sys.argv[3:]
all_cases = json.load(open(os.path.join(cases, "expected.json")))
kept = [c for c in all_cases if c["file"].split("/")[0] in tools]
json.dump(kept, open(os.path.join(picked, "expected.json"), "w"))
for tool in tools:
    if os.path.isdir(os.path.join(cases, tool)):
        os.symlink(os.path.join(cases, tool), os.path.join(picked, tool))
print(f"power_tools: {len(kept)} of {len(all_cases)} cases are of tools with a parser: {', '.join(tools)}")
PY
  run_check power_tools "$picked"
fi
exit "$bad"
