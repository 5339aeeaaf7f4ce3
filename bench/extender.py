"""How fast the scheduler extender and the webhooks answer: bench/extender.py BIN [SECONDS]. The server and this client share the machine's
cores; the server's own CPU is told apart. Bodies are kube-scheduler's: names of nodes (nodeCacheCapable), or whole nodes."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from load import Connection, cpu_seconds


def node(i):
    """About 1.4 kB, less than a real kubelet's."""
    return {"metadata": {"name": name(i), "labels": {"topology.kubernetes.io/zone": "zone-" + "abc"[i % 3], "kubernetes.io/hostname": name(i)},
                         "annotations": {f"example.com/annotation-{k}": "x" * 40 for k in range(8)}},
            "spec": {"podCIDR": "10.0.0.0/24"}, "status": {"capacity": {"cpu": "64", "memory": "512Gi", "pods": "110"},
                                                            "conditions": [{"type": t, "status": "False", "message": "m" * 60} for t in ("Ready", "DiskPressure")]}}


def name(i):
    return f"gpu-node-{i:05d}.cluster.example"


POD = {"metadata": {"name": "p", "labels": {"carbon-tolerance": "daily"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
          "request": {"uid": "705ab4f5", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "batch", "operation": "CREATE",
                      "object": {"metadata": {"generateName": "t-", "labels": {"carbon-tolerance": "daily"}, "annotations": {f"a{k}": "x" * 50 for k in range(40)},
                                              "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "controller": True}]},
                                 "spec": {"containers": [{"name": f"c{k}", "image": "registry.example/image:1", "env": [{"name": f"E{e}", "value": "v" * 30} for e in range(20)]}
                                                         for k in range(4)]}}}}


def names_body(count):
    return json.dumps({"Pod": POD, "Nodes": None, "NodeNames": [name(i) for i in range(count)]}).encode()


def whole_body(count):
    return json.dumps({"Pod": POD, "Nodes": {"metadata": {}, "items": [node(i) for i in range(count)]}, "NodeNames": None}).encode()


def measure(label, port, pid, path, body, seconds, connections):
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
    times, stop = [[] for _ in range(connections)], time.monotonic() + seconds

    def ask(mine):
        connection = Connection(port)
        while time.monotonic() < stop:
            began = time.perf_counter()
            status, _ = connection.post(head, body)
            mine.append(time.perf_counter() - began)
            assert status == 200, status

    before, began = cpu_seconds(pid), time.monotonic()
    threads = [threading.Thread(target=ask, args=(mine,)) for mine in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, cpu = time.monotonic() - began, cpu_seconds(pid) - before
    everything = sorted(t for mine in times for t in mine)
    count = len(everything)
    print(f"{label:34} {len(body) / 1024:8.0f} KiB  {connections} conn.  {count / took:7.0f} req/s  p50 {everything[count // 2] * 1e3:6.2f} ms"
          f"  p99 {everything[int(count * 0.99)] * 1e3:6.2f} ms  server CPU {cpu / count * 1e6:7.0f} us/req", flush=True)


def main():
    binary, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        from socket import socket
        with socket() as one, socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            port, cluster_port = one.getsockname()[1], two.getsockname()[1]
        config = os.path.join(folder, "server.yaml")
        with open(config, "w", encoding="ascii") as file:
            file.write("store: memory\ncarbon:\n  zones:\n" + "".join(f"    {z}: static g={g} boundary=life_cycle basis=consumption\n"
                                                                      for z, g in (("DE", 400), ("FR", 50), ("PL", 700))))
            file.write(f"kubernetes: {{listen: '127.0.0.1:{cluster_port}', zones: {{zone-a: DE, zone-b: FR, zone-c: PL}}, node_budget_watts: 1000}}\n")
        server = subprocess.Popen([os.path.join(binary, "tidewatt"), "server", "--data", folder, "--listen", f"127.0.0.1:{port}", "--config", config],
                                  stdout=subprocess.PIPE, text=True)
        while "sign in" not in server.stdout.readline():
            pass
        try:
            fill(port, folder)
            for verb in ("filter", "prioritize"):
                measure(f"{verb}, 5,000 names", cluster_port, server.pid, f"/k8s/extender/{verb}", names_body(5000), seconds, 1)
                measure(f"{verb}, 5,000 names", cluster_port, server.pid, f"/k8s/extender/{verb}", names_body(5000), seconds, 4)
            measure("prioritize, 100 names", cluster_port, server.pid, "/k8s/extender/prioritize", names_body(100), seconds, 4)
            measure("filter, 5,000 whole nodes", cluster_port, server.pid, "/k8s/extender/filter", whole_body(5000), seconds, 1)
            measure("prioritize, 500 whole nodes", cluster_port, server.pid, "/k8s/extender/prioritize", whole_body(500), seconds, 1)
            measure("mutate, a pod", cluster_port, server.pid, "/k8s/admission/mutate?timeout=10s", json.dumps(REVIEW).encode(), seconds, 4)
            measure("validate, a pod", cluster_port, server.pid, "/k8s/admission/validate?timeout=10s", json.dumps(REVIEW).encode(), seconds, 4)
        finally:
            server.terminate()
            server.wait()


def fill(port, folder):
    """5,000 nodes whose power is measured."""
    with open(os.path.join(folder, "agent.token"), encoding="ascii") as file:
        token = file.read().strip()
    connection = Connection(port)
    now = time.time()
    for first in range(0, 5000, 500):
        beats = [{"schema": "v1", "node_id": name(i), "sampled_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 1)),
                  "labels": {"topology.kubernetes.io/zone": "zone-" + "abc"[i % 3]},
                  "gpu_stats": [{"index": 0, "uuid": f"{i}-0", "source": "nvml", "quality": "measured", "power_watts": i % 1100}]} for i in range(first, first + 500)]
        head = f"POST /api/v1/heartbeats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n".encode()
        status, answer = connection.post(head, json.dumps(beats).encode())
        assert status == 200 and b"rejected" not in answer, answer[:300]
    time.sleep(6)  # the server looks at nodes every 5 s


if __name__ == "__main__":
    main()
