// SPDX-License-Identifier: Apache-2.0
#include "outside/frame_index.h"
#include "tests/support/fg_test.h"

#include <string.h>

/* A CIE ("zR", pcrel sdata4), then an FDE for 0x2000 and one for 0x1000 relative to the section. */
static const uint8_t section[] = {
	16,   0,    0,   0,                   /* CIE: length */
	0,    0,    0,   0,                   /* id */
	1,    'z',  'R', 0,                   /* version, augmentation */
	1,    0x78, 16,  1,                   /* alignments, return register, length */
	0x1b, 0,    0,   0,                   /* encoding of addresses */
	12,   0,    0,   0,                   /* FDE at 20 */
	24,   0,    0,   0,                   /* its CIE is so far back */
	0xe4, 0x1f, 0,   0,                   /* 28 + 0x1fe4 = 0x2000 */
	16,   0,    0,   0,                   /* length of the code */
	12,   0,    0,   0,                   /* FDE at 36 */
	40,   0,    0,   0, 0xd4, 0x0f, 0, 0, /* 44 + 0x0fd4 = 0x1000 */
	16,   0,    0,   0, 0,    0,    0, 0, /* the end */
};

static void entries_are_sorted_by_the_start_of_their_code(void **state)
{
	size_t count = 0;
	struct fg_frame_index_entry *entries =
		fg_frame_index_build(section, sizeof(section), &count);

	(void)state;
	assert_int_equal(count, 2);
	assert_int_equal(entries[0].start, 0x1000);
	assert_int_equal(entries[0].description, 36);
	assert_int_equal(entries[1].start, 0x2000);
	assert_int_equal(entries[1].description, 20);
	free(entries);
}

static void addresses_of_another_encoding_are_left_out(void **state)
{
	uint8_t other[sizeof(section)];
	size_t count = 0;

	(void)state;
	memcpy(other, section, sizeof(section));
	other[16] = 0x00; /* absolute */
	assert_null(fg_frame_index_build(other, sizeof(other), &count));
	assert_int_equal(count, 0);
}

/* In memory of exactly that size, so that a sanitizer sees a step too far. */
static void damage_is_survived(void **state)
{
	(void)state;
	for (size_t size = 0; size <= sizeof(section); size++) {
		for (size_t at = 0; at < size; at++) {
			uint8_t *bytes = fg_xmalloc(size);
			size_t count = 0;

			memcpy(bytes, section, size);
			bytes[at] ^= 0xff;
			free(fg_frame_index_build(bytes, size, &count));
			assert_true(count <= 2);
			free(bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_sorted_by_the_start_of_their_code),
		cmocka_unit_test(addresses_of_another_encoding_are_left_out),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
