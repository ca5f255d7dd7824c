/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures two commits in one session, and reads the results that the search needs. Private to
 * cli/bisect/.
 */
#ifndef FG_CLI_BISECT_COMPARISON_H
#define FG_CLI_BISECT_COMPARISON_H

#include "cli/bisect/search.h"
#include "cli/session/arms.h"
#include "runner/build/git.h"

struct fg_comparison {
	struct fg_session session;
	struct fg_arms arms;
	struct fg_benchmark benchmark; /* the plan's benchmark, as this comparison measures it */
	const struct fg_benchmark **benchmarks;
	double build_seconds;
};

struct fg_git fg_search_git(const struct fg_bisect_search *search);
double fg_comparison_seconds_since(int64_t began_ns);

/* Builds both commits. FG_ECHILD: a commit does not build. */
int fg_comparison_open(struct fg_bisect_search *search, const char *baseline, const char *candidate,
		       struct fg_comparison *comparison, struct fg_error *err) FG_NODISCARD;
void fg_comparison_close(struct fg_comparison *comparison);
/* Gates both commits by the full rule, stores the run, and reports it unless --json is given. */
int fg_comparison_gate(struct fg_comparison *comparison, struct fg_error *err) FG_NODISCARD;
/* Measures exactly `pairs` pairs of the benchmark, and nothing that the search does not need. */
int fg_comparison_measure(struct fg_bisect_search *search, struct fg_comparison *comparison,
			  unsigned pairs, struct fg_error *err) FG_NODISCARD;

/* Returns a string that is equal for equal programs and inputs; NULL if unknown. */
const char *fg_comparison_code(const struct fg_build_facts *build, struct fg_arena *arena);
/* Adds a benchmark's new differences to the pairs of a commit; returns their number. */
size_t fg_comparison_take_differences(struct fg_bisect_search *search,
				      const struct fg_session *session,
				      const struct fg_series *series,
				      struct fg_bisect_commit *commit);
const struct fg_metric_verdict *fg_comparison_metric(const struct fg_benchmark_verdict *benchmark,
						     const char *name);
/* Returns the verdict on the named benchmark, or on the worst of its cases. */
const struct fg_benchmark_verdict *fg_comparison_verdict(const struct fg_bisect_search *search,
							 const struct fg_verdict *verdict);
void fg_comparison_take_verdict(const struct fg_session *session,
				const struct fg_benchmark_verdict *benchmark,
				const struct fg_metric_verdict *metric, struct fg_arena *arena,
				struct fg_search_verdict *verdict);

/* ---- ends.c ---- */

/*
 * Gates the ends of the range. If the good end does not have the benchmark yet, moves the good end.
 */
int fg_ends_compare(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;

#endif
