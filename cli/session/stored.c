// SPDX-License-Identifier: Apache-2.0
#include "cli/session/stored.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/session/plan.h"
#include "perfdb/client/client.h"
#include "perfdb/protocol.h"
#include "reporters/reporter.h"
#include "runner/build/git.h"
#include "store/bundle.h"
#include "store/db.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- stores and runs ---- */

#define STORE_NAME FG_STATE_FOLDER "/store.db"

char *fg_cli_store_path(const char *given)
{
	char *here = given ? NULL : getcwd(NULL, 0);
	char *folder = here ? fg_fs_find_above(here, STORE_NAME) : NULL;
	char *path = NULL;

	if (given)
		path = fg_xstrdup(given);
	else
		path = folder ? fg_fs_join(folder, STORE_NAME) : fg_xstrdup(STORE_NAME);
	free(folder);
	free(here);
	return path;
}

/* Checks a store that was found at its default place instead of being named by the user. */
static int check_folder(const char *store, struct fg_error *err)
{
	char *folder = fg_fs_parent(store);
	char *root = fg_fs_parent(folder);
	const int status = fg_state_folder_check(root, err);

	free(root);
	free(folder);
	return status;
}

int fg_cli_open_store(const char *given, unsigned flags, struct fg_store **store,
		      struct fg_error *err)
{
	char *path = fg_cli_store_path(given);
	int status = FG_OK;

	if (!given)
		FG_TRY_OUT(check_folder(path, err));
	if ((flags & FG_STORE_READ_ONLY) && !given && !fg_fs_exists(path))
		status = fg_error_set(err, FG_ENOENT,
				      "there is no store yet (%s): `fastgate run` creates one",
				      STORE_NAME);
	else
		status = fg_store_open(path, flags, store, err);
out:
	free(path);
	return status;
}

static bool is_file(const char *words)
{
	return words && (fg_text_ends_with(words, FG_WIRE_FILE_ENDING) || strchr(words, '/')) &&
	       fg_fs_exists(words) && !fg_fs_is_folder(words);
}

/*
 * Finds the run that these words name in the store, or the run of the commit that they name in git.
 */
static int find_run(struct fg_store *store, const char *project, const char *words, char id[37],
		    struct fg_error *err)
{
	const struct fg_git git = {.folder = "."};
	char *commit = NULL;
	char *meaning = NULL;
	int status = fg_store_find(store, project, words, id, err);

	if (status != FG_ENOENT || !words ||
	    fg_git_resolve(&git, words, &commit, &meaning, NULL) != FG_OK)
		return status;
	if (fg_store_find(store, project, commit, id, NULL) == FG_OK)
		status = FG_OK;
	else
		status = fg_error_set(err, FG_ENOENT,
				      "no run of %s (%.12s) is stored: fastgate run measures it",
				      words, commit);
	free(commit);
	free(meaning);
	return status;
}

int fg_cli_load_run(const char *store_path, const char *project, const char *words,
		    struct fg_stored_run *stored, struct fg_error *err)
{
	struct fg_store *store = NULL;
	char id[37] = "";
	int status = FG_OK;

	if (is_file(words))
		return fg_cli_run_from_file(words, stored, err);
	FG_TRY_OUT(fg_cli_open_store(store_path, FG_STORE_READ_ONLY, &store, err));
	FG_TRY_OUT(find_run(store, project, words, id, err));
	status = fg_store_load(store, id, stored, err);
out:
	fg_store_close(store);
	return status;
}

int fg_cli_run_to_text(const struct fg_stored_run *stored, struct fg_strbuf *text,
		       struct fg_error *err)
{
	struct fg_bundle bundle = {0};
	int status = fg_bundle_from_run(stored, &bundle, err);

	if (status == FG_OK) {
		const struct fg_wire wire = {
			.envelope = bundle.envelope.data,
			.envelope_size = bundle.envelope.length,
			.dictionary = bundle.dictionary.data,
			.dictionary_size = bundle.dictionary.size,
			.values = bundle.values.data,
			.values_size = bundle.values.size,
		};

		status = fg_wire_write(&wire, text, err);
	}
	fg_bundle_release(&bundle);
	return status;
}

int fg_cli_run_from_file(const char *path, struct fg_stored_run *stored, struct fg_error *err)
{
	struct fg_bundle bundle = {0};
	struct fg_wire wire = {0};
	char *data = NULL;
	size_t size = 0;
	int status = FG_OK;

	FG_TRY(fg_fs_read(path, FG_WIRE_MAX_BYTES, &data, &size, err));
	status = fg_wire_read(data, size, &wire, err);
	if (status == FG_OK) {
		fg_strbuf_add(&bundle.envelope, wire.envelope, wire.envelope_size);
		fg_bytes_add(&bundle.dictionary, wire.dictionary, wire.dictionary_size);
		fg_bytes_add(&bundle.values, wire.values, wire.values_size);
		status = fg_bundle_to_run(&bundle, &fg_bundle_limits_default, stored, err);
	}
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
	fg_bundle_release(&bundle);
	free(data);
	return status;
}

int fg_cli_export_run(const struct fg_cli *cli, const struct fg_stored_run *stored,
		      const char *path, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_cli_run_to_text(stored, &text, err));
	FG_TRY_OUT(fg_cli_write(cli, path, &text, err));
	fg_cli_say(cli, "wrote run %s to %s", stored->run.id, path);
out:
	fg_strbuf_release(&text);
	return status;
}

int fg_cli_spool_run(const char *spool, const struct fg_stored_run *stored, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = fg_cli_run_to_text(stored, &text, err);

	if (status == FG_OK)
		status = fg_spool_add(spool, stored->run.id, text.data, text.length, err);
	fg_strbuf_release(&text);
	return status;
}

char *fg_cli_spool_path(const char *store)
{
	char *folder = fg_fs_parent(store);
	char *path = fg_fs_join(*folder ? folder : ".", "spool");

	free(folder);
	return path;
}

/* ---- the two sides of a comparison ---- */

/* Returns the side's commit and branch, or the run's id if the commit is unknown. */
static char *name_of(const struct fg_run *run, enum fg_arm arm)
{
	const struct fg_side *side = &run->sides[arm];

	if (!side->commit)
		return fg_xasprintf("run %s", run->id);
	if (!side->branch && !side->dirty)
		return fg_xasprintf("%.12s", side->commit);
	return fg_xasprintf("%.12s (%s%s%s)", side->commit, side->branch ? side->branch : "",
			    side->branch && side->dirty ? ", " : "",
			    side->dirty ? "uncommitted changes" : "");
}

void fg_cli_say_sides(const struct fg_cli *cli, const struct fg_run *baseline, enum fg_arm arm,
		      const struct fg_run *candidate)
{
	char *before = name_of(baseline, arm);
	char *after = name_of(candidate, FG_ARM_CANDIDATE);

	fg_cli_say(cli, "comparing %s with %s", before, after);
	free(before);
	free(after);
}

int fg_stored_run_verdict(const struct fg_stored_run *stored, struct fg_verdict *verdict,
			  struct fg_error *err)
{
	if (!stored->report)
		return fg_error_set(err, FG_ENOENT, "run %s has no verdict: it %s", stored->run.id,
				    stored->run.complete ? "was recorded, not compared"
							 : "was interrupted");
	return fg_report_read(stored->report, strlen(stored->report), verdict, err);
}
