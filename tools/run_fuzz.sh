#!/usr/bin/env bash
# Runs every libFuzzer target on its corpus and then on new inputs: run_fuzz.sh BIN_FOLDER SECONDS RESULTS_FOLDER
# Corpora: libs/*/fuzz/corpus/TARGET/ (fuzz_beat_json: corpus/beat_json). A crash is kept in build/logs/fuzz/ and named in the output.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bin=${1:?usage: run_fuzz.sh BIN_FOLDER SECONDS RESULTS_FOLDER}
seconds=${2:?} results=${3:?}
mkdir -p "$results" build/logs/fuzz
passed=0 failed=0
for target in "$bin"/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  scratch=$(mktemp -d)
  folders=("$scratch")
  for corpus in libs/*/fuzz/corpus/"${name#fuzz_}"; do [ -d "$corpus" ] && folders+=("$corpus"); done
  echo "== $name"
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="build/logs/fuzz/$name-" "${folders[@]}" 2>&1 | tail -n 25; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$name failed, its input is in build/logs/fuzz/"
  fi
  rm -rf "$scratch"
done
echo "$passed passed, $failed failed" | tee "$results/fuzz.count"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
