// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a fuzz target without libFuzzer: every file of the corpus unchanged, then cut at 64 places,
 * then with a few bytes changed, always the same ones. This does not search for inputs, but catches
 * a reader that trusts its input.
 */
#include "base/fs.h"
#include "base/random.h"
#include "tests/fuzz/fuzz.h"

enum {
	MAX_BYTES = 4 << 20,
	CUTS = 64,
	CHANGED_COPIES = 192,
	CHANGES_PER_COPY = 4
};

/* On the heap, with nothing after it, so that AddressSanitizer sees an overrun. */
static void feed(const char *data, size_t size)
{
	uint8_t *copy = fg_xmalloc(size);

	if (size > 0)
		memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void feed_changed(char *data, size_t size, struct fg_random *random)
{
	char kept[CHANGES_PER_COPY] = {0};
	size_t places[CHANGES_PER_COPY] = {0};

	for (size_t i = 0; i < CHANGES_PER_COPY; i++) {
		places[i] = (size_t)fg_random_below(random, size);
		kept[i] = data[places[i]];
		data[places[i]] = (char)fg_random_below(random, 256);
	}
	feed(data, size);
	for (size_t i = CHANGES_PER_COPY; i-- > 0;)
		data[places[i]] = kept[i];
}

static int replay(const char *path)
{
	struct fg_random random;
	struct fg_error err = {0};
	char *data = NULL;
	size_t size = 0;

	if (fg_fs_read(path, MAX_BYTES, &data, &size, &err) != FG_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	fg_random_seed(&random, size);
	feed(data, size);
	for (size_t i = 0; i < CUTS && size > 0; i++)
		feed(data, size * i / CUTS);
	for (size_t i = 0; i < CHANGED_COPIES && size > 0; i++)
		feed_changed(data, size, &random);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	struct fg_error err = {0};
	char **names = NULL;
	size_t count = 0;
	int failed = 0;

	if (argc != 2 || fg_fs_list(argv[1], &names, &count, &err) != FG_OK || count == 0) {
		(void)fprintf(stderr, "usage: %s CORPUS_FOLDER (that holds a file at least) %s\n",
			      argv[0], err.message);
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(argv[1], names[i]);

		failed += replay(path);
		free(path);
	}
	(void)printf("%zu files, %d unreadable\n", count, failed);
	fg_fs_list_free(names, count);
	return failed > 0;
}
