// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "store/path_block.h"
#include "tests/support/fg_test.h"

enum {
	FIRST = 1000,
	OTHERS = 100 /* paths before it */
};

/* Paths of a program that grows, some below paths of earlier blocks. */
static void make_paths(struct fg_call_path *paths, size_t count, uint64_t seed)
{
	struct fg_random random;

	fg_random_seed(&random, seed);
	for (size_t i = 0; i < count; i++)
		paths[i] = (struct fg_call_path){.parent = FIRST - OTHERS +
							   fg_random_below(&random, OTHERS + i),
						 .function = 1 + fg_random_below(&random, 5000)};
}

static void seal(uint64_t first, const struct fg_call_path *paths, size_t count,
		 struct fg_bytes *sealed)
{
	struct fg_error err = {0};

	if (fg_path_block_seal(first, paths, count, FG_PACK_LEVEL_QUICK, sealed, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static void paths_come_back_from_a_block(void **state)
{
	static const size_t counts[] = {1, 2, 700, FG_PATH_BLOCK_MAX};
	struct fg_call_path *paths = fg_xcalloc(FG_PATH_BLOCK_MAX, sizeof(*paths));
	struct fg_error err = {0};

	(void)state;
	for (size_t c = 0; c < FG_ARRAY_SIZE(counts); c++) {
		struct fg_bytes sealed = {0};
		struct fg_path_block block = {0};

		make_paths(paths, counts[c], c);
		seal(FIRST, paths, counts[c], &sealed);
		assert_int_equal(fg_path_block_open(sealed.data, sealed.size, FIRST, counts[c],
						    &block, &err),
				 FG_OK);
		assert_int_equal(block.first, FIRST);
		assert_int_equal(block.count, counts[c]);
		assert_memory_equal(block.paths, paths, counts[c] * sizeof(*paths));
		assert_true(fg_path_block_has(&block, FIRST));
		assert_false(fg_path_block_has(&block, FIRST - 1));
		assert_true(fg_path_block_has(&block, FIRST + counts[c] - 1));
		assert_false(fg_path_block_has(&block, FIRST + counts[c]));
		fg_path_block_release(&block);
		fg_bytes_release(&sealed);
	}
	free(paths);
}

/* The slow way, the first of those that are the same. */
static uint64_t found_slowly(const struct fg_call_path *paths, size_t count, uint64_t parent,
			     uint64_t function)
{
	for (size_t i = 0; i < count; i++) {
		if (parent >= FIRST && paths[i].parent == parent && paths[i].function == function)
			return FIRST + i;
	}
	return 0;
}

static void path_is_found_by_a_parent_in_its_block(void **state)
{
	enum {
		COUNT = 700
	};
	struct fg_call_path paths[COUNT];
	struct fg_bytes sealed = {0};
	struct fg_path_block block = {0};
	struct fg_error err = {0};
	size_t found = 0;

	(void)state;
	make_paths(paths, COUNT, 9);
	seal(FIRST, paths, COUNT, &sealed);
	assert_int_equal(fg_path_block_open(sealed.data, sealed.size, FIRST, COUNT, &block, &err),
			 FG_OK);
	for (size_t i = 0; i < COUNT; i++) {
		const uint64_t id = found_slowly(paths, COUNT, paths[i].parent, paths[i].function);

		assert_int_equal(fg_path_block_find(&block, paths[i].parent, paths[i].function),
				 id);
		assert_int_equal(fg_path_block_find(&block, paths[i].parent, 6000), 0);
		found += id != 0;
	}
	assert_in_range(found, 200, COUNT - 100); /* otherwise this proves nothing */
	assert_int_equal(fg_path_block_find(&block, FIRST + COUNT, 1), 0);
	fg_path_block_release(&block);
	fg_bytes_release(&sealed);
}

static void refuses(const void *data, size_t size, uint64_t first, uint64_t count,
		    const char *words)
{
	struct fg_path_block block = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_path_block_open(data, size, first, count, &block, &err), FG_EPARSE);
	if (!strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
	assert_null(block.paths);
}

static void damaged_block_is_refused(void **state)
{
	enum {
		COUNT = 20
	};
	struct fg_call_path paths[COUNT];
	struct fg_bytes sealed = {0};

	(void)state;
	make_paths(paths, COUNT, 4);
	seal(FIRST, paths, COUNT, &sealed);
	for (size_t i = 0; i < sealed.size; i++) {
		sealed.data[i] ^= 0x10;
		refuses(sealed.data, sealed.size, FIRST, COUNT, "a block");
		sealed.data[i] ^= 0x10;
		refuses(sealed.data, i, FIRST, COUNT, "a block");
	}
	refuses(sealed.data, sealed.size, FIRST + 1, COUNT,
		"does not hold the paths that its row lists");
	refuses(sealed.data, sealed.size, FIRST, COUNT - 1,
		"does not hold the paths that its row lists");
	refuses(sealed.data, sealed.size, FIRST, COUNT + 1,
		"does not hold the paths that its row lists");
	refuses(sealed.data, sealed.size, FIRST, 0, "cannot be in a block");
	refuses(sealed.data, sealed.size, 0, COUNT, "cannot be in a block");
	refuses(sealed.data, sealed.size, FIRST, FG_PATH_BLOCK_MAX + 1, "cannot be in a block");
	refuses(sealed.data, sealed.size, INT64_MAX - 3, COUNT, "cannot be in a block");
	fg_bytes_release(&sealed);
}

/* Blocks with a good checksum around numbers that nobody writes. */
static void contradictions_are_refused(void **state)
{
	static const struct {
		uint64_t numbers[8];
		size_t count;
	} bad[] = {
		{{5, 2, 0, 1, 7, 7}, 6},          /* a path that is its own parent */
		{{5, 2, 6, 1, 7, 7}, 6},          /* a parent before the first id there is */
		{{5, 2, 1, 1, 7, 0}, 6},          /* no function */
		{{5, 2, 1, 1, 7, UINT64_MAX}, 6}, /* a function that no row can have */
		{{5, 2, 1, 1, 7}, 5},             /* cut short */
		{{5, 2, 1, 1, 7, 7, 7}, 7},       /* something behind */
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(bad); i++) {
		struct fg_bytes content = {0};
		struct fg_bytes sealed = {0};
		struct fg_error err = {0};

		for (size_t n = 0; n < bad[i].count; n++)
			fg_bytes_varint(&content, bad[i].numbers[n]);
		assert_int_equal(fg_pack_bytes(&content, FG_PACK_LEVEL_QUICK, &sealed, &err),
				 FG_OK);
		refuses(sealed.data, sealed.size, 5, 2, "lacks its function or an earlier parent");
		fg_bytes_release(&content);
		fg_bytes_release(&sealed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_come_back_from_a_block),
		cmocka_unit_test(path_is_found_by_a_parent_in_its_block),
		cmocka_unit_test(damaged_block_is_refused),
		cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
