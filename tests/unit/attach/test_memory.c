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

struct fixture {
	struct fg_memory memory;
	uint8_t *bytes;
};

static int begin(void **state)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));

	f->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->bytes, MAP_FAILED);
	fg_memory_init(&f->memory, getpid());
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	fg_memory_release(&f->memory);
	(void)munmap(f->bytes, SIZE);
	free(f);
	return 0;
}

static uint8_t read_at(struct fixture *f, size_t offset)
{
	uint8_t found = 0;

	assert_true(fg_memory_read(&f->memory, (uintptr_t)f->bytes + offset, &found, 1));
	return found;
}

FG_TEST_IN(memory_is_cached_until_it_is_forgotten, begin, end)
{
	struct fixture *f = *state;

	f->bytes[7] = 1;
	assert_int_equal(read_at(f, 7), 1);
	f->bytes[7] = 2;
	assert_int_equal(read_at(f, 7), 1);
	fg_memory_forget(&f->memory);
	assert_int_equal(read_at(f, 7), 2);
}

/* The process has continued meanwhile: reading another page must not bring newer content. */
FG_TEST_IN(a_copy_survives_other_reads, begin, end)
{
	struct fixture *f = *state;
	uint8_t copy[2 * FG_MEMORY_PAGE];

	memset(copy, 1, sizeof(copy));
	memset(f->bytes, 2, SIZE);
	f->bytes[AROUND] = 3;
	f->bytes[2 * AROUND] = 4;
	fg_memory_put(&f->memory, (uintptr_t)f->bytes, copy, sizeof(copy));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_at(f, AROUND), 3);
		assert_int_equal(read_at(f, 0), 1);
		assert_int_equal(read_at(f, 2 * AROUND), 4);
		assert_int_equal(read_at(f, AROUND + FG_MEMORY_PAGE), 2);
		assert_int_equal(read_at(f, FG_MEMORY_PAGE), 1);
	}
	assert_int_equal(read_at(f, 2 * FG_MEMORY_PAGE), 2);
	fg_memory_forget(&f->memory);
	assert_int_equal(read_at(f, 0), 2);
	assert_int_equal(read_at(f, AROUND), 3);
}

FG_TEST_IN(unmapped_memory_cannot_be_read, begin, end)
{
	struct fixture *f = *state;
	uint8_t found = 0;

	assert_false(fg_memory_read(&f->memory, 0, &found, 1));
	assert_false(fg_memory_read(&f->memory, UINT64_MAX - 1, &found, 2));
}
