/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads RUN for every command that shows a profile: the id of a stored run (or "latest",
 * "latest~2", a tag, a branch), a trace file, the folder or the archive that `record` wrote, an
 * exported run file, or another tool's profile. Without RUN, the newest run or recording is read.
 */
#ifndef FG_CLI_PROFILE_RUN_ARGUMENT_H
#define FG_CLI_PROFILE_RUN_ARGUMENT_H

#include "cli/session/stored.h"
#include "profile/profile.h"

struct fg_cli_run_options {
	const char *store, *project, *benchmark;
	int side; /* index into fg_cli_sides */
	struct fg_option_list binaries;
	int64_t period_ns;
	const char *format; /* name in fg_import_formats; NULL: detected from the content */
	bool names_only;
	/* load traces with instructions of functions, see profile/listing.h */
	bool wants_code;
};

/*
 * Does RUN name a trace, a folder of traces, an archive or another tool's profile? False for an
 * exported run.
 */
bool fg_cli_is_profile_file(const char *words);

/* The file that `record --exact` writes in its folder. */
#define FG_CLI_EXACT_FILE "exact.callgrind"
/* Default output folder of `record`. */
#define FG_CLI_RECORD_FOLDER "fastgate-record"

extern const char *const fg_cli_sides[];

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
/*
 * Option rows for an options struct whose `member` is a struct fg_cli_run_options. `import` has
 * only FG_CLI_SOURCE_OPTIONS.
 */
#define FG_CLI_SOURCE_OPTIONS(type, member)                                                      \
 {.name = "binaries",                                                                            \
  .kind = FG_OPTION_LIST,                                                                        \
  .offset = offsetof(type, member.binaries),                                                     \
  .argument = "FOLDER",                                                                          \
  .complete = FG_COMPLETE_FOLDER,                                                                \
  .help = "folder with the binaries of a trace from another host"},                              \
	 FG_ROW_FLAG(type, member.names_only, "names-only", 0,                                   \
		     "do not read debug information for a trace: faster, but without lines and " \
		     "inlined functions"),                                                       \
	 {.name = "period",                                                                      \
	  .kind = FG_OPTION_DURATION,                                                            \
	  .offset = offsetof(type, member.period_ns),                                            \
	  .argument = "TIME",                                                                    \
	  .maximum = 1e12,                                                                       \
	  .help = "value of a sample if another tool's profile has none (default: 1ms)"},        \
	 FG_CLI_STORE_OPTION(type, member.store)
#define FG_CLI_RUN_OPTIONS(type, member)                                                \
 FG_ROW_NAME(type, member.benchmark, "bench", 0, "NAME", FG_COMPLETE_BENCHMARK,         \
	     "the benchmark of a stored run (default: its only benchmark)"),            \
	 FG_ROW_CHOICE(type, member.side, "side", 0, "SIDE", fg_cli_sides, "candidate", \
		       "the side of a stored run to show, if it measured two"),         \
	 FG_CLI_SOURCE_OPTIONS(type, member), FG_CLI_PROJECT_OPTION(type, member.project)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Lists the benchmarks with a profile in the stored run; free the list with fg_fs_list_free(). */
void fg_cli_list_choices(const struct fg_cli_run_options *options, const char *words, char ***names,
			 size_t *count);
/*
 * Loads the profile that `words` names (NULL: the newest) and prints its notes. The caller releases
 * it.
 */
int fg_cli_load_profile(struct fg_cli *cli, const struct fg_cli_run_options *options,
			const char *words, struct fg_profile *profile, struct fg_error *err)
	FG_NODISCARD;
/* Loads the profile from `path`, which must be a file or a folder, and prints its notes. */
int fg_cli_load_profile_file(struct fg_cli *cli, const struct fg_cli_run_options *options,
			     const char *path, struct fg_profile *profile, struct fg_error *err)
	FG_NODISCARD;

/* ---- traces ---- */

/*
 * Packs the traces into an archive and prints its content. `output` NULL: an archive next to the
 * traces, with the name of the traces.
 */
int fg_cli_archive_traces(struct fg_cli *cli, const struct fg_option_list *binaries,
			  const char *traces, const char *output, struct fg_error *err)
	FG_NODISCARD;

#endif
