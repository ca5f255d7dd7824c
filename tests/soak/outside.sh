#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples a program from outside repeatedly, while fastgate is killed: outside.sh BUILD_FOLDER SECONDS [TIMES]
# The program has threads that compute, wait, and send each other signals; fastgate attaches and detaches at a high
# rate. Every other fastgate is killed with SIGKILL at a random instant. After each kill, no thread is stopped or
# traced. At the end, no signal was lost, and the program's own checks hold.
set -eu
fastgate=$(realpath "$1")/cli/fastgate
seconds=$2
times=${3:-1000}
[ -x "$fastgate" ] || { echo "outside.sh: there is no $fastgate" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
program=
trap '[ -z "$program" ] || kill -9 "$program" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM

fail() {
	echo "outside.sh: round $round: $*" >&2
	exit 1
}

# Prints a random number below $1.
draw() {
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# When the tracer has ended, the kernel lets every thread go: checks state and tracer.
check_free() {
	for status in /proc/"$program"/task/*/status; do
		[ -r "$status" ] || continue
		! grep -Eq '^State:[[:space:]]*[tT]|^TracerPid:[[:space:]]*[1-9]' "$status" || fail "a thread is stopped or traced: $(grep -E '^(Name|State|TracerPid)' "$status" | tr '\n' ' ')"
	done
}

cat >"$work/busy.c" <<'END'
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUNNING = 1 };
static volatile sig_atomic_t state = RUNNING;
static volatile sig_atomic_t got;
static pthread_t receiver;
static int pipes[2];

static void count(int signal) { (void)signal; got++; }
static void end(int signal) { (void)signal; state = 0; }

/* Each signal is sent when the one before has arrived: none may be missing. */
static void *send(void *unused)
{
	long sent = 0;

	while (state) {
		(void)pthread_kill(receiver, SIGUSR1);
		sent++;
		for (long spins = 0; got < sent; spins++)
			if (spins > 20000000000) {
				puts("a signal was lost");
				_exit(9);
			}
	}
	return unused;
}

static void *receive(void *unused)
{
	while (state)
		for (volatile int i = 0; i < 1000; i++)
			;
	return unused;
}

/* A pipe through which every byte has to come. */
static void *talk(void *unused)
{
	unsigned char next = 0;

	while (state) {
		unsigned char back = 0;

		if (write(pipes[1], &next, 1) != 1 || read(pipes[0], &back, 1) != 1 || back != next++) {
			puts("a byte was lost");
			_exit(9);
		}
		if (poll(NULL, 0, 1) != 0 && errno != EINTR)
			_exit(8);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	signal(SIGUSR1, count);
	signal(SIGTERM, end);
	if (pipe(pipes) != 0 || pthread_create(&receiver, NULL, receive, NULL) != 0)
		return 7;
	pthread_create(&threads[0], NULL, send, NULL);
	pthread_create(&threads[1], NULL, talk, NULL);
	pthread_create(&threads[2], NULL, receive, NULL);
	pthread_join(receiver, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
cc -O1 -o "$work/busy" "$work/busy.c" -pthread
"$work/busy" &
program=$!
round=0
killed=0
end=$(($(date +%s) + seconds))
while [ $round -lt "$times" ] && [ "$(date +%s)" -lt $end ]; do
	round=$((round + 1))
	if [ $((round % 2)) -eq 0 ]; then
		"$fastgate" --quiet record --pid "$program" --rate 2000 --budget 50% -o "$work/traces" 2>/dev/null &
		sampler=$!
		sleep "0.0$(draw 99)"
		kill -9 $sampler 2>/dev/null && killed=$((killed + 1))
		wait $sampler 2>/dev/null || true
	else
		"$fastgate" --quiet record --pid "$program" --rate 2000 --budget 50% --duration 50ms -o "$work/traces" || fail "record: $?"
	fi
	kill -0 "$program" 2>/dev/null || fail "the program has ended"
	check_free
done
kill -TERM "$program"
wait "$program" || fail "the program says that it was disturbed: $?"
program=
echo "outside: $round recordings of a program with 5 threads, $killed ended by kill -9: no thread left stopped, no signal lost"
