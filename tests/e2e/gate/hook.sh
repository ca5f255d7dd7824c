#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hooks stop a commit that makes the program more expensive, and no other; foreign hooks are never touched. The
# program prints its cost, which is exact, so one pair decides; one pair is always measured, even if the fifteen
# seconds of --quick are over.
. "$(dirname "$0")/common.sh"
PATH=$(dirname "$FASTGATE"):$PATH
mkdir -p "$work/project" && cd "$work/project" || exit 1
target printed_cost.c >cost.c
printf 'cost: cost.c\n\t$(CC) -O1 -o cost cost.c\n' >Makefile
cat >fastgate.yml <<END
version: 1
project: costs
build:
  command: make
benchmarks:
  - name: shop
    command: ./cost
    metrics: [ { name: cost, regex: "cost: ([0-9]+)", unit: "1", exact: true } ]
measure: { schedule: abba, warmup: 0, pairs: { min: 2, max: 2 }, layouts: never, sampler: { enabled: false } }
$ungated
END
printf 'cost\n.fastgate/\n' >.gitignore
git init -q . && git add . && git commit -q -m "Print a cost"
raise_cost() { sed -i 's/cost: 100/cost: 120/' cost.c; }
expect_code 0 "installing" fastgate hook install
hook=.git/hooks/pre-commit
[ -x $hook ] || fail "the hook cannot be executed"
sh -n $hook || fail "the hook is not a shell script"
expect_code 0 "installing again" fastgate hook install
echo "more" >>README
git add README
expect_code 0 "commit that changes no program" git commit -q -m "Say more"
expect_text 'same binaries on both sides' "$work/err" "what the hook says"
# Only staged changes count, not the work tree: an unstaged slowdown is not stopped.
raise_cost
echo "even more" >>README
git add README
expect_code 0 "commit next to a more expensive program that is not staged" git commit -q -m "Say more"
# A staged slowdown is stopped, although the work tree does not contain it. Neither the index nor a file changes.
git add cost.c
git show HEAD:cost.c >cost.c
git status --porcelain >"$work/status" # refreshes the index
fingerprint() { sha256sum .git/index; git status --porcelain; git ls-files -z | xargs -0 sha256sum; }
fingerprint >"$work/before"
expect_code 1 "a more expensive program, staged" fastgate run --quick --staged
fingerprint >"$work/after"
cmp "$work/before" "$work/after" || fail "the user's files or index were changed"
git add cost.c
raise_cost
expect_code 1 "commit that makes it more expensive" git commit -q -a -m "Raise the cost"
cat "$work/out" "$work/err" >"$work/both"
expect_text 'shop .*REGRESSION' "$work/both" "what the hook says"
[ "$(git log -1 --format=%s)" = "Say more" ] || fail "the commit was made"
expect_code 0 "leaving the hook out" git commit -q -a -n -m "Raise the cost"

# Against the upstream: the new commit costs more than the pushed one.
git init -q --bare "$work/upstream.git"
git remote add origin "$work/upstream.git"
git push -q -u origin HEAD~1:refs/heads/main
expect_code 0 "installing the other" fastgate hook install --type pre-push
expect_code 1 "push of a more expensive program" git push -q origin main
[ "$(git -C "$work/upstream.git" log -1 --format=%s)" = "Say more" ] || fail "it was pushed"
expect_code 0 "pushing a tag, and a commit that is not more expensive" git push -q origin HEAD:refs/tags/v1 HEAD~1:refs/heads/other
expect_code 0 "removing a branch" git push -q origin :refs/heads/other

# A changed hook, another tool's hook and a folder of shared hooks stay as they are.
cp $hook "$work/ours"
echo "make check" >>$hook
expect_code 2 "installing over a changed hook" fastgate hook install
expect_text 'add this line to it: fastgate run --quick --no-post --staged || exit 1' "$work/err" "advice"
expect_text '^make check' $hook "the changed hook"
expect_code 2 "removing a changed hook" fastgate hook uninstall
[ -f $hook ] || fail "the changed hook was removed"
cp "$work/ours" $hook
expect_code 0 "removing" fastgate hook uninstall
[ ! -e $hook ] || fail "the hook is still there"
expect_code 0 "removing again" fastgate hook uninstall
git config core.hooksPath "$work/shared"
expect_code 2 "hooks that others share" fastgate hook install
[ ! -e "$work/shared" ] || fail "a shared folder was written to"
git config --unset core.hooksPath

# fastgate.yml in a subfolder: the hook finds it, whatever the folder's name.
mkdir -p "it's a part"
cp fastgate.yml "it's a part"
cd "it's a part" || exit 1
expect_code 0 "installing for a folder" fastgate hook install
expect_text "^fastgate run --quick --no-post --config .*part/fastgate.yml. --staged" ../$hook "the folder's hook"
sh -n ../$hook || fail "the folder's hook is not a shell script"
cd .. || exit 1
rm $hook

# Ctrl-C during a build: nothing is left behind, and the next run starts over.
mkfifo "$work/gate"
git reset -q --hard
sed -i "s|command: make.*|command: sh -c 'read -r go <$work/gate; make'|" fastgate.yml
echo "again" >>README
git add README
git status --porcelain >"$work/status"
fingerprint >"$work/before"
fastgate run --quick --staged >"$work/out" 2>"$work/err" &
runner=$!
exec 3>"$work/gate" # waits until the build reads
kill -INT $runner
code=0
wait $runner || code=$?
exec 3>&-
[ $code -eq 130 ] || fail "interrupted: exit code $code"
fingerprint >"$work/after"
cmp "$work/before" "$work/after" || fail "an interruption changed the user's files or index"
git checkout -q fastgate.yml
expect_code 0 "after the interruption" fastgate run --quick --staged
