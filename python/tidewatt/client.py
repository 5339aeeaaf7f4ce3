"""The server's API for programs."""
from __future__ import annotations

import datetime
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

DEFAULT_SERVER = "http://127.0.0.1:7310"
_MOST_BYTES = 64 << 20

Time = Union[str, datetime.datetime]


class TidewattError(Exception):
    """The server refused or could not be asked; `str()` is one line that says what happened."""

    def __init__(self, message: str, status: Optional[int] = None, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status  #: HTTP status; None: no answer
        self.code = code  #: the server's word for it, such as "not_found"


class Client:
    """One server. Safe to share between threads: every call is a request of its own.

    `server` and `token` default to the environment's TIDEWATT_SERVER and TIDEWATT_TOKEN, `server` then to http://127.0.0.1:7310.
    """

    def __init__(self, server: Optional[str] = None, token: Optional[str] = None, *, token_file: Optional[str] = None, timeout: float = 10.0) -> None:
        self.server = (server or os.environ.get("TIDEWATT_SERVER") or DEFAULT_SERVER).rstrip("/")
        if not self.server.startswith(("http://", "https://")):
            raise ValueError(f"server {self.server!r} is no http:// or https:// address")
        if token_file is not None:
            with open(token_file, encoding="ascii") as file:
                token = file.read().strip()
        self._token = token or os.environ.get("TIDEWATT_TOKEN") or None
        self.timeout = timeout

    def request(self, method: str, path: str, body: Optional[Dict[str, Any]] = None, **query: Any) -> Any:
        """`path` without /api/v1, such as "/nodes". Returns the JSON answer, or None where there is none."""
        kept = {name: _text(value) for name, value in query.items() if value is not None}
        url = f"{self.server}/api/v1{path}" + (f"?{urllib.parse.urlencode(kept)}" if kept else "")
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps({name: _plain(value) for name, value in body.items() if value is not None}, allow_nan=False).encode()
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        call = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with _OPENER.open(call, timeout=self.timeout) as answer:
                text = answer.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            raise _problem(error) from None
        except (OSError, ValueError) as error:
            raise TidewattError(f"{self.server}: {getattr(error, 'reason', error)}") from None
        if len(text) > _MOST_BYTES:
            raise TidewattError(f"{url}: the answer is larger than 64 MiB")
        if not text:
            return None
        try:
            return json.loads(text)
        except ValueError:
            raise TidewattError(f"{url}: the answer is no JSON; is this a Tidewatt server?") from None

    # -- what was used ----------------------------------------------------------------------------------------------
    def nodes(self, **query: Any) -> Iterator[Dict[str, Any]]:
        """All nodes, page by page."""
        return self._pages("/nodes", "nodes", query)

    def tasks(self, **query: Any) -> Iterator[Dict[str, Any]]:
        """All tasks with their energy, page by page; `range="7d"`, `team=...`, `q=...` narrow them."""
        return self._pages("/tasks", "tasks", query)

    def node_energy(self, node_id: str, *, since: Optional[Time] = None, until: Optional[Time] = None, **query: Any) -> Dict[str, Any]:
        return self._dict("GET", f"/nodes/{_quoted(node_id)}/energy", **{"from": since, "to": until}, **query)

    def task_energy(self, task_id: str, **query: Any) -> Dict[str, Any]:
        """The task's account: `energy_kwh` is None where nothing is known, with the reasons in `notes`."""
        return self._dict("GET", f"/tasks/{_quoted(task_id)}/energy", **query)

    # -- what runs ----------------------------------------------------------------------------------------------------
    def register_task(self, task_id: str, *, team: Optional[str] = None, kind: Optional[str] = None, group_id: Optional[str] = None,
                      started_at: Optional[Time] = None, **fields: Any) -> None:
        self.request("POST", "/tasks", {"task_id": task_id, "team": team, "kind": kind, "group_id": group_id, "started_at": started_at, **fields})

    def task_event(self, task_id: str, event: str, at: Optional[Time] = None) -> None:
        """`event`: "started" or "finished"."""
        self.request("POST", f"/tasks/{_quoted(task_id)}/events", {"event": event, "at": at})

    def progress(self, task_id: str, *, epoch: int, epochs_total: Optional[int] = None, energy_joules_total: Optional[float] = None,
                 step_latency_seconds: Optional[float] = None, at: Optional[Time] = None) -> None:
        """What a task says of its own progress; energy is what it used since it began."""
        self.request("POST", f"/tasks/{_quoted(task_id)}/progress",
                     {"epoch": epoch, "epochs_total": epochs_total, "energy_joules_total": energy_joules_total,
                      "step_latency_seconds": step_latency_seconds, "at": at})

    def usage(self, task_group: str, *, prompt_tokens: int, completion_tokens: int, request_id: str, at: Optional[Time] = None) -> None:
        """Tokens of one request; the same `request_id` counts once."""
        self.request("POST", "/usage", {"task_group_id": task_group, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
                                        "request_id": request_id, "at": at or datetime.datetime.now(datetime.timezone.utc)})

    def _dict(self, method: str, path: str, **query: Any) -> Dict[str, Any]:
        answer = self.request(method, path, **query)
        if not isinstance(answer, dict):
            raise TidewattError(f"{self.server}{path}: the answer is no object")
        return answer

    def _pages(self, path: str, key: str, query: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
        while True:
            page = self._dict("GET", path, **query)
            yield from page.get(key, [])
            cursor = page.get("next_cursor")
            if not cursor or cursor == query.get("cursor"):
                return
            query = {**query, "cursor": cursor}


def frame(rows: Iterable[Dict[str, Any]]) -> Any:
    """The rows as a pandas DataFrame; needs pandas."""
    try:
        import pandas
    except ImportError:
        raise TidewattError("frame() needs pandas: pip install pandas") from None
    listed: List[Dict[str, Any]] = list(rows)
    return pandas.DataFrame(listed)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token must not follow a redirect to another host."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _problem(error: urllib.error.HTTPError) -> TidewattError:
    """The server's problem document, or the bare status."""
    try:
        problem = json.loads(error.read(1 << 20))
        detail = problem.get("detail") or problem.get("title") or error.reason
        return TidewattError(f"{error.code}: {detail}", error.code, problem.get("code"))
    except (ValueError, AttributeError, OSError):
        return TidewattError(f"{error.code}: {error.reason}", error.code)


def _quoted(part: str) -> str:
    return urllib.parse.quote(part, safe="")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; use datetime.now(timezone.utc)")
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def _text(value: Any) -> str:
    plain = _plain(value)
    return str(plain).lower() if isinstance(plain, bool) else str(plain)
