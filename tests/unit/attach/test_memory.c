// SPDX-License-Identifier: Apache-2.0
/* Reads the memory of a process, which is this process itself. */
#include "profile/attach/memory.h"
#include "tests/support/fg_test.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
	AROUND = FG_MEMORY_PAGES * FG_MEMORY_PAGE, /* distance of two pages with the same slot */
	SIZE = 3 * AROUND
};

static struct fg_memory memory;
static uint8_t *bytes;

static int begin(void **state)
{
	(void)state;
	bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	fg_memory_init(&memory, getpid());
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_memory_release(&memory);
	(void)munmap(bytes, SIZE);
	return 0;
}

static uint8_t read_at(size_t offset)
{
	uint8_t found = 0;

	assert_true(fg_memory_read(&memory, (uintptr_t)bytes + offset, &found, 1));
	return found;
}

FG_TEST_IN(memory_is_cached_until_it_is_forgotten, begin, end)
{
	bytes[7] = 1;
	assert_int_equal(read_at(7), 1);
	bytes[7] = 2;
	assert_int_equal(read_at(7), 1);
	fg_memory_forget(&memory);
	assert_int_equal(read_at(7), 2);
}

/* The process has continued meanwhile: reading another page must not bring newer content. */
FG_TEST_IN(a_copy_survives_other_reads, begin, end)
{
	uint8_t copy[2 * FG_MEMORY_PAGE];

	memset(copy, 1, sizeof(copy));
	memset(bytes, 2, SIZE);
	bytes[AROUND] = 3;
	bytes[2 * AROUND] = 4;
	fg_memory_put(&memory, (uintptr_t)bytes, copy, sizeof(copy));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_at(AROUND), 3);
		assert_int_equal(read_at(0), 1);
		assert_int_equal(read_at(2 * AROUND), 4);
		assert_int_equal(read_at(AROUND + FG_MEMORY_PAGE), 2);
		assert_int_equal(read_at(FG_MEMORY_PAGE), 1);
	}
	assert_int_equal(read_at(2 * FG_MEMORY_PAGE), 2);
	fg_memory_forget(&memory);
	assert_int_equal(read_at(0), 2);
	assert_int_equal(read_at(AROUND), 3);
}

FG_TEST_IN(unmapped_memory_cannot_be_read, begin, end)
{
	uint8_t found = 0;

	assert_false(fg_memory_read(&memory, 0, &found, 1));
	assert_false(fg_memory_read(&memory, UINT64_MAX - 1, &found, 2));
}
