// SPDX-License-Identifier: Apache-2.0
#include "profile/load.h"

#include "base/fs.h"
#include "profile/source.h"
#include "profile/trace_profile.h"

static int load_stored(const char *run, const char *selection,
		       const struct fg_profile_source *source, struct fg_profile *profile,
		       struct fg_error *err)
{
	if (source && source->stored)
		return source->stored(source->context, run, selection, profile, err);
	if (!run)
		return fg_error_set(err, FG_ENOENT, "no run was named and none is stored");
	return fg_error_set(err, FG_ENOENT, "'%s' is no file, no folder and no stored run", run);
}

static int load_other(const char *path, const struct fg_profile_source *source,
		      struct fg_profile *profile, struct fg_error *err)
{
	char head[FG_PROFILE_HEAD_BYTES];
	struct fg__source file;
	size_t size;
	int rc = fg__source_open(path, UINT64_MAX, &file, err);

	if (rc != FG_OK)
		return rc;
	size = file.size < sizeof(head) ? (size_t)file.size : sizeof(head);
	if (!fg__source_read(&file, 0, head, size))
		size = 0;
	fg__source_close(&file);
	for (size_t i = 0; source && source->readers && source->readers[i]; i++)
		if (source->readers[i]->recognizes(path, head, size))
			return source->readers[i]->read(path, profile, err);
	return fg_error_set(err, FG_EPARSE, "'%s' is neither a trace nor a profile of a known kind",
			    path);
}

int fg_profile_load(const char *run, const char *selection, const struct fg_profile_source *source,
		    struct fg_symbolizer *symbolizer, struct fg_profile *profile,
		    struct fg_error *err)
{
	if (!run || !fg_fs_exists(run))
		return load_stored(run, selection, source, profile, err);
	if (fg_fs_is_folder(run) || fg_trace_is_trace(run))
		return fg_profile_read_traces(run, symbolizer, profile, err);
	return load_other(run, source, profile, err);
}
