"""What is installed beside the programs: services that start them from where they were put."""
import os
import re
import shutil
import subprocess

import pytest
from support.server import ROOT, SLOW

UNITS = {"tidewatt-agent.service": "tidewatt-agent", "tidewatt-server.service": "tidewatt", "tidewatt-slurm-controller.service": "tidewatt",
         "tidewatt-slurm-sync.service": "tidewatt"}


@pytest.fixture(params=["/usr/local", "/usr", "/opt/tidewatt"])
def installed(request, tmp_path):
    """The service files of an installation with this prefix; no compiler is needed for them."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(units LANGUAGES NONE)\n"
                                            f"add_subdirectory({ROOT}/deploy/systemd systemd)\n")
    for command in (["cmake", "-S", str(project), "-B", str(tmp_path / "build")],
                    ["cmake", "--install", str(tmp_path / "build"), "--prefix", request.param]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOW,
                              env={**os.environ, "DESTDIR": str(tmp_path / "root")})
        assert done.returncode == 0, done.stdout + done.stderr
    return request.param, tmp_path / "root"


def test_services_start_the_programs_of_their_prefix(installed):
    prefix, root = installed
    for unit, program in UNITS.items():
        text = (root / prefix.lstrip("/") / "lib/systemd/system" / unit).read_text()
        assert re.search(rf"^ExecStart={re.escape(prefix)}/bin/{program} ", text, re.M), text
        assert "@TIDEWATT" not in text, text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd isn't installed")
def test_systemd_understands_every_line_of_the_services(installed, tmp_path):
    prefix, root = installed
    for unit in UNITS:
        # It wants the program to be there: any will do.
        text = (root / prefix.lstrip("/") / "lib/systemd/system" / unit).read_text()
        path = tmp_path / unit
        path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.M))
        told = subprocess.run(["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, timeout=60 * SLOW)
        assert told.returncode == 0 and unit not in told.stderr, told.stderr


def test_every_accelerators_device_files_are_allowed():
    with open(os.path.join(ROOT, "deploy", "systemd", "tidewatt-agent.service.in"), encoding="utf-8") as file:
        allowed = set(re.findall(r"^DeviceAllow=(\S+) rw$", file.read(), re.M))
    wanted = {"char-nvidia", "char-drm", "char-kfd", "char-accel", "char-habanalabs", "char-*devdrv-cdev", "/dev/davinci_manager", "/dev/devmm_svm",
              "/dev/hisi_hdc", "/dev/cambricon_ctl", "/dev/cambricon_dev0", "/dev/mxcd", "/dev/gcuctl", "/dev/gcu0", "/dev/mtgpu.0", "/dev/xpuctrl",
              "/dev/xpu0", "char-ipmidev"}
    assert wanted <= allowed, wanted - allowed
    assert not [path for path in allowed if path.startswith("/") and "*" in path], "a path has no wildcards in systemd"
