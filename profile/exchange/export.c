// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/export.h"

#include "profile/exchange/export_formats.h"

#define FORMAT(name_, extension_, write_, description_) \
 .name = (name_), .extension = (extension_), .write = (write_), .description = (description_)

const struct fg_export_format fg_export_formats[] = {
	{FORMAT("folded", ".folded", fg_export_folded,
		"one line per stack with its weight: flame graph tools, speedscope")},
	{FORMAT("pprof", ".pb.gz", fg_export_pprof,
		"gzipped profile.proto: go tool pprof, speedscope, Grafana"),
	 .is_binary = true},
	{FORMAT("chrome", ".trace.json", fg_export_chrome,
		"regions and units of work as trace events: Perfetto, Chrome")},
	{FORMAT("json", ".json", fg_export_json,
		"all samples and their stacks, in one documented object"),
	 .has_repetitions = true},
	{FORMAT("tables", ".txt", fg_export_tables,
		"plain tables: functions with total and leaf counts, libraries, summary")},
	{FORMAT("npz", ".npz", fg_export_npz,
		"arguments kept by record --values, one column each: numpy.load()"),
	 .is_binary = true, .has_calls = true},
	{FORMAT("html", ".html", fg_export_html,
		"arguments and durations of calls, by call path, as a page"),
	 .has_calls = true},
	{.name = NULL},
};
