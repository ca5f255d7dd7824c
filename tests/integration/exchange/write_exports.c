// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the known profile in every export format: "write_exports FOLDER" →
 * FOLDER/known<extension>.  The profile has no calls, so the formats for calls are left out.
 */
#include "base/fs.h"
#include "profile/exchange/export.h"
#include "tests/support/known_profile.h"

int main(int argc, char **argv)
{
	const struct fg_export_options options = {.tool_version = "fastgate test"};
	struct fg_profile profile;
	struct fg_error err = {0};
	int status = FG_OK;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: write_exports FOLDER\n");
		return 2;
	}
	known_profile_init(&profile);
	for (const struct fg_export_format *format = fg_export_formats;
	     format->name && status == FG_OK; format++) {
		struct fg_strbuf text = {0};
		char *path = NULL;

		if (format->has_calls)
			continue;
		path = fg_xasprintf("%s/known%s", argv[1], format->extension);
		status = fg_export_write(format, &profile, &options, &text, &err);
		if (status == FG_OK)
			status = fg_fs_write_atomic(path, text.data, text.length, 0644, &err);
		fg_strbuf_release(&text);
		free(path);
	}
	fg_profile_release(&profile);
	if (status != FG_OK)
		(void)fprintf(stderr, "write_exports: %s\n", err.message);
	return status == FG_OK ? 0 : 1;
}
