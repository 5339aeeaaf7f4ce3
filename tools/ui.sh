# shellcheck shell=bash disable=SC2034
# Sourced by ./run and ./test: colours on a terminal only, and builds with one progress line.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
  bold="" dim="" green="" red="" plain=""
fi
# Debian's own Python: it has the packages that tools/setup.sh installs, another one on PATH may not.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
jobs_at_once=${TIDEWATT_JOBS:-$(nproc)}

# Shows "[12/345]" of a running build: on a terminal in place, elsewhere one line each 20 s.
show_progress() {  # LABEL LOG PID
  local last="" now="" ticks=0
  while kill -0 "$3" 2>/dev/null; do
    sleep 1
    ticks=$((ticks + 1))
    now=$(tail -c 4096 "$2" 2>/dev/null | tr '\r' '\n' | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1 || true)
    [ -n "$now" ] && [ "$now" != "$last" ] || continue
    if [ -t 1 ]; then
      printf '\r%s %s ' "$1" "$now"
    elif [ $((ticks % 20)) -eq 0 ]; then
      echo "$1 $now"
    else
      continue
    fi
    last=$now
  done
  if [ -t 1 ] && [ -n "$last" ]; then printf '\r\e[K'; fi
}

# Configures a preset when it never was, and builds it. The whole output is in LOG.
build_preset() {  # PRESET LOG [TARGET...]
  local preset=$1 log=$2
  shift 2
  mkdir -p "$(dirname "$log")"
  : >"$log"
  if [ ! -f "build/$preset/build.ninja" ]; then
    echo "configuring preset $preset"
    if ! cmake --preset "$preset" >>"$log" 2>&1; then
      # A half-made folder would make the next try believe that it is configured.
      rm -f "build/$preset/build.ninja"
      return 1
    fi
  fi
  local targets=()
  [ $# -gt 0 ] && targets=(--target "$@")
  NINJA_STATUS="[%f/%t] " cmake --build --preset "$preset" -j "$jobs_at_once" "${targets[@]}" >>"$log" 2>&1 &
  local pid=$! rc=0
  show_progress "building $preset" "$log" "$pid"
  wait "$pid" || rc=$?
  return "$rc"
}

# The part of a build log that says why it failed.
show_failure() {  # LOG [LINES]
  { grep -nE -A12 '(^FAILED:|error:|CMake Error)' "$1" | head -n "${2:-40}"; } || tail -n "${2:-40}" "$1"
  echo "whole log: $1"
}
