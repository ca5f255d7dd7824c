# SPDX-License-Identifier: Apache-2.0
"""
Draws source packages of the distribution at random, among those that can be measured on this
machine. The rule for a package:

- It is built for any architecture, and all packages in its Build-Depends are already installed.
- It has a program for the command line, or a library with tests. A program: a binary package that
  the archive's tags call "role::program" and "interface::commandline"; without tags, one in a
  section of programs that work on files (SECTIONS). A library with tests: a -dev package, and a
  folder of the source named for tests or benchmarks that has C or C++ files.
- No tag or dependency of that program names a daemon, a device, a network, a display, a full-screen
  terminal or a game, and no file of the package starts it as a service or by an init script.
- Most of its source files are C or C++, and it needs no build tool that is not installed.

Packages that cannot be fetched are skipped. If only the packaging cannot be fetched, the released
source is enough.
"""
import pathlib
import random
import re
import subprocess

SOURCES = (".c", ".cc", ".cpp", ".cxx")
OTHER_SOURCES = (".py", ".rs", ".go", ".java", ".hs", ".pl", ".rb", ".js", ".ml", ".f", ".f90", ".adb")
# Names of packages that are written in another language or are a module of a program.
OTHER_LANGUAGES = re.compile(
    r"^(rust|golang|haskell|node|ruby|r-cran|r-bioc|ocaml|erlang|lib.*-perl$|python|pypi|php|ghc|lua-"
    r"|pd-|tk|tcl|octave-|raku-|gap-|vdr-)")
SECTIONS = {"devel", "electronics", "graphics", "math", "otherosfs", "science", "sound", "tex", "text",
            "utils", "video"}
OTHER_TAGS = re.compile(
    r"(interface::(daemon|x11|text-mode|framebuffer|svga|3d)|network|hardware|admin|protocol|game"
    r"|security|uitoolkit|x11|mail|web)::?|use::(gameplaying|monitor|scanning)")
OTHER_DEPENDS = re.compile(
    r"\b(init-system-helpers|lsb-base|adduser|udev|libx11-6|libncurses\w*|libtinfo\w*|libusb\S*"
    r"|libgtk\S*|libqt\S*|tcl\S*|tk\S*|perl|python3)\b")
TESTS = re.compile(r"^(unit-?)?(tests?|testsuite|check|bench\w*|perf\w*)$", re.IGNORECASE)
SERVICE_FILES = ("*.init", "*.service", "*.socket", "*.inetd", "*.udev", "*.xinetd")


def output(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace", check=False).stdout


def stanzas(text):
    for stanza in text.split("\n\n"):
        yield dict(re.findall(r"^([A-Za-z-]+): ?(.*(?:\n .*)*)", stanza, re.M))


class Archive:
    """
    Source packages of the archives that this machine uses. The package lists are kept in a separate
    folder.
    """

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        indexes = output("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                         "Created-By: Packages")
        places = sorted(set(indexes.splitlines()))
        # A security archive lists sources that only the main archive still has.
        places = [place for place in places if "-security" not in place]
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text("".join(f"deb-src {place}\n" for place in places),
                                             encoding="utf-8")
        self.options = ["-o", f"Dir::Etc::sourcelist={folder}/sources.list",
                        "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists"]
        self.lists = folder / "lists"
        self.kinds = {}
        output("apt-get", *self.options, "-q", "update")

    def fetch(self, package, folder):
        """Unpacks the package's source into the folder.  Returns the tree, or None."""
        subprocess.run(["apt-get", *self.options, "source", "-q", package],
                       cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        folder = pathlib.Path(folder)
        if not any(path.is_dir() for path in folder.iterdir()):
            for tarball in folder.glob("*.orig.tar.*[z2]"):
                output("tar", "--no-same-owner", "-C", folder, "-xf", tarball)
        trees = [path for path in sorted(folder.iterdir()) if path.is_dir()]
        return trees[0] if trees else None

    def buildable(self):
        """Packages that have a program or a library and whose build dependencies are installed."""
        there = installed()
        for fields in stanzas(output("apt-cache", "dumpavail")):
            if fields.get("Package") and what_it_is(fields):
                source = fields.get("Source", fields["Package"]).split(" ")[0]
                self.kinds.setdefault(source, set()).add(what_it_is(fields))
        found = set()
        for index in sorted(self.lists.glob("*_Sources*")):
            for fields in stanzas(output("/usr/lib/apt/apt-helper", "cat-file", index)):
                needs = [need for need in fields.get("Build-Depends", "").replace("\n", " ").split(",")
                         if need.strip()]
                if (fields.get("Package") in self.kinds and "any" in fields.get("Architecture", "")
                        and all(is_met(need, there) for need in needs)):
                    found.add(fields["Package"])
        return sorted(name for name in found if not OTHER_LANGUAGES.match(name))

    def why_not(self, package, tree):
        """
        Returns the reason why an unpacked package does not follow the rule, or None if it does. For a
        package given by name, only the language matters.
        """
        files = [path for path in tree.rglob("*") if path.is_file()]
        ours = [path for path in files if path.suffix in SOURCES]
        others = sum(path.suffix in OTHER_SOURCES for path in files)
        if len(ours) <= others:
            return "neither C nor C++"
        if package not in self.kinds:
            return None
        if any(list((tree / "debian").glob(pattern)) for pattern in SERVICE_FILES):
            return "a service"
        folders = {part for path in ours for part in path.relative_to(tree).parts[:-1]}
        if "program" not in self.kinds[package] and not any(map(TESTS.match, folders)):
            return "a library without tests"
        return None

    def draw(self, count, seed):
        """Draws this many packages; the same seed and archive give the same packages."""
        names = self.buildable()
        random.Random(seed).shuffle(names)
        return names[:count]


def what_it_is(binary):
    """
    "program" for a command-line program, "library" for the files to build with a library, None for any
    other package.
    """
    name, tags = binary["Package"], binary.get("Tag", "").replace("\n", "")
    section = binary.get("Section", "").split("/")[-1]
    if name.endswith("-dev") and section == "libdevel":
        return "library"
    if (OTHER_TAGS.search(tags) or OTHER_DEPENDS.search(binary.get("Depends", ""))
            or name.endswith(("-dev", "-doc", "-dbg", "-data", "-common"))):
        return None
    is_program = ("role::program" in tags and "interface::commandline" in tags if tags
                  else section in SECTIONS and binary.get("Architecture") != "all")
    return "program" if is_program else None


def installed():
    names = set()
    for line in output("dpkg-query", "-W",
                       "-f", "${db:Status-Status} ${Package} ${Provides}\n").splitlines():
        if line.startswith("installed "):
            names |= set(re.findall(r"[a-z0-9][a-z0-9+.-]+", line.split(" ", 1)[1]))
    return names


def is_met(need, there):
    """
    Is a build dependency installed or not needed? Packaging helpers are not used, tests and
    documentation are not built.
    """
    for alternative in need.split("|"):
        name = re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", alternative)
        if not name or "<!nocheck>" in alternative or "<!nodoc>" in alternative:
            return True
        if name[1] in there or name[1].startswith(("debhelper", "dh-", "quilt")):
            return True
    return False
