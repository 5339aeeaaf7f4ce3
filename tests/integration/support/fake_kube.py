"""An API server as far as a controller sees one: resource versions, lists in pages, watches with bookmarks, JSON patches, conflicts, forgotten versions,
too many requests, connections that break. Objects are plain dicts; what isn't asked of it here isn't there."""
import copy
import itertools
import json
import queue
import re
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GATE = "tidewatt.io/clean-window"
COLLECTIONS = {  # resource -> path before and after the namespace, kind
    "pods": ("/api/v1", "Pod"), "events": ("/api/v1", "Event"), "jobs": ("/apis/batch/v1", "Job"),
    "leases": ("/apis/coordination.k8s.io/v1", "Lease"),
}
PATH = re.compile(r"^(?P<base>/api/v1|/apis/[^/]+/v1)(?:/namespaces/(?P<space>[^/]+))?/(?P<resource>pods|events|jobs|leases)(?:/(?P<name>[^/]+))?$")


class Refused(Exception):
    def __init__(self, code, reason, message, headers=None):
        super().__init__(message)
        self.code, self.reason, self.message, self.headers = code, reason, message, headers or {}

    def body(self):
        return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": self.code, "reason": self.reason, "message": self.message}


def invalid(message):
    return Refused(422, "Invalid", message)


def apply_json_patch(document, operations):
    """RFC 6902: add, replace, remove, test; all or nothing."""
    made = copy.deepcopy(document)
    for operation in operations:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]
        place = made
        for key in keys[:-1]:
            try:
                place = place[int(key)] if isinstance(place, list) else place[key]
            except (KeyError, IndexError, ValueError):
                raise invalid(f"{operation['path']}: no such path") from None
        key = keys[-1]
        there = (key.isdigit() and int(key) < len(place)) if isinstance(place, list) else key in place
        index = int(key) if isinstance(place, list) and key.isdigit() else key
        what = operation["op"]
        if what == "test":
            if not there or place[index] != operation["value"]:
                raise invalid(f"testing path {operation['path']} failed")
        elif what == "add":
            if isinstance(place, list):
                place.insert(len(place) if key == "-" else index, operation["value"])
            else:
                place[key] = operation["value"]
        elif not there:
            raise invalid(f"{operation['path']}: no such path")
        elif what == "replace":
            place[index] = operation["value"]
        elif what == "remove":
            del place[index]
        else:
            raise Refused(400, "BadRequest", f"unknown operation {what}")
    return made


def merge_patch(document, patch):
    if not isinstance(patch, dict):
        return patch
    made = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge_patch(made.get(key), value)
    return made


def selects(query, item):
    for term in filter(None, query.get("labelSelector", "").split(",")):
        key, _, value = term.partition("=")
        labels = item["metadata"].get("labels") or {}
        if key not in labels or (value and labels[key] != value):
            return False
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        key, _, value = term.partition("=")
        assert key == "spec.nodeName", key
        if item.get("spec", {}).get("nodeName", "") != value:
            return False
    return True


def gates_of(pod):
    return [gate["name"] for gate in pod.get("spec", {}).get("schedulingGates") or []]


class FakeKube:
    """`with FakeKube() as kube: kube.url`. `fault(...)` makes one kind of request fail, `compact()` forgets old versions."""

    def __init__(self, token="the-token", bookmark_every=0.5, page_limit=None):
        self.tokens, self.bookmark_every, self.page_limit = {token}, bookmark_every, page_limit
        self.lock = threading.RLock()
        self.version = itertools.count(100)
        self.now, self.forgotten = 100, 0
        self.objects, self.history = {}, {name: [] for name in COLLECTIONS}
        self.watchers, self.faults = [], []
        self.requests, self.removals, self.resumed = [], {}, {}
        self.gone_as_event = False
        self.stopping = False

    def __enter__(self):
        kube = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                kube.serve(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.http.shutdown()
        self.http.server_close()

    # What a test does, as kubectl and the kubelet would.

    def add(self, resource, item):
        with self.lock:
            return self._store(resource, copy.deepcopy(item), "ADDED")

    def get(self, resource, name, space="batch"):
        with self.lock:
            return copy.deepcopy(self.objects.get((resource, space, name)))

    def change(self, resource, name, change, space="batch"):
        with self.lock:
            item = copy.deepcopy(self.objects[(resource, space, name)])
            change(item)
            return self._store(resource, item, "MODIFIED")

    def delete(self, resource, name, space="batch"):
        with self.lock:
            self._forget(resource, space, name)

    def items(self, resource):
        with self.lock:
            return [copy.deepcopy(item) for (kind, _, _), item in self.objects.items() if kind == resource]

    def compact(self):
        """Versions up to now are forgotten, and every watch breaks off."""
        with self.lock:
            self.now = self.forgotten = next(self.version)
            self.break_watches()

    def break_watches(self):
        with self.lock:
            for _, _, lines in self.watchers:
                lines.put(None)

    def fault(self, method, path, act, times=1):
        """`act(handler)` instead of the answer; "answer" from it: then as usual; "lose": carried out, but not answered."""
        with self.lock:
            self.faults.append([method, re.compile(path), act, times])

    def count(self, method, path, status=None):
        with self.lock:
            return sum(1 for m, p, s, _, _ in self.requests if m == method and re.search(path, p) and status in (None, s))

    def writes(self, path):
        """Token, status and time of what changed something, oldest first."""
        with self.lock:
            return [(who, status, at) for method, p, status, at, who in self.requests if method != "GET" and status < 300 and re.search(path, p)]

    @staticmethod
    def writer(handler):
        return handler.headers.get("Authorization", "").removeprefix("Bearer ")

    # Serving.

    def serve(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        handler.body = handler.rfile.read(length)
        with self.lock:
            fault = next((f for f in self.faults if f[0] == handler.command and f[1].search(handler.path) and f[3] > 0), None)
            if fault:
                fault[3] -= 1
        if fault:
            then = fault[2](handler)
            if then == "lose":
                try:
                    self._answer(handler)
                except Refused:
                    pass
                handler.close_connection = True
            if then != "answer":
                return
        try:
            answer = self._answer(handler)
        except Refused as refused:
            return self._send(handler, refused.code, refused.body(), refused.headers)
        if answer is not None:
            self._send(handler, *answer)

    def _send(self, handler, status, body, headers=None):
        with self.lock:
            self.requests.append((handler.command, handler.path, status, time.monotonic(), self.writer(handler)))
        text = json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)

    def _answer(self, handler):
        if self.writer(handler) not in self.tokens:
            raise Refused(401, "Unauthorized", "Unauthorized")
        path, _, query = handler.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        found = PATH.match(path)
        if not found or COLLECTIONS[found["resource"]][0] != found["base"]:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        resource, space, name = found["resource"], found["space"], found["name"]
        if handler.command == "GET" and not name:
            if query.get("watch") in ("1", "true"):
                return self._watch(handler, resource, query)
            return self._list(resource, query)
        with self.lock:
            key = (resource, space, name)
            if handler.command == "POST":
                item = json.loads(handler.body)
                if (resource, space, item["metadata"]["name"]) in self.objects:
                    raise Refused(409, "AlreadyExists", f"{resource} \"{item['metadata']['name']}\" already exists")
                return 201, self._store(resource, item, "ADDED")
            if key not in self.objects:
                raise Refused(404, "NotFound", f"{resource} \"{name}\" not found")
            if handler.command == "GET":
                return 200, self.objects[key]
            if handler.command == "DELETE":
                self._forget(*key)
                return 200, {"kind": "Status", "status": "Success"}
            if handler.command == "PUT":
                item = json.loads(handler.body)
                sent = item["metadata"].get("resourceVersion")
                if sent and sent != self.objects[key]["metadata"]["resourceVersion"]:
                    raise Refused(409, "Conflict", "the object has been modified; please apply your changes to the latest version")
                item["metadata"]["uid"] = self.objects[key]["metadata"]["uid"]
                return 200, self._store(resource, item, "MODIFIED")
            return 200, self._patch(handler, key)

    def _patch(self, handler, key):
        before = self.objects[key]
        kind = handler.headers.get("Content-Type")
        if kind == "application/json-patch+json":
            after = apply_json_patch(before, json.loads(handler.body))
        elif kind == "application/merge-patch+json":
            after = merge_patch(copy.deepcopy(before), json.loads(handler.body))
        else:
            raise Refused(415, "UnsupportedMediaType", f"{kind} is not supported here")
        if key[0] == "pods":
            if set(gates_of(after)) - set(gates_of(before)):
                raise invalid("spec.schedulingGates: only deletion is allowed")
            if GATE in gates_of(before) and GATE not in gates_of(after):
                uid = before["metadata"]["uid"]
                self.removals[uid] = self.removals.get(uid, 0) + 1
        if key[0] == "jobs" and before["spec"].get("suspend") and not after["spec"].get("suspend"):
            uid = before["metadata"]["uid"]
            self.resumed[uid] = self.resumed.get(uid, 0) + 1
        return self._store(key[0], after, "MODIFIED")

    def _store(self, resource, item, kind):
        self.now = next(self.version)
        metadata = item.setdefault("metadata", {})
        metadata.setdefault("namespace", "batch")
        metadata.setdefault("uid", f"uid-{self.now}")
        metadata.setdefault("creationTimestamp", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        metadata["resourceVersion"] = str(self.now)
        key = (resource, metadata["namespace"], metadata["name"])
        before = self.objects.get(key)
        self.objects[key] = item
        self._tell(resource, kind, before, item)
        return copy.deepcopy(item)

    def _forget(self, resource, space, name):
        before = self.objects.pop((resource, space, name))
        self.now = next(self.version)
        gone = copy.deepcopy(before)
        gone["metadata"]["resourceVersion"] = str(self.now)
        self._tell(resource, "DELETED", before, gone)

    def _tell(self, resource, kind, before, item):
        change = (self.now, kind, copy.deepcopy(before), copy.deepcopy(item))
        self.history[resource].append(change)
        for watched, query, lines in self.watchers:
            if watched == resource:
                line = self._line(query, change)
                if line:
                    lines.put(line)

    @staticmethod
    def _line(query, change):
        """What a watch with a selector tells of a change: leaving the selection is a deletion."""
        _, kind, before, item = change
        was, is_now = before is not None and selects(query, before), kind != "DELETED" and selects(query, item)
        if not was and not is_now:
            return None
        return {"type": "DELETED" if not is_now else ("MODIFIED" if was else "ADDED"), "object": item}

    def _list(self, resource, query):
        with self.lock:
            items = [item for (kind, _, _), item in sorted(self.objects.items()) if kind == resource and selects(query, item)]
            start, version = 0, self.now
            if query.get("continue"):
                version, start = map(int, query["continue"].split(":"))
                if version < self.forgotten:
                    raise Refused(410, "Expired", "The provided continue parameter is too old")
            limit = self.page_limit or int(query.get("limit", 0)) or len(items)
            metadata = {"resourceVersion": str(version)}
            if start + limit < len(items):
                metadata["continue"] = f"{version}:{start + limit}"
            base = COLLECTIONS[resource]
            return 200, {"kind": base[1] + "List", "apiVersion": "v1", "metadata": metadata, "items": copy.deepcopy(items[start:start + limit])}

    def _watch(self, handler, resource, query):
        since = int(query["resourceVersion"])
        lines = queue.Queue()
        with self.lock:
            if since < self.forgotten:
                refused = Refused(410, "Expired", f"too old resource version: {since} ({self.forgotten})")
                if not self.gone_as_event:
                    raise refused
                lines.put({"type": "ERROR", "object": refused.body()})
                lines.put(None)
            for change in self.history[resource]:
                line = self._line(query, change) if change[0] > since else None
                if line:
                    lines.put(line)
            entry = (resource, query, lines)
            self.watchers.append(entry)
            self.requests.append((handler.command, handler.path, 200, time.monotonic(), self.writer(handler)))
        handler.close_connection = True
        try:
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            self._stream(handler, resource, query, lines)
        finally:
            with self.lock:
                self.watchers.remove(entry)

    def _stream(self, handler, resource, query, lines):
        ends = time.monotonic() + float(query.get("timeoutSeconds", 60))
        while time.monotonic() < ends and not self.stopping:
            try:
                line = lines.get(timeout=self.bookmark_every)
                if line is None:
                    return  # cut in the middle: no last chunk
            except queue.Empty:
                if query.get("allowWatchBookmarks") != "true":
                    continue
                with self.lock:
                    if not lines.empty():
                        continue
                    line = {"type": "BOOKMARK", "object": {"kind": COLLECTIONS[resource][1], "metadata": {"resourceVersion": str(self.now)}}}
            text = json.dumps(line).encode() + b"\n"
            half = len(text) // 2
            for part in (text[:half], text[half:]):  # a line comes in pieces
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")


def too_many(seconds):
    """For fault(): 429 with Retry-After."""
    def act(handler):
        handler.send_response(429)
        handler.send_header("Retry-After", str(seconds))
        handler.send_header("Content-Length", "0")
        handler.end_headers()
    return act


def hang_up(handler):
    """For fault(): the connection ends without an answer, and nothing was done."""
    handler.close_connection = True


def lose_answer(_handler):
    """For fault(): the request is carried out, and the connection ends without an answer."""
    return "lose"


def hold(entered, until):
    """For fault(): says that the request has come, and does nothing until told; then the connection ends."""
    def act(handler):
        entered.set()
        until.wait(30)
        handler.close_connection = True
    return act
