// SPDX-License-Identifier: Apache-2.0
/*
 * Other tools' profiles from anybody: each format reads the bytes, whatever they look like; what it takes must come out
 * of every export and view without a crash.
 */
#include "profile/import.h"

#include "profile/export.h"
#include "profile/view.h"
#include "tests/fuzz/fuzz.h"

enum {
	MOST_SAMPLES = 2000
};

static void write_all(const struct fg_profile *profile)
{
	const struct fg_export_options options = {0};

	for (const struct fg_export_format *format = fg_export_formats; format->name; format++) {
		struct fg_strbuf text = {0};
		struct fg_error err = {0};
		const int rc = fg_export_write(format, profile, &options, &text, &err);

		FG_ASSERT(rc == FG_OK || rc == FG_EUNSUPPORTED);
		fg_strbuf_release(&text);
	}
}

static void view_all(const struct fg_profile *profile)
{
	static const char *const names[] = {"flat", "callgraph", "top-down", "bottom-up",
					    "threads"};
	const struct fg_view_text_options text_options = {.columns = 60};
	const struct fg_view_options options = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		struct fg_view_table table;
		struct fg_strbuf text = {0};
		struct fg_error err = {0};

		if (fg_view_make(fg_view_find(names[i]), profile, &options, &table, &err) != FG_OK)
			continue;
		fg_view_write_text(&table, &text_options, &text);
		fg_view_write_csv(&table, &text);
		fg_view_table_release(&table);
		fg_strbuf_release(&text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fg_import_options options = {0};
	char *text = fg_fuzz_text(data, size);

	(void)fg_import_detect(text, size);
	for (const struct fg_import_format *format = fg_import_formats; format->name; format++) {
		struct fg_profile profile;
		struct fg_error err = {0};

		if (fg_import_read(format, text, size, &options, &profile, &err) != FG_OK) {
			FG_ASSERT(err.message[0] != '\0');
			continue;
		}
		if (profile.sample_count <= MOST_SAMPLES) {
			write_all(&profile);
			view_all(&profile);
		}
		fg_profile_release(&profile);
	}
	free(text);
	return 0;
}
