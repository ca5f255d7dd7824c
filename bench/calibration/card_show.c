// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json_write.h"
#include "bench/calibration/card.h"
#include "stats/distributions.h"

#include <math.h>

#define CONFIDENCE 0.95

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

static const char *setting_of(const struct card_row *row)
{
	return row->setting ? row->setting : row->setting_text;
}

static const char *state_of(const struct card_row *row)
{
	double share = row->trials > 0 ? (double)row->hits / (double)row->trials : (double)NAN;
	bool met = row->at_least ? share >= row->goal : share <= row->goal;

	if (row->is_time)
		return row->milliseconds <= row->goal ? "met" : "MISSED";
	if (row->rival)
		return "";
	if (row->trials == 0)
		return "not measured";
	if (met && row->median_goal > 0)
		met = row->median_pairs <= row->median_goal;
	return met ? "met" : "MISSED";
}

static void print_row(const struct card_row *row, FILE *out)
{
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, CONFIDENCE);

	if (row->is_time) {
		(void)fprintf(out, "%-28s %-38s %-6s %.0f ms%32s goal <= %.0f ms  %s\n", row->name,
			      setting_of(row), "", row->milliseconds, "", row->goal, state_of(row));
		return;
	}
	(void)fprintf(out, "%-28s %-38s %-6s ", row->name, setting_of(row), row->condition);
	if (row->trials == 0) {
		(void)fprintf(out, "not measured\n");
		return;
	}
	(void)fprintf(out, "%6.2f %% [%5.2f, %5.2f] of %-5zu", 100.0 * p.estimate, 100.0 * p.low,
		      100.0 * p.high, row->trials);
	if (row->rival) {
		(void)fprintf(out, " at %+.1f %%, %zu runs a side\n", row->permille / 10.0,
			      row->runs);
		return;
	}
	if (!isnan(row->median_pairs))
		(void)fprintf(out, " median %3.0f pairs", row->median_pairs);
	(void)fprintf(out, " goal %s %.0f %%", row->at_least ? ">=" : "<=", 100.0 * row->goal);
	if (row->median_goal > 0)
		(void)fprintf(out, ", <= %u pairs", row->median_goal);
	(void)fprintf(out, "  %s\n", state_of(row));
}

void card_print(const struct card *card, FILE *out)
{
	(void)fprintf(
		out,
		"Calibration card: decisions drawn with replacement from recorded pairs of real programs;\n"
		"intervals are Clopper-Pearson, 95 %%, of the draws (the recordings themselves are a sample too).\n\n");
	for (size_t i = 0; i < card->count; i++) {
		const struct card_row *row = &card->rows[i];

		if (i > 0 && row->rival && !card->rows[i - 1].rival)
			(void)fprintf(
				out,
				"\nRules of other tools, on executions one side after the other: called slower\n");
		else if (i == 0 || (!row->rival && !row->is_time &&
				    strcmp(row->condition, card->rows[i - 1].condition) != 0))
			(void)fprintf(
				out,
				"%s%s (mean load average %.1f, %zu pairs recorded for its first row)\n",
				i ? "\n" : "", row->condition, row->load, row->recorded_pairs);
		print_row(row, out);
	}
}

static void write_json_row(struct fg_json_writer *w, const struct card_row *row)
{
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, CONFIDENCE);

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", row->name);
	fg_json_text(w, "setting", setting_of(row));
	if (row->is_time) {
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
	}
	if (row->rival) {
		fg_json_int(w, "runs", (int64_t)row->runs);
		fg_json_int(w, "slower_permille", row->permille);
	} else {
		fg_json_double(w, "median_pairs", row->is_time ? (double)NAN : row->median_pairs);
		fg_json_double(w, "goal", row->goal);
		fg_json_bool(w, "goal_is_floor", row->at_least);
		fg_json_text(w, "state", state_of(row));
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

enum {
	BAR_HEIGHT = 18,
	BAR_LEFT = 460,
	BAR_WIDTH = 400,
	PLOT_WIDTH = 980,
};

/* One bar per measured row, its interval as a line, its goal as a tick. */
static void draw_bar(const struct card_row *row, size_t slot, struct fg_strbuf *text)
{
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, CONFIDENCE);
	double y = 30.0 + (double)slot * BAR_HEIGHT;

	fg_strbuf_printf(text, "<text x=\"8\" y=\"%.0f\">%s, %s, %s", y + 12, row->name,
			 setting_of(row), row->condition);
	if (row->rival)
		fg_strbuf_printf(text, ", %+.1f %%", row->permille / 10.0);
	fg_strbuf_printf(
		text,
		"</text>\n<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"12\" class=\"%s\"/>\n",
		BAR_LEFT, y + 2, BAR_WIDTH * p.estimate, row->rival ? "rival" : "own");
	fg_strbuf_printf(
		text, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#000\"/>\n",
		BAR_LEFT + BAR_WIDTH * p.low, BAR_LEFT + BAR_WIDTH * p.high, y + 8, y + 8);
	if (!row->rival)
		fg_strbuf_printf(
			text,
			"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#c00\" stroke-width=\"2\"/>\n",
			BAR_LEFT + BAR_WIDTH * row->goal, BAR_LEFT + BAR_WIDTH * row->goal, y,
			y + 16);
	fg_strbuf_printf(text, "<text x=\"%d\" y=\"%.0f\">%.2f %% %s</text>\n",
			 BAR_LEFT + BAR_WIDTH + 8, y + 12, 100.0 * p.estimate, state_of(row));
}

static void draw_plot(const struct card *card, struct fg_strbuf *text)
{
	size_t slot = 0;

	fg_strbuf_printf(
		text,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<title>Calibration card</title>\n"
		"<style>.own{fill:#3b74b9}.rival{fill:#b0a08a}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"8\" y=\"16\">share of decisions, 95 %% interval, goal in red</text>\n",
		PLOT_WIDTH, 50 + card->count * BAR_HEIGHT);
	for (size_t i = 0; i < card->count; i++) {
		if (card->rows[i].trials > 0)
			draw_bar(&card->rows[i], slot++, text);
	}
	fg_strbuf_add_text(text, "</svg>\n");
}

static int write_text(const char *folder, const char *name, const struct fg_strbuf *text,
		      struct fg_error *err)
{
	char *path = fg_fs_join(folder, name);
	FILE *file = fopen(path, "w");
	int status = FG_OK;

	if (!file || fwrite(text->data, 1, text->length, file) != text->length)
		status = fg_error_errno(err, FG_EIO, "cannot write '%s'", path);
	if (file && fclose(file) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "cannot write '%s'", path);
	free(path);
	return status;
}

int card_write(const struct card *card, const char *folder, struct fg_error *err)
{
	struct fg_strbuf json = {0};
	struct fg_strbuf plot = {0};
	int status;

	write_json(card, &json);
	draw_plot(card, &plot);
	status = write_text(folder, "card.json", &json, err);
	if (status == FG_OK)
		status = write_text(folder, "card.svg", &plot, err);
	fg_strbuf_release(&json);
	fg_strbuf_release(&plot);
	return status;
}
