// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json_write.h"
#include "bench/calibration/card.h"
#include "gate/statistics/proportion.h"

#include <math.h>

#define CONFIDENCE 0.95

const char *const card_conditions[CARD_CONDITIONS] = {"asfound", "busy2", "busy6"};
const char *const card_kinds[CARD_KINDS] = {"integer", "memory", "allocation", "interpreter"};

void card_add(struct card *card, const struct card_row *row)
{
	card->rows = fg_grow(card->rows, &card->capacity, card->count + 1, sizeof(card->rows[0]));
	card->rows[card->count++] = *row;
}

void card_release(struct card *card)
{
	free(card->rows);
	*card = (struct card){0};
}

const char *card_state(const struct card_row *row)
{
	double share = row->trials > 0 ? (double)row->hits / (double)row->trials : (double)NAN;
	bool met = row->at_least ? share >= row->goal : share <= row->goal;

	if (row->kind == CARD_TIME)
		return row->milliseconds <= row->goal ? "met" : "MISSED";
	if (row->trials == 0)
		return "not measured";
	if (row->kind != CARD_GOAL)
		return "";
	if (met && row->median_goal > 0)
		met = row->median_pairs <= row->median_goal;
	return met ? "met" : "MISSED";
}

static bool is_same_question(const struct card_row *a, const struct card_row *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->setting, b->setting) == 0;
}

/*
 * Returns the row for the question of rows[at] in another condition. Parts belong to the preceding
 * goal row.
 */
static const struct card_row *find_cell(const struct card *card, size_t at, const char *condition)
{
	const struct card_row *owner = NULL;
	const struct card_row *wanted = NULL;

	for (size_t i = 0; i <= at; i++) {
		if (card->rows[i].kind != CARD_PART)
			wanted = &card->rows[i];
	}
	for (size_t i = 0; i < card->count; i++) {
		const struct card_row *row = &card->rows[i];

		if (row->kind != CARD_PART)
			owner = row;
		if (row->condition && strcmp(row->condition, condition) == 0 &&
		    is_same_question(row, &card->rows[at]) && owner && wanted &&
		    (row->kind != CARD_PART || is_same_question(owner, wanted)))
			return row;
	}
	return NULL;
}

static void print_share(const struct card_row *row, FILE *out)
{
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, CONFIDENCE);
	char text[64];

	if (row->trials == 0) {
		(void)fprintf(out, " | %-39s", "not measured");
		return;
	}
	(void)fprintf(out, " | %6.2f [%5.2f, %6.2f]", 100.0 * p.estimate, 100.0 * p.low,
		      100.0 * p.high);
	if (row->kind == CARD_PART)
		(void)snprintf(text, sizeof(text), "of %+.2f +- %.2f", 100.0 * row->effect,
			       100.0 * row->effect_error);
	else if (isnan(row->median_pairs))
		(void)snprintf(text, sizeof(text), "%s", card_state(row));
	else
		(void)snprintf(text, sizeof(text), "%3.0f pairs %s", row->median_pairs,
			       card_state(row));
	(void)fprintf(out, " %-16s", text);
}

static void print_goal(const struct card_row *row, FILE *out)
{
	char text[48] = "";

	if (row->kind == CARD_GOAL && row->median_goal > 0)
		(void)snprintf(text, sizeof(text), "%s %.0f, %u pairs",
			       row->at_least ? ">=" : "<=", 100.0 * row->goal, row->median_goal);
	else if (row->kind == CARD_GOAL)
		(void)snprintf(text, sizeof(text), "%s %.0f",
			       row->at_least ? ">=" : "<=", 100.0 * row->goal);
	(void)fprintf(out, "%-14s", text);
}

static void print_row(const struct card *card, size_t at, FILE *out)
{
	const struct card_row *row = &card->rows[at];
	char label[96];

	(void)snprintf(label, sizeof(label), "%s%s%s%s", row->kind == CARD_PART ? "    " : "",
		       row->name, *row->setting ? ": " : "", row->setting);
	(void)fprintf(out, "%-62s ", label);
	if (row->kind == CARD_TIME) {
		(void)fprintf(out, "<= %.0f ms       | %.0f ms %s\n", row->goal, row->milliseconds,
			      card_state(row));
		return;
	}
	print_goal(row, out);
	if (!row->condition)
		print_share(row, out);
	for (size_t c = 0; c < CARD_CONDITIONS && row->condition; c++) {
		const struct card_row *cell = find_cell(card, at, card_conditions[c]);

		if (cell)
			print_share(cell, out);
	}
	(void)fprintf(out, "\n");
}

static void print_conditions(const struct card *card, FILE *out)
{
	(void)fprintf(out, "%-62s %-14s", "", "goal, %");
	for (size_t c = 0; c < CARD_CONDITIONS; c++) {
		double load = (double)NAN;
		char text[64];

		for (size_t i = card->count; i-- > 0;) {
			const struct card_row *row = &card->rows[i];

			if (row->condition && strcmp(row->condition, card_conditions[c]) == 0 &&
			    row->kind == CARD_GOAL && !isnan(row->load))
				load = row->load;
		}
		(void)snprintf(text, sizeof(text), "%s, load average %.1f", card_conditions[c],
			       load);
		(void)fprintf(out, " | %-39s", isnan(load) ? card_conditions[c] : text);
	}
	(void)fprintf(out, "\n");
}

void card_print(const struct card *card, FILE *out)
{
	const struct card_row *last = NULL;

	(void)fprintf(out, "Calibration card.  Decisions drawn with replacement from recorded "
			   "pairs of real programs, in %%, with Clopper-Pearson\n"
			   "95 %% intervals of the draws.  The recordings are a sample too: the "
			   "lines of single programs say what slowdown theirs show.\n\n");
	print_conditions(card, out);
	for (size_t i = 0; i < card->count; i++) {
		const struct card_row *row = &card->rows[i];

		if (row->condition && strcmp(row->condition, card_conditions[0]) != 0)
			continue;
		if (last && row->kind == CARD_RIVAL && last->kind != CARD_RIVAL)
			(void)fprintf(
				out,
				"\nRules of other tools, executions of one side after those of the "
				"other: called slower.  A side has as many runs as the tool's\n"
				"default, at most a sixth of what was recorded\n");
		else if (last && !row->condition && last->condition)
			(void)fprintf(out, "\nMade data\n");
		print_row(card, i, out);
		last = row;
	}
}

static void write_json_row(struct fg_json_writer *w, const struct card_row *row)
{
	static const char *const kinds[] = {"goal", "program", "other tool", "time"};
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, CONFIDENCE);

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "kind", kinds[row->kind]);
	fg_json_text(w, "name", row->name);
	fg_json_text(w, "setting", row->setting);
	if (row->kind == CARD_TIME) {
		fg_json_double(w, "milliseconds", row->milliseconds);
	} else {
		fg_json_text(w, "condition", row->condition);
		fg_json_int(w, "hits", (int64_t)row->hits);
		fg_json_int(w, "trials", (int64_t)row->trials);
		fg_json_double(w, "share", p.estimate);
		fg_json_double(w, "low", p.low);
		fg_json_double(w, "high", p.high);
		fg_json_double(w, "load", row->load);
		fg_json_int(w, "recorded_pairs", (int64_t)row->recorded_pairs);
		fg_json_double(w, "median_pairs", row->median_pairs);
		fg_json_double(w, "recorded_effect", row->effect);
		fg_json_double(w, "recorded_effect_error", row->effect_error);
	}
	if (row->tested > 0)
		fg_json_int(w, "functions_tested", (int64_t)row->tested);
	if (row->kind == CARD_GOAL || row->kind == CARD_TIME) {
		fg_json_double(w, "goal", row->goal);
		fg_json_bool(w, "goal_is_floor", row->at_least);
		fg_json_int(w, "goal_median_pairs", row->median_goal);
		fg_json_text(w, "state", card_state(row));
	}
	fg_json_end(w);
}

static void write_json(const struct card *card, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-calibration/1");
	fg_json_begin_array(&w, "rows");
	for (size_t i = 0; i < card->count; i++)
		write_json_row(&w, &card->rows[i]);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

int card_write(const struct card *card, const char *folder, struct fg_error *err)
{
	char *names[] = {fg_fs_join(folder, "card.txt"), fg_fs_join(folder, "card.json")};
	struct fg_strbuf json = {0};
	int status = FG_OK;

	write_json(card, &json);
	for (int i = 0; i < 2 && status == FG_OK; i++) {
		FILE *file = fopen(names[i], "w");

		if (file && i == 0)
			card_print(card, file);
		else if (file)
			(void)fwrite(json.data, 1, json.length, file);
		if (!file || fclose(file) != 0)
			status = fg_error_errno(err, FG_EIO, "cannot write '%s'", names[i]);
	}
	free(names[0]);
	free(names[1]);
	fg_strbuf_release(&json);
	return status;
}
