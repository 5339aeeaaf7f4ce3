#!/usr/bin/env python3
"""Habits of this repository that no compiler checks. `lint.py` checks the tree, `lint.py --self-test` checks the rules.

Each finding is one line "file:line: what, and what to do instead"; exit 1 when there is any.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PURE = ("units", "base", "metering", "ledger", "carbon", "tasks", "planning", "inference", "devol", "continuum", "k8s", "market")

HEAVY = re.compile(r"#\s*include\s*<(boost/|spdlog/|nlohmann/|CLI/|simdjson|yaml-cpp/|sqlite3|libpq|openssl/|pugixml)")
OUTSIDE = re.compile(
    r"#\s*include\s*<(fstream|iostream|filesystem|thread|mutex|shared_mutex|condition_variable|future|unistd\.h|fcntl\.h|sys/|netinet/)"
    r"|(system_clock|steady_clock)::now\s*\(|\bgetenv\s*\(")
# g++ 12.2 destroys closures and aggregates made inside a co_await expression twice.
AWAITED_TEMPORARY = re.compile(r"co_await\b[^;]*?(\[[\w&=,\s*]*\]\s*(\(|\{|mutable)|\w+\{\s*\.\w+\s*=)")
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX)\b")
RAW_PRINTF = re.compile(r"\b(std::)?(stod|stof|atof|strtod|sprintf)\s*\(")


def cxx_findings(path, text):
    """Findings of one C++ file; `path` is relative to the repository."""
    found = []
    parts = path.split("/")
    library = parts[1] if parts[0] == "libs" and len(parts) > 2 else None
    public = library is not None and parts[2] == "include"
    pure = library in PURE and parts[2] in ("include", "src") and path != "libs/base/src/log.cc"
    test = "tests" in parts
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//", 1)[0]
        where = f"{path}:{number}"
        if public and HEAVY.search(code):
            found.append(f"{where}: a public header includes a slow or third-party header; include it in the .cc of its adapter")
        if pure and OUTSIDE.search(code):
            found.append(f"{where}: a pure library touches files, threads, the clock or the environment; inject it through libs/base")
        if LEFTOVER.search(line):
            found.append(f"{where}: unfinished business in a comment; finish it or write it down in docs/")
        if not test and RAW_PRINTF.search(code):
            found.append(f"{where}: obeys the locale or accepts trailing junk; use units/text.h or fmt")
    flat = re.sub(r"//[^\n]*", "", text)
    for match in AWAITED_TEMPORARY.finditer(flat):
        number = flat.count("\n", 0, match.start()) + 1
        found.append(f"{path}:{number}: a temporary inside co_await, which g++ 12.2 miscompiles; name it first, then await")
    return found


def link_findings(path, text, exists):
    """Relative links of one Markdown file that lead nowhere."""
    found = []
    text = re.sub(r"```.*?```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    for match in re.finditer(r"\]\(([^)\s]+)\)", text):
        target = match.group(1).split("#", 1)[0]
        if not target or re.match(r"[a-z]+:", target):
            continue
        full = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if not exists(full):
            number = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{number}: link to {target}, which is not there")
    return found


TEST_MACRO = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)", re.M)


def test_findings(path, text, tests):
    """Tests that a document names and that don't exist: `Suite.Test` and `test_x.py`."""
    found = []
    for match in re.finditer(r"`([A-Z]\w+\.[A-Z]\w+|test_\w+\.py)`", text):
        if match.group(1) not in tests:
            number = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{number}: there is no test {match.group(1)}; name the one that shows this")
    return found


def adr_findings(names):
    found, seen = [], {}
    for name in sorted(names):
        match = re.match(r"(\d{4})-[a-z0-9-]+\.md$", name)
        if not match:
            found.append(f"docs/adr/{name}: decision records are named NNNN-words.md")
        elif match.group(1) in seen:
            found.append(f"docs/adr/{name}: number {match.group(1)} is taken by {seen[match.group(1)]}")
        else:
            seen[match.group(1)] = name
    return found


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted({line for line in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, line))})
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "node_modules", ".git")]
        found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names]
    return sorted(found)


def check_tree():
    found, files = [], tracked_files()
    tests = {os.path.basename(path) for path in files}
    for path in files:
        if path.endswith("_test.cc"):
            with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as handle:
                tests.update(".".join(name) for name in TEST_MACRO.findall(handle.read()))
    for path in files:
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as handle:
            text = handle.read()
        if path.endswith((".cc", ".h")):
            found += cxx_findings(path, text)
        elif path.endswith(".md"):
            found += link_findings(path, text, lambda p: os.path.exists(os.path.join(ROOT, p)))
            found += test_findings(path, text, tests)
        elif text.startswith("#!") and "bash" in text.split("\n", 1)[0]:
            found += shell_findings(path)
    for library in sorted({p.split("/")[1] for p in files if p.startswith("libs/") and p.endswith("CMakeLists.txt")}):
        if f"libs/{library}/README.md" not in files:
            found.append(f"libs/{library}: no README.md that says what it knows and what it refuses to know")
    found += adr_findings([os.path.basename(p) for p in files if p.startswith("docs/adr/")])
    return found, len(files)


def shell_findings(path):
    full = os.path.join(ROOT, path)
    parsed = subprocess.run(["bash", "-n", full], capture_output=True, text=True)
    if parsed.returncode != 0:
        return [f"{path}: {parsed.stderr.strip()}"]
    try:
        checked = subprocess.run(["shellcheck", "-x", "-S", "warning", "-f", "gcc", full], capture_output=True, text=True, cwd=ROOT)
    except FileNotFoundError:
        return []
    return [line.replace(ROOT + "/", "") for line in checked.stdout.splitlines() if line.strip()]


def self_test():
    """Each rule must find its bad example and leave the good one alone."""
    heavy = "#include <boost/beast.hpp>\n"
    cases = [
        (cxx_findings("libs/net/include/tidewatt/net/a.h", heavy), 1),
        (cxx_findings("libs/net/src/a.cc", heavy), 0),
        (cxx_findings("libs/ledger/src/a.cc", "auto t = std::chrono::system_clock::now();\n"), 1),
        (cxx_findings("libs/os/src/a.cc", "auto t = std::chrono::system_clock::now();\n"), 0),
        (cxx_findings("libs/ledger/src/a.cc", "#include <fstream>\n"), 1),
        (cxx_findings("libs/net/src/a.cc", "co_await on_pool(pool, [store] { go(); });\n"), 1),
        (cxx_findings("libs/net/src/a.cc", "co_await on_pool(pool,\n  [&](int x) { go(); });\n"), 1),
        (cxx_findings("libs/net/src/a.cc", "co_await fetch(Req{.url = u});\n"), 1),
        (cxx_findings("libs/net/src/a.cc", "const auto n = co_await on_pool(pool, std::move(job));\n"), 0),
        (cxx_findings("libs/net/src/a.cc", "int a; // TODO later\n"), 1),
        (cxx_findings("libs/units/src/a.cc", "double d = std::stod(text);\n"), 1),
        (link_findings("docs/a.md", "see [b](b.md#part) and [web](https://example.org)", lambda p: p == "docs/b.md"), 0),
        (link_findings("docs/a.md", "see [b](c.md)", lambda p: False), 1),
        (link_findings("docs/a.md", "```\n[b](c.md)\n```\n", lambda p: False), 0),
        (test_findings("docs/a.md", "| `Book.AJoule` | `test_x.py` |", {"Book.AJoule", "test_x.py"}), 0),
        (test_findings("docs/a.md", "| `Book.AJoule` | `test_x.py` |", {"Book.AWatt"}), 2),
        (adr_findings(["0001-a.md", "0001-b.md"]), 1),
        (adr_findings(["0001-a.md", "0002-b.md"]), 0),
    ]
    bad = [i for i, (found, wanted) in enumerate(cases) if len(found) != wanted]
    for i in bad:
        print(f"lint.py: self-test case {i}: wanted {cases[i][1]} findings, got {cases[i][0]}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    findings, count = check_tree()
    print("\n".join(findings + [f"{count} files, {len(findings)} findings"]))
    sys.exit(1 if findings else 0)
