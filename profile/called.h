/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of functions by call path: their arguments and their durations, as the collector saw them.
 * Both are lists of the same shape, so that views and pages have one code for both.
 */
#ifndef FG_PROFILE_CALLED_H
#define FG_PROFILE_CALLED_H

#include "model/arguments.h"
#include "profile/profile.h"

/* Found by function, argument and call path, or added. */
struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key);
struct fg_call_durations *fg_call_durations_of(struct fg_profile *profile, const char *function,
					       uint32_t stack);
void fg_call_durations_join(struct fg_call_durations *durations,
			    const struct fg_call_durations *more);
/*
 * The duration that this share of the calls does not exceed, to a quarter of a power of two and
 * never outside of what was seen; 0 calls: 0.
 */
double fg_call_durations_quantile(const struct fg_call_durations *durations, double share);
/* Adds what the profile saw as a side of the sums; call paths are those of functions, not lines. */
void fg_domains_sum_up(const struct fg_profile *profile, unsigned side,
		       struct fg_argument_sums *sums);

/* A function, or one of its arguments, on one call path. */
struct fg_called_function {
	const char *function;
	const char *name;      /* "pow", "pow #2" for the second of its arguments */
	const char *signature; /* NULL: durations have none */
	uint32_t argument;
	uint32_t stack; /* stack of the caller */
	double calls;
	double weight; /* the largest comes first */
	const void *figures;
};

/* The figures are struct fg_argument_figures or struct fg_call_durations. */
struct fg_called_kind {
	/* Everything in the profile; the texts live in the arena, the caller frees the list. */
	struct fg_called_function *(*list)(const struct fg_profile *profile, struct fg_arena *arena,
					   size_t *count);
	size_t size;
	void (*join)(void *sum, const void *more);
	void (*weigh)(struct fg_called_function *called); /* calls and weight, from its figures */
	const double *(*bins)(const void *figures, unsigned *count);
	/* The range of a bin, for people: "2^-3 to 2^-2", "64 ns to 80 ns". */
	void (*bin_text)(unsigned bin, struct fg_strbuf *text);
};

extern const struct fg_called_kind fg_called_arguments;
extern const struct fg_called_kind fg_called_durations;

/*
 * One element for each name of the `*count` in the list; `stack` is the number of its call paths.
 * The figures live in the arena, the list is yours to free.
 */
struct fg_called_function *fg_called_sums(const struct fg_called_kind *kind,
					  const struct fg_called_function *list,
					  struct fg_arena *arena, size_t *count);
/* The largest weight first, except that the arguments of one function keep their order. */
void fg_called_sort(struct fg_called_function *list, size_t count);

#endif
