/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of x86 as text, in the syntax of Intel's manuals. */
#ifndef FG_CODE_DISASSEMBLE_H
#define FG_CODE_DISASSEMBLE_H

#include "base/base.h"

enum {
	FG_INSTRUCTION_TEXT = 128
};

struct fg_instruction {
	uint64_t address;
	uint64_t target; /* of a jump or call that names it; 0: none */
	uint64_t place;  /* in memory, where it is named relative to the instruction; 0: none */
	uint32_t size;   /* in bytes, at least 1 */
	char text[FG_INSTRUCTION_TEXT];
};

struct fg_disassembler;

/* For an ELF machine number. NULL: it is not x86. */
struct fg_disassembler *fg_disassembler_new(uint16_t machine);
void fg_disassembler_free(struct fg_disassembler *disassembler);
/* The instruction at `bytes`, of which `left` (at least 1) are there; "(bad)" is one byte. */
void fg_disassemble(const struct fg_disassembler *disassembler, const uint8_t *bytes, size_t left,
		    uint64_t address, struct fg_instruction *instruction);

#endif
