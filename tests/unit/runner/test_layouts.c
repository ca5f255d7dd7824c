// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that are linked again by the installed compiler. A test may script the clock, which then
 * advances only by links, so the machine does not decide which links are expensive.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "binary/code.h"
#include "runner/build/layouts.h"
#include "runner/build/link_record.h"
#include "runner/facts/binary.h"
#include "runner/facts/code_facts.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	int64_t a_link_takes_ns;
	int64_t the_first_takes_ns; /* 0: a_link_takes_ns */
	int64_t passed_ns;
	unsigned links;
	unsigned waits;           /* number of waits for links */
	unsigned interrupt_after; /* number of links; 0: never */
	volatile sig_atomic_t interrupted;
} world;

/* The linker requires these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int64_t __real_fg_clock_monotonic_ns(void);
int64_t __wrap_fg_clock_monotonic_ns(void);
int __real_fg_process_wait(struct fg_process *processes, size_t count,
			   struct fg_process_result *results, struct fg_error *err);
int __wrap_fg_process_wait(struct fg_process *processes, size_t count,
			   struct fg_process_result *results, struct fg_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

int64_t __wrap_fg_clock_monotonic_ns(void)
{
	return world.passed_ns ? world.passed_ns : __real_fg_clock_monotonic_ns();
}

/* A scripted clock stands still during the wait; parallel links take as long as a single link. */
int __wrap_fg_process_wait(struct fg_process *processes, size_t count,
			   struct fg_process_result *results, struct fg_error *err)
{
	const int status = __real_fg_process_wait(processes, count, results, err);

	world.passed_ns += world.links == 0 && world.the_first_takes_ns ? world.the_first_takes_ns
									: world.a_link_takes_ns;
	world.links += (unsigned)count;
	world.waits++;
	if (world.links == world.interrupt_after)
		world.interrupted = 1;
	return status;
}

static struct build {
	struct fg_scratch scratch;
	struct fg_benchmark benchmark;
	struct fg_target target;
	struct fg_build_facts facts;
	struct fg_target_layouts layouts;
	char *checkout;
} b;
static struct fg_error err;

static void sh(const char *variable, const char *script)
{
	char *argv[] = {"/usr/bin/env", (char *)(uintptr_t)variable, "/bin/sh",
			"-ec",          (char *)(uintptr_t)script,   NULL};
	const unsigned links = world.links;
	const unsigned waits = world.waits;

	free(fg_scratch_run(argv, b.checkout));
	/* Restore the counts: waiting for the script may have counted as a link. */
	world.links = links;
	world.waits = waits;
}

/* Sets the target to `program` in the checkout, and collects its facts. */
static void take(void)
{
	static char *words[] = {"./program", NULL};
	const struct fg_command command = {.text = "./program", .argv = words, .argc = 1};
	struct fg_binary elf = {0};

	fg_build_facts_release(&b.facts);
	b.facts = (struct fg_build_facts){0};
	if (b.target.root)
		fg_target_release(&b.target);
	b.benchmark = (struct fg_benchmark){.name = "bench", .command = command};
	fg_target_init(&b.target, FG_ARM_CANDIDATE, &b.benchmark, b.checkout);
	b.target.checkout = b.checkout;
	fg_target_resolve(&b.target);
	assert_non_null(b.target.program);
	assert_int_equal(fg_binary_read(b.target.program, &elf, NULL), FG_OK);
	fg_build_facts_set(&b.facts, "build.id", elf.build_id);
	fg_binary_release(&elf);
	fg_code_facts_add_program(&b.target, &b.facts);
	assert_non_null(b.facts.code);
	assert_non_null(b.facts.layout);
}

static int set_up(void **state)
{
	char *variable = NULL;
	char *parent = NULL;

	(void)state;
	memset(&world, 0, sizeof(world));
	b = (struct build){0};
	err = (struct fg_error){0};
	(void)unsetenv("COMPILER_PATH");
	fg_scratch_init(&b.scratch);
	assert_int_equal(
		fg_fs_make_folders(fg_scratch_path(&b.scratch, "builds/key/tree"), 0755, NULL),
		FG_OK);
	fg_scratch_write_text(&b.scratch, "builds/key/tree/main.c",
			      "int main(void) { return 0; }\n");
	b.checkout = realpath(fg_scratch_path(&b.scratch, "builds/key/tree"), NULL);
	parent = fg_fs_parent(b.checkout);
	assert_int_equal(fg_link_record_begin(parent, &variable, NULL), FG_OK);
	sh(variable, "cc -g -o program main.c");
	take();
	world.links = 0;
	world.waits = 0;
	free(variable);
	free(parent);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_target_layouts_cut(&b.layouts, 0);
	fg_target_release(&b.target);
	fg_build_facts_release(&b.facts);
	free(b.checkout);
	fg_scratch_release(&b.scratch);
	return 0;
}

static void set_up_again(void)
{
	(void)tear_down(NULL);
	(void)set_up(NULL);
}

static int make_more(const struct fg_layouts_options *wanted)
{
	struct fg_layouts_options options = *wanted;

	options.target = &b.target;
	options.build = &b.facts;
	options.interrupted = &world.interrupted;
	if (!options.bytes_max)
		options.bytes_max = UINT64_MAX;
	if (!options.most)
		options.most = FG_LAYOUTS_MAX;
	fg_target_layouts_cut(&b.layouts, 0);
	return fg_layouts_make(&options, &b.layouts, &err);
}

static int make(int64_t within_ns)
{
	return make_more(&(struct fg_layouts_options){.within_ns = within_ns});
}

/* Makes each link take a second. */
static void script_the_clock(void)
{
	world.a_link_takes_ns = FG_NS_PER_S;
	world.passed_ns = FG_NS_PER_S;
	world.links = 0;
}

static size_t count_of(const char *folder)
{
	char **names = NULL;
	size_t count = 0;

	assert_int_equal(fg_fs_list(fg_scratch_path(&b.scratch, folder), &names, &count, NULL),
			 FG_OK);
	fg_fs_list_free(names, count);
	return count;
}

static void check_made(void)
{
	assert_true(b.layouts.count >= FG_LINE_PLACES);
	for (size_t k = 0; k < b.layouts.count; k++) {
		assert_non_null(b.layouts.items[k].program);
		assert_int_equal(access(b.layouts.items[k].program, X_OK), 0);
	}
	assert_int_equal(count_of("builds/key/layouts"), 1);
}

FG_TEST_IN(three_links_make_four_places_and_are_made_once, set_up, tear_down)
{
	script_the_clock();
	if (make(3 * FG_NS_PER_S) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(world.links, 3);
	check_made();
	/* Existing layouts cost nothing, however expensive they once were. */
	assert_int_equal(make(1), FG_OK);
	assert_int_equal(world.links, 3);
	check_made();
}

FG_TEST_IN(the_first_link_shows_that_all_are_expensive, set_up, tear_down)
{
	script_the_clock();
	assert_int_equal(make(2 * FG_NS_PER_S), FG_ELIMIT);
	assert_string_equal(err.message,
			    "linking the program in 4 places would take 3.00 s; at most 2.00 s "
			    "is allowed");
	assert_int_equal(world.links, 1);
	assert_int_equal(count_of("builds/key/layouts"), 0);
	/* From now on, the cost is known in advance. */
	assert_int_equal(make(2 * FG_NS_PER_S), FG_ELIMIT);
	assert_int_equal(world.links, 1);
}

FG_TEST_IN(another_build_of_the_program_reuses_the_link_cost, set_up, tear_down)
{
	script_the_clock();
	assert_int_equal(make(0), FG_OK);
	assert_int_equal(world.links, 3);
	sh("A=a", "echo 'int main(void) { return 1; }' >main.c; cc -g -o program main.c");
	take();
	world.links = 0;
	assert_int_equal(make(2 * FG_NS_PER_S), FG_ELIMIT);
	assert_int_equal(world.links, 0);
}

FG_TEST_IN(requested_layouts_are_linked_however_long_it_takes, set_up, tear_down)
{
	script_the_clock();
	assert_int_equal(make(1), FG_ELIMIT);
	assert_int_equal(make(0), FG_OK);
	assert_int_equal(world.links, 1 + 3);
	check_made();
}

FG_TEST_IN(more_places_are_made_as_far_as_links_and_the_disk_allow, set_up, tear_down)
{
	static const struct {
		int64_t within_s;
		int64_t first_s; /* 0: a second, like every other link */
		uint64_t bytes_max;
		unsigned most;
		size_t at_once;
		unsigned count;
		unsigned waits;
	} cases[] = {
		{.within_s = 15, .count = 16, .waits = 15},
		{.within_s = 14, .count = 8, .waits = 7},
		{.within_s = 7, .count = 8, .waits = 7},
		{.within_s = 6, .count = 4, .waits = 3},
		{.within_s = 0, .count = 4, .waits = 3},
		{.within_s = 15, .bytes_max = 1024, .count = 4, .waits = 3},
		{.within_s = 15, .most = 8, .count = 8, .waits = 7},
		/* Four places take 5 s, eight 9 s: further links are expected to take the mean. */
		{.within_s = 20, .first_s = 3, .count = 16, .waits = 15},
		{.within_s = 19, .first_s = 3, .count = 8, .waits = 7},
		{.within_s = 11, .first_s = 3, .count = 4, .waits = 3},
		/* Parallel links fit in less time; large programs are linked one by one. */
		{.within_s = 14, .at_once = 1, .count = 8, .waits = 7},
		{.within_s = 8, .at_once = 2, .count = 16, .waits = 8},
		{.within_s = 7, .at_once = 2, .count = 8, .waits = 4},
		{.within_s = 5, .at_once = 5, .count = 16, .waits = 4},
		{.within_s = 5, .at_once = 3, .count = 16, .waits = 5},
		{.within_s = 0, .bytes_max = 1000, .at_once = 8, .count = 4, .waits = 3},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_layouts_options options = {
			.more_within_ns = cases[i].within_s * FG_NS_PER_S,
			.bytes_max = cases[i].bytes_max,
			.most = cases[i].most,
			.at_once = cases[i].at_once,
		};

		set_up_again();
		script_the_clock();
		world.the_first_takes_ns = cases[i].first_s * FG_NS_PER_S;
		assert_int_equal(make_more(&options), FG_OK);
		if (b.layouts.count != cases[i].count || world.waits != cases[i].waits)
			fail_msg("case %zu: %u places after %u waits", i, b.layouts.count,
				 world.waits);
		assert_int_equal(world.links, cases[i].count - 1);
		check_made();
	}
}

FG_TEST_IN(lost_places_are_reported, set_up, tear_down)
{
	script_the_clock();
	assert_int_equal(make(0), FG_OK);
	sh("A=a", "rm -r ../layouts/*/0");
	assert_int_equal(make(0), FG_ENOENT);
	assert_non_null(strstr(err.message, "no longer has its programs"));
}

/* Layouts that the other side lacks are useless. */
FG_TEST_IN(no_more_layouts_are_given_than_wanted, set_up, tear_down)
{
	const struct fg_layouts_options all = {.more_within_ns = FG_NS_PER_S * 1000};
	const struct fg_layouts_options few = {.most = FG_LINE_PLACES};

	assert_int_equal(make_more(&all), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(make_more(&few), FG_OK);
	assert_int_equal(b.layouts.count, FG_LINE_PLACES);
}

static uint64_t address_of_main(const char *program)
{
	const struct fg_code_item *item = NULL;
	struct fg_code code;
	uint64_t address = 0;

	if (fg_code_read(program, NULL, &code, &err) != FG_OK)
		fail_msg("%s", err.message);
	item = fg_code_find(&code, "main");
	assert_non_null(item);
	address = item->address;
	fg_code_release(&code);
	return address;
}

FG_TEST_IN(places_are_apart_in_the_line_and_in_the_page, set_up, tear_down)
{
	const struct fg_layouts_options options = {.more_within_ns = FG_NS_PER_S * 1000};
	unsigned quarters[FG_LAYOUTS_MAX / FG_LINE_PLACES] = {0};
	unsigned sixteenths = 0;
	uint64_t first = 0;

	assert_int_equal(make_more(&options), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	first = address_of_main(b.layouts.items[0].program);
	for (unsigned k = 0; k < FG_LAYOUTS_MAX; k++) {
		const uint64_t shift = address_of_main(b.layouts.items[k].program) - first;

		assert_int_equal(shift % 64, 16 * (k % FG_LINE_PLACES));
		assert_true(shift < 4096);
		sixteenths |= 1u << shift / 256;
		quarters[k / FG_LINE_PLACES] |= 1u << shift / 1024;
	}
	assert_int_equal(sixteenths, 0xffff);
	for (size_t i = 0; i < FG_ARRAY_SIZE(quarters); i++)
		assert_int_equal(quarters[i], 0xf);
}

/* The linker waits for ever for a writer of a pipe. */
FG_TEST_IN(a_link_that_hangs_is_ended, set_up, tear_down)
{
	sh("A=a", "mkfifo pipe; printf '#!/bin/sh\nexec cat pipe\n' >linker; chmod +x linker\n"
		  "for note in ../links/*; do [ -f \"$note\" ] || continue\n"
		  "printf '%s\\0' \"$PWD\" \"$PWD/linker\" '' '' -o program >\"$note\"; done");
	assert_int_equal(make(50 * FG_NS_PER_MS), FG_ECHILD);
	assert_non_null(strstr(err.message, "/linker' "));
	assert_int_equal(count_of("builds/key/layouts"), 0);
	/* A failed link is not retried unless it is requested. */
	world.links = 0;
	assert_int_equal(make(50 * FG_NS_PER_MS), FG_ELIMIT);
	assert_int_equal(world.links, 0);
}

FG_TEST_IN(an_interrupted_link_leaves_nothing, set_up, tear_down)
{
	world.interrupt_after = 1;
	assert_int_equal(make(0), FG_EINTERRUPTED);
	assert_int_equal(count_of("builds/key/layouts"), 0);
	assert_int_equal(b.layouts.count, 0);
	world.interrupted = 0;
	world.interrupt_after = 0;
	assert_int_equal(make(0), FG_OK);
	check_made();
}

FG_TEST_IN(a_link_that_fails_at_once_is_not_expensive, set_up, tear_down)
{
	fg_build_facts_set(&b.facts, "build.code", "another");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(make(FG_NS_PER_S), FG_EINVAL);
		assert_string_equal(err.message,
				    "linking 'program' again does not give the same code");
	}
}

/* ---- several in parallel ---- */

static int make_in_parallel(size_t at_once)
{
	return make_more(&(struct fg_layouts_options){.more_within_ns = 1000 * FG_NS_PER_S,
						      .at_once = at_once});
}

/*
 * Makes the recorded command run `script` before the linker, whose path is in $linker. If the
 * script exits, the linker does not run.
 */
static void replace_linker(const char *script)
{
	char *variable = fg_xasprintf("SCRIPT=%s", script);

	sh(variable,
	   "mkfifo pipe\n"
	   "for note in ../links/*; do [ -f \"$note\" ] || continue\n"
	   "linker=$(sed -z -n 2p \"$note\" | tr -d '\\0')\n"
	   "printf '#!/bin/sh\nlinker=%s\n%s\nexec \"$linker\" \"$@\"\n' \"$linker\" \"$SCRIPT\" "
	   ">linker\n"
	   "chmod +x linker; sed -i -z \"2s|.*|$PWD/linker|\" \"$note\"; done");
	free(variable);
}

static void check_nothing_is_left(void)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(count_of("builds/key/layouts"), 0);
	assert_int_equal(b.layouts.count, 0);
}

FG_TEST_IN(parallel_links_make_the_same_programs, set_up, tear_down)
{
	assert_int_equal(make_in_parallel(0), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(world.waits, 15);
	sh("A=a", "mv ../layouts ../one-by-one");
	world.waits = 0;
	/* The first three waits show the cost of a link. */
	assert_int_equal(make_in_parallel(6), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(world.waits, 3);
	check_made();
	sh("A=a", "cd ../layouts/*; for k in *; do [ ! -d $k ] || cmp $k/program "
		  "../../one-by-one/*/$k/program; done");
}

FG_TEST_IN(one_of_several_links_fails, set_up, tear_down)
{
	replace_linker("case $* in */2/program*) echo no room >&2; exit 3 ;; esac");
	assert_int_equal(make_in_parallel(3), FG_ECHILD);
	assert_non_null(strstr(err.message, "/linker' exited with code 3: no room"));
	assert_int_equal(world.links, 3);
	check_nothing_is_left();
}

/* The wrong program is found while the next link, which never ends, is running. */
FG_TEST_IN(one_of_several_links_makes_another_program, set_up, tear_down)
{
	sh("A=a", "echo 'int main(void) { return 7; }' >other.c; cc -g -o other other.c");
	replace_linker("out=; for word; do case $word in */program) out=$word ;; esac; done\n"
		       "case $* in */2/program*) exec cp other \"$out\" ;;\n"
		       "*/3/program*) exec cat pipe ;; esac");
	assert_int_equal(make_in_parallel(2), FG_EINVAL);
	assert_string_equal(err.message, "linking 'program' again does not give the same code");
	assert_int_equal(world.links, 2);
	check_nothing_is_left();
}

static void interrupt(int number)
{
	(void)number;
	world.interrupted = 1;
}

FG_TEST_IN(an_interruption_ends_all_running_links, set_up, tear_down)
{
	assert_true(signal(SIGUSR1, interrupt) != SIG_ERR);
	replace_linker("case $* in */3/program*) kill -USR1 $PPID ;; esac; exec cat pipe");
	assert_int_equal(make_in_parallel(3), FG_EINTERRUPTED);
	assert_int_equal(world.links, 3);
	check_nothing_is_left();
	assert_true(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
}
