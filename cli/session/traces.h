/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads traces, from where they were recorded or from an archive, as a profile; and writes such an
 * archive.
 */
#ifndef FG_CLI_SESSION_TRACES_H
#define FG_CLI_SESSION_TRACES_H

#include "cli/session/run_argument.h"

/* A trace, or a folder of them. */
int fg_cli_read_traces(struct fg_cli *cli, const struct fg_cli_run_options *options,
		       const char *path, struct fg_profile *profile, struct fg_error *err)
	FG_NODISCARD;
/* Reads an archive written by fg_cli_archive_traces(). */
int fg_cli_read_archive(struct fg_cli *cli, const struct fg_cli_run_options *options,
			const char *path, struct fg_profile *profile, struct fg_error *err)
	FG_NODISCARD;
/*
 * Writes an archive of the traces and prints what is in it. `output` NULL: next to the traces,
 * under their name.
 */
int fg_cli_archive_traces(struct fg_cli *cli, const struct fg_option_list *binaries,
			  const char *traces, const char *output, struct fg_error *err)
	FG_NODISCARD;

#endif
