// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/alert_text.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>

enum {
	SHOWN_BYTES = 200
};

static void add_name(struct fg_strbuf *text, const cJSON *json, const char *name)
{
	const char *value = fg_json_text_or(json, name, "");

	fg_text_add_clean(text, value, strlen(value), SHOWN_BYTES);
}

static void add_finding(struct fg_strbuf *text, const cJSON *finding)
{
	const double ratio = fg_json_double_or(finding, "ratio", (double)NAN);
	char change[FG_NUMBER_TEXT_SIZE];

	add_name(text, finding, "event");
	if (fg_json_find(finding, "benchmark")) {
		fg_strbuf_add_text(text, ": ");
		add_name(text, finding, "benchmark");
	}
	if (fg_json_find(finding, "metric")) {
		fg_strbuf_add_text(text, ", ");
		add_name(text, finding, "metric");
	}
	if (isfinite(ratio))
		fg_strbuf_printf(text, ", %s", fg_format_change(ratio - 1, change));
}

static void add_line(struct fg_strbuf *text, const cJSON *json, const char *title, const char *name)
{
	if (!*fg_json_text_or(json, name, ""))
		return;
	fg_strbuf_add_text(text, title);
	add_name(text, json, name);
	fg_strbuf_add_text(text, "\n");
}

void fg_alert_text(const char *body, struct fg_strbuf *subject, struct fg_strbuf *text)
{
	cJSON *json = NULL;
	const cJSON *findings = NULL;
	const cJSON *finding = NULL;
	int more = 0;

	if (fg_json_parse(body, strlen(body), strlen(body), &json, NULL) != FG_OK)
		return;
	findings = fg_json_find(json, "findings");
	more = (int)fg_json_double_or(json, "more", 0);
	add_name(subject, json, "project");
	fg_strbuf_add_text(subject, ": ");
	add_finding(subject, cJSON_GetArrayItem(findings, 0));
	if (cJSON_GetArraySize(findings) + more > 1)
		fg_strbuf_printf(subject, " and %d more", cJSON_GetArraySize(findings) + more - 1);
	cJSON_ArrayForEach(finding, findings)
	{
		add_finding(text, finding);
		fg_strbuf_add_text(text, "\n");
	}
	if (more)
		fg_strbuf_printf(text, "and %d more\n", more);
	fg_strbuf_add_text(text, "\n");
	add_line(text, json, "project: ", "project");
	add_line(text, json, "branch:  ", "branch");
	add_line(text, json, "commit:  ", "commit");
	add_line(text, json, "run:     ", "run");
	add_line(text, json, "page:    ", "url");
	cJSON_Delete(json);
}
