// SPDX-License-Identifier: Apache-2.0
#include "reporters/explain.h"

#include "base/text.h"
#include "model/build_difference.h"
#include "reporters/card.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

enum {
	MAX_FUNCTIONS = 5,
	MAX_PATHS = 3,           /* maximum number of call paths per function */
	QUOTE_BYTES = 20 * 1024, /* maximum size of the quoted terminal report, in bytes */
	NAME_COLUMNS = 120,
	PATH_COLUMNS = 300,
	NOTE_BYTES = 400,
	MAX_NOTES = 8,
	MAX_NAMED = 6, /* maximum number of libraries or facts listed as different */
	SHORT_COMMIT = 12,
	ROW_BYTES = 800, /* maximum size of a row, in bytes */
	MAX_CAUSES = 5,
	MAX_INSTRUCTIONS = 12,
	MAX_OTHERS = 10, /* maximum number of other benchmarks listed */
};

/* A document, either as text or as JSON. */
struct page {
	const struct fg_report *report;
	struct fg_card card;
	struct fg_arena arena;
	struct fg_strbuf *text;
	size_t start;
	struct fg_json_writer w;
	bool is_json;
};

/* ---- text and JSON ---- */

static void begin(struct page *p, const char *name)
{
	if (p->is_json)
		fg_json_begin_array(&p->w, name);
}

static void end(struct page *p)
{
	if (p->is_json)
		fg_json_end(&p->w);
}

/* Adds a heading, which only the text form has. */
static void heading(struct page *p, const char *words, const char *of)
{
	if (!p->is_json)
		fg_strbuf_printf(p->text, "\n%s%s%s\n", words, of ? ": " : "", of ? of : "");
}

static void add_words(struct page *p, const char *name, const char *words)
{
	if (p->is_json)
		fg_json_text(&p->w, name, words);
	else
		fg_strbuf_printf(p->text, "  %s\n", words);
}

static bool is_full(const struct page *p)
{
	return p->text->length - p->start + ROW_BYTES > FG_EXPLAIN_BYTES;
}

/* ---- the rule ---- */

static const char *const reasons[] = {
	[FG_OUTCOME_PASS] = "the interval lies below the margin",
	[FG_OUTCOME_NEW] = "nothing was compared",
	[FG_OUTCOME_MISSING] = "nothing was compared",
	[FG_OUTCOME_IMPROVEMENT] =
		"the interval lies below zero, and the estimate is −min_effect or less",
	[FG_OUTCOME_PLACEMENT] =
		"code and inputs are the same on both sides; only addresses differ",
	[FG_OUTCOME_INCONCLUSIVE] =
		"the interval contains changes that would pass and changes that would fail",
	[FG_OUTCOME_CREEP] = "the small steps of many commits add up to more than is tolerated",
	[FG_OUTCOME_REGRESSION] =
		"the interval lies above `tolerated`, and the estimate is at least min_effect",
	[FG_OUTCOME_ERROR] = "nothing was compared",
};

/* An exact metric has no interval: its difference is compared with the tolerance. */
static void add_reason(const struct fg_metric_verdict *metric, struct fg_strbuf *text)
{
	const bool is_equal = metric->outcome == FG_OUTCOME_PASS;

	if (metric->exact && (is_equal || metric->outcome == FG_OUTCOME_REGRESSION ||
			      metric->outcome == FG_OUTCOME_IMPROVEMENT))
		fg_strbuf_printf(text, "exact: the difference %s the tolerance",
				 is_equal ? "is within" : "exceeds");
	else
		fg_strbuf_printf(text, "%s (alpha %.3g %%, min_effect %.3g %%, margin %.3g %%)",
				 reasons[metric->outcome], 100 * metric->alpha,
				 100 * metric->min_effect, 100 * metric->margin);
}

static void add_rule_numbers(struct fg_json_writer *w, const struct fg_metric_verdict *metric)
{
	fg_json_text(w, "metric", metric->name);
	fg_json_text(w, "unit", metric->unit);
	fg_json_double(w, "baseline", metric->baseline);
	fg_json_double(w, "candidate", metric->candidate);
	fg_json_double(w, "ratio", metric->ratio);
	fg_json_double(w, "low", metric->low);
	fg_json_double(w, "high", metric->high);
	fg_json_double(w, "alpha", metric->alpha);
	fg_json_double(w, "min_effect", metric->min_effect);
	fg_json_double(w, "margin", metric->margin);
	fg_json_double(w, "p_value", metric->p_value);
	fg_json_int(w, "pairs", (int64_t)metric->pairs);
	fg_json_int(w, "looks", (int64_t)metric->looks);
}

static void add_rule(struct page *p)
{
	const struct fg_metric_verdict *metric = fg_report_headline(p->card.benchmark);
	struct fg_strbuf line = {0};

	if (!metric)
		return;
	add_reason(metric, &line);
	heading(p, "rule", NULL);
	if (p->is_json) {
		fg_json_begin_object(&p->w, "rule");
		add_rule_numbers(&p->w, metric);
	}
	add_words(p, "because", fg_strbuf_text(&line));
	end(p);
	fg_strbuf_release(&line);
}

/* ---- JSON only: functions, their callers, notes ---- */

static void add_notes(struct page *p)
{
	const struct fg_benchmark_verdict *benchmark = p->card.benchmark;
	struct fg_note_place place = {0};

	fg_json_begin_array(&p->w, "notes");
	for (size_t i = 0; i < MAX_NOTES; i++) {
		const char *note = i < benchmark->notes.count
					   ? benchmark->notes.items[i]
					   : fg_report_next_metric_note(benchmark, &place);

		if (note)
			fg_json_text_sized(&p->w, NULL, note, strnlen(note, NOTE_BYTES));
	}
	fg_json_end(&p->w);
}

static void add_function(struct page *p, const struct fg_node_verdict *node)
{
	struct fg_strbuf words = {0};

	fg_report_add_name(&words, node->name, NAME_COLUMNS);
	fg_json_begin_object(&p->w, NULL);
	fg_json_text(&p->w, "function", fg_strbuf_text(&words));
	fg_json_text(&p->w, "standing", fg_standing_name(node->standing));
	fg_json_double(&p->w, "delta", node->delta);
	fg_json_text(&p->w, "unit", node->unit);
	fg_json_double(&p->w, "share_of_change", node->share_of_change);
	fg_card_write_mechanism(node->mechanism, &p->w);
	fg_json_begin_array(&p->w, "callers");
	for (size_t i = 0; i < node->path_count && i < MAX_PATHS && !is_full(p); i++) {
		fg_strbuf_clear(&words);
		fg_report_add_path(&words, &node->paths[i], PATH_COLUMNS);
		fg_json_begin_object(&p->w, NULL);
		fg_json_text(&p->w, "path", fg_strbuf_text(&words));
		fg_json_double(&p->w, "delta", node->paths[i].delta);
		fg_json_end(&p->w);
	}
	fg_json_end(&p->w);
	fg_json_end(&p->w);
	fg_strbuf_release(&words);
}

static void add_functions(struct page *p)
{
	const struct fg_blame *blame = fg_report_blame(p->card.benchmark, 0);

	fg_json_begin_array(&p->w, "functions");
	for (size_t i = 0; i < blame->function_count && i < MAX_FUNCTIONS && !is_full(p); i++)
		add_function(p, &blame->functions[i]);
	fg_json_end(&p->w);
}

/* ---- lines and instructions ---- */

static void add_row(struct page *p, const struct fg_hunk *hunk, size_t i)
{
	const struct fg_source_row *row = hunk->rows[i];
	struct fg_strbuf line = {0};

	if (p->is_json) {
		fg_json_begin_object(&p->w, NULL);
		fg_json_int(&p->w, "before", (int64_t)row->line[0]);
		fg_json_int(&p->w, "after", (int64_t)row->line[1]);
		fg_json_double(&p->w, "ms_before", row->cost[0]);
		fg_json_double(&p->w, "ms_after", row->cost[1]);
		fg_json_text(&p->w, "text", row->text);
		fg_json_end(&p->w);
	} else {
		fg_hunk_add_line(&line, hunk, i, 0);
		add_words(p, NULL, fg_strbuf_text(&line));
	}
	fg_strbuf_release(&line);
}

/* Adds at most `most` rows of the source or of the instructions. */
static void add_listing(struct page *p, const char *name, const struct fg_source_listing *listing,
			size_t most)
{
	struct fg_strbuf file = {0};
	struct fg_hunk hunk;

	if (!listing || is_full(p))
		return;
	fg_hunk_take(listing, most, &hunk);
	fg_report_add_clean(&file, listing->file, NAME_COLUMNS);
	heading(p, name, fg_strbuf_text(&file));
	if (p->is_json) {
		fg_json_begin_object(&p->w, name);
		fg_json_text(&p->w, "file", fg_strbuf_text(&file));
	}
	begin(p, "rows");
	for (size_t i = 0; i < hunk.count && !is_full(p); i++)
		add_row(p, &hunk, i);
	end(p);
	end(p);
	fg_strbuf_release(&file);
}

/* ---- counted work ---- */

static void add_work(struct page *p)
{
	const struct fg_work_verdict *work = p->card.benchmark->work;
	struct fg_strbuf name = {0};
	struct fg_strbuf line = {0};

	if (!work)
		return;
	fg_report_add_name(&name, work->function ? work->function : "", NAME_COLUMNS);
	fg_strbuf_printf(&line, "%s: %.4g → %.4g instructions", fg_work_name(work->kind),
			 work->instructions[0], work->instructions[1]);
	if (work->calls[1] > 0)
		fg_strbuf_printf(&line, ", %.4g → %.4g calls", work->calls[0], work->calls[1]);
	if (work->function)
		fg_strbuf_printf(&line,
				 "; most of it in %s: %.4g → %.4g instructions, %.4g → "
				 "%.4g calls",
				 fg_strbuf_text(&name), work->function_instructions[0],
				 work->function_instructions[1], work->function_calls[0],
				 work->function_calls[1]);
	heading(p, "counted work", NULL);
	add_words(p, "work", fg_strbuf_text(&line));
	fg_strbuf_release(&name);
	fg_strbuf_release(&line);
}

/* ---- other causes ---- */

struct cause {
	const char *what;
	bool is_ruled_out;
	struct fg_strbuf finding;
};

static void add_name(struct fg_strbuf *text, const char *name, size_t count)
{
	if (count < MAX_NAMED) {
		fg_strbuf_add_text(text, count > 0 ? ", " : "");
		fg_report_add_clean(text, name, NAME_COLUMNS);
	} else if (count == MAX_NAMED) {
		fg_strbuf_add_text(text, " and more");
	}
}

static void look_at_placement(const struct page *p, const struct fg_series *series,
			      struct cause *cause)
{
	cause->what = "placement";
	cause->is_ruled_out =
		series && series->layouts > 1 && p->card.benchmark->outcome != FG_OUTCOME_PLACEMENT;
	if (series && series->layouts > 1)
		fg_strbuf_printf(&cause->finding, "measured with the code at %u offsets in turn",
				 series->layouts);
	else
		fg_strbuf_add_text(&cause->finding, "measured in the default layout only");
}

static void look_at_inputs(const struct fg_series *series, struct cause *cause)
{
	const char *before = series ? series->build[FG_ARM_BASELINE].inputs : NULL;
	const char *after = series ? series->build[FG_ARM_CANDIDATE].inputs : NULL;

	cause->what = "inputs";
	cause->is_ruled_out = fg_fact_is_equal(before, after);
	fg_strbuf_add_text(&cause->finding, cause->is_ruled_out ? "the same files"
					    : before && after   ? "files differ"
								: "not recorded");
}

static void look_at_environment(const struct page *p, struct cause *cause)
{
	const struct fg_verdict *verdict = p->report->verdict;
	size_t count = 0;

	cause->what = "environment";
	for (size_t i = 0; i < verdict->environment_difference_count; i++) {
		const struct fg_fact_difference *difference = &verdict->environment_difference[i];

		if (difference->identity)
			add_name(&cause->finding, difference->key, count++);
	}
	cause->is_ruled_out = count == 0 && p->card.benchmark->schedule != FG_SCHEDULE_STORED;
	if (count > 0)
		fg_strbuf_add_text(&cause->finding, " differ");
	else
		fg_strbuf_add_text(&cause->finding, cause->is_ruled_out
							    ? "one host and session, in pairs"
							    : "two sessions");
}

static void look_at_libraries(const struct fg_series *series, struct cause *cause)
{
	static const struct fg_build_facts none;
	struct fg_library_pair pair = {
		.builds = {series ? &series->build[FG_ARM_BASELINE] : &none,
			   series ? &series->build[FG_ARM_CANDIDATE] : &none}};
	size_t known = 0;
	size_t count = 0;

	cause->what = "libraries";
	while (fg_library_pair_next(&pair)) {
		known += pair.sides[FG_ARM_CANDIDATE] != NULL;
		if (pair.sides[FG_ARM_CANDIDATE] && !fg_library_pair_is_same(&pair))
			add_name(&cause->finding, fg_library_pair_name(&pair), count++);
	}
	cause->is_ruled_out = known > 0 && count == 0;
	if (count > 0)
		fg_strbuf_add_text(&cause->finding, " differ");
	else
		fg_strbuf_add_text(&cause->finding, known ? "the same files" : "not recorded");
}

static void look_at_build(const struct fg_series *series, struct cause *cause)
{
	struct fg_build_difference difference = {0};

	if (series)
		difference = fg_build_difference_of(&series->build[FG_ARM_BASELINE],
						    &series->build[FG_ARM_CANDIDATE]);
	cause->what = "build";
	cause->is_ruled_out = !difference.text && series &&
			      fg_build_facts_count(&series->build[FG_ARM_BASELINE]) > 0;
	fg_report_add_clean(&cause->finding,
			    difference.text       ? difference.text
			    : cause->is_ruled_out ? "the same compiler and options"
						  : "not recorded",
			    NOTE_BYTES);
	free(difference.text);
}

static void add_ruled_out(struct page *p)
{
	const struct fg_series *series = fg_run_find(p->report->run, p->card.benchmark->name);
	struct cause causes[MAX_CAUSES] = {0};

	look_at_placement(p, series, &causes[0]);
	look_at_inputs(series, &causes[1]);
	look_at_environment(p, &causes[2]);
	look_at_libraries(series, &causes[3]);
	look_at_build(series, &causes[4]);
	heading(p, "other causes", NULL);
	begin(p, "other_causes");
	for (size_t i = 0; i < MAX_CAUSES; i++) {
		const char *finding = fg_strbuf_text(&causes[i].finding);

		if (p->is_json) {
			fg_json_begin_object(&p->w, NULL);
			fg_json_text(&p->w, "what", causes[i].what);
			fg_json_bool(&p->w, "ruled_out", causes[i].is_ruled_out);
			fg_json_text(&p->w, "finding", finding);
			fg_json_end(&p->w);
		} else {
			fg_strbuf_printf(p->text, "  %-12s %-15s %s\n", causes[i].what,
					 causes[i].is_ruled_out ? "ruled out" : "not ruled out",
					 finding);
		}
		fg_strbuf_release(&causes[i].finding);
	}
	end(p);
}

/* ---- commands ---- */

static void add_difference_command(struct page *p)
{
	const struct fg_side *sides = p->report->run->sides;
	const struct fg_node_verdict *culprit = p->card.culprit;
	const char *file = culprit && culprit->source ? culprit->source->file : NULL;
	struct fg_strbuf line = {0};
	char *words[] = {NULL, NULL};

	if (!sides[FG_ARM_BASELINE].commit || !sides[FG_ARM_CANDIDATE].commit || !file ||
	    strlen(file) > PATH_COLUMNS)
		return;
	fg_strbuf_printf(&line, "git diff %.*s", SHORT_COMMIT, sides[FG_ARM_BASELINE].commit);
	if (!sides[FG_ARM_CANDIDATE].dirty)
		fg_strbuf_printf(&line, " %.*s", SHORT_COMMIT, sides[FG_ARM_CANDIDATE].commit);
	fg_strbuf_add_text(&line, " -- ");
	words[0] = fg_xstrdup(file);
	fg_text_quote_words(&line, words);
	add_words(p, NULL, fg_strbuf_text(&line));
	free(words[0]);
	fg_strbuf_release(&line);
}

static void add_reproduce(struct page *p)
{
	heading(p, "reproduce", NULL);
	begin(p, "reproduce");
	for (size_t i = 0; p->is_json && i < p->card.next_count; i++) {
		if (strcmp(p->card.next[i].what, "again") == 0)
			add_words(p, NULL, p->card.next[i].text);
	}
	add_difference_command(p);
	add_words(p, NULL,
		  fg_arena_printf(&p->arena, "fastgate report %s --format html -o report.html",
				  p->report->run->id));
	end(p);
}

/* ---- the other benchmarks ---- */

static void add_other(struct page *p, const struct fg_benchmark_verdict *benchmark)
{
	struct fg_arena arena = {0};
	struct fg_strbuf name = {0};
	struct fg_card card;

	fg_card_make(p->report, benchmark, &arena, &card);
	if (p->is_json) {
		fg_report_add_name(&name, benchmark->name, NAME_COLUMNS);
		fg_json_begin_object(&p->w, NULL);
		fg_json_text(&p->w, "benchmark", fg_strbuf_text(&name));
		fg_json_text(&p->w, "state", fg_report_state(benchmark));
		fg_json_text(&p->w, "sentence", card.sentence);
		fg_json_end(&p->w);
	} else {
		add_words(p, NULL, card.sentence);
	}
	fg_strbuf_release(&name);
	fg_arena_release(&arena);
}

/* Adds the most urgent of the other benchmarks that did not pass. */
static void add_others(struct page *p)
{
	const struct fg_verdict *verdict = p->report->verdict;
	size_t *order = fg_report_worst_first(verdict);
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *other = &verdict->benchmarks[order[i]];

		if (other == p->card.benchmark || other->outcome == FG_OUTCOME_PASS)
			continue;
		if (count == 0) {
			heading(p, "other benchmarks that did not pass", NULL);
			begin(p, "others");
		}
		if (count++ < MAX_OTHERS)
			add_other(p, other);
	}
	if (count > 0) {
		if (count > MAX_OTHERS && !p->is_json)
			fg_strbuf_printf(p->text, "  and %zu more\n", count - MAX_OTHERS);
		if (!p->is_json)
			fg_strbuf_printf(
				p->text,
				"  explain one of them: fastgate explain %s --bench NAME\n",
				p->report->run->id);
		end(p);
	}
	free(order);
}

/* ---- the document ---- */

static void add_evidence(struct page *p)
{
	add_rule(p);
	add_work(p);
	add_ruled_out(p);
	add_reproduce(p);
	add_others(p);
}

void fg_explain_json(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text)
{
	struct page p = {.report = report, .text = text, .start = text->length, .is_json = true};

	fg_card_make(report, benchmark, &p.arena, &p.card);
	fg_json_writer_init(&p.w, text, 1);
	fg_json_begin_object(&p.w, NULL);
	fg_json_text(&p.w, "schema", FG_EXPLAIN_SCHEMA);
	fg_json_text(&p.w, "run", report->run->id);
	fg_card_write_json(report, benchmark, &p.w);
	if (p.card.benchmark) {
		add_evidence(&p);
		/* Lists that may be cut off come last. */
		add_notes(&p);
		add_functions(&p);
		if (p.card.culprit)
			add_listing(&p, "source", p.card.culprit->source, FG_SOURCE_ROWS_MAX);
		if (p.card.culprit)
			add_listing(&p, "assembly", p.card.culprit->assembly, MAX_INSTRUCTIONS);
	}
	fg_json_end(&p.w);
	fg_strbuf_add_char(text, '\n');
	fg_arena_release(&p.arena);
}

/* Quotes the benchmark's part of the terminal report, cut at a line's end. */
static void add_quote(struct page *p)
{
	struct fg_strbuf quote = {0};
	size_t length = 0;

	fg_terminal_quote(p->report, p->card.benchmark, true, &quote);
	for (const char *at = fg_strbuf_text(&quote); *at && length < QUOTE_BYTES;) {
		at = strchrnul(at, '\n');
		at += *at == '\n';
		if ((size_t)(at - quote.data) > QUOTE_BYTES)
			break;
		length = (size_t)(at - quote.data);
	}
	fg_strbuf_add_char(p->text, '\n');
	fg_strbuf_add(p->text, fg_strbuf_text(&quote), length);
	fg_strbuf_release(&quote);
}

static void drop_step(struct fg_card *card, const char *what)
{
	size_t kept = 0;

	for (size_t i = 0; i < card->next_count; i++) {
		if (strcmp(card->next[i].what, what) != 0)
			card->next[kept++] = card->next[i];
	}
	card->next_count = kept;
}

void fg_explain_text(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text)
{
	struct page p = {.report = report, .text = text, .start = text->length};

	fg_card_make(report, benchmark, &p.arena, &p.card);
	drop_step(&p.card, "explain");
	fg_strbuf_printf(text, "%s\n", p.card.sentence);
	fg_card_add_steps(&p.card, text);
	if (p.card.benchmark) {
		add_quote(&p);
		add_evidence(&p);
		if (p.card.culprit)
			add_listing(&p, "assembly", p.card.culprit->assembly, MAX_INSTRUCTIONS);
	}
	fg_arena_release(&p.arena);
}
