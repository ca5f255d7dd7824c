/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a recording's folder, and reads and reports its contents after the recording. */
#ifndef FG_CLI_RECORD_OUTCOME_H
#define FG_CLI_RECORD_OUTCOME_H

#include "cli/framework/command.h"
#include "cli/record/options.h"
#include "runner/schedule/sampling_rate.h"

/*
 * Creates the folder. The caller frees its absolute path. An earlier recording moves to FOLDER.old
 * and replaces the recording there; with --append the earlier recording stays, and all traces form
 * one profile.
 */
int fg_record_make_folder(const struct fg_recording *given, char **absolute, struct fg_error *err)
	FG_NODISCARD;
/* Returns the name of the recording's folder: --output, or else FG_CLI_RECORD_FOLDER. */
const char *fg_record_folder(const struct fg_recording *given);
/* Truncates the traces to their written parts, summarises them, and packs them if requested. */
int fg_record_finish(struct fg_cli *cli, const struct fg_recording *given, const char *folder,
		     struct fg_error *err) FG_NODISCARD;

/*
 * Prints how often each function was called, and which functions were not called. (counted_calls.c)
 */
void fg_record_say_calls(const struct fg_cli *cli, const char *folder);

#endif
