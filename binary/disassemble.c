// SPDX-License-Identifier: Apache-2.0
#include "binary/disassemble.h"

#include <elf.h>
#include <Zydis/Zydis.h>

struct fg_disassembler {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

struct fg_disassembler *fg_disassembler_new(uint16_t machine)
{
	const bool wide = machine == EM_X86_64;
	struct fg_disassembler *made = NULL;

	if (!wide && machine != EM_386)
		return NULL;
	made = fg_xcalloc(1, sizeof(*made));
	if (ZYAN_SUCCESS(ZydisDecoderInit(&made->decoder,
					  wide ? ZYDIS_MACHINE_MODE_LONG_64
					       : ZYDIS_MACHINE_MODE_LEGACY_32,
					  wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) &&
	    ZYAN_SUCCESS(ZydisFormatterInit(&made->formatter, ZYDIS_FORMATTER_STYLE_INTEL)) &&
	    ZYAN_SUCCESS(ZydisFormatterSetProperty(
		    &made->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
	    ZYAN_SUCCESS(ZydisFormatterSetProperty(&made->formatter,
						   ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						   ZYDIS_PADDING_DISABLED)))
		return made;
	free(made);
	return NULL;
}

void fg_disassembler_free(struct fg_disassembler *disassembler)
{
	free(disassembler);
}

/* A jump or call relative to itself. */
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

void fg_disassemble(const struct fg_disassembler *disassembler, const uint8_t *bytes, size_t left,
		    uint64_t address, struct fg_instruction *instruction)
{
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	*instruction = (struct fg_instruction){.address = address, .size = 1, .text = "(bad)"};
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&disassembler->decoder, bytes, left, &decoded,
						 operands)))
		return;
	instruction->size = decoded.length;
	instruction->target = target_of(&decoded, operands, address);
	instruction->place = place_of(&decoded, operands, address);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &disassembler->formatter, &decoded, operands, decoded.operand_count_visible,
		    instruction->text, sizeof(instruction->text), address, NULL)))
		(void)snprintf(instruction->text, sizeof(instruction->text), "%s",
			       ZydisMnemonicGetString(decoded.mnemonic));
}
