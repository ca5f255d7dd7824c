// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/export.h"

#include "profile/exchange/export_formats.h"

const struct fg_export_format fg_export_formats[] = {
	{.name = "folded",
	 .extension = ".folded",
	 .description = "one line per stack with its weight: flame graph tools, speedscope",
	 .write = fg_export_folded},
	{.name = "pprof",
	 .extension = ".pb.gz",
	 .description = "profile.proto packed by gzip: go tool pprof, speedscope, Grafana",
	 .is_binary = true,
	 .write = fg_export_pprof},
	{.name = "chrome",
	 .extension = ".trace.json",
	 .description = "regions and units of work as trace events: Perfetto, Chrome",
	 .write = fg_export_chrome},
	{.name = "json",
	 .extension = ".json",
	 .description = "everything that is known, in one documented object",
	 .has_repetitions = true,
	 .write = fg_export_json},
	{.name = "tables",
	 .extension = ".txt",
	 .description = "plain tables: functions with total and leaf counts, libraries, summary",
	 .write = fg_export_tables},
	{.name = "npz",
	 .extension = ".npz",
	 .description = "arguments that record --values kept, a column each: numpy.load()",
	 .is_binary = true,
	 .has_calls = true,
	 .write = fg_export_npz},
	{.name = "html",
	 .extension = ".html",
	 .description = "arguments and durations of calls, by call path, as a page",
	 .has_calls = true,
	 .write = fg_export_html},
	{.name = NULL},
};

const struct fg_export_format *fg_export_find(const char *name)
{
	for (const struct fg_export_format *format = fg_export_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

int fg_export_write(const struct fg_export_format *format, const struct fg_profile *profile,
		    const struct fg_export_options *options, struct fg_strbuf *out,
		    struct fg_error *err)
{
	struct fg_strbuf text = {0};
	const int status = format->write(profile, options, &text, err);

	if (status == FG_OK)
		fg_strbuf_add(out, fg_strbuf_text(&text), text.length);
	fg_strbuf_release(&text);
	return status;
}
