// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "reporters/formats.h"
#include "reporters/reporter.h"

#include <unistd.h>

/* A new format needs a file and a row here. */
static const struct fg_reporter table[] = {
	{
		.name = "terminal",
		.summary = "a few lines for people: what changed, by how much, where",
		.media_type = "text/plain; charset=utf-8",
		.write = fg_report_terminal,
	},
	{
		.name = "json",
		.summary = "everything that was decided, for programs (fastgate-report/1)",
		.media_type = "application/json",
		.file_name = "fastgate.json",
		.write = fg_report_json,
	},
	{
		.name = "junit",
		.summary = "JUnit XML for Jenkins, GitLab and other CI servers",
		.media_type = "application/xml",
		.file_name = "fastgate.xml",
		.write = fg_report_junit,
	},
	{
		.name = "markdown",
		.summary = "Markdown for GitHub's step summary",
		.media_type = "text/markdown; charset=utf-8",
		.file_name = "fastgate.md",
		.write = fg_report_markdown,
	},
	{
		.name = "comment",
		.summary = "Markdown for a pull-request comment, within its size limit",
		.media_type = "text/markdown; charset=utf-8",
		.file_name = "fastgate-comment.md",
		.write = fg_report_comment,
	},
	{
		.name = "html",
		.summary = "one page with plots, flame graph and tables; needs no network",
		.media_type = "text/html; charset=utf-8",
		.file_name = "fastgate.html",
		.write = fg_report_html,
	},
	{
		.name = "github",
		.summary = "GitHub annotations on the lines of the functions that changed",
		.media_type = "text/plain; charset=utf-8",
		.write = fg_report_github,
	},
	{
		.name = "gitlab",
		.summary = "GitLab metrics report (OpenMetrics text)",
		.media_type = "text/plain; charset=utf-8",
		.file_name = "metrics.txt",
		.write = fg_report_gitlab,
	},
	{
		.name = "csv",
		.summary = "one row per benchmark and metric",
		.media_type = "text/csv; charset=utf-8",
		.file_name = "fastgate.csv",
		.write = fg_report_csv,
	},
	{
		.name = "csv-raw",
		.summary = "one row per repetition and metric, as measured",
		.media_type = "text/csv; charset=utf-8",
		.file_name = "fastgate-raw.csv",
		.write = fg_report_csv_raw,
	},
};

const struct fg_reporter *fg_reporter_table(size_t *count)
{
	*count = FG_ARRAY_SIZE(table);
	return table;
}

static void refuse(const char *name, struct fg_error *err)
{
	const char *names[FG_ARRAY_SIZE(table) + 1] = {0};
	struct fg_strbuf known = {0};
	const char *nearest = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		names[i] = table[i].name;
		fg_strbuf_printf(&known, "%s%s", i ? ", " : "", table[i].name);
	}
	nearest = fg_text_nearest(name, names);
	if (nearest)
		(void)fg_error_set(err, FG_EINVAL,
				   "'%.40s' is not a report format; did you mean '%s'?", name,
				   nearest);
	else
		(void)fg_error_set(err, FG_EINVAL,
				   "'%.40s' is not a report format; expected one of %s", name,
				   fg_strbuf_text(&known));
	fg_strbuf_release(&known);
}

const struct fg_reporter *fg_reporter_find(const char *name, struct fg_error *err)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	refuse(name, err);
	return NULL;
}

static int write_text(const char *path, const struct fg_strbuf *text, struct fg_error *err)
{
	int status = FG_OK;

	if (strcmp(path, "-") != 0)
		return fg_fs_write_result(path, fg_strbuf_text(text), text->length, err);
	status = fg_fs_write_all(STDOUT_FILENO, fg_strbuf_text(text), text->length, err);
	if (status != FG_OK)
		fg_error_prefix(err, "standard output");
	return status;
}

int fg_reporter_write_file(const struct fg_reporter *reporter, const struct fg_report *report,
			   const struct fg_report_options *options, const char *path,
			   struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = reporter->write(report, options, &text, err);

	if (status != FG_OK)
		goto out;
	status = write_text(path, &text, err);
out:
	if (status != FG_OK)
		fg_error_prefix(err, "%s report", reporter->name);
	fg_strbuf_release(&text);
	return status;
}
