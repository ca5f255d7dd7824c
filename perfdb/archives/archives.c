// SPDX-License-Identifier: Apache-2.0
#include "perfdb/archives/archives.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "perfdb/archives/keepers.h"

enum {
	DIGEST_LENGTH = FG_SHA256_HEX_SIZE - 1,
	OWNER_LENGTH = FG_ARCHIVE_OWNER_SIZE - 1,
	TIME_LENGTH = 10,
	CHANCE_BYTES = 4,
	LITTER_LENGTH = 7, /* ".XXXXXX": written beside, and never renamed */
};

#define DIGITS "0123456789abcdef"

_Static_assert(FG_ARCHIVE_OBJECT_SIZE == OWNER_LENGTH + 1 + DIGEST_LENGTH + 1 + TIME_LENGTH + 1 +
						 2 * CHANCE_BYTES + 1,
	       "an object's name has room for its parts");

int fg_archives_open(const struct fg_archives_options *options, struct fg_archives **archives,
		     struct fg_error *err)
{
	struct fg_archives *a = fg_xcalloc(1, sizeof(*a));
	int status = FG_OK;

	a->options = *options;
	a->keeper = fg_text_starts_with(options->place, FG_S3_SCHEME) ? &fg_keeper_s3
								      : &fg_keeper_folder;
	status = a->keeper->open(a, err);
	if (status != FG_OK) {
		fg_archives_close(a);
		return status;
	}
	*archives = a;
	return FG_OK;
}

void fg_archives_close(struct fg_archives *archives)
{
	if (!archives)
		return;
	free(archives->bucket);
	free(archives->prefix);
	free(archives);
}

const char *fg_archives_folder(const struct fg_archives *archives)
{
	return archives->keeper == &fg_keeper_folder ? archives->options.place : NULL;
}

int fg_archives_name(const char *owner, const char *digest, char object[FG_ARCHIVE_OBJECT_SIZE],
		     struct fg_error *err)
{
	uint8_t chance[CHANCE_BYTES];
	char text[2 * CHANCE_BYTES + 1];
	const int status = fg_random_bytes(chance, sizeof(chance), err);

	if (status != FG_OK)
		return status;
	FG_ASSERT(strlen(owner) == OWNER_LENGTH && strlen(digest) == DIGEST_LENGTH);
	fg_hex(chance, sizeof(chance), text);
	(void)snprintf(object, FG_ARCHIVE_OBJECT_SIZE, "%s/%s-%010llx-%s", owner, digest,
		       (unsigned long long)(fg_clock_wall_ns() / FG_NS_PER_S), text);
	return FG_OK;
}

static bool are_digits(const char *text, size_t count)
{
	return strspn(text, DIGITS) >= count;
}

bool fg_archives_is_object(const char *owner, const char *name, int64_t *made_ns)
{
	const size_t length = strlen(name);
	const char *time = name + OWNER_LENGTH + 1 + DIGEST_LENGTH + 1;
	const bool is_litter = length == FG_ARCHIVE_OBJECT_SIZE - 1 + LITTER_LENGTH &&
			       name[FG_ARCHIVE_OBJECT_SIZE - 1] == '.';

	if ((length != FG_ARCHIVE_OBJECT_SIZE - 1 && !is_litter) ||
	    strncmp(name, owner, OWNER_LENGTH) != 0 || name[OWNER_LENGTH] != '/' ||
	    !are_digits(name + OWNER_LENGTH + 1, DIGEST_LENGTH) || time[-1] != '-' ||
	    !are_digits(time, TIME_LENGTH) || time[TIME_LENGTH] != '-' ||
	    !are_digits(time + TIME_LENGTH + 1, (size_t)2 * CHANCE_BYTES))
		return false;
	*made_ns = (int64_t)strtoll(time, NULL, 16) * FG_NS_PER_S;
	return true;
}

int fg_archives_put(const struct fg_archives *archives, const char *object, int file,
		    const struct fg_archives_content *content, struct fg_error *err)
{
	return archives->keeper->put(archives, object, file, content, err);
}

int fg_archives_get(const struct fg_archives *archives, const char *object,
		    const struct fg_archives_content *content, int *file, struct fg_error *err)
{
	return archives->keeper->get(archives, object, content, file, err);
}

int fg_archives_get_part(const struct fg_archives *archives, const char *object,
			 const struct fg_archives_part *part, int *file, uint64_t *at,
			 struct fg_error *err)
{
	FG_ASSERT(part->first <= part->size && part->length <= part->size - part->first);
	return archives->keeper->get_part(archives, object, part, file, at, err);
}

int fg_archives_remove(const struct fg_archives *archives, const char *object, struct fg_error *err)
{
	return archives->keeper->remove(archives, object, err);
}

int fg_archives_list(const struct fg_archives *archives, const char *folder,
		     fg_archives_visit *visit, void *context, struct fg_error *err)
{
	return archives->keeper->list(archives, folder, visit, context, err);
}
