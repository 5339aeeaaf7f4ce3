"""A service's operations, over real HTTP."""
import json
import unittest
import urllib.error
import urllib.request

from tidewatt import Service


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.service = Service("shop", objectives=["p99(latency_ms) <= 150 over 5m"])
        self.set_to = []

        @self.service.parameter("workers", value=4, minimum=1, maximum=4)
        def set_workers(value):
            self.set_to.append(value)

        self.base = f"http://127.0.0.1:{self.service.serve()}/devol/v1/"
        self.addCleanup(self.service.close)

    def ask(self, path, body=None):
        request = urllib.request.Request(self.base + path, data=body, method="GET" if body is None else "PUT")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def test_discovers_and_describes_itself(self):
        self.service.sample("latency_ms", 12)
        spec = self.ask("spec")[1]
        self.assertEqual(spec, {"service": "shop", "metrics": [{"name": "latency_ms"}], "objectives": ["p99(latency_ms) <= 150 over 5m"],
                                "parameters": [{"name": "workers", "minimum": 1, "maximum": 4}]})
        schema = self.ask("openapi.json")[1]["paths"]["/devol/v1/config"]["put"]["requestBody"]["content"]["application/json"]["schema"]
        self.assertEqual(schema["properties"]["workers"]["maximum"], 4)

    def test_each_sample_is_given_once(self):
        self.service.sample("latency_ms", 1)
        self.service.sample("latency_ms", float("nan"))
        first = self.ask("state?since=0")[1]
        self.assertEqual([value for _, value in first["samples"]["latency_ms"]], [1])
        self.service.sample("latency_ms", 2)
        second = self.ask(f"state?since={first['next']}")[1]
        self.assertEqual([value for _, value in second["samples"]["latency_ms"]], [2])
        self.assertEqual(self.ask("state?since=-1")[0], 400)

    def test_says_how_many_samples_nobody_fetched(self):
        service = Service("a", kept_samples=2)
        for value in range(5):
            service.sample("x", value)
        self.assertEqual(service.state(1)["dropped"], 2)

    def test_reconfigures_all_or_nothing(self):
        self.assertEqual(self.ask("config", b'{"workers": 2}'), (200, {"parameters": {"workers": 2}}))
        for body in (b'{"workers": 5}', b'{"workers": 3, "other": 1}', b'{"workers": true}', b"[]", b"{", b'{"workers": "3"}'):
            self.assertEqual(self.ask("config", body)[0], 400, body)
        self.assertEqual(self.set_to, [2])
        self.assertEqual(self.ask("state")[1]["parameters"], {"workers": 2})
        self.assertEqual(self.ask("nothing")[0], 404)


if __name__ == "__main__":
    unittest.main()
