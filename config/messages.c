// SPDX-License-Identifier: Apache-2.0
#include "config/messages.h"

#include "base/text.h"
#include "config/config.h"
#include "config/yaml_tree.h"

enum {
	MAX_MESSAGE = 2048
};

FG_PRINTF(4, 0)
static void add(struct fg_config_report *report, const struct fg_yaml_place *place, bool is_warning,
		const char *format, va_list ap)
{
	struct fg_strbuf words = {0};
	struct fg_strbuf text = {0};

	if (!is_warning)
		report->error_count++;
	if (report->count >= FG_CONFIG_MAX_MESSAGES)
		return;
	fg_strbuf_set_limit(&words, MAX_MESSAGE); /* a key can be as long as the file */
	if (place->line > 0)
		fg_strbuf_printf(&text, "%s:%u:%u: ", place->origin, place->line, place->column);
	else
		fg_strbuf_printf(&text, "%s: ", place->origin);
	fg_strbuf_vprintf(&words, format, ap);
	fg_text_add_clean(&text, fg_strbuf_text(&words), words.length, MAX_MESSAGE);
	FG_APPEND(report->items, report->count, report->capacity) = (struct fg_config_message){
		.is_warning = is_warning,
		.line = place->line,
		.column = place->column,
		.text = fg_arena_strdup(&report->arena, fg_strbuf_text(&text)),
	};
	fg_strbuf_release(&words);
	fg_strbuf_release(&text);
}

void fg_config_error(struct fg_config_report *report, const struct fg_yaml_place *place,
		     const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(report, place, false, format, ap);
	va_end(ap);
}

void fg_config_warning(struct fg_config_report *report, const struct fg_yaml_place *place,
		       const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(report, place, true, format, ap);
	va_end(ap);
}

static bool comes_before(const struct fg_config_message *a, const struct fg_config_message *b)
{
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Insertion sort keeps the order of messages at the same place; there are at most a hundred. */
void fg_config_report_sort(struct fg_config_report *report)
{
	for (size_t i = 1; i < report->count; i++) {
		const struct fg_config_message message = report->items[i];
		size_t to = i;

		for (; to > 0 && comes_before(&message, &report->items[to - 1]); to--)
			report->items[to] = report->items[to - 1];
		report->items[to] = message;
	}
}

void fg_config_report_release(struct fg_config_report *report)
{
	free(report->items);
	fg_arena_release(&report->arena);
	*report = (struct fg_config_report){0};
}
