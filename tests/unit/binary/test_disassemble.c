// SPDX-License-Identifier: Apache-2.0
#include "binary/disassemble.h"
#include "tests/support/fg_test.h"

#include <elf.h>
#include <string.h>

static void instructions_read_as_in_the_manual(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x89, 0xe5,             /* mov rbp, rsp */
		0xe8, 0xf8, 0x00, 0x00, 0x00, /* call */
		0x75, 0xf6,                   /* jnz */
		0xff, 0xd0,                   /* call rax */
	};
	struct fg_disassembler *wide = fg_disassembler_new(EM_X86_64);
	struct fg_instruction at;

	(void)state;
	fg_disassemble(wide, code, sizeof(code), 0x1000, &at);
	assert_string_equal(at.text, "mov rbp, rsp");
	assert_int_equal(at.size, 3);
	assert_int_equal(at.target, 0);
	fg_disassemble(wide, code + 3, sizeof(code) - 3, 0x1003, &at);
	assert_string_equal(at.text, "call 0x1100");
	assert_int_equal(at.target, 0x1100);
	fg_disassemble(wide, code + 8, sizeof(code) - 8, 0x1008, &at);
	assert_string_equal(at.text, "jnz 0x1000");
	assert_int_equal(at.target, 0x1000);
	fg_disassemble(wide, code + 10, sizeof(code) - 10, 0x100a, &at);
	assert_int_equal(at.target, 0);
	fg_disassembler_free(wide);
}

static void a_place_in_memory_is_told(void **state)
{
	static const uint8_t code[] = {
		0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, /* mov eax, [rip+0x10] */
		0x8b, 0x43, 0x10,                   /* mov eax, [rbx+0x10] */
	};
	struct fg_disassembler *wide = fg_disassembler_new(EM_X86_64);
	struct fg_instruction at;

	(void)state;
	fg_disassemble(wide, code, sizeof(code), 0x1000, &at);
	assert_string_equal(at.text, "mov eax, [0x1016]");
	assert_int_equal(at.place, 0x1016);
	assert_int_equal(at.target, 0);
	fg_disassemble(wide, code + 6, sizeof(code) - 6, 0x1006, &at);
	assert_int_equal(at.place, 0);
	fg_disassembler_free(wide);
}

static void what_is_no_instruction_is_one_byte(void **state)
{
	static const uint8_t code[] = {0x06, 0xe8, 0x01};
	struct fg_disassembler *wide = fg_disassembler_new(EM_X86_64);
	struct fg_instruction at;

	(void)state;
	fg_disassemble(wide, code, sizeof(code), 0, &at);
	assert_string_equal(at.text, "(bad)");
	assert_int_equal(at.size, 1);
	fg_disassemble(wide, code + 1, sizeof(code) - 1, 1, &at); /* cut */
	assert_int_equal(at.size, 1);
	fg_disassembler_free(wide);
}

static void both_widths_are_known_and_nothing_else(void **state)
{
	static const uint8_t code[] = {0x06, 0x40};
	struct fg_disassembler *narrow = fg_disassembler_new(EM_386);
	struct fg_instruction at;

	(void)state;
	fg_disassemble(narrow, code, sizeof(code), 0, &at);
	assert_string_equal(at.text, "push es");
	fg_disassemble(narrow, code + 1, sizeof(code) - 1, 1, &at);
	assert_string_equal(at.text, "inc eax");
	fg_disassembler_free(narrow);
	assert_null(fg_disassembler_new(EM_AARCH64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_read_as_in_the_manual),
		cmocka_unit_test(a_place_in_memory_is_told),
		cmocka_unit_test(what_is_no_instruction_is_one_byte),
		cmocka_unit_test(both_widths_are_known_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
