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

struct build {
	struct fg_scratch scratch;
	struct fg_benchmark benchmark;
	struct fg_target target;
	struct fg_build_facts facts;
	struct fg_target_layouts layouts;
	char *checkout;
};

static void sh(const struct build *b, const char *variable, const char *script)
{
	char *argv[] = {"/usr/bin/env", (char *)(uintptr_t)variable, "/bin/sh",
			"-ec",          (char *)(uintptr_t)script,   NULL};
	const unsigned links = world.links;
	const unsigned waits = world.waits;

	free(fg_scratch_run(argv, b->checkout));
	/* Restore the counts: waiting for the script may have counted as a link. */
	world.links = links;
	world.waits = waits;
}

/* Sets the target to `program` in the checkout, and collects its facts. */
static void take(struct build *b)
{
	static char *words[] = {"./program", NULL};
	const struct fg_command command = {.text = "./program", .argv = words, .argc = 1};
	struct fg_binary elf = {0};

	fg_build_facts_release(&b->facts);
	b->facts = (struct fg_build_facts){0};
	if (b->target.root)
		fg_target_release(&b->target);
	b->benchmark = (struct fg_benchmark){.name = "bench", .command = command};
	fg_target_init(&b->target, FG_ARM_CANDIDATE, &b->benchmark, b->checkout);
	b->target.checkout = b->checkout;
	fg_target_resolve(&b->target);
	assert_non_null(b->target.program);
	assert_int_equal(fg_binary_read(b->target.program, &elf, NULL), FG_OK);
	fg_build_facts_set(&b->facts, "build.id", elf.build_id);
	fg_binary_release(&elf);
	fg_code_facts_add_program(&b->target, &b->facts);
	assert_non_null(b->facts.code);
	assert_non_null(b->facts.layout);
}

static void set_up(struct build *b)
{
	char *variable = NULL;
	char *state = NULL;

	memset(&world, 0, sizeof(world));
	*b = (struct build){0};
	(void)unsetenv("COMPILER_PATH");
	fg_scratch_init(&b->scratch);
	assert_int_equal(
		fg_fs_make_folders(fg_scratch_path(&b->scratch, "builds/key/tree"), 0755, NULL),
		FG_OK);
	fg_scratch_write_text(&b->scratch, "builds/key/tree/main.c",
			      "int main(void) { return 0; }\n");
	b->checkout = realpath(fg_scratch_path(&b->scratch, "builds/key/tree"), NULL);
	state = fg_fs_parent(b->checkout);
	assert_int_equal(fg_link_record_begin(state, &variable, NULL), FG_OK);
	sh(b, variable, "cc -g -o program main.c");
	take(b);
	world.links = 0;
	world.waits = 0;
	free(variable);
	free(state);
}

static void tear_down(struct build *b)
{
	fg_target_layouts_cut(&b->layouts, 0);
	fg_target_release(&b->target);
	fg_build_facts_release(&b->facts);
	free(b->checkout);
	fg_scratch_release(&b->scratch);
}

static int make_more(struct build *b, const struct fg_layouts_options *wanted, struct fg_error *err)
{
	struct fg_layouts_options options = *wanted;

	options.target = &b->target;
	options.build = &b->facts;
	options.interrupted = &world.interrupted;
	if (!options.bytes_max)
		options.bytes_max = UINT64_MAX;
	if (!options.most)
		options.most = FG_LAYOUTS_MAX;
	fg_target_layouts_cut(&b->layouts, 0);
	return fg_layouts_make(&options, &b->layouts, err);
}

static int make(struct build *b, int64_t within_ns, struct fg_error *err)
{
	return make_more(b, &(struct fg_layouts_options){.within_ns = within_ns}, err);
}

/* Makes each link take a second. */
static void script_the_clock(void)
{
	world.a_link_takes_ns = FG_NS_PER_S;
	world.passed_ns = FG_NS_PER_S;
	world.links = 0;
}

static size_t count_of(const struct build *b, const char *folder)
{
	char **names = NULL;
	size_t count = 0;

	assert_int_equal(fg_fs_list(fg_scratch_path(&b->scratch, folder), &names, &count, NULL),
			 FG_OK);
	fg_fs_list_free(names, count);
	return count;
}

static void check_made(const struct build *b)
{
	assert_true(b->layouts.count >= FG_LINE_PLACES);
	for (size_t k = 0; k < b->layouts.count; k++) {
		assert_non_null(b->layouts.items[k].program);
		assert_int_equal(access(b->layouts.items[k].program, X_OK), 0);
	}
	assert_int_equal(count_of(b, "builds/key/layouts"), 1);
}

FG_TEST(three_links_make_four_places_and_are_made_once)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	script_the_clock();
	if (make(&b, 3 * FG_NS_PER_S, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(world.links, 3);
	check_made(&b);
	/* Existing layouts cost nothing, however expensive they once were. */
	assert_int_equal(make(&b, 1, &err), FG_OK);
	assert_int_equal(world.links, 3);
	check_made(&b);
	tear_down(&b);
}

FG_TEST(the_first_link_shows_that_all_are_expensive)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	script_the_clock();
	assert_int_equal(make(&b, 2 * FG_NS_PER_S, &err), FG_ELIMIT);
	assert_string_equal(err.message,
			    "linking the program in 4 places would take 3.00 s; at most 2.00 s "
			    "is allowed");
	assert_int_equal(world.links, 1);
	assert_int_equal(count_of(&b, "builds/key/layouts"), 0);
	/* From now on, the cost is known in advance. */
	assert_int_equal(make(&b, 2 * FG_NS_PER_S, &err), FG_ELIMIT);
	assert_int_equal(world.links, 1);
	tear_down(&b);
}

FG_TEST(another_build_of_the_program_reuses_the_link_cost)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	script_the_clock();
	assert_int_equal(make(&b, 0, &err), FG_OK);
	assert_int_equal(world.links, 3);
	sh(&b, "A=a", "echo 'int main(void) { return 1; }' >main.c; cc -g -o program main.c");
	take(&b);
	world.links = 0;
	assert_int_equal(make(&b, 2 * FG_NS_PER_S, &err), FG_ELIMIT);
	assert_int_equal(world.links, 0);
	tear_down(&b);
}

FG_TEST(requested_layouts_are_linked_however_long_it_takes)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	script_the_clock();
	assert_int_equal(make(&b, 1, &err), FG_ELIMIT);
	assert_int_equal(make(&b, 0, &err), FG_OK);
	assert_int_equal(world.links, 1 + 3);
	check_made(&b);
	tear_down(&b);
}

FG_TEST(more_places_are_made_as_far_as_links_and_the_disk_allow)
{
	static const struct {
		int64_t within_s;
		uint64_t kilobytes;
		unsigned most;
		unsigned count;
	} cases[] = {
		{15, 16 << 20, 16, 16}, {14, 16 << 20, 16, 8}, {7, 16 << 20, 16, 8},
		{6, 16 << 20, 16, 4},   {0, 16 << 20, 16, 4},  {15, 1, 16, 4},
		{15, 16 << 20, 8, 8},
	};
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_layouts_options options = {
			.more_within_ns = cases[i].within_s * FG_NS_PER_S,
			.bytes_max = cases[i].kilobytes << 10,
			.most = cases[i].most,
		};
		struct build b;

		set_up(&b);
		script_the_clock();
		assert_int_equal(make_more(&b, &options, &err), FG_OK);
		assert_int_equal(b.layouts.count, cases[i].count);
		assert_int_equal(world.links, cases[i].count - 1);
		check_made(&b);
		tear_down(&b);
	}
}

/* Four places take 5 s and eight take 9 s; further links are expected to take the mean so far. */
FG_TEST(one_slow_link_does_not_make_all_expensive)
{
	static const struct {
		int64_t within_s;
		unsigned count;
	} cases[] = {{20, 16}, {19, 8}, {11, 4}};
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct build b;

		set_up(&b);
		script_the_clock();
		world.the_first_takes_ns = 3 * FG_NS_PER_S;
		assert_int_equal(
			make_more(&b,
				  &(struct fg_layouts_options){.more_within_ns = cases[i].within_s *
										 FG_NS_PER_S},
				  &err),
			FG_OK);
		assert_int_equal(b.layouts.count, cases[i].count);
		tear_down(&b);
	}
}

/* Links four places on a busy machine, where a link takes a second. */
static void set_up_in_four_places(struct build *b)
{
	struct fg_error err = {0};

	set_up(b);
	script_the_clock();
	if (make(b, 0, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(b->layouts.count, FG_LINE_PLACES);
}

FG_TEST(lost_places_are_reported)
{
	struct fg_error err = {0};
	struct build b;

	set_up_in_four_places(&b);
	sh(&b, "A=a", "rm -r ../layouts/*/0");
	assert_int_equal(make(&b, 0, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "no longer has its programs"));
	tear_down(&b);
}

/* Layouts that the other side lacks are useless. */
FG_TEST(no_more_layouts_are_given_than_wanted)
{
	const struct fg_layouts_options all = {.more_within_ns = FG_NS_PER_S * 1000};
	const struct fg_layouts_options few = {.most = FG_LINE_PLACES};
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	assert_int_equal(make_more(&b, &all, &err), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(make_more(&b, &few, &err), FG_OK);
	assert_int_equal(b.layouts.count, FG_LINE_PLACES);
	tear_down(&b);
}

static uint64_t address_of_main(const char *program)
{
	struct fg_error err = {0};
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

FG_TEST(places_are_apart_in_the_line_and_in_the_page)
{
	const struct fg_layouts_options options = {.more_within_ns = FG_NS_PER_S * 1000};
	unsigned quarters[FG_LAYOUTS_MAX / FG_LINE_PLACES] = {0};
	unsigned sixteenths = 0;
	struct fg_error err = {0};
	uint64_t first = 0;
	struct build b;

	set_up(&b);
	assert_int_equal(make_more(&b, &options, &err), FG_OK);
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
	tear_down(&b);
}

/* The linker waits for ever for a writer of a pipe. */
FG_TEST(a_link_that_hangs_is_ended)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	sh(&b, "A=a",
	   "mkfifo pipe; printf '#!/bin/sh\nexec cat pipe\n' >linker; chmod +x linker\n"
	   "for note in ../links/*; do [ -f \"$note\" ] || continue\n"
	   "printf '%s\\0' \"$PWD\" \"$PWD/linker\" '' '' -o program >\"$note\"; done");
	assert_int_equal(make(&b, 50 * FG_NS_PER_MS, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "/linker' "));
	assert_int_equal(count_of(&b, "builds/key/layouts"), 0);
	/* The link is not tried again without being asked for. */
	world.links = 0;
	assert_int_equal(make(&b, 50 * FG_NS_PER_MS, &err), FG_ELIMIT);
	assert_int_equal(world.links, 0);
	tear_down(&b);
}

FG_TEST(an_interrupted_link_leaves_nothing)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	world.interrupt_after = 1;
	assert_int_equal(make(&b, 0, &err), FG_EINTERRUPTED);
	assert_int_equal(count_of(&b, "builds/key/layouts"), 0);
	assert_int_equal(b.layouts.count, 0);
	world.interrupted = 0;
	world.interrupt_after = 0;
	assert_int_equal(make(&b, 0, &err), FG_OK);
	check_made(&b);
	tear_down(&b);
}

FG_TEST(a_link_that_fails_at_once_is_not_expensive)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	fg_build_facts_set(&b.facts, "build.code", "another");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(make(&b, FG_NS_PER_S, &err), FG_EINVAL);
		assert_string_equal(err.message,
				    "linking 'program' again does not give the same code");
	}
	tear_down(&b);
}

/* ---- several in parallel ---- */

static int make_in_parallel(struct build *b, size_t at_once, struct fg_error *err)
{
	return make_more(b,
			 &(struct fg_layouts_options){.more_within_ns = 1000 * FG_NS_PER_S,
						      .at_once = at_once},
			 err);
}

/*
 * Makes the recorded command run `script` before the linker, whose path is in $linker. If the
 * script exits, the linker does not run.
 */
static void replace_linker(const struct build *b, const char *script)
{
	char *variable = fg_xasprintf("SCRIPT=%s", script);

	sh(b, variable,
	   "mkfifo pipe\n"
	   "for note in ../links/*; do [ -f \"$note\" ] || continue\n"
	   "linker=$(sed -z -n 2p \"$note\" | tr -d '\\0')\n"
	   "printf '#!/bin/sh\nlinker=%s\n%s\nexec \"$linker\" \"$@\"\n' \"$linker\" \"$SCRIPT\" "
	   ">linker\n"
	   "chmod +x linker; sed -i -z \"2s|.*|$PWD/linker|\" \"$note\"; done");
	free(variable);
}

static void check_nothing_is_left(const struct build *b)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(count_of(b, "builds/key/layouts"), 0);
	assert_int_equal(b->layouts.count, 0);
}

FG_TEST(parallel_links_make_the_same_programs)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	assert_int_equal(make_in_parallel(&b, 0, &err), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(world.waits, 15);
	sh(&b, "A=a", "mv ../layouts ../one-by-one");
	world.waits = 0;
	/* The first three waits show the cost of a link. */
	assert_int_equal(make_in_parallel(&b, 6, &err), FG_OK);
	assert_int_equal(b.layouts.count, FG_LAYOUTS_MAX);
	assert_int_equal(world.waits, 3);
	check_made(&b);
	sh(&b, "A=a",
	   "cd ../layouts/*; for k in *; do [ ! -d $k ] || cmp $k/program "
	   "../../one-by-one/*/$k/program; done");
	tear_down(&b);
}

FG_TEST(parallel_links_fit_in_less_time)
{
	static const struct {
		size_t at_once;
		int64_t within_s;
		unsigned count;
		unsigned waits;
	} cases[] = {{1, 14, 8, 7}, {2, 8, 16, 8}, {2, 7, 8, 4}, {5, 5, 16, 4}, {3, 5, 16, 5}};
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_layouts_options options = {
			.more_within_ns = cases[i].within_s * FG_NS_PER_S,
			.at_once = cases[i].at_once,
		};
		struct build b;

		set_up(&b);
		script_the_clock();
		world.waits = 0;
		assert_int_equal(make_more(&b, &options, &err), FG_OK);
		assert_int_equal(b.layouts.count, cases[i].count);
		assert_int_equal(world.waits, cases[i].waits);
		tear_down(&b);
	}
}

FG_TEST(large_programs_are_linked_one_by_one)
{
	const struct fg_layouts_options options = {.bytes_max = 1000, .at_once = 8};
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	assert_int_equal(make_more(&b, &options, &err), FG_OK);
	assert_int_equal(b.layouts.count, FG_LINE_PLACES);
	assert_int_equal(world.waits, 3);
	tear_down(&b);
}

FG_TEST(one_of_several_links_fails)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	replace_linker(&b, "case $* in */2/program*) echo no room >&2; exit 3 ;; esac");
	assert_int_equal(make_in_parallel(&b, 3, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "/linker' exited with code 3: no room"));
	assert_int_equal(world.links, 3);
	check_nothing_is_left(&b);
	tear_down(&b);
}

/* The wrong program is found while the next link, which never ends, is running. */
FG_TEST(one_of_several_links_makes_another_program)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	sh(&b, "A=a", "echo 'int main(void) { return 7; }' >other.c; cc -g -o other other.c");
	replace_linker(&b, "out=; for word; do case $word in */program) out=$word ;; esac; done\n"
			   "case $* in */2/program*) exec cp other \"$out\" ;;\n"
			   "*/3/program*) exec cat pipe ;; esac");
	assert_int_equal(make_in_parallel(&b, 2, &err), FG_EINVAL);
	assert_string_equal(err.message, "linking 'program' again does not give the same code");
	assert_int_equal(world.links, 2);
	check_nothing_is_left(&b);
	tear_down(&b);
}

static void interrupt(int number)
{
	(void)number;
	world.interrupted = 1;
}

FG_TEST(an_interruption_ends_all_running_links)
{
	struct fg_error err = {0};
	struct build b;

	set_up(&b);
	assert_true(signal(SIGUSR1, interrupt) != SIG_ERR);
	replace_linker(&b, "case $* in */3/program*) kill -USR1 $PPID ;; esac; exec cat pipe");
	assert_int_equal(make_in_parallel(&b, 3, &err), FG_EINTERRUPTED);
	assert_int_equal(world.links, 3);
	check_nothing_is_left(&b);
	assert_true(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
	tear_down(&b);
}
