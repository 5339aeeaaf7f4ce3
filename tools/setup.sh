#!/usr/bin/env bash
# Installs the Debian 12 packages that a task needs; does nothing (and asks for nothing) when all are there.
#   tools/setup.sh [run|test|bench|all] [--print]
# run: build and start. test: run + what ./test uses. bench: run + the peers of bench/run.sh. all: everything.
# --print only names what is missing. Lists: tools/packages.txt.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

group=run print_only=""
for arg in "$@"; do
  case $arg in
    run | test | bench | all) group=$arg ;;
    --print) print_only=1 ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tools/setup.sh: unknown argument '$arg': use run, test, bench or all, and --print" >&2; exit 2 ;;
  esac
done
case $group in
  run) sections="run" ;;
  test) sections="run test" ;;
  bench) sections="run bench" ;;
  all) sections="run test bench" ;;
esac

wanted=()
for section in $sections; do
  while read -r package; do wanted+=("$package"); done < <(
    awk -v want="[$section]" '/^#/ || NF == 0 {next} /^\[/ {on = ($0 == want); next} on' "$here/packages.txt")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "tools/setup.sh: this is no Debian system (no apt-get). Install the counterparts of: ${wanted[*]} and Node.js >= 18 with npm" >&2
  exit 1
fi

# Node.js: whatever is there stays, if it is new enough; otherwise Debian's own.
if command -v node >/dev/null; then
  node_major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  if [ "$node_major" -lt 18 ]; then
    echo "tools/setup.sh: $(command -v node) is version $node_major, the pages need Node.js 18 or later: upgrade or remove it" >&2
    exit 1
  fi
else
  wanted+=(nodejs)
fi
command -v npm >/dev/null || wanted+=(npm)

installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | awk '$2 == "installed" {print $1}' || true)
missing=()
for package in "${wanted[@]}"; do
  if ! grep -qxF -- "$package" <<<"$installed" && [[ " ${missing[*]:-} " != *" $package "* ]]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if [ -n "$print_only" ]; then printf '%s\n' "${missing[@]}"; exit 0; fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  else
    echo "tools/setup.sh: ${#missing[@]} packages are missing and only root may install them. Run as root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

log=$here/../build/logs/setup.log
mkdir -p "$(dirname "$log")"
echo "installing ${#missing[@]} Debian packages (log: build/logs/setup.log): ${missing[*]}" | cut -c1-200
run_apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
: >"$log"
# A list of another vendor that cannot be refreshed is no reason to stop: the install below tells.
run_apt update -qq >>"$log" 2>&1 || echo "tools/setup.sh: apt-get update reported errors, going on with the lists at hand" >&2
if ! run_apt install -y -qq --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
  tail -n 15 "$log" >&2
  echo "tools/setup.sh: apt-get could not install the packages, see above and build/logs/setup.log; then run this again" >&2
  exit 1
fi
