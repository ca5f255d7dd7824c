#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
sbom.py BUILD_FOLDER LIBRARIES_FOLDER VERSION SECONDS [ARM64_ROOT]: lists the libraries linked into
the portable programs, as SPDX 2.3.

The linker's maps name each archive from which code was linked. The distribution's package database,
or the sources unpacked by scripts/portable/libraries.sh, give its source package and version.
SECONDS is the creation time written to the document.
"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys


def linked(build: pathlib.Path) -> set[str]:
    maps = [path for path in build.rglob("*.map")
            if path.stem in ("fastgate", "perfdb", "fastgate_launch")]
    if len(maps) != 3:
        sys.exit(f"sbom.py: {build}: expected the linker's maps of three programs, found {len(maps)}")
    names = set()
    for path in maps:
        included = path.read_text().split("\n\n", 2)[1]
        names |= {name for name in re.findall(r"^(\S+\.a)\(", included, re.M) if name.startswith("/")}
    return {str(pathlib.Path(name).resolve()) for name in names
            if not pathlib.Path(name).is_relative_to(build)}


def asked(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def source_of_package(path: str) -> tuple[str, str]:
    found = subprocess.run(["dpkg-query", "-S", path, path.removeprefix("/usr")],
                           capture_output=True, text=True).stdout
    if not found:
        sys.exit(f"sbom.py: no package has {path}")
    source, version = asked("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}",
                            found.split(": ")[0]).split()
    return source, version


def source_in_root(root: pathlib.Path, path: str) -> tuple[str, str]:
    """
    Like source_of_package(), but for a file of the arm64 root, whose libraries root.sh lists as
    PATH SOURCE VERSION.
    """
    name = str(pathlib.Path(path).relative_to(root)).replace("/usr/", "/")
    for line in (root / "libraries").read_text().splitlines():
        file, source, version = line.split()
        if file.replace("/usr/", "/") == name:
            return source, version
    sys.exit(f"sbom.py: {root / 'libraries'} does not have {name}")


def source_built(folder: pathlib.Path, library: str) -> tuple[str, str]:
    """The sources of a library: the .dsc next to them, according to the list that libraries.sh keeps."""
    for line in (folder / "made").read_text().splitlines():
        name, package = line.split()
        if name == library:
            dsc = next((folder / "sources" / package).glob("*.dsc")).read_text()
            return tuple(re.search(rf"^{field}: (\S+)", dsc, re.M)[1] for field in ("Source", "Version"))
    sys.exit(f"sbom.py: {folder / 'made'} does not have {library}")


def main() -> None:
    build, libraries = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])
    version, seconds = sys.argv[3:5]
    root = pathlib.Path(sys.argv[5]).resolve() if len(sys.argv) > 5 else None
    sources = set()
    for path in linked(build):
        if pathlib.Path(path).is_relative_to(libraries):
            sources.add(source_built(libraries, pathlib.Path(path).name))
        else:
            sources.add(source_in_root(root, path) if root else source_of_package(path))
    distribution = re.search(r"^ID=\"?(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
    plain = {"downloadLocation": "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}
    packages = [{"SPDXID": "SPDXRef-fastgate", "name": "fastgate", "versionInfo": version,
                 "licenseDeclared": "Apache-2.0", **plain}]
    for name, number in sorted(sources):
        address = f"pkg:deb/{distribution}/{name}@{number.replace('+', '%2B')}?arch=source"
        purl = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": address}
        packages.append({"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
                         "versionInfo": number, "licenseDeclared": "NOASSERTION", **plain,
                         "externalRefs": [purl]})
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-fastgate")]
    relations += [("SPDXRef-fastgate", "STATIC_LINK", package["SPDXID"]) for package in packages[1:]]
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    created = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"fastgate-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/fastgate-{version}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: fastgate-sbom"]},
        "packages": packages,
        "relationships": [dict(zip(("spdxElementId", "relationshipType", "relatedSpdxElement"), row))
                          for row in relations],
    }, sys.stdout, indent=1)
    print()


main()
