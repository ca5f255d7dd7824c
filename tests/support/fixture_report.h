/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synthetic runs with verdicts of every outcome, for tests of reports. The same name always gives
 * the same run.
 */
#ifndef FG_TESTS_SUPPORT_FIXTURE_REPORT_H
#define FG_TESTS_SUPPORT_FIXTURE_REPORT_H

#include "reporters/reporter.h"

enum {
	FG_FIXTURE_MAX_BENCHMARKS = 8
};

struct fg_fixture {
	struct fg_run run;
	struct fg_verdict verdict;
	struct fg_profile_set sets[FG_FIXTURE_MAX_BENCHMARKS];
	const struct fg_profile_set *profiles[FG_FIXTURE_MAX_BENCHMARKS];
	struct fg_report report;
};

/*
 * `name` is one of fg_fixture_names: an outcome ("regression", ...), "mixed" (one benchmark of
 * each), "hostile" (every name is an attack on some format), "nothing" (no benchmark ran), or a
 * special case: "identical" binaries, an "accepted" slowdown, an "expired" one, an "unstable"
 * result (a wide interval), an "unsure" result (no function stands out), a "marked" program
 * (regions and units of work), a "counted" program (more allocations, no more time), an
 * "unaffected" benchmark (skipped, because no change affects it), and a "creeping" benchmark (many
 * commits add up).
 */
extern const char *const fg_fixture_names[]; /* NULL at the end */
void fg_fixture_init(struct fg_fixture *fixture, const char *name);
/* Gives the first benchmark a profile with about this many call paths, for tests of page sizes. */
void fg_fixture_add_large_profile(struct fg_fixture *fixture, size_t node_count);
void fg_fixture_release(struct fg_fixture *fixture);
/* Repeats the first benchmark `count` times. */
void fg_fixture_repeat(struct fg_fixture *fixture, size_t count);
/* Writes one fixture, and compares it with tests/golden/report/FIXTURE<suffix>. */
void fg_fixture_check_one(const char *fixture, const char *format,
			  const struct fg_report_options *options, const char *suffix);
/* Writes every fixture, and compares it with tests/golden/report/NAME + `suffix`. */
void fg_fixture_check_golden(const char *format, const struct fg_report_options *options,
			     const char *suffix);
/* Writes this fixture in a format; fails the running test on an error. */
void fg_fixture_write_report(const struct fg_fixture *fixture, const char *format,
			     const struct fg_report_options *options, struct fg_strbuf *text);
void fg_fixture_write(const char *name, const char *format, const struct fg_report_options *options,
		      struct fg_strbuf *text);

/*
 * Attacks: markup, quotes, control characters, broken UTF-8, a template name of 60 KB.  NULL at the
 * end.
 */
const char *const *fg_hostile_names(void);

#endif
