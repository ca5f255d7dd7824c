// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/outputs.h"

#include "profile/exchange/export.h"
#include "profile/views/view.h"
#include "tests/fuzz/fuzz.h"

enum {
	MAX_SAMPLES = 2000
};

static void export_all(const struct fg_profile *profile)
{
	const struct fg_export_options options = {0};

	for (const struct fg_export_format *format = fg_export_formats; format->name; format++) {
		struct fg_strbuf text = {0};
		struct fg_error err = {0};
		const int status = format->write(profile, &options, &text, &err);

		FG_ASSERT(status == FG_OK || status == FG_EUNSUPPORTED);
		fg_strbuf_release(&text);
	}
}

static void view_all(const struct fg_profile *profile)
{
	const struct fg_view_text_options text_options = {.columns = 60};
	const struct fg_view_options options = {0};

	for (const struct fg_view *view = fg_views; view->name; view++) {
		struct fg_view_table table;
		struct fg_strbuf text = {0};
		struct fg_error err = {0};

		if (fg_view_make(view, profile, &options, &table, &err) != FG_OK)
			continue;
		fg_view_write_text(&table, &text_options, &text);
		fg_view_write_csv(&table, &text);
		fg_view_table_release(&table);
		fg_strbuf_release(&text);
	}
}

void fg_fuzz_write_everything(const struct fg_profile *profile)
{
	if (profile->sample_count > MAX_SAMPLES)
		return;
	export_all(profile);
	view_all(profile);
}
