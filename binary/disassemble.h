/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles x86 instructions into Intel syntax. */
#ifndef FG_CODE_DISASSEMBLE_H
#define FG_CODE_DISASSEMBLE_H

#include "base/base.h"
#include "binary/elf_file.h"

enum {
	FG_INSTRUCTION_TEXT = 128
};

struct fg_instruction {
	uint64_t address;
	uint64_t target; /* target of a direct jump or call; 0: none */
	uint64_t place;  /* address of a relative memory operand; 0: none */
	uint32_t size;   /* in bytes, at least 1 */
	char text[FG_INSTRUCTION_TEXT];
};

/*
 * Decodes instructions in order from this address. The caller frees them; NULL: nothing was
 * decoded. A byte that does not begin an instruction is "(bad)".
 */
struct fg_instruction *fg_disassemble(const struct fg_elf_code *code, uint64_t address,
				      size_t *count);

#endif
