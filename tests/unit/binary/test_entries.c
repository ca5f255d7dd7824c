// SPDX-License-Identifier: Apache-2.0
#include "binary/entries.h"
#include "binary/entry_scan.h"
#include "tests/support/fg_test.h"

#include <string.h>

static struct fg_entries plan;
static const struct fg_plan_entry *entries;
static size_t count;

static int read_object(void **state)
{
	struct fg_error err = {0};

	(void)state;
	if (fg_entries_add(&plan, FG_TEST_ENTRIES, "entries", &err) != FG_OK) {
		print_error("%s\n", err.message);
		return 1;
	}
	entries = (const void *)plan.entries.data;
	count = plan.entries.length / sizeof(entries[0]);
	return 0;
}

static int release_object(void **state)
{
	(void)state;
	fg_entries_release(&plan);
	return 0;
}

static const struct fg_plan_entry *entry_of(const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(plan.texts.data + entries[i].name, name) == 0)
			return &entries[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static void expect(const char *name, enum fg_entry_refusal refusal)
{
	const unsigned found = entry_of(name)->refusal;

	if (found != refusal)
		fail_msg("%s: expected %u, got %u", name, (unsigned)refusal, found);
}

FG_TEST_IN(usual_beginnings_are_accepted, read_object, release_object)
{
	static const char *const names[] = {"plain",      "behind_endbr", "relative",  "early_exit",
					    "with_guard", "starts_here",  "goes_there"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i], FG_ENTRY_ACCEPTED);
}

FG_TEST_IN(nops_that_the_compiler_left_are_distinguished, read_object, release_object)
{
	static const struct {
		const char *name;
		uint8_t jump_at, window_size;
	} expected[] = {
		{.name = "five_nops", .jump_at = 0, .window_size = 5},
		{.name = "long_nop", .jump_at = 0, .window_size = 5},
		{.name = "longer_nops", .jump_at = 4, .window_size = 14},
		{.name = "three_nops", .jump_at = 0, .window_size = 6},
		{.name = "plain", .jump_at = 0, .window_size = 6},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct fg_plan_entry *entry = entry_of(expected[i].name);

		expect(expected[i].name, FG_ENTRY_ACCEPTED);
		assert_int_equal(entry->jump_at, expected[i].jump_at);
		assert_int_equal(entry->window_size, expected[i].window_size);
	}
	expect("three_nops_and_memory", FG_ENTRY_FIXED);
}

FG_TEST_IN(unmovable_instructions_are_refused, read_object, release_object)
{
	expect("too_short", FG_ENTRY_SHORT);
	expect("short_jump", FG_ENTRY_SHORT);
	expect("thunk", FG_ENTRY_SHORT);
	expect("whole", FG_ENTRY_SHORT);
	expect("with_call", FG_ENTRY_SHORT);
	expect("with_memory", FG_ENTRY_FIXED);
	expect("with_jrcxz", FG_ENTRY_FIXED);
	expect("with_loop", FG_ENTRY_FIXED);
	expect("with_division", FG_ENTRY_FIXED);
	expect("with_copy", FG_ENTRY_FIXED);
	expect("with_small_stack", FG_ENTRY_FIXED);
}

FG_TEST_IN(branches_into_the_first_instructions_refuse_them, read_object, release_object)
{
	expect("loop_to_start", FG_ENTRY_INSIDE);
	expect("loop_inside", FG_ENTRY_INSIDE);
	expect("loop_behind_endbr", FG_ENTRY_INSIDE);
	expect("branched_into", FG_ENTRY_INSIDE);
	expect("branches", FG_ENTRY_ACCEPTED);
	expect("near_unknown", FG_ENTRY_INSIDE);
	expect("address_in_data", FG_ENTRY_INSIDE);
	expect("address_in_code", FG_ENTRY_INSIDE);
	expect("symbol_inside", FG_ENTRY_INSIDE);
	expect("handles_inside", FG_ENTRY_INSIDE);
}

FG_TEST_IN(undecodable_instructions_are_refused, read_object, release_object)
{
	expect("with_switch", FG_ENTRY_INSIDE);
	expect("tail_call", FG_ENTRY_INSIDE);
	expect("has_strange_part", FG_ENTRY_INSIDE);
	expect("without_frame", FG_ENTRY_UNBOUNDED);
	expect("not_code", FG_ENTRY_INSIDE);
}

FG_TEST_IN(a_fragment_of_a_function_is_refused, read_object, release_object)
{
	expect("chosen_later", FG_ENTRY_UNBOUNDED);
	for (size_t i = 0; i < count; i++)
		if (entries[i].address == entry_of("plain")->address)
			assert_int_equal(entries[i].refusal, FG_ENTRY_ACCEPTED);
	/* "plain.cold" is a part of plain, not a function. */
	for (size_t i = 0; i < count; i++)
		if (strcmp(plan.texts.data + entries[i].name, "plain") == 0)
			assert_int_equal(entries[i].address, entry_of("plain")->address);
}

/* ---- the first instructions that a jump replaces ---- */

/* Returns the distance that a fixup adapts, as it is for code at the function's own address. */
static int32_t distance_of(const struct fg_plan_entry *entry, unsigned fixup)
{
	int32_t distance;

	memcpy(&distance, entry->code + entry->fixups[fixup], sizeof(distance));
	return distance;
}

static struct fg_plan_entry window_of(const uint8_t *bytes, size_t size,
				      enum fg_entry_refusal expected)
{
	struct fg_plan_entry entry = {.address = 0x1000};

	assert_int_equal(fg_entry_window(bytes, size, &entry), expected);
	assert_int_equal(entry.refusal, expected);
	return entry;
}

FG_TEST(whole_instructions_are_taken)
{
	static const uint8_t code[] = {
		0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
		0x55,                   /* push rbp */
		0x48, 0x89, 0xe5,       /* mov rbp, rsp */
		0x41, 0x54,             /* push r12 */
		0x90,                   /* nop */
	};
	const struct fg_plan_entry entry = window_of(code, sizeof(code), FG_ENTRY_ACCEPTED);

	assert_int_equal(entry.jump_at, 4);
	assert_int_equal(entry.window_size, 10);
	assert_int_equal(entry.code_size, 6 + FG_PLAN_JUMP);
	assert_memory_equal(entry.code, code + 4, 6);
	assert_int_equal(entry.code[6], 0xe9);
	assert_int_equal(entry.fixup_count, 1);
	assert_int_equal(entry.fixups[0], 7);
	assert_int_equal(distance_of(&entry, 0), 10 - (7 + 4));
}

FG_TEST(a_place_in_memory_keeps_its_immediate_behind_it)
{
	static const uint8_t code[] = {
		0xc7, 0x05, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, /* mov [rip+16], 1 */
		0xc3,
	};
	const struct fg_plan_entry entry = window_of(code, sizeof(code), FG_ENTRY_ACCEPTED);

	assert_int_equal(entry.fixup_count, 2);
	assert_int_equal(entry.fixups[0], 2);
	assert_int_equal(distance_of(&entry, 0), 16);
}

FG_TEST(a_short_branch_becomes_a_long_one)
{
	static const uint8_t code[] = {
		0x48, 0x85, 0xff, /* test rdi, rdi */
		0x74, 0x20,       /* je */
		0xc3,
	};
	const struct fg_plan_entry entry = window_of(code, sizeof(code), FG_ENTRY_ACCEPTED);

	assert_int_equal(entry.code_size, 3 + 6 + FG_PLAN_JUMP);
	assert_int_equal(entry.code[3], 0x0f);
	assert_int_equal(entry.code[4], 0x84);
	assert_int_equal(entry.fixups[0], 5);
	assert_int_equal(distance_of(&entry, 0), 5 + 0x20 - (5 + 4));
	assert_int_equal(distance_of(&entry, 1), 5 - (10 + 4));
}

FG_TEST(a_refusal_leaves_nothing_else)
{
	static const uint8_t code[] = {0x55, 0x8b, 0x07, 0x90, 0x90, 0x90};
	const struct fg_plan_entry entry = window_of(code, sizeof(code), FG_ENTRY_FIXED);

	assert_int_equal(entry.code_size, 0);
	assert_int_equal(entry.window_size, 0);
}

FG_TEST(a_truncated_instruction_is_not_decoded)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89};

	(void)window_of(code, sizeof(code), FG_ENTRY_UNBOUNDED);
	(void)window_of(code, 1, FG_ENTRY_SHORT);
}
