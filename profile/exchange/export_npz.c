// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments of calls as arrays for numpy. A function `pow` has the arrays "pow.1" and "pow.2"
 * for its arguments, "pow.trace" and "pow.thread"; item i of each belongs to the same call.
 * "traces.number" and "traces.path" describe the call paths.
 */
#include "base/map.h"
#include "base/number.h"
#include "profile/exchange/export_formats.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

enum {
	PATH_MAX_BYTES = 2000, /* longest call path; a longer path loses its outermost part */
};

struct writer {
	const struct fg_profile *profile;
	struct fg_npz npz;
	bool *has_trace; /* indexed by stack */
};

/* The columns of one function. */
struct columns {
	double *arguments[FG_VALUES_COLUMNS_MAX];
	uint32_t *traces;
	uint32_t *threads;
	size_t rows;
};

static int add_array(struct writer *w, const char *function, const char *what,
		     const struct fg_npz_array *array, struct fg_error *err)
{
	char *name = fg_xasprintf("%s.%s", function, what);
	struct fg_npz_array named = *array;
	int status = FG_OK;

	named.name = name;
	status = fg_npz_add(&w->npz, &named, err);
	free(name);
	return status;
}

static void take_piece(struct writer *w, const struct fg_argument_values *piece,
		       struct columns *into)
{
	double *rows = fg_xcalloc((size_t)piece->rows * piece->columns + 1, sizeof(rows[0]));
	const uint32_t count = fg_argument_values_unpack(piece, rows);

	for (uint32_t row = 0; row < count; row++, into->rows++) {
		for (uint32_t i = 0; i < piece->columns; i++)
			into->arguments[i][into->rows] = rows[(size_t)row * piece->columns + i];
		into->traces[into->rows] = piece->stack;
		into->threads[into->rows] = (uint32_t)w->profile->threads[piece->thread].tid;
	}
	if (count > 0)
		w->has_trace[piece->stack] = true;
	free(rows);
}

static int write_columns(struct writer *w, const struct columns *columns, const char *function,
			 uint32_t count, struct fg_error *err)
{
	struct fg_npz_array of = {.type = "<f8", .item_size = 8, .count = columns->rows};
	int status = FG_OK;

	for (uint32_t i = 0; i < count && status == FG_OK; i++) {
		char what[FG_NUMBER_TEXT_SIZE];

		(void)snprintf(what, sizeof(what), "%u", i + 1);
		of.items = columns->arguments[i];
		status = add_array(w, function, what, &of, err);
	}
	if (status != FG_OK)
		return status;
	of.type = "<u4";
	of.item_size = 4;
	of.items = columns->traces;
	FG_TRY(add_array(w, function, "trace", &of, err));
	of.items = columns->threads;
	return add_array(w, function, "thread", &of, err);
}

/* Writes all pieces of the function of `first` that have as many columns as `first`. */
static int write_function(struct writer *w, const struct fg_argument_values *first,
			  struct fg_error *err)
{
	const struct fg_profile *profile = w->profile;
	struct columns columns = {0};
	size_t room = 1;
	int status = FG_OK;

	for (size_t i = 0; i < profile->value_count; i++)
		if (profile->values[i].function == first->function)
			room += profile->values[i].rows;
	for (uint32_t i = 0; i < first->columns; i++)
		columns.arguments[i] = fg_xcalloc(room, sizeof(double));
	columns.traces = fg_xcalloc(room, sizeof(uint32_t));
	columns.threads = fg_xcalloc(room, sizeof(uint32_t));
	for (size_t i = 0; i < profile->value_count; i++)
		if (profile->values[i].function == first->function &&
		    profile->values[i].columns == first->columns)
			take_piece(w, &profile->values[i], &columns);
	status = write_columns(w, &columns, first->function, first->columns, err);
	for (uint32_t i = 0; i < first->columns; i++)
		free(columns.arguments[i]);
	free(columns.traces);
	free(columns.threads);
	return status;
}

/* ---- traces ---- */

/* Adds "main;loop;fit": outermost first. */
static void add_path(struct fg_strbuf *text, const struct fg_profile *profile, uint32_t stack)
{
	size_t count = 0;
	const char **names = fg_stack_names(profile, stack, &count);

	for (size_t i = 0; i < count; i++)
		fg_strbuf_printf(text, "%s%s", i ? ";" : "", names[i]);
	free(names);
}

static int write_traces(struct writer *w, struct fg_error *err)
{
	const struct fg_profile *profile = w->profile;
	uint32_t *numbers = fg_xcalloc(profile->stack_count + 1, sizeof(numbers[0]));
	char **paths = fg_xcalloc(profile->stack_count + 1, sizeof(paths[0]));
	struct fg_strbuf packed = {0};
	size_t count = 0;
	size_t longest = 1;
	char type[FG_NUMBER_TEXT_SIZE];
	int status = FG_OK;

	for (uint32_t i = 0; i < profile->stack_count; i++) {
		struct fg_strbuf text = {0};

		if (!w->has_trace[i])
			continue;
		add_path(&text, profile, i);
		numbers[count] = i;
		paths[count++] = fg_xstrdup(
			fg_strbuf_text(&text) +
			(text.length > PATH_MAX_BYTES ? text.length - PATH_MAX_BYTES : 0));
		if (longest < strlen(paths[count - 1]))
			longest = strlen(paths[count - 1]);
		fg_strbuf_release(&text);
	}
	for (size_t i = 0; i < count; i++) {
		fg_strbuf_add(&packed, paths[i], strlen(paths[i]));
		for (size_t n = strlen(paths[i]); n < longest; n++)
			fg_strbuf_add_char(&packed, '\0');
		free(paths[i]);
	}
	(void)snprintf(type, sizeof(type), "|S%zu", longest);

	const struct fg_npz_array number_array = {
		.type = "<u4", .item_size = 4, .count = count, .items = numbers};
	const struct fg_npz_array path_array = {
		.type = type, .item_size = longest, .count = count, .items = packed.data};

	status = add_array(w, "traces", "number", &number_array, err);
	if (status == FG_OK)
		status = add_array(w, "traces", "path", &path_array, err);
	fg_strbuf_release(&packed);
	free(numbers);
	free(paths);
	return status;
}

int fg_export_npz(const struct fg_profile *profile, const struct fg_export_options *options,
		  struct fg_strbuf *out, struct fg_error *err)
{
	struct writer w = {.profile = profile};
	struct fg_map written = {0};
	int status = FG_OK;

	(void)options;
	if (profile->value_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no values were recorded: use fastgate record --domains ... "
				    "--values 1");
	w.has_trace = fg_xcalloc(profile->stack_count + 1, sizeof(w.has_trace[0]));
	fg_npz_begin(&w.npz, out);
	for (size_t i = 0; i < profile->value_count && status == FG_OK; i++) {
		bool is_new = false;

		(void)fg_map_add_text(&written, profile->values[i].function, 0, &is_new);
		if (is_new)
			status = write_function(&w, &profile->values[i], err);
	}
	if (status == FG_OK)
		status = write_traces(&w, err);
	if (status == FG_OK)
		fg_npz_end(&w.npz);
	else
		fg_npz_release(&w.npz);
	fg_map_release(&written);
	free(w.has_trace);
	return status;
}
