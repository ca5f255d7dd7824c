// SPDX-License-Identifier: Apache-2.0
#include "binary/digester.h"

enum {
	MODRM_BASE_NONE = 5 /* mod 0, rm 5: relative to the next instruction */
};

bool fg_digester_owns(const struct fg_image *image, uint64_t address)
{
	return address >= image->low && address < image->high;
}

const uint8_t *fg_digester_bytes(const struct fg_image *image, uint64_t address, uint64_t *left)
{
	const struct fg_image_section *section = fg_image_section_at(image, address);

	if (!section || !section->bytes)
		return NULL;
	*left = section->address + section->size - address;
	return section->bytes + (address - section->address);
}

uint64_t fg_digester_relative_target(const struct fg_digester *d, uint64_t table, uint64_t index)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, table, &left);
	int32_t offset;

	memcpy(&offset, bytes + index * FG_DIGEST_TABLE_ENTRY, sizeof(offset));
	return table + (uint64_t)(int64_t)offset;
}

bool fg_decoder_start(ZydisDecoder *decoder, bool with_operands)
{
	return ZYAN_SUCCESS(ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       (with_operands || ZYAN_SUCCESS(ZydisDecoderEnableMode(
					 decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)));
}

bool fg_decoded_decode(const ZydisDecoder *decoder, const uint8_t *bytes, uint64_t left,
		       uint64_t address, struct fg_decoded *instruction)
{
	instruction->address = address;
	instruction->bytes = bytes;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes, (ZyanUSize)left,
							  &instruction->decoded));
}

uint64_t fg_decoded_next(const struct fg_decoded *i)
{
	return i->address + i->decoded.length;
}

static bool is_ip_relative(const struct fg_decoded *i)
{
	const ZydisDecodedInstruction *decoded = &i->decoded;

	return (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded->raw.modrm.mod == 0 &&
	       decoded->raw.modrm.rm == MODRM_BASE_NONE && decoded->raw.disp.size == 32;
}

struct fg_code_place fg_decoded_displacement(const struct fg_image *image,
					     const struct fg_decoded *i)
{
	const uint64_t value = (uint64_t)i->decoded.raw.disp.value;
	const struct fg_code_place place = {
		.offset = i->decoded.raw.disp.offset,
		.size = i->decoded.raw.disp.size / 8u,
		.target = is_ip_relative(i) ? fg_decoded_next(i) + value : value,
		.is_operand = i->decoded.mnemonic != ZYDIS_MNEMONIC_LEA,
	};

	if (is_ip_relative(i) ||
	    (image->is_fixed && place.size == 4 && fg_digester_owns(image, place.target)))
		return place;
	return (struct fg_code_place){0};
}

struct fg_code_place fg_decoded_immediate(const struct fg_image *image, const struct fg_decoded *i,
					  unsigned index)
{
	const bool relative = i->decoded.raw.imm[index].is_relative;
	const struct fg_code_place place = {
		.offset = i->decoded.raw.imm[index].offset,
		.size = i->decoded.raw.imm[index].size / 8u,
		.target = (relative ? fg_decoded_next(i) : 0) +
			  (relative ? (uint64_t)i->decoded.raw.imm[index].value.s
				    : i->decoded.raw.imm[index].value.u),
	};

	if (place.size && (relative || (image->is_fixed && place.size >= 4 &&
					fg_digester_owns(image, place.target))))
		return place;
	return (struct fg_code_place){0};
}

uint64_t fg_digester_relative_entries(const struct fg_digester *d,
				      const struct fg_image_symbol *symbol)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, symbol->address);
	const uint64_t count = symbol->size / FG_DIGEST_TABLE_ENTRY;

	if (symbol->is_function || strncmp(symbol->name, "reltable.", strlen("reltable.")) != 0 ||
	    !section || !section->bytes || section->is_writable ||
	    symbol->size % FG_DIGEST_TABLE_ENTRY ||
	    symbol->size > section->address + section->size - symbol->address)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!fg_image_section_at(&d->image,
					 fg_digester_relative_target(d, symbol->address, i)))
			return 0;
	}
	return count;
}
