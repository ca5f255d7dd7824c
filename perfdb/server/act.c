// SPDX-License-Identifier: Apache-2.0
/* Commands whose first word is an action: perfdb token, role and limit. */
#include "base/text.h"
#include "perfdb/server/options.h"
#include "store/serving/audit.h"
#include "store/store.h"
#include "store/transaction.h"

#include <stdio.h>
#include <unistd.h>

enum {
	WHO_SIZE = 40,
	NAME_MAX_BYTES = 1000
};

int fg_perfdb_note(struct fg_store *store, const char *project, const char *action,
		   const char *subject, struct fg_error *err)
{
	char who[WHO_SIZE];
	const struct fg_audit_entry entry = {
		.project = project, .who = who, .action = action, .subject = subject};

	(void)snprintf(who, sizeof(who), "perfdb of user %u", (unsigned)getuid());
	return fg_store_audit_add(store, &entry, err);
}

void fg_perfdb_add_name(struct fg_strbuf *text, const char *name, size_t width)
{
	const size_t before = text->length;

	fg_text_add_clean(text, name, strlen(name), NAME_MAX_BYTES);
	while (text->length < before + width)
		fg_strbuf_add_char(text, ' ');
}

int fg_perfdb_fail(const struct fg_error *err)
{
	struct fg_strbuf words = {0};

	fg_text_add_escaped(&words, err->message, strlen(err->message));
	(void)fprintf(stderr, "perfdb: %s\n", fg_strbuf_text(&words));
	fg_strbuf_release(&words);
	return err->code == FG_EINVAL || err->code == FG_EPARSE ? FG_PERFDB_USAGE
								: FG_PERFDB_FAILED;
}

static const struct fg_perfdb_action *find(const struct fg_perfdb_action *actions,
					   const struct fg_option_words *words)
{
	if (words->count == 0)
		return actions;
	for (const struct fg_perfdb_action *action = actions; action->name; action++) {
		if (strcmp(action->name, words->items[0]) == 0 &&
		    words->count == 1 + (size_t)action->takes_word)
			return action;
	}
	return NULL;
}

static int act(struct fg_perfdb_action_call *call, const struct fg_perfdb_action *action,
	       struct fg_error *err)
{
	int status = FG_OK;

	if (!action->changes)
		return action->run(call, err);
	FG_TRY(fg_store_batch_begin(call->store, err));
	status = action->run(call, err);
	if (status == FG_OK)
		return fg_store_batch_end(call->store, err);
	fg_store_batch_undo(call->store);
	return status;
}

int fg_perfdb_act(const struct fg_perfdb_options *given, const struct fg_option_words *words,
		  const struct fg_perfdb_command *command)
{
	const struct fg_perfdb_action *action = find(command->actions, words);
	struct fg_perfdb_action_call call = {.given = given,
					     .word = words->count > 1 ? words->items[1] : NULL};
	struct fg_error err = {0};
	int status = FG_OK;

	if (!action) {
		(void)fg_error_set(&err, FG_EINVAL, "expected: %s", command->usage);
		return fg_perfdb_fail(&err);
	}
	status = fg_store_open(given->database, FG_STORE_DURABLE, &call.store, &err);
	if (status != FG_OK)
		return fg_perfdb_fail(&err);
	status = act(&call, action, &err);
	fg_store_close(call.store);
	/* Reports success only after the commit. */
	if (status == FG_OK)
		(void)fputs(fg_strbuf_text(&call.output), stdout);
	if (call.output.data)
		explicit_bzero(call.output.data, call.output.length);
	fg_strbuf_release(&call.output);
	if (status == FG_OK && action->remark)
		(void)fprintf(stderr, "perfdb: %s\n", action->remark);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}
