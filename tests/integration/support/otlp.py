"""OTLP/HTTP traces as an exporter makes them: protobuf by hand, and JSON."""
import json
import secrets
import struct
import time

SERVER, INTERNAL = 2, 1


class Span:
    """A span from its making to end(); times are the machine's own."""

    def __init__(self, name, parent=None, kind=INTERNAL, attributes=None):
        self.name, self.kind, self.attributes = name, kind, attributes or {}
        self.trace = parent.trace if parent else secrets.token_bytes(16)
        self.id, self.parent = secrets.token_bytes(8), parent.id if parent else b""
        self.begin, self.stop = time.time_ns(), None

    def end(self):
        self.stop = time.time_ns()
        return self

    @property
    def route(self):
        route = self.attributes.get("http.route")
        return f"{self.attributes['http.request.method']} {route}" if route else self.name


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def part(number, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed64(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def attributes_protobuf(field, attributes):
    return b"".join(part(field, part(1, key) + part(2, part(1, value))) for key, value in attributes.items())


def protobuf(resource, spans):
    sent = b""
    for span in spans:
        one = part(1, span.trace) + part(2, span.id) + (part(4, span.parent) if span.parent else b"") + part(5, span.name)
        one += number(6, span.kind) + fixed64(7, span.begin) + fixed64(8, span.stop) + attributes_protobuf(9, span.attributes)
        sent += part(2, one)
    return part(1, part(1, attributes_protobuf(1, resource)) + part(2, part(1, part(1, "demo")) + sent))


def attributes_json(attributes):
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


def as_json(resource, spans):
    sent = [{"traceId": s.trace.hex(), "spanId": s.id.hex(), "parentSpanId": s.parent.hex(), "name": s.name, "kind": s.kind,
             "startTimeUnixNano": str(s.begin), "endTimeUnixNano": str(s.stop), "attributes": attributes_json(s.attributes)} for s in spans]
    return json.dumps({"resourceSpans": [{"resource": {"attributes": attributes_json(resource)}, "scopeSpans": [{"scope": {"name": "demo"}, "spans": sent}]}]}).encode()
