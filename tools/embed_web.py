#!/usr/bin/env python3
"""embed_web.py FOLDER OUT.cc: the built pages as a table in a C++ file, gzip-compressed, with ETags.

FOLDER may be missing: the table is then empty. The same input gives the same bytes.
"""
import gzip
import hashlib
import os
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
# Vite puts a hash of the content into these names.
HASHED = re.compile(r"^/assets/.*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")


def files_of(folder):
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(root, name)
            yield "/" + os.path.relpath(path, folder).replace(os.sep, "/"), path


def literal(data):
    lines = []
    for i in range(0, len(data), 32):
        lines.append(",".join(str(byte) for byte in data[i : i + 32]))
    return ",\n".join(lines)


def main():
    folder, target = sys.argv[1:3]
    arrays, rows = [], []
    for path, source in sorted(files_of(folder)):
        kind = TYPES.get(os.path.splitext(path)[1])
        if kind is None:
            continue
        with open(source, "rb") as stream:
            content = stream.read()
        packed = gzip.compress(content, 9, mtime=0)
        name = f"kFile{len(rows)}"
        arrays.append(f"constexpr unsigned char {name}[] = {{\n{literal(packed)}}};")
        tag = hashlib.sha256(content).hexdigest()[:20]
        immutable = "true" if HASHED.match(path) else "false"
        rows.append(f'    {{"{path}", "{kind}", view({name}, sizeof({name})), "\\"{tag}\\"", {immutable}}},')
    with open(target, "w", encoding="utf-8") as stream:
        stream.write('// The built pages, made by tools/embed_web.py.\n#include "tidewatt/api/web_files.h"\n\n')
        stream.write("namespace tidewatt::api {\n")
        if not rows:
            stream.write("std::span<const WebFile> web_files() { return {}; }\n")
        else:
            stream.write("namespace {\n" + "\n".join(arrays) + "\n")
            stream.write(
                "std::string_view view(const unsigned char* bytes, std::size_t size) {\n"
                "  return {reinterpret_cast<const char*>(bytes), size};\n}\n}  // namespace\n"
                "std::span<const WebFile> web_files() {\n  static const WebFile kFiles[] = {\n"
            )
            stream.write("\n".join(rows) + "\n  };\n  return kFiles;\n}\n")
        stream.write("}  // namespace tidewatt::api\n")


if __name__ == "__main__":
    main()
