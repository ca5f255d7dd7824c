/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of places.  Inside perfdb/archives/ only. */
#ifndef FG_PERFDB_ARCHIVES_KEEPERS_H
#define FG_PERFDB_ARCHIVES_KEEPERS_H

#include "perfdb/archives/archives.h"
#include "perfdb/client/http.h"

struct fg_archives {
	const struct fg_keeper *keeper;
	struct fg_archives_options options;
	/* S3-compatible storage. */
	char *bucket; /* "/BUCKET" */
	char *prefix; /* "PREFIX/", or "" */
	struct fg_http_signing signing;
};

struct fg_keeper {
	int (*open)(struct fg_archives *archives, struct fg_error *err);
	int (*put)(const struct fg_archives *archives, const char *object, int file,
		   const struct fg_archives_content *content, struct fg_error *err);
	int (*get)(const struct fg_archives *archives, const char *object,
		   const struct fg_archives_content *content, int *file, struct fg_error *err);
	int (*get_part)(const struct fg_archives *archives, const char *object,
			const struct fg_archives_part *part, int *file, uint64_t *at,
			struct fg_error *err);
	int (*remove)(const struct fg_archives *archives, const char *object, struct fg_error *err);
	int (*list)(const struct fg_archives *archives, const char *folder,
		    fg_archives_visit *visit, void *context, struct fg_error *err);
};

#define FG_S3_SCHEME "s3://"

extern const struct fg_keeper fg_keeper_folder;
extern const struct fg_keeper fg_keeper_s3;

#endif
