// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/options.h"
#include "store/serving/audit.h"

#include <stdio.h>
#include <unistd.h>

enum {
	WHO_SIZE = 40
};

/* Whoever runs this program owns the database: the audit log names the user on this machine. */
int fg_perfdb_note(struct fg_store *store, const char *project, const char *action,
		   const char *subject, struct fg_error *err)
{
	char who[WHO_SIZE];
	const struct fg_audit_entry entry = {
		.project = project, .who = who, .action = action, .subject = subject};

	(void)snprintf(who, sizeof(who), "perfdb of user %u", (unsigned)getuid());
	return fg_store_audit_add(store, &entry, err);
}
