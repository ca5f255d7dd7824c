/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a recording: created before it, read and reported after it. */
#ifndef FG_CLI_RECORD_OUTCOME_H
#define FG_CLI_RECORD_OUTCOME_H

#include "cli/framework/command.h"
#include "cli/record/options.h"
#include "runner/schedule/sample_price.h"

/*
 * Its absolute path, to be freed. Only traces of an earlier recording are removed from it; with
 * --append they stay, and all traces form one profile.
 */
int fg_record_make_folder(const struct fg_recording *given, char **absolute, struct fg_error *err)
	FG_NODISCARD;
/* The folder as the user named it. */
const char *fg_record_folder(const struct fg_recording *given);
/*
 * Truncates the traces to what was written, summarises them, and packs them if requested.
 */
int fg_record_finish(struct fg_cli *cli, const struct fg_recording *given, const char *folder,
		     struct fg_error *err) FG_NODISCARD;

/* Prints how often each function was called, and which were not reached. (counted_calls.c) */
void fg_record_say_calls(const struct fg_cli *cli, const char *folder);

#endif
