// SPDX-License-Identifier: Apache-2.0
#include "perfdb/archives/begun.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

enum {
	PROJECT_LENGTH = 16,
	DIGEST_LENGTH = FG_SHA256_HEX_SIZE - 1,
	SIZE_LENGTH = 12,
	INDEX_LENGTH = 4,
	TIME_LENGTH = 10,
	/* Where each part begins after "OWNER.begun/". */
	RUN_AT = PROJECT_LENGTH + 1,
	DIGEST_AT = RUN_AT + FG_BEGUN_RUN_LENGTH + 1,
	SIZE_AT = DIGEST_AT + DIGEST_LENGTH + 1,
	INDEX_AT = SIZE_AT + SIZE_LENGTH + 1,
	TIME_AT = INDEX_AT + INDEX_LENGTH + 1,
	NAME_LENGTH = TIME_AT + TIME_LENGTH,
	LITTER_LENGTH = 7, /* ".XXXXXX": written beside, and never renamed */
	OLD_MAX = 10000,   /* that are removed at once */
};

#define ENDING ".begun"
#define DIGITS "0123456789abcdef"

static void add(struct fg_begun_names *names, const char *name)
{
	names->items = fg_grow(names->items, &names->capacity, names->count + 1, sizeof(char *));
	names->items[names->count++] = fg_xstrdup(name);
}

void fg_begun_names_release(struct fg_begun_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct fg_begun_names){0};
}

void fg_begun_state_release(struct fg_begun_state *state)
{
	fg_begun_names_release(&state->pieces);
	fg_begun_names_release(&state->more);
	fg_begun_names_release(&state->old);
	*state = (struct fg_begun_state){0};
}

static char *folder_of(const char *owner)
{
	return fg_xasprintf("%s" ENDING, owner);
}

/* "PROJECT-RUN-DIGEST-SIZE-": what all pieces of an archive begin with. */
static char *key_of(const struct fg_begun *begun)
{
	char project[FG_SHA256_HEX_SIZE];

	fg_sha256_hex(begun->project, strlen(begun->project), project);
	return fg_xasprintf("%.*s-%s-%s-%0*llx-", (int)PROJECT_LENGTH, project, begun->run,
			    begun->content.digest, (int)SIZE_LENGTH,
			    (unsigned long long)begun->content.size);
}

static bool are_digits(const char *text, size_t count)
{
	return strspn(text, DIGITS) >= count;
}

/* A name, taken apart. */
struct piece {
	const char *text; /* after the folder */
	uint64_t size;    /* of its archive */
	size_t index;
	int64_t made_ns;
	bool is_litter;
};

static bool read_name(const char *name, struct piece *piece)
{
	const char *slash = strrchr(name, '/');
	const char *text = slash ? slash + 1 : name;
	const size_t length = strlen(text);

	if ((length != NAME_LENGTH &&
	     (length != NAME_LENGTH + LITTER_LENGTH || text[NAME_LENGTH] != '.')) ||
	    !are_digits(text, PROJECT_LENGTH) || !are_digits(text + DIGEST_AT, DIGEST_LENGTH) ||
	    !are_digits(text + SIZE_AT, SIZE_LENGTH) ||
	    !are_digits(text + INDEX_AT, INDEX_LENGTH) || !are_digits(text + TIME_AT, TIME_LENGTH))
		return false;
	*piece = (struct piece){
		.text = text,
		.size = strtoull(text + SIZE_AT, NULL, 16),
		.index = (size_t)strtoul(text + INDEX_AT, NULL, 16),
		.made_ns = (int64_t)strtoll(text + TIME_AT, NULL, 16) * FG_NS_PER_S,
		.is_litter = length != NAME_LENGTH,
	};
	return true;
}

static bool is_old(const struct piece *piece)
{
	return piece->made_ns < fg_clock_wall_ns() - (int64_t)FG_BEGUN_HOURS * 3600 * FG_NS_PER_S;
}

uint64_t fg_begun_piece_size(const struct fg_begun *begun, uint64_t offset)
{
	const uint64_t left = begun->content.size - offset;

	return left < begun->piece ? left : begun->piece;
}

/* While names are looked through. */
struct look {
	const struct fg_begun *begun;
	struct fg_begun_state *state;
	char *key;
};

static uint64_t bytes_of(const struct fg_begun *begun, const struct piece *piece)
{
	const uint64_t offset = piece->index * begun->piece;
	const uint64_t left = offset < piece->size ? piece->size - offset : 0;

	return left < begun->piece ? left : begun->piece;
}

/* Names come in order, so pieces do. */
static void look_at(void *context, const char *name)
{
	struct look *look = context;
	struct fg_begun_state *state = look->state;
	struct piece piece = {0};
	uint64_t bytes = 0;
	bool is_own = false;
	bool is_next = false;

	if (!read_name(name, &piece))
		return;
	if (is_old(&piece) && state->old.count < OLD_MAX)
		add(&state->old, name);
	if (is_old(&piece))
		return;
	bytes = bytes_of(look->begun, &piece);
	is_own = fg_text_starts_with(piece.text, look->key);
	state->bytes += bytes;
	if (strncmp(piece.text, look->key, PROJECT_LENGTH) == 0) {
		state->project_bytes += bytes;
		state->other_bytes += is_own ? 0 : bytes;
	}
	if (!is_own || piece.is_litter)
		return;
	is_next = piece.index == state->pieces.count &&
		  piece.index < (look->begun->content.size - 1) / look->begun->piece;
	add(is_next ? &state->pieces : &state->more, name);
}

int fg_begun_look(const struct fg_archives *archives, const struct fg_begun *begun,
		  struct fg_begun_state *state, struct fg_error *err)
{
	struct look look = {.begun = begun, .state = state, .key = key_of(begun)};
	char *folder = folder_of(begun->owner);
	int status = FG_OK;

	FG_ASSERT(strlen(begun->run) == FG_BEGUN_RUN_LENGTH && begun->content.size > 0);
	*state = (struct fg_begun_state){0};
	status = fg_archives_list(archives, folder, look_at, &look, err);
	state->offset = state->pieces.count * begun->piece;
	free(folder);
	free(look.key);
	return status;
}

int fg_begun_put(const struct fg_archives *archives, const struct fg_begun *begun,
		 struct fg_begun_state *state, int file, const char *digest, struct fg_error *err)
{
	const struct fg_archives_content content = {.size = begun->piece, .digest = digest};
	char *key = key_of(begun);
	char *name = fg_xasprintf("%s" ENDING "/%s%0*zx-%0*llx", begun->owner, key,
				  (int)INDEX_LENGTH, state->pieces.count, (int)TIME_LENGTH,
				  (unsigned long long)(fg_clock_wall_ns() / FG_NS_PER_S));
	int status = FG_OK;

	FG_ASSERT(state->pieces.count < FG_BEGUN_PIECES_MAX);
	status = fg_archives_put(archives, name, file, &content, err);
	if (status == FG_OK) {
		add(&state->pieces, name);
		state->offset += content.size;
	}
	free(key);
	free(name);
	return status;
}

/* Appended to `to`. */
static int append(int from, uint64_t at, uint64_t size, int to, struct fg_sha256 *sha,
		  struct fg_error *err)
{
	char buffer[65536];
	int status = FG_OK;

	while (size > 0 && status == FG_OK) {
		const ssize_t got =
			pread(from, buffer, size < sizeof(buffer) ? (size_t)size : sizeof(buffer),
			      (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fg_error_errno(err, FG_EIO, "a piece cannot be read");
		fg_sha256_add(sha, buffer, (size_t)got);
		status = fg_fs_write_all(to, buffer, (size_t)got, err);
		at += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return status;
}

static int append_piece(const struct fg_archives *archives, const char *name, uint64_t size, int to,
			struct fg_sha256 *sha, struct fg_error *err)
{
	const struct fg_archives_part all = {.size = size, .length = size};
	uint64_t at = 0;
	int file = -1;
	int status = fg_archives_get_part(archives, name, &all, &file, &at, err);

	if (status != FG_OK)
		return status;
	status = append(file, at, size, to, sha, err);
	(void)close(file);
	return status;
}

int fg_begun_join(const struct fg_archives *archives, const struct fg_begun *begun,
		  const struct fg_begun_state *state, int last, int *file, struct fg_error *err)
{
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	struct fg_sha256 sha;
	int to = -1;
	int status = fg_fs_unnamed(fg_archives_folder(archives), &to, err);

	if (status != FG_OK)
		return status;
	fg_sha256_init(&sha);
	for (size_t i = 0; i < state->pieces.count && status == FG_OK; i++)
		status =
			append_piece(archives, state->pieces.items[i], begun->piece, to, &sha, err);
	if (status == FG_OK)
		status = append(last, 0, fg_begun_piece_size(begun, state->offset), to, &sha, err);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	if (status == FG_OK && strcmp(hex, begun->content.digest) != 0)
		status = fg_error_set(err, FG_ECONFLICT, "the pieces are not what was announced");
	if (status == FG_OK)
		*file = to;
	else
		(void)close(to);
	return status;
}

int fg_begun_remove(const struct fg_archives *archives, const struct fg_begun_names *names,
		    struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < names->count && status == FG_OK; i++)
		status = fg_archives_remove(archives, names->items[i], err);
	return status;
}

static void keep_old(void *context, const char *name)
{
	struct piece piece = {0};

	if (read_name(name, &piece) && is_old(&piece))
		add(context, name);
}

int fg_begun_list_old(const struct fg_archives *archives, const char *owner,
		      struct fg_begun_names *names, struct fg_error *err)
{
	char *folder = folder_of(owner);
	const int status = fg_archives_list(archives, folder, keep_old, names, err);

	free(folder);
	return status;
}
