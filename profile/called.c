// SPDX-License-Identifier: Apache-2.0
#include "profile/called.h"

#include "base/sort.h"

#include <math.h>

/* ---- arguments ---- */

struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key)
{
	struct fg_domain *added = NULL;
	struct fg_strbuf text = {0};
	bool is_new = false;
	const uint64_t *at = NULL;

	fg_strbuf_printf(&text, "%s/%u/%u", key->function, key->argument, key->stack);
	at = fg_map_add_text(&profile->domain_index, text.data, profile->domain_count, &is_new);
	fg_strbuf_release(&text);
	if (!is_new)
		return &profile->domains[*at];
	added = &FG_APPEND(profile->domains, profile->domain_count, profile->domain_capacity);
	added->function = fg_profile_text(profile, key->function);
	added->signature = fg_profile_text(profile, key->signature);
	added->argument = key->argument;
	added->stack = key->stack;
	return added;
}

/* Returns "pow", or "pow #2" for the second argument. The caller frees it. */
static char *domain_name(const struct fg_domain *domain)
{
	return domain->argument ? fg_xasprintf("%s #%u", domain->function, domain->argument + 1)
				: fg_xstrdup(domain->function);
}

void fg_domains_sum_up(const struct fg_profile *profile, unsigned side,
		       struct fg_argument_sums *sums)
{
	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = domain_name(domain);
		struct fg_argument_call call = {.name = name,
						.signature = domain->signature,
						.side = side,
						.figures = &domain->seen};
		const char **frames = fg_stack_names(profile, domain->stack, &call.frame_count);

		call.frames = frames;
		fg_argument_sums_add(sums, &call);
		free(frames);
		free(name);
	}
}

static void weigh_arguments(struct fg_called_function *called)
{
	called->calls = ((const struct fg_argument_figures *)called->figures)->values;
	called->weight = called->calls;
}

static struct fg_called_function *list_arguments(const struct fg_profile *profile,
						 struct fg_arena *arena, size_t *count)
{
	struct fg_called_function *list = fg_xcalloc(profile->domain_count + 1, sizeof(list[0]));

	*count = profile->domain_count;
	for (size_t i = 0; i < *count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = domain_name(domain);

		list[i] = (struct fg_called_function){
			.function = domain->function,
			.name = fg_arena_strdup(arena, name),
			.signature = domain->signature,
			.argument = domain->argument,
			.stack = domain->stack,
			.figures = &domain->seen,
		};
		weigh_arguments(&list[i]);
		free(name);
	}
	return list;
}

static void join_arguments(void *sum, const void *more)
{
	fg_argument_join(sum, more);
}

static const double *bins_of_arguments(const void *figures, unsigned *count)
{
	*count = FG_ARGUMENT_BINS;
	return ((const struct fg_argument_figures *)figures)->bins;
}

static void argument_bin_text(unsigned bin, struct fg_strbuf *text)
{
	char range[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(text, fg_argument_bin_text(bin, range));
}

static const struct fg_called_column argument_columns[] = {
	{"calls", "calls", .optional = 0},       {"min", "min", .is_real = true},
	{"max", "max", .is_real = true},         {"mean", "mean", .is_real = true, .optional = 4},
	{"zeros", "zero", .optional = 5},        {"negative", "negative", .optional = 6},
	{"denormal", "denormal", .optional = 3}, {"infinite", "inf", .optional = 2},
	{"nan", "NaN", .optional = 1},           {"repeats", "same", .optional = 7},
};

static void read_arguments(const void *figures, double *values)
{
	const struct fg_argument_figures *of = figures;
	const double finite = fg_argument_finite(of);
	const bool is_known = finite > 0;
	const double all[FG_ARRAY_SIZE(argument_columns)] = {
		of->values,
		is_known ? of->least : (double)NAN,
		is_known ? of->most : (double)NAN,
		is_known ? of->sum / finite : (double)NAN,
		of->zeros,
		of->negatives,
		of->denormals,
		of->infinities,
		of->nans,
		of->repeats,
	};

	memcpy(values, all, sizeof(all));
}

const struct fg_called_kind fg_called_arguments = {
	.columns = argument_columns,
	.column_count = FG_ARRAY_SIZE(argument_columns),
	.read = read_arguments,
	.list = list_arguments,
	.size = sizeof(struct fg_argument_figures),
	.join = join_arguments,
	.weigh = weigh_arguments,
	.bins = bins_of_arguments,
	.bin_text = argument_bin_text,
};

/* ---- durations ---- */

struct fg_call_durations *fg_call_durations_of(struct fg_profile *profile, const char *function,
					       uint32_t stack)
{
	struct fg_call_durations *added = NULL;
	struct fg_strbuf text = {0};
	bool is_new = false;
	const uint64_t *at = NULL;

	fg_strbuf_printf(&text, "%s/%u", function, stack);
	at = fg_map_add_text(&profile->duration_index, text.data, profile->duration_count, &is_new);
	fg_strbuf_release(&text);
	if (!is_new)
		return &profile->durations[*at];
	added = &FG_APPEND(profile->durations, profile->duration_count, profile->duration_capacity);
	added->function = fg_profile_text(profile, function);
	added->stack = stack;
	return added;
}

void fg_call_durations_join(struct fg_call_durations *durations,
			    const struct fg_call_durations *more)
{
	if (!(more->returned > 0))
		return;
	durations->min_ns =
		durations->returned > 0 ? fmin(durations->min_ns, more->min_ns) : more->min_ns;
	durations->max_ns = fmax(durations->max_ns, more->max_ns);
	durations->returned += more->returned;
	durations->total_ns += more->total_ns;
	durations->own_ns += more->own_ns;
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++)
		durations->bins[i] += more->bins[i];
}

/*
 * Returns the duration that this share of the calls does not exceed. It is accurate to one bin of
 * the histogram, and lies between the shortest and longest call.
 */
static double quantile_of(const struct fg_call_durations *durations, double share)
{
	double below = 0;

	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++) {
		const double count = durations->bins[i];
		const double start = (double)fg_call_time_bin_start(i);
		const double end = (double)fg_call_time_bin_start(i + 1);

		if (count > 0 && below + count >= share * durations->returned) {
			const double part = (share * durations->returned - below) / count;
			const double ns = start + fmax(part, 0) * (end - start);

			return fmin(fmax(ns, durations->min_ns), durations->max_ns);
		}
		below += count;
	}
	return durations->max_ns;
}

static void weigh_durations(struct fg_called_function *called)
{
	const struct fg_call_durations *durations = called->figures;

	called->calls = durations->returned;
	called->weight = durations->total_ns;
}

static struct fg_called_function *list_durations(const struct fg_profile *profile,
						 struct fg_arena *arena, size_t *count)
{
	struct fg_called_function *list = fg_xcalloc(profile->duration_count + 1, sizeof(list[0]));

	(void)arena;
	*count = profile->duration_count;
	for (size_t i = 0; i < *count; i++) {
		const struct fg_call_durations *durations = &profile->durations[i];

		list[i] = (struct fg_called_function){
			.function = durations->function,
			.name = durations->function,
			.stack = durations->stack,
			.figures = durations,
		};
		weigh_durations(&list[i]);
	}
	return list;
}

static void join_durations(void *sum, const void *more)
{
	fg_call_durations_join(sum, more);
}

static const double *bins_of_durations(const void *figures, unsigned *count)
{
	*count = FG_CALL_TIME_BINS;
	return ((const struct fg_call_durations *)figures)->bins;
}

static void duration_bin_text(unsigned bin, struct fg_strbuf *text)
{
	char start[FG_NUMBER_TEXT_SIZE];
	char end[FG_NUMBER_TEXT_SIZE];

	fg_format_duration((double)fg_call_time_bin_start(bin), start);
	fg_format_duration((double)fg_call_time_bin_start(bin + 1), end);
	if (bin + 1 == FG_CALL_TIME_BINS)
		fg_strbuf_printf(text, "%s and more", start);
	else
		fg_strbuf_printf(text, "%s to %s", start, end);
}

static const struct fg_called_column duration_columns[] = {
	{"calls", "calls", .optional = 0},
	{"total_ns", "total", .is_time = true},
	{"own_ns", "own", .is_time = true, .optional = 5},
	{"mean_ns", "mean", .is_time = true},
	{"min_ns", "min", .is_time = true, .optional = 3},
	{"median_ns", "median", .is_time = true},
	{"p90_ns", "90 %", .is_time = true, .optional = 4},
	{"p99_ns", "99 %", .is_time = true, .optional = 2},
	{"max_ns", "max", .is_time = true},
};

static void read_durations(const void *figures, double *values)
{
	const struct fg_call_durations *of = figures;
	const double all[FG_ARRAY_SIZE(duration_columns)] = {
		of->returned,         of->total_ns,
		of->own_ns,           of->total_ns / of->returned,
		of->min_ns,           quantile_of(of, 0.5),
		quantile_of(of, 0.9), quantile_of(of, 0.99),
		of->max_ns,
	};

	memcpy(values, all, sizeof(all));
}

const struct fg_called_kind fg_called_durations = {
	.columns = duration_columns,
	.column_count = FG_ARRAY_SIZE(duration_columns),
	.read = read_durations,
	.list = list_durations,
	.size = sizeof(struct fg_call_durations),
	.join = join_durations,
	.weigh = weigh_durations,
	.bins = bins_of_durations,
	.bin_text = duration_bin_text,
};

/* ---- arguments and durations ---- */

const char *fg_called_text(const struct fg_called_column *column, double value,
			   char text[FG_NUMBER_TEXT_SIZE])
{
	if (isnan(value))
		return "";
	if (column->is_time)
		return fg_format_duration(value, text);
	if (!column->is_real)
		return fg_format_count(value, text);
	(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.6g", value);
	return text;
}

struct fg_called_function *fg_called_sums(const struct fg_called_kind *kind,
					  const struct fg_called_function *list,
					  struct fg_arena *arena, size_t *count)
{
	const size_t listed = *count;
	struct fg_called_function *sums = fg_xcalloc(listed + 1, sizeof(sums[0]));
	void **figures = fg_xcalloc(listed + 1, sizeof(void *));
	struct fg_map index = {0};

	*count = 0;
	for (size_t i = 0; i < listed; i++) {
		bool is_new = false;
		const size_t at = (size_t)*fg_map_add_text(&index, list[i].name, *count, &is_new);

		if (is_new) {
			figures[at] = fg_arena_alloc(arena, kind->size);
			sums[at] = list[i];
			sums[at].stack = 0;
			sums[at].figures = figures[at];
			(*count)++;
		}
		kind->join(figures[at], list[i].figures);
		sums[at].stack++;
	}
	for (size_t i = 0; i < *count; i++)
		kind->weigh(&sums[i]);
	free(figures);
	fg_map_release(&index);
	return sums;
}

FG_ORDER_BY(largest_first, struct fg_called_function,
	    strcmp(a->function, b->function) == 0 ? FG_UP(argument) : 0, FG_DOWN(weight),
	    FG_TEXT_UP(function), FG_UP(stack))

void fg_called_sort(struct fg_called_function *list, size_t count)
{
	if (count > 0)
		qsort(list, count, sizeof(list[0]), largest_first);
}
