"""A PostgreSQL of a test's own, on a socket of its own, with fsync on."""
import glob
import os
import shutil
import subprocess
import tempfile


def programs():
    """The folder with initdb and pg_ctl; None where PostgreSQL is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


class Postgres:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tidewatt-pg-")
        self.data = os.path.join(self.folder, "data")
        # PostgreSQL refuses to run as root.
        self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        if self.as_user:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "--auth=trust", "--username=tidewatt", "--encoding=UTF8", "--no-locale", "--no-sync", "-D", self.data)
        self.start()

    @property
    def url(self):
        return f"postgresql://tidewatt@/postgres?host={self.folder}"

    def _run(self, program, *arguments):
        subprocess.run([*self.as_user, os.path.join(programs(), program), *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self._run("pg_ctl", "-w", "-l", os.path.join(self.folder, "log"), "-D", self.data, "-o",
                  f"-c listen_addresses= -c unix_socket_directories={self.folder} -c shared_buffers=32MB", "start")

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-w", "-m", mode, "-D", self.data, "stop")

    def close(self):
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
