// SPDX-License-Identifier: Apache-2.0
/*
 * Arguments and durations of calls as one page without a script: a table of functions; the call
 * paths of each function, most calls first; for each call path, the full path and a histogram.
 */
#include "base/number.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/xml_write.h"
#include "profile/called.h"
#include "profile/exchange/export_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRACES_MAX = 100, /* call paths shown per function; others are only counted */
	HINTS_MAX = 20,
};

/* The subject of a section: arguments, or durations. */
struct subject {
	const struct fg_called_kind *kind;
	const char *title;
	bool has_hints;
};

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:110em;padding:0 1em;"
	"color:#1b1f27;background:#fff}"
	"table{border-collapse:collapse;margin:.5em 0}"
	"th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #d5d9e0}"
	"td{white-space:nowrap}th.text,td.text{text-align:left;white-space:normal}"
	"summary{cursor:pointer;padding:.15em 0}details details{margin-left:1.2em}"
	".bar{display:inline-block;height:.8em;background:#2f7fc4}td.bars{width:26em;text-align:left}"
	"ol{margin:.3em 0}.quiet{color:#565e6c}"
	"@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14171c}"
	"th,td{border-color:#373d48}.quiet{color:#a4acb9}}";

static void add_text(struct fg_xml_writer *w, const char *element, const char *class,
		     const char *text)
{
	fg_xml_begin(w, element);
	if (class)
		fg_xml_attribute(w, "class", class);
	fg_xml_text(w, text);
	fg_xml_end(w);
}

static void begin_page(struct fg_xml_writer *w, const struct fg_profile *profile)
{
	static const char title[] = "Calls of functions";

	fg_strbuf_add_text(w->text, "<!doctype html>");
	fg_xml_begin(w, "html");
	fg_xml_attribute(w, "lang", "en");
	fg_xml_begin(w, "head");
	fg_xml_begin(w, "meta");
	fg_xml_attribute(w, "charset", "utf-8");
	fg_xml_end(w);
	add_text(w, "title", NULL, title);
	add_text(w, "style", NULL, style);
	fg_xml_end(w);
	fg_xml_begin(w, "body");
	fg_xml_begin(w, "main");
	add_text(w, "h1", NULL, title);
	add_text(w, "p", "quiet", profile->title ? profile->title : "");
}

static void add_bar(struct fg_xml_writer *w, const char *range, double count, double most)
{
	char text[FG_NUMBER_TEXT_SIZE];

	fg_xml_begin(w, "tr");
	add_text(w, "td", "text", range);
	add_text(w, "td", NULL, fg_format_count(count, text));
	fg_xml_begin(w, "td");
	fg_xml_attribute(w, "class", "bars");
	fg_xml_begin(w, "span");
	fg_xml_attribute(w, "class", "bar");
	fg_xml_attribute_printf(w, "style", "width:%.1f%%", 100 * count / most);
	fg_xml_text(w, "");
	fg_xml_end(w);
	fg_xml_end(w);
	fg_xml_end(w);
}

static const struct subject arguments = {
	.kind = &fg_called_arguments,
	.title = "Arguments",
	.has_hints = true,
};

static const struct subject durations = {
	.kind = &fg_called_durations,
	.title = "Durations",
};

static void add_heads(struct fg_xml_writer *w, const struct subject *subject, const char *last)
{
	fg_xml_begin(w, "thead");
	fg_xml_begin(w, "tr");
	for (size_t i = 0; i < subject->kind->column_count; i++)
		add_text(w, "th", NULL, subject->kind->columns[i].title);
	add_text(w, "th", "text", last);
	fg_xml_end(w);
	fg_xml_end(w);
}

static void add_row(struct fg_xml_writer *w, const struct subject *subject, const void *item,
		    const char *last)
{
	const struct fg_called_kind *kind = subject->kind;
	double values[FG_CALLED_COLUMNS_MAX];
	char text[FG_NUMBER_TEXT_SIZE];

	kind->read(item, values);
	fg_xml_begin(w, "tr");
	for (size_t i = 0; i < kind->column_count; i++)
		add_text(w, "td", NULL, fg_called_text(&kind->columns[i], values[i], text));
	add_text(w, "td", "text", last);
	fg_xml_end(w);
}

static void add_bars(struct fg_xml_writer *w, const struct fg_called_kind *kind,
		     const void *figures)
{
	unsigned count = 0;
	const double *bins = kind->bins(figures, &count);
	double most = 0;

	fg_xml_begin(w, "table");
	fg_xml_begin(w, "tbody");
	for (unsigned i = 0; i < count; i++)
		most = fmax(most, bins[i]);
	for (unsigned i = 0; i < count; i++) {
		struct fg_strbuf range = {0};

		if (bins[i] > 0) {
			kind->bin_text(i, &range);
			add_bar(w, fg_strbuf_text(&range), bins[i], most);
		}
		fg_strbuf_release(&range);
	}
	fg_xml_text(w, "");
	fg_xml_end(w);
	fg_xml_end(w);
}

static char *short_path(const struct fg_profile *profile, uint32_t stack)
{
	struct fg_strbuf text = {0};

	fg_profile_add_path(&text, profile, stack);
	return fg_strbuf_detach(&text);
}

static void add_frames(struct fg_xml_writer *w, const struct fg_profile *profile, uint32_t stack)
{
	size_t count = 0;
	const char **names = fg_stack_names(profile, stack, &count);

	fg_xml_begin(w, "ol");
	for (size_t i = 0; i < count; i++)
		add_text(w, "li", NULL, names[i]);
	fg_xml_end(w);
	free(names);
}

static void add_trace(struct fg_xml_writer *w, const struct fg_profile *profile,
		      const struct subject *subject, const struct fg_called_function *trace)
{
	char *path = short_path(profile, trace->stack);
	char count[FG_NUMBER_TEXT_SIZE];
	char *summary = fg_xasprintf("%s call%s: %s", fg_format_count(trace->calls, count),
				     trace->calls < 2 ? "" : "s", path);

	fg_xml_begin(w, "details");
	add_text(w, "summary", NULL, summary);
	fg_xml_begin(w, "table");
	add_heads(w, subject, "called by");
	fg_xml_begin(w, "tbody");
	add_row(w, subject, trace->figures, path);
	fg_xml_end(w);
	fg_xml_end(w);
	add_frames(w, profile, trace->stack);
	add_bars(w, subject->kind, trace->figures);
	fg_xml_end(w);
	free(summary);
	free(path);
}

/* Writes the call paths of one function, which are sorted. */
static void add_function(struct fg_xml_writer *w, const struct fg_profile *profile,
			 const struct subject *subject, const struct fg_called_function *traces,
			 size_t count)
{
	char *summary =
		fg_xasprintf("%s: %zu call path%s", traces[0].name, count, count == 1 ? "" : "s");

	fg_xml_begin(w, "details");
	add_text(w, "summary", NULL, summary);
	for (size_t i = 0; i < count && i < TRACES_MAX; i++)
		add_trace(w, profile, subject, &traces[i]);
	if (count > TRACES_MAX) {
		char *more = fg_xasprintf("and %zu more call path%s", count - TRACES_MAX,
					  count == TRACES_MAX + 1 ? "" : "s");

		add_text(w, "p", "quiet", more);
		free(more);
	}
	fg_xml_end(w);
	free(summary);
}

FG_ORDER_BY(by_name_and_weight, struct fg_called_function, FG_TEXT_UP(name), FG_DOWN(weight),
	    FG_UP(stack))

static size_t same_function(const struct fg_called_function *traces, size_t count)
{
	size_t same = 1;

	while (same < count && strcmp(traces[same].name, traces[0].name) == 0)
		same++;
	return same;
}

static void add_details(struct fg_xml_writer *w, const struct fg_profile *profile,
			const struct subject *subject, struct fg_called_function *traces,
			size_t count)
{
	for (size_t i = 0; i < count;) {
		const size_t same = same_function(&traces[i], count - i);

		add_function(w, profile, subject, &traces[i], same);
		i += same;
	}
}

/* ---- a section ---- */

static void begin_section(struct fg_xml_writer *w, const struct subject *subject)
{
	fg_xml_begin(w, "section");
	add_text(w, "h2", NULL, subject->title);
	fg_xml_begin(w, "table");
	add_heads(w, subject, "function");
	fg_xml_begin(w, "tbody");
}

static void add_hints(struct fg_xml_writer *w, const struct fg_profile *profile,
		      const struct fg_called_function *traces, size_t count)
{
	unsigned said = 0;

	fg_xml_begin(w, "ul");
	for (size_t i = 0; i < count && said < HINTS_MAX; i++) {
		struct fg_strbuf hint = {0};
		char *rest = NULL;

		fg_argument_hint(traces[i].function, traces[i].figures, &hint);
		rest = hint.data;
		for (char *line; (line = fg_text_next_line(&rest)); said++) {
			char *path = short_path(profile, traces[i].stack);
			char *text = fg_xasprintf("%s (%s): %s", traces[i].name, path, line);

			add_text(w, "li", NULL, text);
			free(text);
			free(path);
		}
		fg_strbuf_release(&hint);
	}
	fg_xml_text(w, "");
	fg_xml_end(w);
}

static void write_section(struct fg_xml_writer *w, const struct fg_profile *profile,
			  const struct subject *subject)
{
	struct fg_arena arena = {0};
	size_t count = 0;
	struct fg_called_function *traces = subject->kind->list(profile, &arena, &count);
	size_t sum_count = count;
	struct fg_called_function *sums = fg_called_sums(subject->kind, traces, &arena, &sum_count);

	if (count > 0) {
		qsort(traces, count, sizeof(traces[0]), by_name_and_weight);
		qsort(sums, sum_count, sizeof(sums[0]), by_name_and_weight);
		begin_section(w, subject);
		for (size_t i = 0; i < sum_count; i++)
			add_row(w, subject, sums[i].figures, sums[i].name);
		fg_xml_end(w);
		fg_xml_end(w);
		if (subject->has_hints)
			add_hints(w, profile, traces, count);
		add_details(w, profile, subject, traces, count);
		fg_xml_end(w);
	}
	free(sums);
	free(traces);
	fg_arena_release(&arena);
}

int fg_export_html(const struct fg_profile *profile, const struct fg_export_options *options,
		   struct fg_strbuf *out, struct fg_error *err)
{
	struct fg_xml_writer w = {.text = out};

	(void)options;
	if (profile->domain_count == 0 && profile->duration_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the profile has no call arguments or durations: record with "
				    "--domains, or with --calls and --times");
	begin_page(&w, profile);
	write_section(&w, profile, &arguments);
	write_section(&w, profile, &durations);
	while (w.depth > 0)
		fg_xml_end(&w);
	return FG_OK;
}
