// SPDX-License-Identifier: Apache-2.0
#include "binary/disassemble.h"
#include "tests/support/fg_test.h"

#include <elf.h>
#include <string.h>

static struct fg_instruction instructions[8];

/* Disassembles code at address 0x1000. */
static size_t disassemble(const uint8_t *bytes, size_t size, uint16_t machine)
{
	struct fg_elf_code code = {.size = size, .machine = machine};
	struct fg_instruction *found = NULL;
	size_t count = 0;

	code.bytes = fg_xreallocarray(NULL, size, 1);
	memcpy(code.bytes, bytes, size);
	found = fg_disassemble(&code, 0x1000, &count);
	assert_true(count <= FG_ARRAY_SIZE(instructions));
	if (count > 0)
		memcpy(instructions, found, count * sizeof(*found));
	free(found);
	free(code.bytes);
	return count;
}

FG_TEST(instructions_read_as_in_the_manual)
{
	static const uint8_t code[] = {
		0x48, 0x89, 0xe5,             /* mov rbp, rsp */
		0xe8, 0xf8, 0x00, 0x00, 0x00, /* call */
		0x75, 0xf6,                   /* jnz */
		0xff, 0xd0,                   /* call rax */
	};

	assert_int_equal(disassemble(code, sizeof(code), EM_X86_64), 4);
	assert_string_equal(instructions[0].text, "mov rbp, rsp");
	assert_int_equal(instructions[0].size, 3);
	assert_int_equal(instructions[0].target, 0);
	assert_string_equal(instructions[1].text, "call 0x1100");
	assert_int_equal(instructions[1].target, 0x1100);
	assert_string_equal(instructions[2].text, "jnz 0x1000");
	assert_int_equal(instructions[2].target, 0x1000);
	assert_int_equal(instructions[3].address, 0x100a);
	assert_int_equal(instructions[3].target, 0);
}

FG_TEST(a_place_in_memory_is_reported)
{
	static const uint8_t code[] = {
		0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, /* mov eax, [rip+0x10] */
		0x8b, 0x43, 0x10,                   /* mov eax, [rbx+0x10] */
	};

	assert_int_equal(disassemble(code, sizeof(code), EM_X86_64), 2);
	assert_string_equal(instructions[0].text, "mov eax, [0x1016]");
	assert_int_equal(instructions[0].place, 0x1016);
	assert_int_equal(instructions[0].target, 0);
	assert_int_equal(instructions[1].place, 0);
}

FG_TEST(an_invalid_instruction_is_one_byte)
{
	static const uint8_t code[] = {0x06, 0xe8, 0x01}; /* the last instruction is cut */

	assert_int_equal(disassemble(code, sizeof(code), EM_X86_64), 3);
	assert_string_equal(instructions[0].text, "(bad)");
	assert_int_equal(instructions[0].size, 1);
	assert_int_equal(instructions[1].size, 1);
}

FG_TEST(both_widths_are_known_and_nothing_else)
{
	static const uint8_t code[] = {0x06, 0x40};

	assert_int_equal(disassemble(code, sizeof(code), EM_386), 2);
	assert_string_equal(instructions[0].text, "push es");
	assert_string_equal(instructions[1].text, "inc eax");
	assert_int_equal(disassemble(code, sizeof(code), EM_AARCH64), 0);
}
