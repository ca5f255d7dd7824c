// SPDX-License-Identifier: Apache-2.0
#include "profile/export.h"

#include "profile/export_formats.h"

const struct fg_export_format fg_export_formats[] = {
	{"folded",     ".folded",          "one line a stack with its weight: flame graph tools, speedscope",
	 false,													     fg__export_folded    },
	{"pprof",      ".pb.gz",           "profile.proto packed by gzip: go tool pprof, speedscope, Grafana",
	 true,													      fg__export_pprof     },
	{"speedscope", ".speedscope.json", "speedscope's own format, a timeline for each thread",
	 false,													     fg__export_speedscope},
	{"callgrind",  ".callgrind",       "KCachegrind and callgrind_annotate",                                     false,
	 fg__export_callgrind														    },
	{"chrome",     ".trace.json",      "regions and units of work as trace events: Perfetto, Chrome",
	 false,													     fg__export_chrome    },
	{"json",       ".json",            "everything that is known, in one documented object",                     false,
	 fg__export_json															 },
	{"csv",        ".csv",             "one line a call path: time, samples, function, library, line",           false,
	 fg__export_csv															  },
	{"tables",     ".txt",             "plain tables: functions with total and leaf counts, libraries, summary",
	 false,													     fg__export_tables    },
	{NULL,         NULL,               NULL,								     false, NULL                 },
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
	const int rc = format->write(profile, options, &text, err);

	if (rc == FG_OK)
		fg_strbuf_add(out, fg_strbuf_text(&text), text.length);
	fg_strbuf_release(&text);
	return rc;
}
