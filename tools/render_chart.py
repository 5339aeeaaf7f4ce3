#!/usr/bin/env python3
"""Renders deploy/helm/tidewatt without Helm: the small part of its template language that the chart keeps to.

  tools/render_chart.py deploy/helm/tidewatt --set image=registry.example/tidewatt:0.1.0 --values mine.yaml

Known: {{ .Values.a.b }}, {{ $name }}, {{ include "name" . }}, {{ if X }} ... {{ else }} ... {{ end }},
{{ range $key, $value := .Values.map }}, {{ define "name" }}, comments, and the dashes that trim blanks.
Whatever else a template says is an error that names file and line. Files come in the order of their names.
"""
import argparse
import json
import os
import re
import sys

import jsonschema
import yaml

TAG = re.compile(r"\{\{(-?)\s*(/\*.*?\*/|.*?)\s*(-?)\}\}", re.S)
PATH = re.compile(r"\.Values((?:\.\w+)+)$")
INCLUDE = re.compile(r'include "([\w.-]+)" \.$')
RANGE = re.compile(r"range \$(\w+), \$(\w+) := (\S+)$")


class ChartError(Exception):
    """What is wrong with the chart or its values, in one line."""


def tokens(text, name):
    """Pairs of kind (text, tag) and content; each tag with its line."""
    out, at, trim = [], 0, False
    for match in TAG.finditer(text):
        literal = text[at:match.start()]
        literal = literal.lstrip() if trim else literal
        out.append(("text", literal.rstrip() if match.group(1) else literal, ""))
        out.append(("tag", match.group(2), f"{name}:{text.count(chr(10), 0, match.start()) + 1}"))
        at, trim = match.end(), bool(match.group(3))
    rest = text[at:]
    out.append(("text", rest.lstrip() if trim else rest, ""))
    return out


def parse(stream, defined, ends=()):
    """The nodes up to one of `ends`; takes them from `stream` and puts defines into `defined`."""
    nodes = []
    while stream:
        kind, content, where = stream.pop(0)
        if kind == "text":
            nodes.append(("text", content))
        elif content in ends:
            return nodes, content
        elif content.startswith("/*"):
            continue
        elif content.startswith("define "):
            body, _ = parse(stream, defined, ("end",))
            defined[content.split('"')[1]] = body
        elif content.startswith("if "):
            then, closed_by = parse(stream, defined, ("else", "end"))
            otherwise = parse(stream, defined, ("end",))[0] if closed_by == "else" else []
            nodes.append(("if", content[3:], then, otherwise, where))
        elif found := RANGE.match(content):
            nodes.append(("range", *found.groups(), parse(stream, defined, ("end",))[0], where))
        else:
            nodes.append(("value", content, where))
    if ends:
        raise ChartError(f"a block has no {{{{ {ends[-1]} }}}}")
    return nodes, None


class Renderer:
    def __init__(self, values, defined):
        self.values, self.defined = values, defined

    def value(self, expression, names, where):
        if expression.startswith("$") and expression[1:] in names:
            return names[expression[1:]]
        found = PATH.match(expression)
        if not found:
            raise ChartError(f"{where}: \"{expression}\" is beyond the small part of the template language that is used here")
        value = self.values
        for key in found.group(1)[1:].split("."):
            if not isinstance(value, dict) or key not in value:
                raise ChartError(f"{where}: values.yaml has no {found.group(1)[1:]}")
            value = value[key]
        return value

    def render(self, nodes, names):
        out = []
        for node in nodes:
            if node[0] == "text":
                out.append(node[1])
            elif node[0] == "if":
                _, test, then, otherwise, where = node
                out.append(self.render(then if self.value(test, names, where) else otherwise, names))
            elif node[0] == "range":
                _, key, item, over, body, where = node
                for k, v in sorted(self.value(over, names, where).items()):
                    out.append(self.render(body, {**names, key: k, item: v}))
            else:
                out.append(self.single(node[1], names, node[2]))
        return "".join(out)

    def single(self, expression, names, where):
        if found := INCLUDE.match(expression):
            if found.group(1) not in self.defined:
                raise ChartError(f"{where}: nothing defines \"{found.group(1)}\"")
            return self.render(self.defined[found.group(1)], {})
        value = self.value(expression, names, where)
        if isinstance(value, (dict, list)) or value is None:
            raise ChartError(f"{where}: {expression} is no single value")
        return str(value).lower() if isinstance(value, bool) else str(value)


def merged(base, over):
    return {**base, **{k: merged(base[k], v) if isinstance(v, dict) and isinstance(base.get(k), dict) else v for k, v in over.items()}}


def render(chart, over=None):
    """The whole chart as YAML. @raise ChartError"""
    with open(os.path.join(chart, "values.yaml"), encoding="utf-8") as file:
        values = merged(yaml.safe_load(file), over or {})
    with open(os.path.join(chart, "values.schema.json"), encoding="utf-8") as file:
        try:
            jsonschema.validate(values, json.load(file))
        except jsonschema.ValidationError as error:
            raise ChartError(f"value {'.'.join(map(str, error.path)) or '(all)'}: {error.message}") from None
    defined, files = {}, []
    folder = os.path.join(chart, "templates")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            files.append((name, parse(tokens(file.read(), name), defined)[0]))
    texts = [Renderer(values, defined).render(nodes, {}) for name, nodes in files if name.endswith(".yaml")]
    return "---\n".join(text for text in texts if text.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chart")
    parser.add_argument("--values", help="YAML of values over the chart's own")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one value, like zone=DE or serviceMonitor.enabled=true")
    arguments = parser.parse_args()
    over = {}
    if arguments.values:
        with open(arguments.values, encoding="utf-8") as file:
            over = yaml.safe_load(file) or {}
    for one in arguments.set:
        path, _, text = one.partition("=")
        value = {"true": True, "false": False}.get(text, text)
        for key in reversed(path.split(".")):
            value = {key: value}
        over = merged(over, value)
    try:
        sys.stdout.write(render(arguments.chart, over))
    except ChartError as error:
        print(f"render_chart: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
