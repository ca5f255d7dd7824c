// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/place.h"

#include "base/fs.h"
#include "base/secrets.h"

#define KEY_ID_VARIABLE "AWS_ACCESS_KEY_ID"
#define KEY_VARIABLE    "AWS_SECRET_ACCESS_KEY"

enum {
	SECRET_FILE_MAX_BYTES = 4096,
};

int fg_perfdb_read_secret(const char *path, char **secret, struct fg_error *err)
{
	size_t size = 0;
	const int status = fg_fs_read(path, SECRET_FILE_MAX_BYTES, secret, &size, err);

	if (status != FG_OK)
		return status;
	while (size > 0 && ((*secret)[size - 1] == '\n' || (*secret)[size - 1] == '\r'))
		(*secret)[--size] = '\0';
	return size > 0 ? FG_OK : fg_error_set(err, FG_EINVAL, "%s is empty", path);
}

/* Two lines: the key's id, and the key. */
static int read_key_file(const char *path, struct fg_perfdb_place *place, struct fg_error *err)
{
	char *end = NULL;
	const int status = fg_perfdb_read_secret(path, &place->key, err);

	if (status != FG_OK)
		return status;
	place->key_size = strlen(place->key);
	end = strchr(place->key, '\n');
	if (!end || end == place->key || strpbrk(end + 1, "\r\n"))
		return fg_error_set(err, FG_EINVAL,
				    "%s: expected two lines, the id of a key and the key", path);
	*end = '\0';
	if (end[-1] == '\r')
		end[-1] = '\0';
	place->options.key_id = place->key;
	place->options.key = end + 1;
	return FG_OK;
}

int fg_perfdb_place_read(const struct fg_perfdb_options *given, struct fg_perfdb_place *place,
			 struct fg_error *err)
{
	fg_secret_take(KEY_ID_VARIABLE);
	fg_secret_take(KEY_VARIABLE);
	if (!given->archives) {
		if (given->archives_url)
			return fg_error_set(err, FG_EINVAL,
					    "--archives-url needs --archives s3://BUCKET/PREFIX");
		return FG_OK;
	}
	place->options = (struct fg_archives_options){
		.place = given->archives,
		.url = given->archives_url,
		.region = given->archives_region,
		.ca_file = given->archives_ca_file,
		.key_id = fg_secret(KEY_ID_VARIABLE),
		.key = fg_secret(KEY_VARIABLE),
	};
	return given->archives_key_file ? read_key_file(given->archives_key_file, place, err)
					: FG_OK;
}

void fg_perfdb_place_release(struct fg_perfdb_place *place)
{
	if (place->key)
		explicit_bzero(place->key, place->key_size);
	free(place->key);
	*place = (struct fg_perfdb_place){0};
}
