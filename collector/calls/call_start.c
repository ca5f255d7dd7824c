// SPDX-License-Identifier: Apache-2.0
/* Reads the settings, and connects the counting of calls to the collector's life cycle. */
#include "collector/calls/call_fentry.h"
#include "collector/calls/call_jumps.h"
#include "collector/calls/call_registers.h"
#include "collector/calls/call_tables.h"
#include "collector/counting/count_hooks.h"
#include "collector/process/environment.h"
#include "collector/process/threads.h"
#include "collector/sampler/writer.h"

#include <errno.h>
#include <string.h>

static bool has_begun;
static bool has_all_patterns = true;

static void on_introduce(struct fg_thread *thread)
{
	fg_call_records_begin();
	if (!has_all_patterns)
		(void)fg_note(thread, "too many function patterns: some are left out");
	if (has_begun)
		return;
	has_begun = true;
	/* Timing a call or keeping its arguments needs the whole state. */
	fg_call_is_quick = !fg_calls_timed && !fg_call_values_wanted() && fg_threads_can_count();
	fg_call_slots_update();
}

static void on_thread_end(struct fg_thread *thread, bool is_last)
{
	fg_calls_flush(thread, thread->index, thread->id);
	/* The next owner of the slot starts with new trace records. */
	fg_call_sites_forget(fg_call_tables[thread->index].sites);
	fg_call_times_forget(thread->index);
	if (!is_last)
		return;
	fg_threads_visit_others(thread, fg_calls_flush);
	fg_call_records_finish(thread);
	fg_call_jumps_write(thread);
}

static void on_fork(void)
{
	fg_call_tables_clear();
	fg_call_times_forget_all();
}

static const struct fg_count_hooks hooks = {
	.introduce = on_introduce,
	.thread_end = on_thread_end,
	.forked = on_fork,
};

/*
 * Every object that is linked with the usual start files calls this when it is initialised, before
 * its own constructors run. The C library reserves the name for profilers.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the ABI's names */
FG_EXPORT void __gmon_start__(void);

FG_EXPORT void __gmon_start__(void)
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
{
	const int saved_errno = errno;

	if (has_begun && fg_alive() && !fg_g.sandboxed)
		fg_call_slots_update();
	errno = saved_errno;
}

static const char *variable(char *const *environment, const char *name)
{
	const size_t size = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
			return *environment + size + 1;
	return NULL;
}

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(int argc, char **argv, char **environment)
{
	char **const given = fg_environment_at_start(environment);
	const char *calls = variable(given, FG_ENV_CALLS);
	const char *domains = variable(given, FG_ENV_DOMAINS);

	(void)argc;
	(void)argv;
	if (calls)
		has_all_patterns &= fg_call_patterns_add(calls, false);
	if (domains)
		has_all_patterns &= fg_call_patterns_add(domains, true);
	fg_fentry_init(fg_call_registers_init() && (calls || domains));
	if (!calls && !domains)
		return;
	/* Only a stub that calls the function can time it; a stub that jumps to it cannot. */
	if (!variable(given, FG_ENV_CALL_TIMES))
		fg_call_jumps_plan = variable(given, FG_ENV_ENTRIES);
	fg_call_values_choose(variable(given, FG_ENV_VALUES), variable(given, FG_ENV_VALUES_BITS));
	fg_calls_timed = variable(given, FG_ENV_CALL_TIMES) != NULL;
	if (fg_calls_timed)
		fg_call_clock_begin();
	fg_count_hooks = &hooks;
}
