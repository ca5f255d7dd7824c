// SPDX-License-Identifier: Apache-2.0
#include "profile/import.h"

#include "profile/import_formats.h"
#include "profile/import_sink.h"

const struct fg_import_format fg_import_formats[] = {
	{"json",   "what `fastgate export -F json` writes, packed by gzip or not",                  fg__import_json_is,
	 fg__import_json_read														 },
	{"folded", "one line a stack, frames joined by ';', its weight behind (flame graph tools)",
	 fg__import_folded_is,											  fg__import_folded_read},
	{"pprof",  "profile.proto, packed by gzip or not (go tool pprof and many others)",
	 fg__import_pprof_is,											   fg__import_pprof_read },
	{"perf",   "the text that 'perf script' prints",                                            fg__import_perf_is, fg__import_perf_read  },
	{NULL,     NULL,									    NULL,               NULL                  },
};

const struct fg_import_format *fg_import_find(const char *name)
{
	for (const struct fg_import_format *format = fg_import_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

const struct fg_import_format *fg_import_detect(const char *data, size_t size)
{
	/* Folded text is the least marked of all: it is asked last. */
	static const char *const order[] = {"json", "pprof", "perf", "folded"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(order); i++) {
		const struct fg_import_format *format = fg_import_find(order[i]);

		if (format && format->is(data, size))
			return format;
	}
	return NULL;
}

int fg_import_read(const struct fg_import_format *format, const char *data, size_t size,
		   const struct fg_import_options *options, struct fg_profile *profile,
		   struct fg_error *err)
{
	const double most_ns = FG_IMPORT_MAX_YEARS * 366.0 * 86400 * 1e9;
	struct fg_profile imported;
	struct fg_import_sink sink = {.profile = &imported};
	int rc = FG_OK;

	if (size > FG_IMPORT_MAX_BYTES)
		return fg_error_set(err, FG_ELIMIT, "larger than %d bytes", FG_IMPORT_MAX_BYTES);
	fg_profile_init(&imported);
	imported.functions[0].name =
		fg_profile_text(&imported, options->program ? options->program : "imported");
	imported.title = imported.functions[0].name;
	imported.repetition_count = 1;
	imported.period_ns = options->period_ns;
	rc = format->read(data, size, options, &sink, err);
	if (rc == FG_OK && imported.sample_count == 0)
		rc = fg_error_set(err, FG_EPARSE, "no stack with a weight above zero is in it");
	else if (rc == FG_OK && imported.total_ns > most_ns)
		rc = fg_error_set(err, FG_ELIMIT, "its weights come to more than %d years",
				  FG_IMPORT_MAX_YEARS);
	fg_map_release(&sink.known);
	if (rc == FG_OK)
		*profile = imported;
	else
		fg_profile_release(&imported);
	return rc;
}
