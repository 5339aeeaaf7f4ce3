"""Sends prebuilt request bodies over kept-alive connections and measures the server's CPU from /proc."""
import os
import resource
import socket
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of a process and its threads; children that ended are not in it."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def fine_cpu_seconds(pid):
    """The same in nanoseconds from the scheduler, for processes that run shorter than a clock tick at a time."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""

    def post(self, head, body):
        """Returns (status, answer body)."""
        self.socket.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
        self.socket.sendall(body)
        data = self.left
        while b"\r\n\r\n" not in data:
            data += self._more()
        header, data = data.split(b"\r\n\r\n", 1)
        status = int(header.split(b" ", 2)[1])
        length = 0
        for line in header.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if name.lower() == b"transfer-encoding":
                raise RuntimeError("the answer is chunked, which this client does not read")
        while len(data) < length:
            data += self._more()
        answer, self.left = data[:length], data[length:]
        return status, answer

    def _more(self):
        got = self.socket.recv(65536)
        if not got:
            raise RuntimeError("the server closed the connection")
        return got


def send_all(port, path, headers, groups, connections, check):
    """Each connection sends its groups' bodies round by round, in order. `check(status, answer)` names a fault or None.

    Returns (seconds, CPU seconds of this process).
    """
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    head += b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
    faults = []
    ready = threading.Barrier(connections + 1)

    def work(own):
        try:
            connection = Connection(port)
            ready.wait()
            for bodies in zip(*own):
                for body in bodies:
                    fault = check(*connection.post(head, body))
                    if fault:
                        raise RuntimeError(fault)
        except Exception as problem:  # told by the caller, with the run's name
            faults.append(str(problem))
            ready.abort()

    threads = [threading.Thread(target=work, args=(groups[i::connections],)) for i in range(connections)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        pass
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.monotonic()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    if faults:
        raise RuntimeError(faults[0])
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
