#!/usr/bin/env bash
# Is all C++ as clang-format-19 would write it? Names the files that are not. --fix rewrites them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t files < <(find apps bench libs sdk tests -name build -prune -o \( -name '*.cc' -o -name '*.h' \) -print 2>/dev/null | sort)
if [ "${1:-}" = --fix ]; then exec clang-format-19 -i "${files[@]}"; fi
if printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" clang-format-19 --dry-run -Werror; then
  echo "${#files[@]} files are in format"
else
  echo "some files are not in format: run tools/check_format.sh --fix" >&2
  exit 1
fi
