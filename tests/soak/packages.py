# SPDX-License-Identifier: Apache-2.0
"""Source packages of the distribution, drawn at random among those whose build dependencies are installed."""
import pathlib
import random
import re
import subprocess

SOURCES = (".c", ".cc", ".cpp", ".cxx")
# Packages in other languages, by name.
OTHER_LANGUAGES = re.compile(r"^(rust|golang|haskell|node|ruby|r-cran|r-bioc|ocaml|erlang|lib.*-perl$|python|pypi|php|ghc)")


def output(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", check=False).stdout


class Archive:
    """The sources of this machine's package archives, with lists in a separate folder."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        places = sorted(set(output("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages").splitlines()))
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text("".join(f"deb-src {place}\n" for place in places), encoding="utf-8")
        self.options = ["-o", f"Dir::Etc::sourcelist={folder}/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists"]
        self.lists = folder / "lists"
        output("apt-get", *self.options, "-q", "update")

    def fetch(self, package, folder):
        """Unpacks the package's sources into the folder; returns the tree, or None."""
        subprocess.run(["apt-get", *self.options, "source", "-q", package], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        trees = [path for path in sorted(pathlib.Path(folder).iterdir()) if path.is_dir()]
        return trees[0] if trees else None

    def buildable(self):
        """Packages whose build dependencies are all installed."""
        there = installed()
        found = set()
        for index in sorted(self.lists.glob("*_Sources*")):
            for stanza in output("/usr/lib/apt/apt-helper", "cat-file", index).split("\n\n"):
                fields = dict(re.findall(r"^([A-Za-z-]+): ?(.*(?:\n .*)*)", stanza, re.M))
                needs = [need for need in fields.get("Build-Depends", "").replace("\n", " ").split(",") if need.strip()]
                if "any" in fields.get("Architecture", "") and not OTHER_LANGUAGES.match(fields["Package"]) and all(is_met(need, there) for need in needs):
                    found.add(fields["Package"])
        return sorted(found)

    def draw(self, count, seed):
        """Draws this many packages; the same seed and archive give the same ones."""
        names = self.buildable()
        random.Random(seed).shuffle(names)
        return names[:count]


def installed():
    names = set()
    for line in output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Provides}\n").splitlines():
        if line.startswith("installed "):
            names |= set(re.findall(r"[a-z0-9][a-z0-9+.-]+", line.split(" ", 1)[1]))
    return names


def is_met(need, there):
    """Is the build dependency met? Packaging helpers, tests and documentation are not needed."""
    for alternative in need.split("|"):
        name = re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", alternative)
        if not name or "<!nocheck>" in alternative or "<!nodoc>" in alternative:
            return True
        if name[1] in there or name[1].startswith(("debhelper", "dh-", "quilt")):
            return True
    return False


def is_c_or_cpp(tree):
    """Are most of its source files C or C++, and are there build files?"""
    files = [path for path in tree.rglob("*") if path.is_file()]
    ours = sum(path.suffix in SOURCES for path in files)
    others = sum(path.suffix in (".py", ".rs", ".go", ".java", ".hs", ".pl", ".rb", ".js", ".ml") for path in files)
    return ours >= 3 and ours > others
