"""HTTP as the tests need it: one request at a time over a kept connection, raw bytes when asked."""
import http.client
import json
import socket


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def problem(self):
        """The RFC 9457 body; fails the test when the answer is none."""
        assert self.headers.get("content-type", "").startswith("application/problem+json"), (self.status, self.headers, self.body[:300])
        body = self.json()
        assert body["status"] == self.status, body
        assert body["code"] and body["title"] and body["detail"] and body["request_id"], body
        return body

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Client:
    """Not thread-safe. `token` goes as bearer; a session cookie is kept when the server sets one."""

    def __init__(self, port, token=None, timeout=30):
        self.port, self.token, self.timeout = port, token, timeout
        self.cookie = None
        self.connection = None

    def request(self, method, target, body=None, headers=None):
        sent = dict(headers or {})
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if self.cookie:
            sent.setdefault("Cookie", self.cookie)
        if body is not None and not isinstance(body, (bytes, bytearray)):
            body = json.dumps(body).encode()
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        fresh = self.connection is None
        try:
            return self._send(method, target, body, sent)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            # The server may close an idle connection, or one whose body it refused; only then once more.
            if fresh:
                raise
            return self._send(method, target, body, sent)

    def _send(self, method, target, body, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        try:
            self.connection.request(method, target, body=body, headers=headers)
            answer = self.connection.getresponse()
            data = answer.read()
        except Exception:
            self.close()
            raise
        if answer.getheader("Set-Cookie"):
            self.cookie = answer.getheader("Set-Cookie").split(";", 1)[0]
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, data)

    def get(self, target, **kwargs):
        return self.request("GET", target, **kwargs)

    def post(self, target, body=None, **kwargs):
        return self.request("POST", target, body=body, **kwargs)

    def get_json(self, target):
        answer = self.get(target)
        assert answer.status == 200, (target, answer)
        return answer.json()

    def post_beats(self, beats):
        """One status text per beat; asserts that the body as a whole was taken."""
        answer = self.post("/api/v1/heartbeats", beats)
        assert answer.status == 200, answer
        results = answer.json()["results"]
        assert len(results) == (len(beats) if isinstance(beats, list) else 1), answer
        return results

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def raw_exchange(port, data, timeout=20):
    """Sends bytes as they are and returns all that comes back until the server closes or is silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused while sending: the answer is there to read
        got = b""
        try:
            while True:
                part = connection.recv(65536)
                if not part:
                    return got
                got += part
        except (socket.timeout, ConnectionResetError):
            return got
