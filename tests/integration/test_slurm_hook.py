"""deploy/slurm/job_submit.lua by itself, in the Lua that slurmctld uses: what it decides, and that nothing makes it fail."""
import datetime
import os
import re
import shutil
import subprocess

import pytest

from support.server import ROOT, SLOW

LUA = shutil.which("lua5.1")
HOOK = os.path.join(ROOT, "deploy", "slurm", "job_submit.lua")
BENCH = os.path.join(ROOT, "tests", "integration", "support", "hook_bench.lua")
NOW = 1_800_000_000
TABLE = f"""tidewatt-slurm/1 made={NOW - 60} expires={NOW + 600}
qos low daily
class daily slack=86400 3600={NOW + 7200} 14400={NOW + 3600}
class weekly slack=604800 3600={NOW + 90000} 14400={NOW - 10}
class monthly slack=2592000 3600=0 14400={NOW + 9999999}
end.
"""

pytestmark = pytest.mark.skipif(LUA is None, reason="lua5.1 isn't installed (tools/setup.sh test)")

ASK = """
local said
slurm = {{ SUCCESS = 0, ERROR = -1, log_info = function(...) said = string.format(...) end, log_user = function() end }}
dofile("{hook}")
tidewatt.path = "{table}"
tidewatt.time = function() return {now} end
local job = {{ {job} }}
local result = slurm_job_submit(job, {{ p = {{ default_time = 60, flag_default = 1 }}, q = {{ default_time = 4294967294 }} }}, 1000)
print(result, job.begin_time, job.admin_comment, said)
"""


def ask(tmp_path, job, table=TABLE, now=NOW):
    """What the hook sets as begin; None: it leaves the job alone."""
    path = tmp_path / "windows.table"
    if table is None:
        path = tmp_path / "nothing" / "there"
    elif table is not ...:
        path.write_bytes(table.encode() if isinstance(table, str) else table)
    script = ASK.format(hook=HOOK, table=path, now=now, job=job)
    done = subprocess.run([LUA, "-e", script], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    result, begin, mark, said = done.stdout.strip().split("\t")
    assert result == "0" and said == "nil", done.stdout
    assert (mark == "tidewatt") == (begin not in ("nil", "5"))
    return None if begin == "nil" else int(begin)


@pytest.mark.parametrize("job,begin", [
    ("comment = 'carbon:daily', time_limit = 60", NOW + 7200),
    ("comment = 'x, carbon:Daily y', time_limit = 30", NOW + 7200),
    ("comment = 'carbon:daily:requeue', time_limit = 61", NOW + 3600),       # the next length
    ("comment = 'carbon:daily'", NOW + 7200),                                # the partition's usual length
    ("comment = 'carbon:daily', partition = 'q'", None),                     # nobody knows how long
    ("comment = 'carbon:daily', time_limit = 4294967295", None),             # UNLIMITED
    ("comment = 'carbon:daily', time_limit = 241", None),                    # longer than the table
    ("comment = 'carbon:weekly', time_limit = 60", NOW + 90000),
    ("comment = 'carbon:weekly', time_limit = 240", None),                   # its window has begun
    ("comment = 'carbon:monthly', time_limit = 60", None),                   # at once
    ("comment = 'carbon:monthly', time_limit = 240", NOW + 2592000),         # never beyond the latest start
    ("comment = 'carbon:immediate', time_limit = 60, qos = 'low', script = 'x'", None),
    ("comment = 'carbon:yearly', time_limit = 60", None),
    ("comment = 'hydrocarbon:daily', time_limit = 60", None),
    ("time_limit = 60", None),
    ("time_limit = 60, qos = 'low', script = '#!/bin/sh'", NOW + 7200),
    ("time_limit = 60, qos = 'low'", None),                                  # srun: somebody waits in front of it
    ("comment = 'carbon:daily', time_limit = 60, begin_time = 5", 5),        # its owner has chosen
])
def test_sets_the_begin_time(tmp_path, job, begin):
    assert ask(tmp_path, job) == begin


@pytest.mark.parametrize("table", [
    None, "", "\n", "tidewatt-slurm/2 made=1 expires=9999999999\nend.\n", TABLE[:-6], TABLE[:90], TABLE.replace("slack=86400", "slack="),
    TABLE.replace(" expires", "  expires"), TABLE.replace("class daily", "class weekly"), "x" * 100_000, b"\0\xff" * 500,
    TABLE.replace("end.\n", "class daily slack=1\n" * 5000 + "end.\n"),
], ids=lambda t: str(t)[:20])
def test_without_a_good_table_the_job_starts_at_once(tmp_path, table):
    assert ask(tmp_path, "comment = 'carbon:daily', time_limit = 60", table) is None


def test_an_expired_table_counts_for_nothing(tmp_path):
    assert ask(tmp_path, "comment = 'carbon:daily', time_limit = 60", now=NOW + 599) == NOW + 7200
    assert ask(tmp_path, "comment = 'carbon:daily', time_limit = 60", now=NOW + 600) is None


def test_a_folder_in_its_place_is_no_table(tmp_path):
    (tmp_path / "windows.table").mkdir()
    assert ask(tmp_path, "comment = 'carbon:daily', time_limit = 60", ...) is None


def test_a_job_that_is_odd_is_no_error(tmp_path):
    for job in ("comment = 5", "comment = {}", "comment = 'carbon:daily', time_limit = 'x'", "comment = 'carbon:daily', time_limit = -1", ""):
        assert ask(tmp_path, job) is None


def test_costs_less_than_50_microseconds(tmp_path, tidewatt):
    """With a table as `tidewatt slurm sync` writes it; CPU time, so that other programs don't count."""
    signal = tmp_path / "ci.csv"
    first = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
    rows = [f"{(first + datetime.timedelta(hours=hour)).isoformat()},{400 - hour}" for hour in range(96)]
    signal.write_text("time,gco2_per_kwh\n" + "\n".join(rows) + "\n")
    tables = [tmp_path / "windows.table", tmp_path / "other.table"]
    subprocess.run([tidewatt, "slurm", "sync", "--once", "--signal", str(signal), "--table", str(tables[0]), "--qos", "low=daily"], check=True,
                   capture_output=True)
    tables[1].write_text(re.sub(r"made=\d+", "made=17", tables[0].read_text()))
    done = subprocess.run([LUA, BENCH, HOOK, *map(str, tables), "20000"], capture_output=True, text=True, check=True, timeout=120)
    costs = {}
    for line in done.stdout.splitlines():
        kind, us = line.split()
        costs.setdefault(kind, []).append(int(us))
    for kind, all_us in costs.items():
        all_us.sort()
        print(f"hook, {kind}: median {all_us[len(all_us) // 2]} us, p99 {all_us[len(all_us) * 99 // 100]} us, most {all_us[-1]} us")
    assert costs["usual"][len(costs["usual"]) * 99 // 100] <= 50 * SLOW
    for kind in ("looked", "changed"):  # once in five seconds, once in five minutes
        assert costs[kind][len(costs[kind]) // 2] <= 50 * SLOW
