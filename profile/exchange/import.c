// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/import.h"

#include "base/gzip.h"
#include "profile/exchange/import_formats.h"

const struct fg_import_format fg_import_formats[] = {
	{
		.name = "folded",
		.description = "one line per stack: frames joined by ';', then its weight",
		.is = fg_import_folded_is,
		.read = fg_import_folded_read,
	},
	{
		.name = "callgrind",
		.description = "output of valgrind's callgrind: instructions and calls",
		.is = fg_import_callgrind_is,
		.read = fg_import_callgrind_read,
	},
	{.name = NULL},
};

const struct fg_import_format *fg_import_find(const char *name)
{
	for (const struct fg_import_format *format = fg_import_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

/* Tries the last format first: the first format, folded text, has no signature. */
static const struct fg_import_format *detect(const char *data, size_t size)
{
	for (size_t i = FG_ARRAY_SIZE(fg_import_formats) - 1; i-- > 0;) {
		if (fg_import_formats[i].is(data, size))
			return &fg_import_formats[i];
	}
	return NULL;
}

const struct fg_import_format *fg_import_detect(const char *data, size_t size)
{
	enum {
		BEGINNING_BYTES = 256 * 1024
	};
	const struct fg_import_format *format = NULL;
	char *beginning = NULL;

	if (!fg_gzip_is(data, size))
		return detect(data, size);
	beginning = fg_xmalloc(BEGINNING_BYTES);
	format = detect(beginning, fg_gzip_peek(data, size, beginning, BEGINNING_BYTES));
	free(beginning);
	return format;
}

/* Sums must fit into 64-bit integers in any unit. */
static int check_totals(const struct fg_profile *profile, struct fg_error *err)
{
	const double most = FG_IMPORT_MAX_YEARS * 366.0 * 86400 * 1e9;

	for (size_t i = 0; i < profile->measure_count; i++) {
		const struct fg_profile_measure *measure = &profile->measures[i];

		if (measure->total <= most)
			continue;
		if (fg_measure_has_time(&measure->is))
			return fg_error_set(err, FG_ELIMIT,
					    "the weights add up to more than %d years",
					    FG_IMPORT_MAX_YEARS);
		return fg_error_set(err, FG_ELIMIT, "the total of %.60s is more than %.3g",
				    measure->is.label, most);
	}
	return FG_OK;
}

int fg_import_read(const struct fg_import_format *format, const char *data, size_t size,
		   const struct fg_import_options *options, struct fg_profile *profile,
		   struct fg_error *err)
{
	struct fg_profile imported;
	struct fg_import_sink sink = {.profile = &imported};
	struct fg_strbuf unpacked = {0};
	int status = FG_OK;

	if (size > FG_IMPORT_MAX_BYTES)
		return fg_error_set(err, FG_ELIMIT, "the file is larger than %d bytes",
				    FG_IMPORT_MAX_BYTES);
	fg_profile_init(&imported);
	imported.functions[0].name =
		fg_profile_text(&imported, options->program ? options->program : "imported");
	imported.title = imported.functions[0].name;
	imported.repetition_count = 1;
	imported.period_ns = options->period_ns;
	if (fg_gzip_is(data, size)) {
		FG_TRY_OUT(fg_gzip_unpack(data, size, FG_IMPORT_MAX_BYTES, &unpacked, err));
		data = fg_strbuf_text(&unpacked);
		size = unpacked.length;
	}
	FG_TRY_OUT(format->read(data, size, options, &sink, err));
	if (imported.sample_count == 0)
		status = fg_error_set(err, FG_EPARSE,
				      "the file has no stack with a weight above zero");
	else
		status = check_totals(&imported, err);
out:
	fg_map_release(&sink.known);
	fg_strbuf_release(&unpacked);
	if (status == FG_OK)
		*profile = imported;
	else
		fg_profile_release(&imported);
	return status;
}
