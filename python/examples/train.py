#!/usr/bin/env python3
"""A small training run that reports its progress: fits y = a x + b by gradient descent.

    PYTHONPATH=python python3 python/examples/train.py --epochs 20 --csv epochs.csv
    tidewatt predict --epochs epochs.csv --train 5 --horizon 100

With --server (and a token in TIDEWATT_TOKEN) each epoch is posted too: the server predicts what remains from the fifth on.
Energy comes from the agent on this machine; without one it is unknown, and so it is written.
"""
import argparse
import random

from tidewatt import AgentMeter, Client, EpochReporter, track


def data(count):
    rng = random.Random(1)
    return [(x, 3.0 * x + 2.0 + rng.gauss(0, 0.1)) for x in (rng.uniform(-1, 1) for _ in range(count))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--port", type=int, default=8000, help="of /metrics; 0 takes a free one")
    parser.add_argument("--agent", default="http://127.0.0.1:7311")
    parser.add_argument("--server", help="address of a Tidewatt server, such as http://127.0.0.1:7310")
    parser.add_argument("--csv", help="one row an epoch, for tidewatt predict")
    arguments = parser.parse_args()
    meter = AgentMeter(arguments.agent)

    with track("load", meter=meter) as loading:
        samples = data(arguments.samples)
    print(f"load: {loading}")

    slope = offset = 0.0
    with EpochReporter("example-fit", epochs_total=arguments.epochs, port=arguments.port, host="127.0.0.1", meter=meter,
                       client=Client(arguments.server) if arguments.server else None, csv=arguments.csv) as reporter:
        print(f"progress: http://127.0.0.1:{reporter.port}/metrics", flush=True)
        for epoch in reporter.epochs():
            for x, y in samples:
                error = slope * x + offset - y
                slope -= 0.01 * error * x
                offset -= 0.01 * error
            print(f"epoch {epoch}: y = {slope:.2f} x + {offset:.2f}", flush=True)


if __name__ == "__main__":
    main()
