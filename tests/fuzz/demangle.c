// SPDX-License-Identifier: Apache-2.0
/* Untrusted linkage names, and untrusted readable names to shorten. */
#include "binary/demangle.h"

#include "binary/name_parts.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fg_xstrndup((const char *)data, size);
	struct fg_strbuf name = {0};
	struct fg_strbuf part = {0};

	(void)fg_demangle(text, &name);
	FG_ASSERT(name.length <= (size_t)FG_DEMANGLE_MAX_OUTPUT + size);
	fg_name_collapse_templates(text, &part);
	fg_name_qualified(text, &part);
	fg_name_scope(text, &part);
	fg_name_namespace(text, &part);
	fg_strbuf_release(&name);
	fg_strbuf_release(&part);
	free(text);
	return 0;
}
