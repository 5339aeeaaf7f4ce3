"""Fixtures: the real binaries, each test with servers and folders of its own, ports chosen by the system."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from support.server import Server, binary  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: more of the same; only with TIDEWATT_LONG=1")


@pytest.fixture(scope="session")
def tidewatt():
    return binary("tidewatt")


@pytest.fixture(scope="session")
def tidewatt_agent():
    return binary("tidewatt-agent")


@pytest.fixture
def server(tmp_path):
    """A server with an empty ledger; stopped, and its exit looked at, after the test."""
    running = Server(tmp_path / "server")
    running.start()
    yield running
    running.finish()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """One server for a module's tests that only read, or that keep to nodes of their own."""
    running = Server(tmp_path_factory.mktemp("server"))
    running.start()
    yield running
    running.finish()


@pytest.fixture
def make_server(tmp_path):
    made = []

    def make(**options):
        one = Server(tmp_path / f"server-{len(made)}", **options)
        made.append(one)
        return one

    yield make
    for one in made:
        one.finish()


@pytest.fixture(scope="session")
def long_run():
    return os.environ.get("TIDEWATT_LONG") == "1"
