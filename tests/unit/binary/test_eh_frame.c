// SPDX-License-Identifier: Apache-2.0
#include "binary/eh_frame.h"
#include "tests/support/fg_test.h"

#include <string.h>

/* At address 0: a CIE ("zR", pcrel sdata4), an FDE for 0x2000 and one for 0x1000. */
static const uint8_t section[] = {
	16,   0,    0,   0,                   /* CIE: length */
	0,    0,    0,   0,                   /* id */
	1,    'z',  'R', 0,                   /* version, augmentation */
	1,    0x78, 16,  1,                   /* alignments, return register, length */
	0x1b, 0,    0,   0,                   /* encoding of addresses */
	16,   0,    0,   0,                   /* FDE at 20 */
	24,   0,    0,   0,                   /* distance back to its CIE */
	0xe4, 0x1f, 0,   0,                   /* 28 + 0x1fe4 = 0x2000 */
	16,   0,    0,   0,                   /* length of the code */
	0,    0,    0,   0,                   /* no augmentation data, and padding */
	16,   0,    0,   0,                   /* FDE at 40 */
	44,   0,    0,   0, 0xd0, 0x0f, 0, 0, /* 48 + 0x0fd0 = 0x1000 */
	16,   0,    0,   0, 0,    0,    0, 0, /* length of the code, and padding */
	0,    0,    0,   0,                   /* terminator */
};

static struct fg_eh_frames read(const uint8_t *bytes, size_t size)
{
	struct fg_eh_frames frames = {.is_complete = true};

	fg_eh_frames_add(&frames, &(struct fg_eh_section){.bytes = bytes, .size = size});
	return frames;
}

FG_TEST(functions_are_sorted_by_their_start)
{
	struct fg_eh_frames frames = read(section, sizeof(section));

	assert_true(frames.is_complete);
	assert_int_equal(frames.count, 2);
	assert_int_equal(frames.items[0].start, 0x1000);
	assert_int_equal(frames.items[0].end, 0x1010);
	assert_int_equal(frames.items[0].offset, 40);
	assert_int_equal(frames.items[1].start, 0x2000);
	assert_int_equal(frames.items[1].offset, 20);
	fg_eh_frames_release(&frames);
}

FG_TEST(the_function_around_an_address_is_found)
{
	struct fg_eh_frames frames = read(section, sizeof(section));

	assert_null(fg_eh_frames_before(&frames, 0xfff));
	assert_ptr_equal(fg_eh_frames_before(&frames, 0x1000), &frames.items[0]);
	assert_ptr_equal(fg_eh_frames_before(&frames, 0x1fff), &frames.items[0]);
	assert_ptr_equal(fg_eh_frames_before(&frames, 0x3000), &frames.items[1]);
	fg_eh_frames_release(&frames);
}

FG_TEST(addresses_relative_to_something_else_are_left_out)
{
	uint8_t other[sizeof(section)];
	struct fg_eh_frames frames;

	memcpy(other, section, sizeof(section));
	other[16] = 0x3b; /* distance to the table's beginning */
	frames = read(other, sizeof(other));
	assert_int_equal(frames.count, 0);
	assert_false(frames.is_complete);
	fg_eh_frames_release(&frames);
}

/* The copy has exactly this size, so that a sanitizer sees an overrun. */
FG_TEST(damage_is_survived)
{
	for (size_t size = 1; size <= sizeof(section); size++) {
		for (size_t at = 0; at < size; at++) {
			uint8_t *bytes = fg_xmalloc(size);
			struct fg_eh_frames frames;

			memcpy(bytes, section, size);
			bytes[at] ^= 0xff;
			frames = read(bytes, size);
			assert_true(frames.count <= 2);
			fg_eh_frames_release(&frames);
			free(bytes);
		}
	}
}
