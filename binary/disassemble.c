// SPDX-License-Identifier: Apache-2.0
#include "binary/disassemble.h"

#include <elf.h>
#include <Zydis/Zydis.h>

struct disassembler {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

static bool begin(struct disassembler *d, uint16_t machine)
{
	const bool wide = machine == EM_X86_64;

	return (wide || machine == EM_386) &&
	       ZYAN_SUCCESS(ZydisDecoderInit(&d->decoder,
					     wide ? ZYDIS_MACHINE_MODE_LONG_64
						  : ZYDIS_MACHINE_MODE_LEGACY_32,
					     wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) &&
	       ZYAN_SUCCESS(ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_INTEL)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(
		       &d->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&d->formatter,
						      ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED));
}

/* Returns the target of a relative jump or call; 0 for any other instruction. */
static uint64_t target_of(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands, uint64_t address)
{
	uint64_t target = 0;

	if (decoded->operand_count_visible == 0 ||
	    operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(decoded, &operands[0], address, &target)))
		return 0;
	return target;
}

static uint64_t place_of(const ZydisDecodedInstruction *decoded,
			 const ZydisDecodedOperand *operands, uint64_t address)
{
	uint64_t place = 0;

	for (size_t i = 0; i < decoded->operand_count_visible; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.base == ZYDIS_REGISTER_RIP &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(decoded, &operands[i], address, &place)))
			return place;
	}
	return 0;
}

static void disassemble(const struct disassembler *d, const uint8_t *bytes, size_t left,
			uint64_t address, struct fg_instruction *instruction)
{
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	*instruction = (struct fg_instruction){.address = address, .size = 1, .text = "(bad)"};
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->decoder, bytes, left, &decoded, operands)))
		return;
	instruction->size = decoded.length;
	instruction->target = target_of(&decoded, operands, address);
	instruction->place = place_of(&decoded, operands, address);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &d->formatter, &decoded, operands, decoded.operand_count_visible,
		    instruction->text, sizeof(instruction->text), address, NULL)))
		(void)snprintf(instruction->text, sizeof(instruction->text), "%s",
			       ZydisMnemonicGetString(decoded.mnemonic));
}

struct fg_instruction *fg_disassemble(const struct fg_elf_code *code, uint64_t address,
				      size_t *count)
{
	struct fg_instruction *instructions = NULL;
	struct disassembler d;
	size_t capacity = 0;

	*count = 0;
	if (!begin(&d, code->machine))
		return NULL;
	for (size_t at = 0; at < code->size; at += instructions[(*count)++].size) {
		instructions =
			fg_grow(instructions, &capacity, *count + 1, sizeof(instructions[0]));
		disassemble(&d, code->bytes + at, code->size - at, address + at,
			    &instructions[*count]);
	}
	return instructions;
}
