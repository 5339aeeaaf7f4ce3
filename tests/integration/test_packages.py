"""The Debian packages: installed, upgraded, removed and purged by the real dpkg in a copy of this system that is thrown away."""
import hashlib
import os
import shutil
import subprocess
import textwrap

import pytest
from support.server import ROOT, SLOW, clean_environment

BUILD = os.path.dirname(os.environ.get("TIDEWATT_BIN", os.path.join(ROOT, "build", "fast", "bin")).rstrip("/"))
pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None or shutil.which("dpkg-shlibdeps") is None or not os.path.exists(os.path.join(BUILD, "build.ninja")),
                                reason="needs Debian's dpkg-dev and the build folder")


def package(out, version, **environment):
    told = subprocess.run([os.path.join(ROOT, "tools", "package.sh"), "--quick", "--build", BUILD, "--out", str(out), "--version", version], text=True,
                          capture_output=True, timeout=300 * SLOW, env={**clean_environment(), "SOURCE_DATE_EPOCH": "1790000000", **environment}, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout.split()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    out = tmp_path_factory.mktemp("packages")
    made = {version: package(out, version) for version in ("0.0.9", "0.1.0")}
    assert all(len(files) == 2 for files in made.values()), made
    return made


def in_a_copy(script, files):
    """Runs the script as root with an overlay of this system as /, without network and services; nothing of it stays."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    outer = textwrap.dedent(r"""
        set -e
        scratch=$(mktemp -d); mount -t tmpfs none "$scratch"; mkdir "$scratch"/up "$scratch"/work "$scratch"/root
        mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/up,workdir=$scratch/work" "$scratch/root" || exit 77
        mount -t proc proc "$scratch/root/proc"; mount --rbind /dev "$scratch/root/dev"
        mount -t tmpfs none "$scratch/root/run"; mount -t tmpfs none "$scratch/root/tmp"
        mkdir "$scratch/root/tmp/debs"; cp "$@" "$scratch/root/tmp/debs"
        exec chroot "$scratch/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
          HOME=/root bash -euo pipefail -c "$SCRIPT"
    """)
    told = subprocess.run(["unshare", "--mount", "--net", "--propagation", "private", "bash", "-c", outer, "copy", *files], text=True, capture_output=True,
                          timeout=300 * SLOW, env={**clean_environment(), "SCRIPT": "ip link set lo up 2>/dev/null || true; cd /tmp\n" + textwrap.dedent(script)}, check=False)
    if told.returncode == 77 or "unshare failed" in told.stderr:
        pytest.skip("this machine has no overlay file system for tests: " + told.stderr)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


@pytest.mark.slow
def test_the_same_build_gives_the_same_bytes(packages, tmp_path):
    for first, again in zip(packages["0.1.0"], package(tmp_path, "0.1.0"), strict=True):
        with open(first, "rb") as one, open(again, "rb") as other:
            assert hashlib.sha256(one.read()).digest() == hashlib.sha256(other.read()).digest(), first


def test_an_upgrade_keeps_data_and_settings_and_a_purge_removes_them_and_says_so(packages):
    told = in_a_copy(r"""
        dpkg -i debs/*_0.0.9_*.deb
        for user in tidewatt tidewatt-agent; do
          getent passwd $user | grep -q nologin
          test "$(stat -c '%U %a' /var/lib/$user)" = "$user 700"
        done
        echo '# mine' >> /etc/tidewatt/server.yaml
        runuser -u tidewatt -- touch /var/lib/tidewatt/kept
        runuser -u tidewatt-agent -- touch /var/lib/tidewatt-agent/kept
        uid=$(id -u tidewatt)
        dpkg -i debs/*_0.1.0_*.deb
        test "$(dpkg-query -W -f='${Version}' tidewatt-server)" = 0.1.0
        grep -q '^# mine' /etc/tidewatt/server.yaml
        test -e /var/lib/tidewatt/kept; test -e /var/lib/tidewatt-agent/kept; test "$(id -u tidewatt)" = "$uid"
        dpkg --verify tidewatt-agent tidewatt-server | grep -v ' c /etc/tidewatt/server.yaml' && exit 1
        echo == remove; dpkg -r tidewatt-server tidewatt-agent
        test ! -e /usr/bin/tidewatt; test -e /var/lib/tidewatt/kept; test -e /etc/tidewatt/server.yaml
        echo secret > /etc/tidewatt/agent.token
        echo == purge; dpkg -P tidewatt-server tidewatt-agent
        echo == left
        for gone in /var/lib/tidewatt /var/lib/tidewatt-agent /etc/tidewatt/server.yaml /etc/tidewatt/agent.yaml; do test ! -e $gone; done
        test "$(ls /etc/tidewatt)" = agent.token
        getent passwd tidewatt tidewatt-agent && exit 1
        find /usr /lib /etc /var -xdev -newer debs/tidewatt-agent_0.0.9_*.deb -name '*tidewatt*' | grep -v '^/var/lib/dpkg\|^/etc/tidewatt$' || true
        """, packages["0.0.9"] + packages["0.1.0"])
    removed, purged = told.split("== remove")[1].split("== purge")
    assert "removing /var/lib" not in removed, removed
    assert "tidewatt-server: removing /var/lib/tidewatt with the ledger" in purged, purged
    assert "tidewatt-agent: removing /var/lib/tidewatt-agent" in purged, purged
    assert not told.split("== left")[1].strip(), told


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("lintian") is None, reason="lintian isn't installed")
def test_lintian_finds_no_error(packages):
    told = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *packages["0.1.0"]], text=True, capture_output=True, timeout=300 * SLOW, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_units_verify_and_their_commands_run_as_their_users(packages):
    told = in_a_copy(r"""
        dpkg -i debs/*.deb > /dev/null 2>&1
        for unit in tidewatt-server tidewatt-agent; do
          systemd-analyze verify /lib/systemd/system/$unit.service > verify.$unit 2>&1 || { cat verify.$unit; exit 1; }
          systemd-analyze security --offline=true --threshold=50 /lib/systemd/system/$unit.service > security.$unit || { tail -n 3 security.$unit; exit 1; }
        done
        start() {  # UNIT: its command as its user
          local unit=/lib/systemd/system/$1.service
          timeout 60 runuser -u "$(sed -n 's/^User=//p' $unit)" -- $(sed -n 's/^ExecStart=//p' $unit) > $1.log 2>&1 < /dev/null &
        }
        wait_for() { for _ in $(seq 200); do if "$@" > /dev/null 2>&1; then return 0; fi; sleep 0.1; done; tail -n 5 ./*.log; return 1; }
        start tidewatt-server
        wait_for curl -sf http://127.0.0.1:7310/readyz
        install -m 600 -o tidewatt-agent /var/lib/tidewatt/agent.token /etc/tidewatt/agent.token
        printf 'server: http://127.0.0.1:7310\ntoken_file: /etc/tidewatt/agent.token\nnode_id: packaged-1\nsources: [sim:gpus=2]\nbeat: 1s\n' > /etc/tidewatt/agent.yaml
        start tidewatt-agent
        powers() { curl -sf -H "Authorization: Bearer $(cat /var/lib/tidewatt/ops.token)" http://127.0.0.1:7310/api/v1/nodes/packaged-1/power | grep -q '"points":\[\[[0-9]'; }
        wait_for powers
        test "$(stat -c %U /var/lib/tidewatt/tidewatt.db)" = tidewatt
        echo measured
        """, packages["0.1.0"])
    assert told.strip().endswith("measured"), told
