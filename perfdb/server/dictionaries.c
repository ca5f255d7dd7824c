// SPDX-License-Identifier: Apache-2.0
/*
 * A team's runs come from few builds, so a handful of dictionaries serves nearly all uploads.  The
 * least recently used goes first; one in use stays until the last thread gives it back.
 *
 * The one opened last of each program keeps its texts: the next one of that program is nearly the
 * same, and is opened by comparing it with this one.
 */
#include "perfdb/server/dictionaries.h"

#include "store/serving/dictionary.h"

#include <pthread.h>

enum {
	KEPT_MAX = 256,
	KEPT_BYTES = 48 << 20,
	BASES_BYTES = 48 << 20
};

struct entry {
	struct fg_dictionary *dictionary;
	unsigned users;
	unsigned long long used; /* the higher, the later */
	bool is_stored;          /* or about to be */
};

/* The one opened last of a program; the database need not know it yet. */
struct base {
	struct fg_dictionary *dictionary;
	uint64_t program;
	unsigned long long used;
};

struct fg_dictionaries {
	pthread_mutex_t lock;
	struct entry *entries;
	size_t count;
	size_t capacity;
	size_t bytes;
	struct base *bases;
	size_t base_count;
	size_t base_capacity;
	size_t base_bytes;
	unsigned long long clock;
};

struct fg_dictionaries *fg_dictionaries_new(void)
{
	struct fg_dictionaries *d = fg_xcalloc(1, sizeof(*d));

	(void)pthread_mutex_init(&d->lock, NULL);
	return d;
}

void fg_dictionaries_free(struct fg_dictionaries *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		fg_dictionary_free(d->entries[i].dictionary);
	free(d->entries);
	for (size_t i = 0; i < d->base_count; i++)
		fg_dictionary_free(d->bases[i].dictionary);
	free(d->bases);
	(void)pthread_mutex_destroy(&d->lock);
	free(d);
}

static struct entry *find(struct fg_dictionaries *d, const char *hash)
{
	for (size_t i = 0; i < d->count; i++) {
		if (strcmp(d->entries[i].dictionary->hash, hash) == 0)
			return &d->entries[i];
	}
	return NULL;
}

static const struct fg_dictionary *use(struct fg_dictionaries *d, struct entry *entry)
{
	entry->users++;
	entry->used = ++d->clock;
	return entry->dictionary;
}

/* What is nobody's base will not become one. */
static void forget_texts(struct fg_dictionaries *d)
{
	for (size_t i = 0; i < d->count; i++) {
		struct entry *e = &d->entries[i];

		if (e->users)
			continue;
		d->bytes -= e->dictionary->memory_bytes;
		fg_dictionary_forget_texts(e->dictionary);
		d->bytes += e->dictionary->memory_bytes;
	}
}

/* Frees what is beyond the limits and not in use. */
static void trim(struct fg_dictionaries *d)
{
	forget_texts(d);
	while (d->count > KEPT_MAX || d->bytes > KEPT_BYTES) {
		struct entry *oldest = NULL;

		for (size_t i = 0; i < d->count; i++) {
			struct entry *e = &d->entries[i];

			if (e->users == 0 && (!oldest || e->used < oldest->used))
				oldest = e;
		}
		if (!oldest)
			return;
		d->bytes -= oldest->dictionary->memory_bytes;
		fg_dictionary_free(oldest->dictionary);
		*oldest = d->entries[--d->count];
	}
}

const struct fg_dictionary *fg_dictionaries_take(struct fg_dictionaries *d, const char *hash)
{
	const struct fg_dictionary *found = NULL;
	struct entry *entry = NULL;

	(void)pthread_mutex_lock(&d->lock);
	entry = find(d, hash);
	if (entry)
		found = use(d, entry);
	(void)pthread_mutex_unlock(&d->lock);
	return found;
}

static struct base *find_base(struct fg_dictionaries *d, uint64_t program)
{
	for (size_t i = 0; i < d->base_count; i++) {
		if (d->bases[i].program == program)
			return &d->bases[i];
	}
	return NULL;
}

static void remove_base(struct fg_dictionaries *d, struct base *base)
{
	d->base_bytes -= base->dictionary->memory_bytes;
	fg_dictionary_free(base->dictionary);
	*base = d->bases[--d->base_count];
}

static struct base *oldest_base(struct fg_dictionaries *d)
{
	struct base *oldest = &d->bases[0];

	for (size_t i = 1; i < d->base_count; i++) {
		if (d->bases[i].used < oldest->used)
			oldest = &d->bases[i];
	}
	return oldest;
}

void fg_dictionaries_opened(struct fg_dictionaries *d, struct fg_dictionary *dictionary,
			    uint64_t program)
{
	const size_t bytes = dictionary->memory_bytes;
	struct base *before = NULL;

	if (bytes > BASES_BYTES)
		return;
	(void)pthread_mutex_lock(&d->lock);
	before = find_base(d, program);
	if (before)
		remove_base(d, before);
	while (d->base_count == KEPT_MAX || d->base_bytes + bytes > BASES_BYTES)
		remove_base(d, oldest_base(d));
	d->bases = fg_grow(d->bases, &d->base_capacity, d->base_count + 1, sizeof(*d->bases));
	d->bases[d->base_count++] =
		(struct base){fg_dictionary_hold(dictionary), program, ++d->clock};
	d->base_bytes += bytes;
	(void)pthread_mutex_unlock(&d->lock);
}

struct fg_dictionary *fg_dictionaries_newest(struct fg_dictionaries *d, uint64_t program)
{
	struct fg_dictionary *found = NULL;
	struct base *base = NULL;

	(void)pthread_mutex_lock(&d->lock);
	base = find_base(d, program);
	if (base)
		found = fg_dictionary_hold(base->dictionary);
	(void)pthread_mutex_unlock(&d->lock);
	return found;
}

const struct fg_dictionary *fg_dictionaries_put(struct fg_dictionaries *d,
						struct fg_dictionary *dictionary, bool is_stored)
{
	const struct fg_dictionary *kept = NULL;
	struct entry *entry = NULL;

	(void)pthread_mutex_lock(&d->lock);
	entry = find(d, dictionary->hash);
	if (entry) {
		fg_dictionary_free(dictionary);
		entry->is_stored = entry->is_stored || is_stored;
	} else {
		d->entries = fg_grow(d->entries, &d->capacity, d->count + 1, sizeof(*d->entries));
		entry = &d->entries[d->count++];
		*entry = (struct entry){.dictionary = dictionary, .is_stored = is_stored};
		d->bytes += dictionary->memory_bytes;
	}
	kept = use(d, entry);
	trim(d);
	(void)pthread_mutex_unlock(&d->lock);
	return kept;
}

/* True: it was otherwise. */
static bool set_stored(struct fg_dictionaries *d, const char *hash, bool is_stored)
{
	struct entry *entry = NULL;
	bool is_other = false;

	(void)pthread_mutex_lock(&d->lock);
	entry = find(d, hash);
	is_other = entry && entry->is_stored != is_stored;
	if (is_other)
		entry->is_stored = is_stored;
	(void)pthread_mutex_unlock(&d->lock);
	return is_other;
}

bool fg_dictionaries_claim(struct fg_dictionaries *d, const char *hash)
{
	return set_stored(d, hash, true);
}

void fg_dictionaries_give_up(struct fg_dictionaries *d, const char *hash)
{
	(void)set_stored(d, hash, false);
}

void fg_dictionaries_give_back(struct fg_dictionaries *d, const struct fg_dictionary *dictionary)
{
	struct entry *entry = NULL;

	if (!dictionary)
		return;
	(void)pthread_mutex_lock(&d->lock);
	entry = find(d, dictionary->hash);
	if (entry)
		entry->users--;
	trim(d);
	(void)pthread_mutex_unlock(&d->lock);
}
