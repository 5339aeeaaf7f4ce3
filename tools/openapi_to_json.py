#!/usr/bin/env python3
"""openapi_to_json.py IN.yaml OUT.cc: the OpenAPI document as compact JSON inside a C++ file."""
import json
import sys

import yaml


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as stream:
        text = json.dumps(yaml.safe_load(stream), separators=(",", ":"), ensure_ascii=True)
    # Raw literals are limited in length by some compilers: pieces are joined by the compiler.
    pieces = [text[i : i + 8000] for i in range(0, len(text), 8000)]
    body = "\n".join(f'R"openapi({piece})openapi"' for piece in pieces)
    with open(target, "w", encoding="utf-8") as stream:
        stream.write(
            '// Made from docs/api/openapi.yaml by tools/openapi_to_json.py.\n#include "tidewatt/api/web_files.h"\n\n'
            "namespace tidewatt::api {\nnamespace {\nconstexpr char kDocument[] =\n"
            f"{body};\n}}  // namespace\n"
            "std::string_view openapi_document() { return {kDocument, sizeof(kDocument) - 1}; }\n"
            "}  // namespace tidewatt::api\n"
        )


if __name__ == "__main__":
    main()
