import datetime
import json
import os
import tempfile
import unittest
from unittest import mock

from fakes import Loopback
from tidewatt import Client, TidewattError, frame

JSON = "application/json"


class ClientTest(unittest.TestCase):
    def test_asks_with_token_and_query(self):
        with Loopback({"GET /api/v1/tasks/a%2Fb/energy": (200, '{"energy_kwh": null}', JSON)}) as server:
            self.assertIsNone(Client(server.url, "secret").task_energy("a/b", range="24h")["energy_kwh"])
            self.assertEqual(server.asked[0][:3], ("GET", "/api/v1/tasks/a%2Fb/energy?range=24h", "Bearer secret"))

    def test_times_are_utc_with_milliseconds_and_naive_ones_are_refused(self):
        with Loopback({"POST /api/v1/tasks/t/events": (204, "", JSON)}) as server:
            zone = datetime.timezone(datetime.timedelta(hours=2))
            Client(server.url).task_event("t", "started", datetime.datetime(2026, 11, 30, 10, tzinfo=zone))
            self.assertEqual(server.bodies(), [{"event": "started", "at": "2026-11-30T08:00:00.000Z"}])
            with self.assertRaises(ValueError):
                Client(server.url).task_event("t", "started", datetime.datetime(2026, 11, 30))

    def test_reads_page_after_page(self):
        pages = {"": '{"tasks": [{"task_id": "a"}], "next_cursor": "c1"}', "c1": '{"tasks": [{"task_id": "b"}], "next_cursor": null}'}
        with Loopback({"GET /api/v1/tasks": lambda path: (200, pages["c1" if "cursor=c1" in path else ""], JSON)}) as server:
            self.assertEqual([task["task_id"] for task in Client(server.url).tasks(range="7d")], ["a", "b"])
            self.assertIn("range=7d", server.asked[1][1])

    def test_a_problem_document_is_the_message(self):
        problem = json.dumps({"code": "not_found", "detail": 'no task "x"; see GET /tasks'})
        with Loopback({"GET /api/v1/tasks/x/energy": (404, problem, "application/problem+json")}) as server:
            with self.assertRaises(TidewattError) as raised:
                Client(server.url).task_energy("x")
        self.assertEqual(str(raised.exception), '404: no task "x"; see GET /tasks')
        self.assertEqual((raised.exception.status, raised.exception.code), (404, "not_found"))

    def test_no_server_no_json_and_a_redirect_are_errors(self):
        with self.assertRaises(TidewattError) as raised:
            Client("http://127.0.0.1:9", timeout=2).request("GET", "/nodes")
        self.assertIsNone(raised.exception.status)
        with Loopback({"GET /api/v1/nodes": (200, "<html>", "text/html"), "GET /api/v1/moved": (302, "http://127.0.0.1:9/", JSON)}) as server:
            with self.assertRaisesRegex(TidewattError, "is no JSON"):
                Client(server.url).request("GET", "/nodes")
            with self.assertRaisesRegex(TidewattError, "302"):
                Client(server.url, "secret").request("GET", "/moved")

    def test_settings_come_from_the_environment(self):
        with mock.patch.dict(os.environ, {"TIDEWATT_SERVER": "http://host:1/", "TIDEWATT_TOKEN": "t"}):
            self.assertEqual(Client().server, "http://host:1")
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("from-file\n")
        self.addCleanup(os.unlink, file.name)
        with Loopback({"GET /api/v1/nodes": (200, "{}", JSON)}) as server:
            list(Client(server.url, token_file=file.name).nodes())
            self.assertEqual(server.asked[0][2], "Bearer from-file")
        with self.assertRaisesRegex(ValueError, "no http"):
            Client("host:7310")

    def test_usage_has_a_time_and_an_id(self):
        with Loopback({"POST /api/v1/usage": (204, "", JSON)}) as server:
            Client(server.url).usage("chat", prompt_tokens=10, completion_tokens=5, request_id="r1")
            sent = server.bodies()[0]
        self.assertTrue(sent.pop("at").endswith("Z"))
        self.assertEqual(sent, {"task_group_id": "chat", "prompt_tokens": 10, "completion_tokens": 5, "request_id": "r1"})

    def test_frame_says_when_pandas_is_missing(self):
        with mock.patch.dict("sys.modules", {"pandas": None}):
            with self.assertRaisesRegex(TidewattError, "needs pandas"):
                frame([])


if __name__ == "__main__":
    unittest.main()
