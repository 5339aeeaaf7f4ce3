#!/usr/bin/env bash
# Measures Tidewatt beside its peers on this machine and prints a table: bench/run.sh [--nodes N] [--rounds N] [--write]
# (a) the integration core, (b) ingest over HTTP beside Prometheus' and VictoriaMetrics' remote_write with the same samples,
# (c) the agent beside node_exporter. --write replaces the figures in docs/operate/benchmarks.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/ui.sh
tools/setup.sh bench
build_preset release build/logs/build-release.log tidewatt tidewatt-agent bench_ledger || {
  show_failure build/logs/build-release.log >&2
  exit 1
}
exec "$python" bench/measure.py "$@"
