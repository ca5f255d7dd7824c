// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted profiles of other tools: each format reads the bytes, whatever they look like; an
 * accepted profile must survive every export and view.
 */
#include "profile/exchange/import.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/outputs.h"

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
		fg_fuzz_write_everything(&profile);
		fg_profile_release(&profile);
	}
	free(text);
	return 0;
}
