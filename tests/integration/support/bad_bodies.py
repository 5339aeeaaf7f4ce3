"""Bodies no server should book: each is (name, headers, bytes, expectation).

Expectations: "refused" = the whole body gets a 4xx problem; "rejected" = 200, and the beat is `rejected` with a reason;
"either" = one of the two; "unknown" = taken, with the power unknown.
"""
import copy
import gzip
import json
import random
import zlib

from .beats import NodeScript

JSON = {"Content-Type": "application/json"}


def template():
    return NodeScript("bad", beats=1, devices=2).beat(0)


def dump(value):
    return json.dumps(value, separators=(",", ":")).encode()


def truncated():
    whole = dump(template())
    for cut in range(0, len(whole)):
        yield f"cut at {cut}", JSON, whole[:cut], "refused"


def wrong_roots():
    for text in ("", " ", "null", "true", "5", '"beat"', "[]", "[[]]", "{}{}", "[{}", "nan", "NaN", "Infinity", "-", "{'node_id': 'a'}",
                 "{\"node_id\": \"bad\",}", "\ufeff{", "[1,2,3]", "[null]", "[[[{}]]]", "{\"a\"}", "\x00", "{\"node_id\":\"bad\" \"x\":1}"):
        yield f"root {text[:20]!r}", JSON, text.encode(), "either"
    yield "1,001 beats", JSON, dump([template()] * 1001), "refused"


def deep():
    for depth in (100, 1_000, 10_000, 100_000, 1_000_000):
        yield f"{depth} arrays", JSON, b"[" * depth, "refused"
        yield f"{depth} closed arrays", JSON, b"[" * depth + b"]" * depth, "either"
        yield f"{depth} objects", JSON, b'{"node_id":' * depth, "refused"
        inside = dump(template())[:-1] + b',"labels":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
        yield f"labels {depth} deep", JSON, inside, "deep"


def required_keys():
    for key in ("node_id",):
        beat = template()
        del beat[key]
        yield f"without {key}", JSON, dump(beat), "rejected"
        for wrong in (None, 5, True, [], {}, "", "x" * 257, "a\u0000b"):
            yield f"{key} = {str(wrong)[:12]!r}", JSON, dump({**template(), key: wrong}), "rejected"
    for wrong in ("v2", "v0", 1, []):
        yield f"schema {wrong!r}", JSON, dump({**template(), "schema": wrong}), "rejected"
    for wrong in (None, ""):
        yield f"schema {wrong!r}", JSON, dump({**template(), "schema": wrong}), "any"


def wrong_types():
    wrongs = (None, True, "text", -1, 1.5, 1e400, [], {}, [[]], "9" * 400)
    for key in ("seq", "sampled_at", "monotonic_ms", "boot_id", "agent_id", "cluster", "gpu_stats", "rails", "platform", "cpu", "labels",
                "zone", "region", "agent_version"):
        for wrong in wrongs:
            text = dump({**template(), key: "@@"}).replace(b'"@@"', raw(wrong))
            yield f"{key} = {str(wrong)[:12]}", JSON, text, "any"
    for key in ("index", "uuid", "vendor", "model", "source", "quality", "holders", "energy_joules_total", "counter_epoch", "power_limit_watts",
                "util", "memory_used_bytes", "health", "metrics_available"):
        for wrong in wrongs:
            beat = template()
            beat["gpu_stats"][0][key] = "@@"
            yield f"gpu_stats.{key} = {str(wrong)[:12]}", JSON, dump(beat).replace(b'"@@"', raw(wrong)), "any"


def raw(value):
    if value == 1e400:
        return b"1e400"
    return json.dumps(value).encode()


def unknown_powers():
    for text in (b"null", b'"412"', b"-1", b"-0.001", b"true", b"[]", b"{}", b'"N/A"', b"1e18"):
        yield f"power {text.decode()}", JSON, dump(beat_with_power()).replace(b'"@@"', text), "unknown"
    for text in (b"NaN", b"Infinity", b"-Infinity", b"nan", b"0x10", b"+1", b"1.", b".5", b"1e", b"01", b"1e999999", b"9" * 400):
        yield f"power {text.decode()[:12]}", JSON, dump(beat_with_power()).replace(b'"@@"', text), "any"


def beat_with_power():
    beat = template()
    for device in beat["gpu_stats"]:
        device["power_watts"] = "@@"
    return beat


def numbers():
    for key, texts in {"seq": ("18446744073709551616", "-1", "1e3", "1.0", "99999999999999999999999"),
                       "monotonic_ms": ("9223372036854775808", "-1", "1e300")}.items():
        for text in texts:
            yield f"{key} {text[:12]}", JSON, dump({**template(), key: "@@"}).replace(b'"@@"', text.encode()), "any"
    for text in ("2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "yesterday", "2026-01-01", "1970", "99999-01-01T00:00:00Z", "2026-01-01T25:00:00Z",
                 "2999-01-01T00:00:00Z", "0000-00-00T00:00:00Z"):
        yield f"sampled_at {text}", JSON, dump({**template(), "sampled_at": text}), "any"


def invalid_utf8():
    whole = dump(template())
    for bad in (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf", b"\xe2\x82"):
        yield f"node_id {bad!r}", JSON, whole.replace(b'"bad"', b'"ba' + bad + b'd"'), "either"
        yield f"prefix {bad!r}", JSON, bad + whole, "refused"
    yield "lone surrogate escape", JSON, whole.replace(b'"bad"', b'"ba\\ud800d"'), "either"
    yield "utf-16", JSON, whole.decode().encode("utf-16"), "refused"


def compression():
    whole = dump(template())
    packed = gzip.compress(whole)
    zipped = {**JSON, "Content-Encoding": "gzip"}
    for cut in range(0, len(packed), 7):
        yield f"gzip cut at {cut}", zipped, packed[:cut], "refused"
    order = random.Random(7)
    for i in range(40):
        broken = bytearray(packed)
        broken[order.randrange(len(broken))] ^= 1 << order.randrange(8)
        if bytes(broken) != packed:
            yield f"gzip bit flip {i}", zipped, bytes(broken), "flip"
    yield "plain body called gzip", zipped, whole, "refused"
    yield "gzip body called zstd", {**JSON, "Content-Encoding": "zstd"}, packed, "refused"
    yield "zlib called gzip", zipped, zlib.compress(whole), "refused"
    yield "unknown encoding", {**JSON, "Content-Encoding": "br"}, whole, "refused"
    yield "two encodings", {**JSON, "Content-Encoding": "gzip, gzip"}, gzip.compress(packed), "refused"
    yield "zip bomb of blanks", zipped, gzip.compress(b" " * (200 << 20), 9), "refused"
    yield "zip bomb of beats", zipped, gzip.compress(b"[" + b",".join([whole] * 60_000) + b"]", 9), "refused"
    yield "zstd garbage", {**JSON, "Content-Encoding": "zstd"}, b"\x28\xb5\x2f\xfd" + bytes(range(100)), "refused"
    yield "form", {"Content-Type": "application/x-www-form-urlencoded"}, b"node_id=bad", "refused"
    yield "multipart", {"Content-Type": "multipart/form-data; boundary=x"}, b"--x--", "refused"


def mutations(count):
    """Random single-byte damage to a good body: whatever comes of it, it must not crash."""
    order = random.Random(20261129)
    whole = dump(template())
    for i in range(count):
        damaged = bytearray(whole)
        for _ in range(order.randint(1, 4)):
            place = order.randrange(len(damaged))
            what = order.randrange(3)
            if what == 0:
                damaged[place] = order.randrange(256)
            elif what == 1:
                del damaged[place]
            else:
                damaged.insert(place, order.choice(b'{}[]",:0-9.eE\\\x00\xff'))
        yield f"mutation {i}", JSON, bytes(damaged), "any"


def unusable(extra=0):
    """All of them. Each names a node of its own, so that whatever is taken is a first sample, which has no energy."""
    number = 0
    for source in (truncated(), wrong_roots(), deep(), required_keys(), wrong_types(), unknown_powers(), numbers(), invalid_utf8(), compression(),
                   mutations(300 + extra)):
        for name, headers, body, expectation in source:
            number += 1
            yield name, headers, body.replace(b'"bad"', f'"bad{number}"'.encode()), expectation


def neighbours():
    """A batch [good, bad, good] per kind of bad beat."""
    for name, beat in (("no node_id", {k: v for k, v in template().items() if k != "node_id"}), ("a number", 7), ("null", None),
                       ("a text", "beat"), ("an array", [template()]), ("empty object", {}),
                       ("wrong schema", {**template(), "schema": "v9"}), ("empty node_id", {**template(), "node_id": ""}),
                       ("from the future", {**copy.deepcopy(template()), "sampled_at": "2999-01-01T00:00:00Z"})):
        yield name, beat
