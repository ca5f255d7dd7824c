// SPDX-License-Identifier: Apache-2.0
/* Ends a failed perfdb command. */
#include "base/text.h"
#include "perfdb/server/options.h"

#include <stdio.h>

int fg_perfdb_fail(const struct fg_error *err)
{
	struct fg_strbuf words = {0};

	fg_text_add_escaped(&words, err->message, strlen(err->message));
	(void)fprintf(stderr, "perfdb: %s\n", fg_strbuf_text(&words));
	fg_strbuf_release(&words);
	return err->code == FG_EINVAL || err->code == FG_EPARSE ? FG_PERFDB_USAGE
								: FG_PERFDB_FAILED;
}
