#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules about words and about ladders catch what they should: plants a breach of each.
set -eu
python=$1
root=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$copy" init -q
mkdir -p "$copy/base" "$copy/docs"

expect() { # rule, expected text (empty: no finding); the content of base/x.c comes from stdin
	{
		echo '// SPDX-License-Identifier: Apache-2.0'
		cat
	} >"$copy/base/x.c"
	said=$("$python" "$root/scripts/check-$1.py" "$copy") && code=0 || code=1
	if [ -z "$2" ]; then
		[ "$code" -eq 0 ] || { echo "expected no finding, got: $said" && exit 1; }
		return 0
	fi
	case $said in
	*"$2"*) [ "$code" -eq 1 ] || { echo "'$2' was said, and the rule passed" && exit 1; } ;;
	*) echo "expected '$2', got: $said" && exit 1 ;;
	esac
}
long=$(printf '%0110d' 0)

expect words '' <<'C'
/* The text is copied. */
int fg_copy(void);
C
expect words 'a comment begins with its subject' <<'C'
/* Of these the first counts. */
C
expect words 'a comment begins with its subject' <<'C'
/*
 * So many bytes are there.
 */
C
expect words 'plain English: actually, really' <<'C'
/* The signal is blocked in earnest. */
C
expect words 'plain English: already pending' <<'C'
int fg_said(void) { return fg_say("a sample is just pending"); }
C
expect words 'not a clause: What stubs call' <<'C'
/* What stubs call. */
C
expect words 'not a clause: Those that wait' <<'C'
/*
 * Those that wait.
 */
C
expect words "plain English for 'is no'" <<'C'
int x; /* this is no archive */
C
expect words "plain English for 'told'" <<'C'
/* The reader is told nothing. */
C
expect words 'the name of a test' <<'C'
FG_TEST(a_run_is_no_archive)
C
expect words "plain English for 'whoever'" <<'C'
// The server answers whoever asks.
C
expect words "plain English for 'goes on'" <<'C'
/* The search goes on after a failed build. */
C
expect words "plain English for 'pairs a step'" <<'C'
/* The test takes 24 pairs a step. */
C
expect words '' <<'C'
/* What does it cost? There is no limit, and it is no longer read. */
const char *said = "this is no comment";
C
expect words 'comments keep to 100 columns' <<C
/* $long */
C
expect words 'functions begin with fg_' <<'C'
int fg__copy(void);
C
expect words 'is kept in `status`' <<'C'
int fg_both(void) { int rc = first(); return rc; }
C
expect words 'banned function' <<'C'
void copy(char *to, const char *from) { strcpy(to, from); }
C
expect words 'unfinished work' <<C
/* $(printf 'TO%s' DO): the rest. */
C
expect words 'a file has at most' <<C
$(yes 'int x;' | head -1001)
C
printf 'int x;\n' >"$copy/docs/y.c"
expect words 'no licence' <<'C'
int x;
C
rm "$copy/docs/y.c"

expect ladders '' <<'C'
static int both(void)
{
	int status = first();

	if (status != FG_OK)
		return status;
	return second();
}

static int and_release(void)
{
	int status = first();

	if (status == FG_OK)
		status = second();
	release();
	return status;
}

static int and_keep(void)
{
	int status = first();

	if (status == FG_OK)
		status = second();
	if (status == FG_OK)
		keep();
	else
		release();
	return status;
}
C
expect ladders 'base/x.c:6: failures leave early' <<'C'
static int both(void)
{
	int status = first();

	if (status == FG_OK)
		status = second();
	return status;
}
C
expect ladders 'base/x.c:6: failures leave early' <<'C'
static int all(void)
{
	int status = first();

	if (status == FG_OK) {
		status = second();
	}
	/* The third follows. */
	if (status == FG_OK && more)
		status = third();
	release();
	return status;
}
C
expect ladders 'base/x.c:6: failures leave early' <<'C'
static int left_late(void)
{
	int status = first();

	if (status == FG_OK)
		status = second();
	if (status != FG_OK)
		return status;
	return third();
}
C
