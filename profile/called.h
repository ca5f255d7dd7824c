/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of functions by call path: their arguments and their durations, as the collector recorded
 * them. Both are lists of the same shape, so views and pages handle them with the same code.
 */
#ifndef FG_PROFILE_CALLED_H
#define FG_PROFILE_CALLED_H

#include "base/number.h"
#include "model/arguments.h"
#include "profile/profile.h"

/* Finds or adds an entry by function, argument and call path. */
struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key);
struct fg_call_durations *fg_call_durations_of(struct fg_profile *profile, const char *function,
					       uint32_t stack);
void fg_call_durations_join(struct fg_call_durations *durations,
			    const struct fg_call_durations *more);
/*
 * Adds the profile's arguments as one side of the sums. Call paths consist of functions, not lines.
 */
void fg_domains_sum_up(const struct fg_profile *profile, unsigned side,
		       struct fg_argument_sums *sums);

/* A function, or one of its arguments, on one call path. */
struct fg_called_function {
	const char *function;
	const char *name;      /* "pow", or "pow #2" for its second argument */
	const char *signature; /* NULL: durations have none */
	uint32_t argument;
	uint32_t stack; /* stack of the caller */
	double calls;
	double weight; /* sort key, largest first */
	const void *figures;
};

enum {
	FG_CALLED_COLUMNS_MAX = 10
};

/* A figure that is shown for each function: a count, a real number or a time. */
struct fg_called_column {
	const char *key; /* name in JSON and CSV */
	const char *title;
	bool is_real, is_time;
	uint8_t optional; /* order in which text drops columns, as in struct fg_view_column */
};

/* The figures are struct fg_argument_figures or struct fg_call_durations. */
struct fg_called_kind {
	const struct fg_called_column *columns;
	size_t column_count;
	/* Writes one value per column; NaN: unknown. */
	void (*read)(const void *figures, double *values);
	/*
	 * Lists the whole profile. The strings live in the arena; the caller frees the list.
	 */
	struct fg_called_function *(*list)(const struct fg_profile *profile, struct fg_arena *arena,
					   size_t *count);
	size_t size;
	void (*join)(void *sum, const void *more);
	void (*weigh)(struct fg_called_function *called); /* calls and weight, from figures */
	const double *(*bins)(const void *figures, unsigned *count);
	/* Writes the range of a bin, for people: "2^-3 to 2^-2", "64 ns to 80 ns". */
	void (*bin_text)(unsigned bin, struct fg_strbuf *text);
};

extern const struct fg_called_kind fg_called_arguments;
extern const struct fg_called_kind fg_called_durations;

/* Returns the value as text, "" if it is unknown. */
const char *fg_called_text(const struct fg_called_column *column, double value,
			   char text[FG_NUMBER_TEXT_SIZE]);
/*
 * Sums up the `*count` elements of the list by name; `stack` becomes the number of call paths. The
 * figures live in the arena; the caller frees the list.
 */
struct fg_called_function *fg_called_sums(const struct fg_called_kind *kind,
					  const struct fg_called_function *list,
					  struct fg_arena *arena, size_t *count);
/* Sorts by weight, largest first; the arguments of one function keep their order. */
void fg_called_sort(struct fg_called_function *list, size_t count);

#endif
