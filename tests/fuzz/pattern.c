// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted filters and rewriting rules: the first line is the expression, or a rule if it starts
 * with "s"; the following lines are the subject. Accepted expressions must neither take long nor
 * fill the memory.
 */
#include "base/pattern.h"

#include "base/base.h"
#include "tests/fuzz/fuzz.h"

static void filter(const char *text, const char *subject)
{
	struct fg_pattern pattern = {0};
	struct fg_error err = {0};

	if (fg_pattern_compile(text, &pattern, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0' && !pattern.set);
		return;
	}
	FG_ASSERT(!fg_pattern_excess(text));
	(void)fg_pattern_matches(&pattern, subject);
	fg_pattern_release(&pattern);
}

static void rewrite(const char *text, const char *subject)
{
	struct fg_rename rename = {0};
	struct fg_strbuf result = {0};
	struct fg_error err = {0};

	if (fg_rename_parse(text, &rename, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0');
		return;
	}
	if (!fg_rename_apply(&rename, subject, &result))
		FG_ASSERT(result.length == 0);
	FG_ASSERT(result.length <= FG_RENAME_MAX_RESULT);
	fg_strbuf_release(&result);
	fg_rename_release(&rename);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fg_fuzz_text(data, size);
	char *end = NULL;

	end = strchr(text, '\n');
	if (end) {
		*end = '\0';
		filter(text, end + 1);
		if (*text == 's')
			rewrite(text, end + 1);
	}
	free(text);
	return 0;
}
