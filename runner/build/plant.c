// SPDX-License-Identifier: Apache-2.0
#include "runner/build/plant.h"

#include "base/fs.h"
#include "runner/build/link_again.h"
#include "runner/build/link_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINK_TIMEOUT_S = 300,
};

/* Name of the copy of the file as it was built. */
#define ORIGINAL "unplanted"

static const struct fg_link *find_link(const struct fg_links *links, const char *library)
{
	size_t i = 0;

	while (i < links->count && !fg_link_makes(&links->items[i], library))
		i++;
	return i < links->count ? &links->items[i] : NULL;
}

int fg_plant_open(struct fg_plant *plant, const char *folder, const char *library,
		  struct fg_error *err)
{
	const struct fg_link *link = NULL;
	struct fg_links links = {0};
	struct fg_plant made = {.interrupted = plant->interrupted};
	int status = FG_OK;

	FG_TRY(fg_links_read(folder, &links, err));
	link = find_link(&links, library);
	if (!link) {
		status = fg_error_set(err, FG_ENOENT, "'%s' was not linked during the build",
				      library);
		goto out;
	}
	made.folder = fg_xstrdup(folder);
	made.output = fg_link_output_path(link);
	made.original = fg_fs_join(folder, ORIGINAL);
	status = fg_fs_copy(made.output, made.original, 0755, err);
	*plant = made;
out:
	fg_links_release(&links);
	return status;
}

/* Replaces the file instead of overwriting it, because it may be running. */
static int replace(const char *from, const char *to, struct fg_error *err)
{
	char *next = fg_xasprintf("%s.planted", to);
	int status = fg_fs_copy(from, next, 0755, err);

	if (status == FG_OK && rename(next, to) != 0)
		status = fg_error_errno(err, FG_EIO, "'%s'", to);
	free(next);
	return status;
}

static int link_into(const struct fg_plant *plant, const struct fg_link *link, const char *folder,
		     const char *made, struct fg_error *err)
{
	struct fg_link_again again = {.folder = folder,
				      .timeout_ns = LINK_TIMEOUT_S * INT64_C(1000000000),
				      .interrupted = plant->interrupted};
	int status = fg_link_again_start(&again, link, 0, made, err);

	if (status == FG_OK)
		status = fg_link_again_wait(&again, err);
	fg_link_again_end(&again);
	return status;
}

static int link_it(const struct fg_plant *plant, const struct fg_link *link, struct fg_error *err)
{
	char *folder = NULL;
	char *made = NULL;
	int status = FG_OK;

	FG_TRY(fg_fs_temporary_folder(plant->folder, "planting-", &folder, err));
	made = fg_fs_join(folder, "linked");
	status = link_into(plant, link, folder, made, err);
	if (status == FG_OK)
		status = replace(made, plant->output, err);
	(void)!fg_fs_remove_tree(folder, NULL);
	free(made);
	free(folder);
	return status;
}

int fg_plant_set(const struct fg_plant *plant, const struct fg_planted *planted,
		 struct fg_error *err)
{
	struct fg_links links = {0};
	int status = FG_OK;

	FG_TRY(fg_planted_write(plant->folder, plant->output, planted, err));
	FG_TRY(fg_links_read(plant->folder, &links, err));
	status = fg_error_set(err, FG_ENOENT, "the record of the link of '%s' is missing",
			      plant->output);
	for (size_t i = 0; i < links.count && status == FG_ENOENT; i++) {
		char *output = fg_link_output_path(&links.items[i]);

		if (strcmp(output, plant->output) == 0)
			status = link_it(plant, &links.items[i], err);
		free(output);
	}
	fg_links_release(&links);
	return status;
}

int fg_plant_close(struct fg_plant *plant, struct fg_error *err)
{
	int status = FG_OK;

	if (plant->output) {
		(void)!fg_planted_write(plant->folder, plant->output, NULL, NULL);
		status = replace(plant->original, plant->output, err);
		(void)unlink(plant->original);
	}
	free(plant->folder);
	free(plant->output);
	free(plant->original);
	*plant = (struct fg_plant){0};
	return status;
}
