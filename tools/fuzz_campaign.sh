#!/usr/bin/env bash
# Brings every fuzz target up to a number of executions and keeps the counts: fuzz_campaign.sh BIN_FOLDER [EXECUTIONS] [TARGET...]
# For long campaigns build preset fuzz-long (optimised, AddressSanitizer alone): it runs 2 to 3 times as many.
# Counts stand in tests/fuzz/executions.tsv (target, executions, findings, date of the last run) and add up over runs: a target that has
# enough is skipped, an interrupted campaign goes on where it was. Inputs found on the way are kept in build/fuzz-corpus/TARGET,
# crashing ones in build/logs/fuzz/. Exit 1 if any target has a finding.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bin=${1:?usage: fuzz_campaign.sh BIN_FOLDER [EXECUTIONS] [TARGET...]}
wanted=${2:-1000000}
shift $(($# < 2 ? $# : 2))
table=tests/fuzz/executions.tsv
chunk=100000
mkdir -p tests/fuzz build/logs/fuzz build/fuzz-corpus
[ -f "$table" ] || printf 'target\texecutions\tfindings\tlast\n' > "$table"

column() { awk -F '\t' -v t="$1" -v c="$2" '$1 == t { print $c }' "$table"; }
# Written whole and moved into place under a lock: neither a killed campaign nor a second one leaves half a table.
note() (
  flock 9
  { head -n 1 "$table"
    { tail -n +2 "$table" | awk -F '\t' -v t="$1" '$1 != t'; printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(date -u +%F)"; } | sort
  } > "$table.new" && mv "$table.new" "$table"
) 9> build/fuzz-corpus/lock

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  for path in "$bin"/fuzz_*; do [ -x "$path" ] && targets+=("$(basename "$path")"); done
fi
bad=0
for target in "${targets[@]}"; do
  [ -x "$bin/$target" ] || { echo "$target: no such target in $bin; build it first" >&2; exit 2; }
  kept=build/fuzz-corpus/$target
  mkdir -p "$kept"
  folders=("$kept")
  for corpus in libs/*/fuzz/corpus/"${target#fuzz_}"; do [ -d "$corpus" ] && folders+=("$corpus"); done
  executions=$(column "$target" 2) findings=$(column "$target" 3)
  executions=${executions:-0} findings=${findings:-0}
  while [ "$executions" -lt "$wanted" ]; do
    runs=$((wanted - executions < chunk ? wanted - executions : chunk))
    log=build/logs/fuzz/$target.log
    failed=0
    # Stack traces of allocations and the weighing of rare inputs cost as much as parsing does; neither finds more here.
    ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=4:detect_stack_use_after_return=0 nice -n 10 "$bin/$target" -runs="$runs" -timeout=60 \
      -rss_limit_mb=2048 -max_len=1024 -entropic=0 -reload=0 -print_final_stats=1 \
      -artifact_prefix="build/logs/fuzz/$target-" "${folders[@]}" > "$log" 2>&1 || failed=1
    # A busy machine alone can make a run seem to hang: only an input that hangs by itself is a finding.
    slow=$(sed -n "s|.*Test unit written to \(build/logs/fuzz/$target-timeout-[0-9a-f]*\).*|\1|p" "$log" | tail -n 1)
    if [ "$failed" = 1 ] && [ -n "$slow" ] && "$bin/$target" -runs=1 -timeout=60 "$slow" >> "$log" 2>&1; then
      failed=0
      rm -f "$slow"
    fi
    done_now=$(awk '/stat::number_of_executed_units/ { n = $2 } END { print n + 0 }' "$log")
    executions=$((executions + done_now)) findings=$((findings + failed))
    note "$target" "$executions" "$findings"
    if [ "$failed" = 1 ]; then
      echo "$target: finding, its input is in build/logs/fuzz/, its report in $log" >&2
      break
    fi
    if [ "$done_now" = 0 ]; then echo "$target: executed nothing, see $log" >&2; exit 2; fi
  done
  [ "$findings" = 0 ] || bad=$((bad + 1))
  printf '%-36s %10s executions, %s findings\n' "$target" "$executions" "$findings"
done
[ "$bad" = 0 ]
