#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hooks: a commit that slows the quickstart down is stopped, another is not; what is not ours is never touched.
. "$(dirname "$0")/common.sh"
PATH=$(dirname "$FASTGATE"):$PATH
make_project
# --quick gives each benchmark 15 seconds: this short, thirty executions fit into them on any machine.
sed -i 's/wordcount 40/wordcount 1/' fastgate.yml
echo 'measure: { schedule: abba, pairs: { min: 6, max: 12 } }' >>fastgate.yml
git commit -q -a --amend -m "Count words"
expect_code 0 "installing" fastgate hook install
hook=.git/hooks/pre-commit
[ -x $hook ] || fail "the hook cannot be executed"
sh -n $hook || fail "the hook is no shell script"
expect_code 0 "installing again" fastgate hook install
# The whole quickstart, measured: a commit may take a minute.
echo "more" >>README
git add README
expect_code 0 "commit that changes no program" timeout 300 git commit -q -m "Say more"
expect_text 'same binaries on both sides' "$work/err" "what the hook says"
# What is staged counts, not what lies in the work tree: the other way round, nothing is stopped ...
slow
echo "even more" >>README
git add README
expect_code 0 "commit beside a slowdown that is not staged" timeout 300 git commit -q -m "Say more"
# ... and a staged slowdown is, although the work tree has none.  Neither the index nor a file is touched.
git add table.c
git show HEAD:table.c >table.c
git status --porcelain >"$work/status" # brings the index up to date
fingerprint() { sha256sum .git/index; git status --porcelain; git ls-files -z | xargs -0 sha256sum; }
fingerprint >"$work/before"
expect_code 1 "a staged slowdown" timeout 300 fastgate run --quick --staged
fingerprint >"$work/after"
cmp "$work/before" "$work/after" || fail "the user's files or index were changed"
git add table.c
slow
expect_code 1 "commit that slows it down" timeout 300 git commit -q -a -m "Drop a needless check"
cat "$work/out" "$work/err" >"$work/both"
expect_text 'wordcount .*REGRESSION' "$work/both" "what the hook says"
[ "$(git log -1 --format=%s)" = "Say more" ] || fail "the commit was made"
expect_code 0 "leaving the hook out" git commit -q -a -n -m "Drop a needless check"

# Against the upstream: the commit that was just made is slower than what was pushed.
git init -q --bare "$work/upstream.git"
git remote add origin "$work/upstream.git"
git push -q -u origin HEAD~1:refs/heads/main
expect_code 0 "installing the other" fastgate hook install --type pre-push
expect_code 1 "push of a slowdown" timeout 300 git push -q origin main
[ "$(git -C "$work/upstream.git" log -1 --format=%s)" = "Say more" ] || fail "it was pushed"
expect_code 0 "pushing a tag, and a commit that is not slower" git push -q origin HEAD:refs/tags/v1 HEAD~1:refs/heads/other
expect_code 0 "removing a branch" git push -q origin :refs/heads/other

# Not ours: a changed hook, somebody else's, a folder of hooks that others share.
cp $hook "$work/ours"
echo "make check" >>$hook
expect_code 2 "installing over a changed hook" fastgate hook install
expect_text 'add to it: fastgate run --quick --no-post --staged || exit 1' "$work/err" "advice"
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

# fastgate.yml in a folder of its own: the hook finds the way, whatever it is called.
mkdir -p "it's a part"
cp fastgate.yml "it's a part"
cd "it's a part" || exit 1
expect_code 0 "installing for a folder" fastgate hook install
expect_text "^fastgate run --quick --no-post --config .*part/fastgate.yml. --staged" ../$hook "the folder's hook"
sh -n ../$hook || fail "the folder's hook is no shell script"
cd .. || exit 1
rm $hook

# Ctrl-C while it builds: nothing is left behind, and the next run starts over.
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
expect_code 0 "after the interruption" timeout 300 fastgate run --quick --staged
