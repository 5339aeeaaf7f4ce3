#!/usr/bin/env bash
# clang-tidy-19 with .clang-tidy: check_tidy.sh BUILD_FOLDER [FILE...]
# Without files: the pure libraries' sources (units, base, metering, ledger, carbon), which two cores check in
# minutes; the adapters that include Beast or SQL are left to `check_tidy.sh build/release libs/net/src/*.cc`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:?usage: check_tidy.sh BUILD_FOLDER [FILE...]}
shift
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(ls libs/{units,base,metering,ledger,carbon}/src/*.cc 2>/dev/null)
fi
# g++'s own warning switches in the compile commands are unknown to clang.
if printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 \
    clang-tidy-19 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2); then
  echo "${#files[@]} files are tidy"
else
  echo "clang-tidy-19 found something, see above" >&2
  exit 1
fi
