#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hooks: a commit that slows the quickstart down is stopped, another is not; what is not ours is never touched.
. "$(dirname "$0")/common.sh"
PATH=$(dirname "$FASTGATE"):$PATH
make_project
expect_code 0 "installing" fastgate hook install
hook=.git/hooks/pre-commit
[ -x $hook ] || fail "the hook cannot be executed"
sh -n $hook || fail "the hook is no shell script"
expect_code 0 "installing again" fastgate hook install
# The whole quickstart, measured: a commit may take a minute.
echo "more" >>README
git add README
expect_code 0 "commit that changes no program" timeout 60 git commit -q -m "Say more"
expect_text 'same binaries on both sides' "$work/err" "what the hook says"
slow
expect_code 1 "commit that slows it down" timeout 60 git commit -q -a -m "Drop a needless check"
cat "$work/out" "$work/err" >"$work/both"
expect_text 'wordcount .*REGRESSION' "$work/both" "what the hook says"
[ "$(git log -1 --format=%s)" = "Say more" ] || fail "the commit was made"
expect_code 0 "leaving the hook out" git commit -q -a -n -m "Drop a needless check"

# Against the upstream: the commit that was just made is slower than what was pushed.
git init -q --bare "$work/upstream.git"
git remote add origin "$work/upstream.git"
git push -q -u origin HEAD~1:refs/heads/main
expect_code 0 "installing the other" fastgate hook install --type pre-push
expect_code 1 "push of a slowdown" timeout 60 git push -q origin main
[ "$(git -C "$work/upstream.git" log -1 --format=%s)" = "Say more" ] || fail "it was pushed"

# Not ours: a changed hook, somebody else's, a folder of hooks that others share.
cp $hook "$work/ours"
echo "make check" >>$hook
expect_code 2 "installing over a changed hook" fastgate hook install
expect_text 'add to it: (.*; fastgate run --quick --no-post --against HEAD) || exit 1' "$work/err" "advice"
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
expect_text "^cd ./.*part.* && fastgate run" ../$hook "the folder's hook"
sh -n ../$hook || fail "the folder's hook is no shell script"
