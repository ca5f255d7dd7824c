// SPDX-License-Identifier: Apache-2.0
/*
 * The card as a picture: one panel per condition, one line per question, with the share, its
 * interval and the goal.
 */
#include "bench/calibration/card.h"
#include "gate/statistics/proportion.h"

enum {
	LINE_HEIGHT = 20,
	TOP = 70,
	LABEL_WIDTH = 440,
	PANEL_WIDTH = 300,
	SCALE_WIDTH = 200, /* width of 100 % within a panel */
};

static const char *class_of(const struct card_row *row)
{
	if (row->kind == CARD_RIVAL)
		return "rival";
	return strcmp(card_state(row), "met") == 0 ? "met" : "missed";
}

static void add_escaped(struct fg_strbuf *text, const char *plain)
{
	for (; *plain; plain++) {
		if (*plain == '<')
			fg_strbuf_add_text(text, "&lt;");
		else if (*plain == '&')
			fg_strbuf_add_text(text, "&amp;");
		else
			fg_strbuf_add_char(text, *plain);
	}
}

static void draw_cell(const struct card_row *row, double x, double y, struct fg_strbuf *text)
{
	struct fg_proportion p = fg_clopper_pearson(row->hits, row->trials, 0.95);
	double goal = x + SCALE_WIDTH * row->goal;

	fg_strbuf_printf(text,
			 "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			 x, x + SCALE_WIDTH, y, y);
	if (row->kind == CARD_GOAL)
		fg_strbuf_printf(text,
				 "<rect class=\"goal\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				 "height=\"12\"/>\n",
				 row->at_least ? goal : x, y - 6.0,
				 row->at_least ? x + SCALE_WIDTH - goal + 2.0 : goal - x + 2.0);
	if (row->trials == 0) {
		fg_strbuf_printf(text,
				 "<text class=\"none\" x=\"%.1f\" y=\"%.1f\">not measured</text>\n",
				 x + SCALE_WIDTH + 10.0, y + 4.0);
		return;
	}
	fg_strbuf_printf(text,
			 "<line class=\"%s\" stroke-width=\"3\" x1=\"%.1f\" x2=\"%.1f\" "
			 "y1=\"%.1f\" y2=\"%.1f\"/>\n"
			 "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n"
			 "<text x=\"%.1f\" y=\"%.1f\">%.1f %%</text>\n",
			 class_of(row), x + SCALE_WIDTH * p.low, x + SCALE_WIDTH * p.high, y, y,
			 class_of(row), x + SCALE_WIDTH * p.estimate, y, x + SCALE_WIDTH + 10.0,
			 y + 4.0, 100.0 * p.estimate);
}

static int column_of(const struct card_row *row)
{
	for (int c = 0; c < CARD_CONDITIONS; c++) {
		if (row->condition && strcmp(row->condition, card_conditions[c]) == 0)
			return c;
	}
	return -1;
}

/* Lines are numbered per condition: all conditions have the same questions in the same order. */
static size_t draw_rows(const struct card *card, struct fg_strbuf *text)
{
	size_t next[CARD_CONDITIONS] = {0};

	for (size_t i = 0; i < card->count; i++) {
		const struct card_row *row = &card->rows[i];
		int column = column_of(row);
		double y;

		if (column < 0 || row->kind == CARD_PART || row->kind == CARD_TIME ||
		    row->kind == CARD_CHOICE)
			continue;
		y = TOP + LINE_HEIGHT * (double)next[column]++;
		if (column == 0) {
			fg_strbuf_printf(text, "<text x=\"8\" y=\"%.1f\">", y + 4.0);
			add_escaped(text, row->name);
			fg_strbuf_add_text(text, ": ");
			add_escaped(text, row->setting);
			fg_strbuf_add_text(text, "</text>\n");
		}
		draw_cell(row, LABEL_WIDTH + column * PANEL_WIDTH, y, text);
	}
	return next[0];
}

void card_draw(const struct card *card, struct fg_strbuf *text)
{
	struct fg_strbuf body = {0};
	size_t lines = draw_rows(card, &body);

	fg_strbuf_printf(text,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
			 "font-family=\"sans-serif\" font-size=\"12\">\n"
			 "<title>Calibration card</title>\n"
			 "<style>.axis{stroke:#ccc}.goal{fill:#d5ead8}.met{"
			 "stroke:#1a7f37;fill:#1a7f37}.missed{stroke:#c62828;fill:#c62828}.rival{"
			 "stroke:#7a6a58;fill:#7a6a58}.none{fill:#888}</style>\n"
			 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
			 "<text x=\"8\" y=\"20\">Share of decisions with its 95 %% interval, on a "
			 "scale of 0 to 100 %%; the goal is shaded, missed goals are red, other "
			 "tools' rules brown</text>\n",
			 LABEL_WIDTH + CARD_CONDITIONS * PANEL_WIDTH,
			 TOP + LINE_HEIGHT * (lines + 1));
	for (int c = 0; c < CARD_CONDITIONS; c++)
		fg_strbuf_printf(text, "<text x=\"%d\" y=\"46\" font-weight=\"bold\">%s</text>\n",
				 LABEL_WIDTH + c * PANEL_WIDTH, card_conditions[c]);
	fg_strbuf_add_text(text, body.data ? body.data : "");
	fg_strbuf_add_text(text, "</svg>\n");
	fg_strbuf_release(&body);
}
