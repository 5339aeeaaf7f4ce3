"""Energy and carbon of code blocks and training runs, with Tidewatt. Standard library only.

    from tidewatt import EpochReporter, track

    with track("tokenise") as used:          # energy of this node while the block ran, from the local agent
        tokenise()
    print(used.energy_joules, used.reason)   # None and why, where it isn't known

    with EpochReporter("bert-42", epochs_total=100) as reporter:   # serves /metrics on port 8000
        for _ in reporter.epochs():
            train_one_epoch()
"""
from .client import Client, TidewattError, frame
from .meter import AgentMeter, Device, Meter, MeterError, Reading
from .reporter import EpochReporter, EpochRow
from .service import Service
from .track import Tracked, track

__all__ = ["AgentMeter", "Client", "Device", "EpochReporter", "EpochRow", "Meter", "MeterError", "Reading", "Service", "TidewattError", "Tracked", "frame",
           "track"]
__version__ = "0.1.0"
