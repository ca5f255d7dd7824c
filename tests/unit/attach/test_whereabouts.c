// SPDX-License-Identifier: Apache-2.0
/*
 * Children of this program reach known places. How long that takes is unknown, so each is polled
 * until it is there.
 */
#include "profile/attach/whereabouts.h"
#include "tests/support/fg_test.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fg_symbolizer *symbolizer;
static atomic_ulong *rounds; /* shared with the children */

__attribute__((noinline)) static void wait_for_a_byte(int fd)
{
	char byte = 0;

	if (read(fd, &byte, 1) != 1)
		_exit(2);
	__asm__ volatile("");
}

static void read_own_pipe(void)
{
	int ends[2];

	if (pipe(ends) == 0)
		wait_for_a_byte(ends[0]);
}

static void wait_for_a_child(void)
{
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "the-child");
		(void)pause();
	}
	(void)wait(NULL);
}

__attribute__((noinline)) static void count_up(void)
{
	for (;;)
		atomic_fetch_add(rounds, 1);
}

static pid_t start(void (*body)(void))
{
	const pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpgid(0, 0);
		body();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static void release(struct fg_whereabouts *where)
{
	free(where->summary);
	free(where->stacks);
	*where = (struct fg_whereabouts){0};
}

/* Looks until `words` are in the stacks; what was found then. */
static struct fg_whereabouts look_until(pid_t pid, const char *words)
{
	const struct fg_whereabouts_request request = {.root = pid, .symbolizer = symbolizer};
	struct fg_whereabouts where = {0};

	for (;;) {
		struct fg_error err = {0};
		const int status = fg_whereabouts_find(&request, &where, &err);

		if (status == FG_EUNSUPPORTED) {
			end(pid);
			skip();
		}
		if (status != FG_OK)
			fail_msg("%s", err.message);
		if (strstr(where.stacks, words))
			return where;
		release(&where);
	}
}

static void expect_in(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("expected '%s' in:\n%s", words, text);
}

static void reader_of_a_pipe_is_shown_in_its_read(void **state)
{
	const pid_t pid = start(read_own_pipe);
	struct fg_whereabouts where = look_until(pid, ": read\n");

	(void)state;
	expect_in(where.stacks, "    wait_for_a_byte  test_whereabouts.c:");
	expect_in(where.stacks, "    read_own_pipe  test_whereabouts.c:");
	expect_in(where.summary, "1 thread in ");
	expect_in(where.summary, " → wait_for_a_byte → "); /* a sanitizer may stand in between */
	expect_in(where.summary, " → read");
	release(&where);
	end(pid);
}

static void parent_that_waits_and_its_child_are_both_shown(void **state)
{
	const pid_t pid = start(wait_for_a_child);
	struct fg_whereabouts where = {0};

	(void)state;
	/* Either may be seen before it starts to wait. */
	do {
		release(&where);
		where = look_until(pid, ": wait\n");
	} while (!strstr(where.stacks, " (the-child): pause\n"));
	expect_in(where.summary, "; 2 processes in all");
	release(&where);
	end(pid);
}

static void program_goes_on_after_it_was_looked_at(void **state)
{
	const pid_t pid = start(count_up);
	struct fg_whereabouts where = look_until(pid, "    count_up  ");
	unsigned long before = 0;

	(void)state;
	expect_in(where.stacks, ": runs\n");
	before = atomic_load(rounds);
	while (atomic_load(rounds) == before)
		;
	release(&where);
	end(pid);
}

static void process_that_is_gone_is_said_to_be(void **state)
{
	const pid_t pid = start(read_own_pipe);
	const struct fg_whereabouts_request request = {.root = pid, .symbolizer = symbolizer};
	struct fg_whereabouts where = {0};
	struct fg_error err = {0};

	(void)state;
	end(pid);
	assert_int_equal(fg_whereabouts_find(&request, &where, &err), FG_ENOENT);
	expect_in(err.message, "there is no process ");
	assert_null(where.stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_of_a_pipe_is_shown_in_its_read),
		cmocka_unit_test(parent_that_waits_and_its_child_are_both_shown),
		cmocka_unit_test(program_goes_on_after_it_was_looked_at),
		cmocka_unit_test(process_that_is_gone_is_said_to_be),
	};
	int failed = 0;

	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	symbolizer = fg_symbolizer_new(NULL);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	fg_symbolizer_free(symbolizer);
	return failed;
}
