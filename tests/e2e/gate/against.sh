#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --against in difficult repositories: shallow, with submodules, with a broken baseline, renamed benchmarks,
# concurrent runs.
. "$(dirname "$0")/common.sh"
git config --global protocol.file.allow always
mkdir "$work/part" "$work/project"
cd "$work/part" || exit 1
git init -q .
echo 'exit 0' >part.sh
git add .
git commit -q -m "A part"
cd "$work/project" || exit 1
git init -q .
git submodule --quiet add "$work/part" part
configure() { # benchmarks
	cat >fastgate.yml <<END
version: 1
build: { command: sh build.sh }
measure: { pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false }, schedule: abba }
benchmarks: $1
END
}
echo ': one' >main.sh
# A build that needs the submodule and logs its executions. Like make, it leaves up-to-date files alone, because
# they may be running.
make_build() { # programs
	cat >build.sh <<END
git rev-parse HEAD >>$work/builds
for name in $*; do
	cat main.sh part/part.sh >\$name.new && chmod +x \$name.new || exit
	cmp -s \$name.new \$name && rm \$name.new || mv \$name.new \$name
done
END
}
make_build prog
printf 'prog*\n.fastgate/\n' >.gitignore
configure '[ { name: first, command: sh prog }, { name: old, command: ./prog }, { name: dropped, command: ./prog } ]'
git add .
git commit -q -m "First"
first=$(git rev-parse HEAD)
builds_of() { grep -c "$1" "$work/builds"; }

# Two concurrent runs build the baseline once; a later run reuses it.
echo ': two' >main.sh
expect_code 0 "two at once" sh -c '"$0" run --against HEAD --no-store >one 2>&1 & first=$!
"$0" run --against HEAD --no-store >two 2>&1; second=$?; wait $first && [ $second -eq 0 ] || { tail one two >&2; exit $second; }' "$FASTGATE"
[ "$(builds_of "$first")" -eq 1 ] || fail "two at once built the baseline $(builds_of "$first") times"
# One git can remove a work tree that another has just created, so checkouts run one at a time.
echo ': three' >main.sh
python3 - "$FASTGATE" <<'END' || fail "a run did not wait for another's checkout"
import fcntl, os, subprocess, sys
held = os.open(".git", os.O_RDONLY)
fcntl.flock(held, fcntl.LOCK_EX)
run = subprocess.Popen([sys.argv[1], "run", "--against", "HEAD", "--no-store"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
said = ""
for line in run.stderr:
    said += line
    if "waiting: another fastgate is checking out" in line:
        os.close(held)
        held = None
assert run.wait() == 0 and held is None, said
END
echo ': two' >main.sh
expect_code 0 "a third" "$FASTGATE" run --against HEAD
expect_text 'first: 2 pairs cannot decide at this alpha' "$work/err" "a limit that decides nothing is told"
expect_text "^comparing [0-9a-f]\{12\} with $(git rev-parse --short=12 HEAD)" "$work/err" "the two commits are named"
[ "$(builds_of "$first")" -eq 1 ] || fail "a later run built the baseline again"
# A reworded commit has the same tree.
git commit -q --amend -m "Reworded"
expect_code 0 "reworded" "$FASTGATE" run --against HEAD
[ "$(builds_of "$(git rev-parse HEAD)")" -eq 0 ] || fail "a reworded commit was built again"

# A renamed benchmark is compared with the old one; an added one is new, and a removed one is missing.
configure '[ { name: first, command: sh prog }, { name: fresh, was: old, command: ./program }, { name: added, command: ./program2 } ]'
make_build prog program program2
expect_code 0 "renamed" "$FASTGATE" run --against HEAD --json
python3 - "$work/out" <<'END' || fail "benchmarks of one side"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["run"]["baseline"]["build"]["git.subject"] == "Reworded", report["run"]
assert not any(d["key"].startswith("git.") for d in report["environment_difference"]), report["environment_difference"]
found = {b["name"]: b for b in report["benchmarks"]}
verdicts = {name: b["verdict"] for name, b in found.items()}
assert set(verdicts) == {"first", "fresh", "added", "dropped"}, verdicts
assert verdicts["dropped"] == "missing" and verdicts["added"] == "new", verdicts
assert verdicts["fresh"] not in ("new", "error") and found["fresh"]["pairs"] == 2, found["fresh"]
END
# With a stored baseline, the old name's runs count for the new name.
git checkout -q .
expect_code 0 "recording" "$FASTGATE" run
sed -i 's/name: old,/name: fresh, was: old,/' fastgate.yml
expect_code 0 "against a stored run" "$FASTGATE" run --set baseline.run=latest --json
python3 - "$work/out" <<'END' || fail "renamed, against a stored run"
import json, sys
verdicts = {b["name"]: b["verdict"] for b in json.load(open(sys.argv[1]))["benchmarks"]}
assert verdicts["fresh"] not in ("new", "error") and "old" not in verdicts, verdicts
END

# A baseline that does not build proves nothing about the change.
git checkout -q .
echo 'broken' >part.sh
git rm -q --cached part
git commit -q -a -m "Broken"
git add part 2>/dev/null
git commit -q -m "Mended"
expect_code 4 "a baseline that does not build" "$FASTGATE" run --against HEAD~1
expect_text 'does not build' "$work/err" "what is wrong"
expect_text 'part/part.sh' "$work/err" "the build's own words"

# Shallow clone: the message says how to deepen it.
git clone -q --depth 1 "file://$work/project" "$work/shallow" 2>/dev/null
cd "$work/shallow" || exit 1
expect_code 2 "a shallow clone" "$FASTGATE" run --against HEAD~1
expect_text 'git fetch --unshallow' "$work/err" "how to deepen"
