// SPDX-License-Identifier: Apache-2.0
/*
 * Names and numbers as people read them.
 *
 * C++ names can be of any length: a function of the standard library easily has 300 characters, of
 * which a reader needs the 20 that say what it is.  So a name that does not fit loses its template
 * arguments first (they repeat the types of the parameters), then its parameters, and only then its
 * middle; begin and end say most.
 */
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "reporters/formats.h"

#include <math.h>

#define ELLIPSIS "…"
#define ARROW    " → "

enum {
	CLEAN_LIMIT_BYTES = 128 * 1024
};

void fg_report_add_clean(struct fg_strbuf *text, const char *words, size_t limit)
{
	fg_text_add_clean(text, words, strlen(words), limit);
}

/* Is the bracket at `at` part of an operator's name (operator<, operator->, operator())? */
static bool is_operator_sign(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;
	size_t start = at;

	while (start > 0 && strchr("<>=-()", name[start - 1]))
		start--;
	if (start < length || strncmp(name + start - length, word, length) != 0)
		return false;
	/* "operator()(int)" and "operator< <int>": the second bracket opens arguments. */
	return !(name[at] == '(' && at > start);
}

/*
 * Copy `name`, with what stands between `open` and its `close` replaced by `filler` (which is the
 * brackets with an ellipsis, or nothing).  A name that does not balance is copied from the last
 * open bracket on.
 */
static void fold_brackets(struct fg_strbuf *text, const char *name, char open, char close,
			  const char *filler)
{
	size_t depth = 0;
	size_t folded_from = 0;

	for (size_t i = 0; name[i]; i++) {
		const bool sign =
			(name[i] == open || name[i] == close) && is_operator_sign(name, i);

		if (name[i] == open && !sign) {
			if (depth++ == 0)
				folded_from = i;
		} else if (name[i] == close && !sign && depth > 0) {
			if (--depth == 0)
				fg_strbuf_add_text(text, filler);
		} else if (depth == 0) {
			fg_strbuf_add_char(text, name[i]);
		}
	}
	if (depth > 0)
		fg_strbuf_add_text(text, name + folded_from);
}

/* Bytes of the character that begins here (the text is valid UTF-8). */
static size_t character_size(const char *text)
{
	size_t size = 1;

	while (((unsigned char)text[size] & 0xC0U) == 0x80U)
		size++;
	return size;
}

/* Bytes at the start that fill at most `columns` columns. */
static size_t head_bytes(const char *text, size_t columns)
{
	size_t used = 0;
	size_t at = 0;

	while (text[at]) {
		char one[8] = "";
		const size_t size = fg_min_size(character_size(text + at), sizeof(one) - 1);

		memcpy(one, text + at, size);
		used += fg_text_width(one);
		if (used > columns)
			break;
		at += size;
	}
	return at;
}

/* First byte of an end that fills at most `columns` columns. */
static size_t tail_start(const char *text, size_t columns)
{
	size_t at = strlen(text);
	size_t used = 0;

	while (at > 0) {
		size_t before = at - 1;
		char one[8] = "";

		while (before > 0 && ((unsigned char)text[before] & 0xC0U) == 0x80U)
			before--;
		memcpy(one, text + before, fg_min_size(at - before, sizeof(one) - 1));
		used += fg_text_width(one);
		if (used > columns)
			break;
		at = before;
	}
	return at;
}

static void add_without_middle(struct fg_strbuf *text, const char *name, size_t columns)
{
	const size_t room = columns > 1 ? columns - 1 : 0;
	const size_t tail = room / 3;

	fg_strbuf_add(text, name, head_bytes(name, room - tail));
	fg_strbuf_add_text(text, ELLIPSIS);
	fg_strbuf_add_text(text, name + tail_start(name, tail));
}

static void swap_in(struct fg_strbuf *name, struct fg_strbuf *shorter)
{
	const struct fg_strbuf old = *name;

	*name = *shorter;
	*shorter = old;
	fg_strbuf_clear(shorter);
}

static void add_fitted(struct fg_strbuf *text, const struct fg_strbuf *name, size_t columns)
{
	if (columns == 0 || fg_text_width(fg_strbuf_text(name)) <= columns)
		fg_strbuf_add(text, fg_strbuf_text(name), name->length);
	else
		add_without_middle(text, fg_strbuf_text(name), columns);
}

static void add_folded_name(struct fg_strbuf *text, const char *name, size_t columns, bool always,
			    const char *angle, const char *round)
{
	struct fg_strbuf now = {0};
	struct fg_strbuf shorter = {0};

	if (*name)
		fg_text_add_clean(&now, name, strlen(name), CLEAN_LIMIT_BYTES);
	else
		fg_strbuf_add_text(&now, "[no name]");
	if (always || (columns > 0 && fg_text_width(fg_strbuf_text(&now)) > columns)) {
		fold_brackets(&shorter, fg_strbuf_text(&now), '<', '>', angle);
		swap_in(&now, &shorter);
	}
	if (always || (columns > 0 && fg_text_width(fg_strbuf_text(&now)) > columns)) {
		fold_brackets(&shorter, fg_strbuf_text(&now), '(', ')', round);
		swap_in(&now, &shorter);
	}
	add_fitted(text, &now, columns);
	fg_strbuf_release(&now);
	fg_strbuf_release(&shorter);
}

void fg_report_add_name(struct fg_strbuf *text, const char *name, size_t columns)
{
	add_folded_name(text, name, columns, false, "<" ELLIPSIS ">", "(" ELLIPSIS ")");
}

void fg_report_add_plain_name(struct fg_strbuf *text, const char *name, size_t columns)
{
	add_folded_name(text, name, columns, true, "", "");
}

/*
 * How every program begins is no news: the frames before main, or before what a thread was given to
 * do.
 */
static size_t frames_before_main(const struct fg_path_verdict *path)
{
	static const char *const starters[] = {"_start",
					       "__libc_start_main",
					       "__libc_start_call_main",
					       "clone",
					       "clone3",
					       "start_thread",
					       NULL};
	size_t at = 0;

	while (at + 1 < path->frame_count) {
		size_t i = 0;

		while (starters[i] && !fg_text_starts_with(path->frames[at], starters[i]))
			i++;
		if (!starters[i])
			break;
		at++;
	}
	return at;
}

/* The path from frame `first` on, with `left_out` frames missing behind it. */
static void add_path_without(struct fg_strbuf *text, const struct fg_path_verdict *path,
			     size_t first, size_t left_out)
{
	enum {
		FRAME_COLUMNS = 40
	};

	for (size_t i = first; i < path->frame_count; i++) {
		if (i > first)
			fg_strbuf_add_text(text, ARROW);
		if (left_out > 0 && i == first + 1) {
			fg_strbuf_add_text(text, ELLIPSIS ARROW);
			i += left_out;
		}
		fg_report_add_plain_name(text, path->frames[i], FRAME_COLUMNS);
	}
}

void fg_report_add_path(struct fg_strbuf *text, const struct fg_path_verdict *path, size_t columns)
{
	const size_t first = frames_before_main(path);
	const size_t most = path->frame_count > first + 2 ? path->frame_count - first - 2 : 0;
	struct fg_strbuf whole = {0};
	size_t left_out =
		most > 5 ? most - 5 : 0; /* nobody reads more than seven frames in one line */

	for (;; left_out++) {
		fg_strbuf_clear(&whole);
		add_path_without(&whole, path, first, left_out);
		if (columns == 0 || left_out >= most ||
		    fg_text_width(fg_strbuf_text(&whole)) <= columns)
			break;
	}
	add_fitted(text, &whole, columns);
	fg_strbuf_release(&whole);
}

void fg_report_add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (isfinite(metric->ratio))
		fg_strbuf_add_text(text, fg_format_change(metric->ratio - 1, number));
}

static void add_bound(struct fg_strbuf *text, double ratio)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	const char *change = NULL;

	if (!isfinite(ratio)) {
		fg_strbuf_add_text(text, ELLIPSIS);
		return;
	}
	change = fg_format_change(ratio - 1, number);
	fg_strbuf_add(text, change, strcspn(change, " "));
}

void fg_report_add_interval(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	if (isnan(metric->low) && isnan(metric->high))
		return;
	fg_strbuf_add_char(text, '[');
	add_bound(text, metric->low);
	fg_strbuf_add_text(text, ", ");
	add_bound(text, metric->high);
	fg_strbuf_add_char(text, ']');
}

void fg_report_add_levels(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	const bool both = isfinite(metric->baseline) && isfinite(metric->candidate);

	if (isfinite(metric->baseline))
		fg_report_add_clean(text, fg_format_value(metric->baseline, metric->unit, number),
				    FG_NUMBER_TEXT_SIZE);
	if (both)
		fg_strbuf_add_text(text, ARROW);
	if (isfinite(metric->candidate))
		fg_report_add_clean(text, fg_format_value(metric->candidate, metric->unit, number),
				    FG_NUMBER_TEXT_SIZE);
}

void fg_report_add_effort(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	fg_strbuf_printf(text, "%u pair%s", benchmark->pairs, benchmark->pairs == 1 ? "" : "s");
	if (benchmark->seconds >= 1 && benchmark->seconds < 120)
		fg_strbuf_printf(text, ", %.0f s", benchmark->seconds);
	else if (benchmark->seconds > 0)
		fg_strbuf_printf(text, ", %s",
				 fg_format_duration(benchmark->seconds * 1e9, number));
}

void fg_report_add_delta_ms(struct fg_strbuf *text, double delta_ms)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (!isfinite(delta_ms))
		return;
	if (fabs(delta_ms) >= 0.1 && fabs(delta_ms) < 1000)
		fg_strbuf_printf(text, "%+.*f ms", fabs(delta_ms) < 99.95 ? 1 : 0, delta_ms);
	else
		fg_strbuf_printf(text, "%s%s", delta_ms < 0 ? "-" : "+",
				 fg_format_duration(fabs(delta_ms) * 1e6, number));
}

void fg_report_add_place(struct fg_strbuf *text, const struct fg_node_verdict *node, bool whole)
{
	const char *file = node->file;

	if (!file || !*file)
		return;
	if (!whole && strrchr(file, '/') && strrchr(file, '/')[1])
		file = strrchr(file, '/') + 1;
	fg_report_add_clean(text, file, 4096);
	if (node->line > 0)
		fg_strbuf_printf(text, ":%u", node->line);
}

void fg_report_add_accept(struct fg_strbuf *text, const struct fg_accept *accept)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	char when[FG_TIME_TEXT_SIZE] = "";

	fg_strbuf_add_text(text, "accepted");
	if (isfinite(accept->up_to))
		fg_strbuf_printf(text, " up to %s", fg_format_change(accept->up_to, number));
	if (accept->until_ns != INT64_MAX) {
		fg_time_format_utc(accept->until_ns, when);
		fg_strbuf_printf(text, " until %.10s", when);
	}
	if (accept->reason && *accept->reason) {
		fg_strbuf_add_text(text, ": ");
		fg_report_add_clean(text, accept->reason, 400);
	}
	if (accept->source && *accept->source) {
		fg_strbuf_add_text(text, " (");
		fg_report_add_clean(text, accept->source, 200);
		fg_strbuf_add_char(text, ')');
	}
}

/* The reasons for which a repetition does not count, joined by '+'. */
void fg_report_add_aside(struct fg_strbuf *text, unsigned aside)
{
	static const struct {
		unsigned bit;
		const char *word;
	} reasons[] = {
		{FG_ASIDE_WARMUP, "warmup"},       {FG_ASIDE_OVERLAP, "overlap"},
		{FG_ASIDE_STEAL, "steal"},         {FG_ASIDE_SOLO, "solo"},
		{FG_ASIDE_TRIAL, "trial"},         {FG_ASIDE_UNPAIRED, "unpaired"},
		{FG_ASIDE_UNSAMPLED, "unsampled"}, {FG_ASIDE_GIVEN_UP, "given_up"},
	};
	bool first = true;

	for (size_t i = 0; i < FG_ARRAY_SIZE(reasons); i++) {
		if (!(aside & reasons[i].bit))
			continue;
		fg_strbuf_printf(text, "%s%s", first ? "" : "+", reasons[i].word);
		first = false;
	}
}
