// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/text.h"
#include "model/arguments.h"
#include "model/run.h"

#include <stdlib.h>

enum {
	CHANGES_MAX = 8,
	FUNCTIONS_MAX = 8,
	HINTS_MAX = 4,
	NAMED = 3 /* maximum number of functions named per path */
};

/* Adds a note if only the candidate has this kind of value. */
static void compare_kind(struct fg_strbuf *text, const char *kind, double before, double after,
			 double values)
{
	char count[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	if (after > 0 && !(before > 0))
		fg_strbuf_printf(text, "%s%s of %s arguments are %s, but none in the baseline",
				 text->length ? ", " : "", fg_format_count(after, count),
				 fg_format_count(values, whole), kind);
}

static void compare(struct fg_strbuf *text, const struct fg_argument_figures *before,
		    const struct fg_argument_figures *after)
{
	const bool both = fg_argument_finite(before) > 0 && fg_argument_finite(after) > 0;

	compare_kind(text, "NaN", before->nans, after->nans, after->values);
	compare_kind(text, "infinite", before->infinities, after->infinities, after->values);
	compare_kind(text, "denormal", before->denormals, after->denormals, after->values);
	if (both && (after->least < before->least || after->most > before->most))
		fg_strbuf_printf(text, "%srange [%.6g, %.6g], in the baseline [%.6g, %.6g]",
				 text->length ? ", " : "", after->least, after->most, before->least,
				 before->most);
}

char *fg_argument_change_text(const struct fg_argument_sums *sums)
{
	struct fg_strbuf all = {0};
	unsigned said = 0;
	size_t count = 0;
	const struct fg_argument_sum **functions =
		fg_argument_sums_by_calls(sums, FG_ARM_CANDIDATE, &count);

	for (size_t i = 0; i < count && said < CHANGES_MAX; i++) {
		struct fg_argument_figures *const *sides = functions[i]->sides;
		struct fg_strbuf text = {0};

		if (sides[FG_ARM_BASELINE])
			compare(&text, sides[FG_ARM_BASELINE], sides[FG_ARM_CANDIDATE]);
		if (text.length) {
			fg_strbuf_printf(&all, "%s%s: %s", all.length ? "; " : "",
					 functions[i]->name, text.data);
			said++;
		}
		fg_strbuf_release(&text);
	}
	free(functions);
	return all.length ? fg_strbuf_detach(&all) : NULL;
}

/* ---- one side ---- */

static void add_count(struct fg_strbuf *text, double count, const char *what)
{
	char number[FG_NUMBER_TEXT_SIZE];

	if (count > 0)
		fg_strbuf_printf(text, ", %s %s", fg_format_count(count, number), what);
}

static void describe(struct fg_strbuf *text, const char *name,
		     const struct fg_argument_figures *seen, size_t paths)
{
	char number[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(text, "%s%s: %s argument%s", text->length ? "; " : "", name,
			 fg_format_count(seen->values, number), seen->values > 1 ? "s" : "");
	if (fg_argument_finite(seen) > 0)
		fg_strbuf_printf(text, " in [%.6g, %.6g]", seen->least, seen->most);
	add_count(text, seen->nans, "NaN");
	add_count(text, seen->infinities, "infinite");
	add_count(text, seen->denormals, "denormal");
	fg_strbuf_printf(text, ", from %zu call path%s", paths, paths == 1 ? "" : "s");
}

char *fg_argument_sums_text(const struct fg_argument_sums *sums)
{
	struct fg_strbuf text = {0};
	size_t count = 0;
	const struct fg_argument_sum **functions =
		fg_argument_sums_by_calls(sums, FG_ARM_CANDIDATE, &count);

	for (size_t i = 0; i < count && i < FUNCTIONS_MAX; i++)
		describe(&text, functions[i]->name, functions[i]->sides[FG_ARM_CANDIDATE],
			 functions[i]->traces[FG_ARM_CANDIDATE]);
	if (count > FUNCTIONS_MAX)
		fg_strbuf_printf(&text, "; and %zu more", count - FUNCTIONS_MAX);
	free(functions);
	return text.length ? fg_strbuf_detach(&text) : NULL;
}

/* Adds the innermost functions: "fit ← loop ← main". */
static void add_path(struct fg_strbuf *text, const struct fg_argument_path_sum *path)
{
	for (size_t i = 0; i < path->frame_count; i++) {
		if (i == NAMED) {
			fg_strbuf_add_text(text, " ← …");
			return;
		}
		fg_strbuf_printf(text, "%s%s", i ? " ← " : "",
				 path->frames[path->frame_count - 1 - i]);
	}
}

/* Adds the hints for the candidate's arguments on one call path. Returns their number. */
static unsigned add_hints(struct fg_strbuf *text, const char *name,
			  const struct fg_argument_path_sum *path)
{
	struct fg_strbuf hint = {0};
	char *rest = NULL;
	unsigned count = 0;

	fg_argument_hint(name, path->sides[FG_ARM_CANDIDATE], &hint);
	rest = hint.data;
	for (const char *line; (line = fg_text_next_line(&rest)); count++) {
		fg_strbuf_printf(text, "%s%s in ", text->length ? "; " : "", name);
		add_path(text, path);
		fg_strbuf_printf(text, ": %s", line);
	}
	fg_strbuf_release(&hint);
	return count;
}

char *fg_argument_hints_text(const struct fg_argument_sums *sums)
{
	size_t count = 0;
	const struct fg_argument_path_sum **paths =
		fg_argument_paths_by_calls(sums, FG_ARM_CANDIDATE, &count);
	struct fg_strbuf text = {0};
	unsigned said = 0;

	for (size_t i = 0; i < count && said < HINTS_MAX; i++)
		said += add_hints(&text, sums->functions[paths[i]->function].name, paths[i]);
	free(paths);
	return text.length ? fg_strbuf_detach(&text) : NULL;
}
