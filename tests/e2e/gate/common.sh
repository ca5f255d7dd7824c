# SPDX-License-Identifier: Apache-2.0
# Shared by the tests in this folder: a private folder, a private home, and functions that check expectations.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$work/home/.gitconfig"
mkdir -p "$HOME"
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main

fail() { echo "FAILED: $*" >&2; [ -f "$work/out" ] && cat "$work/out" >&2; [ -f "$work/err" ] && cat "$work/err" >&2; exit 1; }
expect_code() { # wanted, what, command...
	wanted=$1
	what=$2
	shift 2
	code=0
	"$@" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" -eq "$wanted" ] || fail "$what: exit code $code, expected $wanted"
}
expect_text() { # pattern, file, what
	grep -q -e "$1" "$2" || fail "$3: no '$1' in $2"
}

# For benchmarks that print their own cost: no verdict depends on how fast anything runs.
ungated='gate: { metrics: { cpu_time: { gated: false }, wall_time: { gated: false }, max_rss: { gated: false }, binary_size: { gated: false } } }'

# A source in tests/targets/scripted, for a script to compile.
target() { # name
	cat "$FASTGATE_ROOT/tests/targets/scripted/$1"
}

# A repository with the quickstart in $work/project.
make_project() {
	mkdir -p "$work/project"
	cp "$FASTGATE_ROOT"/examples/quickstart/Makefile "$FASTGATE_ROOT"/examples/quickstart/fastgate.yml \
		"$FASTGATE_ROOT"/examples/quickstart/*.c "$FASTGATE_ROOT"/examples/quickstart/*.h "$work/project"
	cd "$work/project" || exit 1
	printf '*.o\nwordcount\n.fastgate/\n/fastgate.json\n/fastgate.xml\n/fastgate.html\n' >.gitignore
	git init -q .
	git add .
	git commit -q -m "Count words"
}
# Shortens the program, for tests of the report and not of the gate's sensitivity.
shorten() { # rounds
	sed -i "s/wordcount 40/wordcount $1/" fastgate.yml
	git commit -q -a --amend -m "Count words"
}
# Plants the example's slowdown, amplified in the same function so that `wordcount 2` takes 40 ms instead of 5: at
# least eight times as long on any machine.
slow() {
	git apply "$FASTGATE_ROOT/examples/quickstart/slower.patch" || fail "the patch does not apply"
	sed -i 's|struct entry \*entry = table->chains\[hash % 512\];|&\n\n\tfor (volatile unsigned again = 0; again < 800; again++)\n\t\t;|' table.c
	grep -q 'volatile' table.c || fail "the slowdown was not planted"
}
