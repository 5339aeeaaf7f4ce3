#!/usr/bin/env python3
"""What a built program consists of, as SPDX 2.3 JSON: the Debian packages of the libraries that it loads and that were linked
into it, of the headers it was compiled with, and the npm packages in its pages.
    tools/sbom.py --build build/fast --program tidewatt --version 0.1.0 [--web web/package-lock.json] > sbom.spdx.json
Time by SOURCE_DATE_EPOCH; the same build gives the same bytes."""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loaded(program):
    """Real files of the shared libraries that the loader takes, those of libraries included."""
    told = output("ldd", program)
    if "not found" in told:
        sys.exit(f"tools/sbom.py: {program} doesn't find its libraries:\n{told}")
    return sorted(set(re.findall(r"(/\S+) \(0x", told)))


def linked(build, program):
    """Archives of the system in the link command."""
    command = output("ninja", "-C", build, "-t", "commands", "-s", f"bin/{program}")
    return sorted(set(re.findall(r"(/usr/\S+\.a)\b", command)))


def included(build, program):
    """The system's headers of all objects that the program depends on."""
    inputs = output("ninja", "-C", build, "-t", "inputs", f"bin/{program}").split("\n")
    objects = {line for line in inputs if line.endswith(".o")}
    headers, of = set(), ""
    for line in output("ninja", "-C", build, "-t", "deps").split("\n"):
        if line.startswith("    /usr/"):
            if of in objects:
                headers.add(line.strip())
        elif line and not line.startswith(" "):
            of = line.split(":", 1)[0]
    return sorted(headers)


def owners(paths):
    """Debian's packages of files; dpkg may know a path by its place before /usr was merged."""
    names = set()
    ask = sorted({p for path in paths for p in (path, os.path.realpath(path))} | {os.path.realpath(p)[4:] for p in paths if os.path.realpath(p).startswith("/usr/lib")})
    for start in range(0, len(ask), 500):
        told = subprocess.run(["dpkg-query", "-S", *ask[start:start + 500]], capture_output=True, text=True, check=False).stdout
        for line in told.split("\n"):
            if ": /" in line and not line.startswith("diversion by "):
                names.update(name.strip() for name in line.split(": /", 1)[0].split(","))
    return names


def debian_package(name):
    shown = output("dpkg-query", "-W", "-f=${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Homepage}", name)
    package, version, arch, source, source_version, homepage = shown.split("\t")
    return {"SPDXID": "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", package), "name": package, "versionInfo": version,
            "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", **({"homepage": homepage} if homepage else {}),
            "sourceInfo": f"Debian source package {source} {source_version}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                              f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={arch}&distro=debian-12"}]}


def npm_packages(lock_file):
    with open(lock_file, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    out = []
    for path, about in sorted(packages.items()):
        if not path or about.get("dev") or about.get("devOptional") or about.get("optional"):
            continue
        name = path.rsplit("node_modules/", 1)[1]
        license_name = about.get("license", "NOASSERTION")
        out.append({"SPDXID": "SPDXRef-npm-" + re.sub(r"[^A-Za-z0-9.-]", "-", name).strip("-"), "name": name, "versionInfo": about["version"],
                    "downloadLocation": about.get("resolved", "NOASSERTION"), "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                    "licenseDeclared": license_name, "copyrightText": "NOASSERTION", "externalRefs": [
                        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                         "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{about['version']}"}]})
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("--build", "--program", "--version"):
        arguments.add_argument(name, required=True)
    arguments.add_argument("--web")
    asked = arguments.parse_args()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    program = os.path.join(asked.build, "bin", asked.program)
    root = {"SPDXID": "SPDXRef-program", "name": asked.program, "versionInfo": asked.version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}
    packages, relations, seen = [root], [], set()
    for kind, paths in (("STATIC_LINK", linked(asked.build, asked.program)), ("DYNAMIC_LINK", loaded(program)),
                        ("BUILD_DEPENDENCY_OF", included(asked.build, asked.program))):
        for name in sorted(owners(paths)):
            package = debian_package(name)
            if package["SPDXID"] not in seen:
                packages.append(package)
            seen.add(package["SPDXID"])
            ends = ("SPDXRef-program", package["SPDXID"])
            if kind == "BUILD_DEPENDENCY_OF":
                ends = ends[::-1]
            relations.append({"spdxElementId": ends[0], "relationshipType": kind, "relatedSpdxElement": ends[1]})
    for package in npm_packages(asked.web) if asked.web else []:
        packages.append(package)
        relations.append({"spdxElementId": "SPDXRef-program", "relationshipType": "CONTAINS", "relatedSpdxElement": package["SPDXID"]})
    relations.insert(0, {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-program"})
    digest = hashlib.sha256(json.dumps([packages, relations], sort_keys=True).encode()).hexdigest()
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{asked.program}-{asked.version}",
               "documentNamespace": f"https://tidewatt.dev/spdx/{asked.program}-{asked.version}-{digest[:32]}",
               "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                                "creators": ["Tool: tidewatt-tools-sbom"]},
               "packages": packages, "relationships": relations}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
