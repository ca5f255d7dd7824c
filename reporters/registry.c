// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "reporters/formats.h"
#include "reporters/reporter.h"

#include <unistd.h>

/* A new format needs a writer in formats.h and a row here. */
#define REPORTER(name_, write_, type_, summary_) \
 .name = (name_), .write = (write_), .media_type = (type_), .summary = (summary_)

static const struct fg_reporter table[] = {
	{REPORTER("terminal", fg_report_terminal, "text/plain; charset=utf-8",
		  "short summary: what changed, by how much, where")},
	{REPORTER("json", fg_report_json, "application/json",
		  "the whole verdict, machine-readable (fastgate-report/1)"),
	 .file_name = "fastgate.json"},
	{REPORTER("junit", fg_report_junit, "application/xml",
		  "JUnit XML for Jenkins, GitLab and other CI servers"),
	 .file_name = "fastgate.xml"},
	{REPORTER("markdown", fg_report_markdown, "text/markdown; charset=utf-8",
		  "Markdown for GitHub's step summary"),
	 .file_name = "fastgate.md"},
	{REPORTER("comment", fg_report_comment, "text/markdown; charset=utf-8",
		  "Markdown for a pull-request comment, within its size limit"),
	 .file_name = "fastgate-comment.md"},
	{REPORTER("html", fg_report_html, "text/html; charset=utf-8",
		  "one page with plots, flame graph and tables; needs no network"),
	 .file_name = "fastgate.html"},
	{REPORTER("github", fg_report_github, "text/plain; charset=utf-8",
		  "GitHub annotations on the lines of the functions that changed")},
	{REPORTER("gitlab", fg_report_gitlab, "text/plain; charset=utf-8",
		  "GitLab metrics report (OpenMetrics text)"),
	 .file_name = "metrics.txt"},
	{REPORTER("csv", fg_report_csv, "text/csv; charset=utf-8",
		  "one row per benchmark and metric"),
	 .file_name = "fastgate.csv"},
	{REPORTER("csv-raw", fg_report_csv_raw, "text/csv; charset=utf-8",
		  "one row per repetition and metric, as measured"),
	 .file_name = "fastgate-raw.csv"},
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
	int status = FG_OK;

	reporter->write(report, options, &text);
	status = write_text(path, &text, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s report", reporter->name);
	fg_strbuf_release(&text);
	return status;
}
