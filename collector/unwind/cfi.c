// SPDX-License-Identifier: Apache-2.0
/*
 * .eh_frame_hdr is a sorted table of (function start, entry), so the entry (FDE) of an address is
 * found by bisection.  The FDE and its CIE hold the instructions that rules.c runs.
 */
#include "collector/unwind/cfi.h"

#include "collector/arch/arch.h"

#include <string.h>

enum {
	DW_EH_PE_ULEB = 0x01,
	DW_EH_PE_UDATA2 = 0x02,
	DW_EH_PE_UDATA4 = 0x03,
	DW_EH_PE_UDATA8 = 0x04,
	DW_EH_PE_SLEB = 0x09,
	DW_EH_PE_SDATA2 = 0x0a,
	DW_EH_PE_SDATA4 = 0x0b,
	DW_EH_PE_SDATA8 = 0x0c,
	DW_EH_PE_PCREL = 0x10,
	DW_EH_PE_DATAREL = 0x30,
};

uint64_t fg_cfi_take(struct fg_cfi_cursor *c, unsigned size)
{
	uint64_t value = 0;

	if (c->end - c->at < (ptrdiff_t)size) {
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

uint64_t fg_cfi_take_uleb(struct fg_cfi_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7fu) << shift;
		if (!(byte & 0x80u))
			break;
	}
	return value;
}

int64_t fg_cfi_take_sleb(struct fg_cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte = 0;

	while (c->at < c->end) {
		byte = *c->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7fu) << shift;
		shift += 7;
		if (!(byte & 0x80u))
			break;
	}
	if (shift < 64 && (byte & 0x40u))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

uintptr_t fg_cfi_take_encoded(struct fg_cfi_cursor *c, uint8_t encoding)
{
	const uintptr_t here = (uintptr_t)c->at;
	uint64_t value;

	switch (encoding & 0x0fu) {
	case 0:
		value = fg_cfi_take(c, FG_WORD);
		break;
	case DW_EH_PE_ULEB:
		value = fg_cfi_take_uleb(c);
		break;
	case DW_EH_PE_SLEB:
		value = (uint64_t)fg_cfi_take_sleb(c);
		break;
	case DW_EH_PE_UDATA2:
		value = fg_cfi_take(c, 2);
		break;
	case DW_EH_PE_SDATA2:
		value = (uint64_t)(int64_t)(int16_t)fg_cfi_take(c, 2);
		break;
	case DW_EH_PE_UDATA4:
		value = fg_cfi_take(c, 4);
		break;
	case DW_EH_PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)fg_cfi_take(c, 4);
		break;
	case DW_EH_PE_UDATA8:
	case DW_EH_PE_SDATA8:
		value = fg_cfi_take(c, 8);
		break;
	default:
		c->at = c->end;
		return 0;
	}
	if ((encoding & 0x70u) == DW_EH_PE_PCREL)
		value += here;
	return (uintptr_t)value;
}

/* May `size` bytes be read at this address, which may be invalid? */
static bool inside(const struct fg_tables *tables, uintptr_t at, size_t size)
{
	const uintptr_t low = (uintptr_t)tables->low;
	const uintptr_t high = (uintptr_t)tables->high;

	return at >= low && at <= high && high - at >= size;
}

/*
 * Opens an entry, which starts with its length. A 64-bit form exists, but .eh_frame never uses it
 * on these machines.
 */
static bool open_entry(const struct fg_tables *tables, uintptr_t entry, struct fg_cfi_cursor *c)
{
	uint32_t length;

	if (!inside(tables, entry, sizeof(length)))
		return false;
	c->at = tables->low + (entry - (uintptr_t)tables->low);
	memcpy(&length, c->at, sizeof(length));
	if (length < 4 || length >= 0xfffffff0u || !inside(tables, entry + 4, length))
		return false;
	c->at += 4;
	c->end = c->at + length;
	return true;
}

static void parse_augmentation(struct fg_cfi_common *cie, struct fg_cfi_cursor *c,
			       const char *augmentation)
{
	if (*augmentation != 'z')
		return;
	cie->has_augmentation = true;
	const uint64_t size = fg_cfi_take_uleb(c);
	const uint8_t *behind = size < (uint64_t)(c->end - c->at) ? c->at + size : c->end;

	for (const char *letter = augmentation + 1; *letter; letter++) {
		if (*letter == 'R') {
			cie->encoding = (uint8_t)fg_cfi_take(c, 1);
		} else if (*letter == 'S') {
			cie->signal = true;
		} else if (*letter == 'L') {
			(void)fg_cfi_take(c, 1);
		} else if (*letter == 'P') {
			uint8_t encoding = (uint8_t)fg_cfi_take(c, 1);

			(void)fg_cfi_take_encoded(c, encoding);
		} else if (*letter != 'B' && *letter != 'G') { /* arm64: signatures, memory tags */
			break;
		}
	}
	c->at = behind;
}

static bool parse_cie(const struct fg_tables *tables, uintptr_t entry, struct fg_cfi_common *cie)
{
	struct fg_cfi_cursor c;

	*cie = (struct fg_cfi_common){0};
	if (!open_entry(tables, entry, &c) || fg_cfi_take(&c, 4) != 0)
		return false;
	uint8_t version = (uint8_t)fg_cfi_take(&c, 1);

	if (version != 1 && version != 3)
		return false;
	const char *augmentation = (const char *)c.at;

	const size_t length = strnlen(augmentation, (size_t)(c.end - c.at));

	if (length >= (size_t)(c.end - c.at))
		return false;
	c.at += length + 1;
	cie->code_align = fg_cfi_take_uleb(&c);
	cie->data_align = fg_cfi_take_sleb(&c);
	cie->ra = version == 1 ? fg_cfi_take(&c, 1) : fg_cfi_take_uleb(&c);
	parse_augmentation(cie, &c, augmentation);
	cie->program = c;
	return true;
}

static bool parse_fde(const struct fg_tables *tables, uintptr_t entry, struct fg_cfi_function *fde)
{
	struct fg_cfi_cursor c;

	if (!open_entry(tables, entry, &c))
		return false;
	const uintptr_t back_from = (uintptr_t)c.at;
	uint32_t back = (uint32_t)fg_cfi_take(&c, 4);

	if (back == 0 || !parse_cie(tables, back_from - back, &fde->cie))
		return false;
	fde->start = fg_cfi_take_encoded(&c, fde->cie.encoding);
	fde->size = fg_cfi_take_encoded(&c, fde->cie.encoding & 0x0fu);
	if (fde->cie.has_augmentation) {
		uint64_t size = fg_cfi_take_uleb(&c);

		if (size > (uint64_t)(c.end - c.at))
			return false;
		c.at += size;
	}
	fde->program = c;
	return true;
}

/*
 * Searches .eh_frame_hdr: version, three encodings, pointer to .eh_frame, count, then pairs of
 * 32-bit offsets from its start. Returns the address of the entry; 0: none.
 */
static uintptr_t find_fde(const struct fg_tables *tables, uintptr_t address)
{
	const uint8_t *hdr = tables->hdr;

	if (!hdr || !inside(tables, (uintptr_t)hdr, 4) || hdr[0] != 1 ||
	    hdr[2] != DW_EH_PE_UDATA4 || hdr[3] != (DW_EH_PE_DATAREL | DW_EH_PE_SDATA4))
		return 0;
	struct fg_cfi_cursor c = {hdr + 4, tables->high};

	(void)fg_cfi_take_encoded(&c, hdr[1]);
	const uint64_t count = fg_cfi_take(&c, 4);
	const uint8_t *table = c.at;
	const int64_t wanted = (int64_t)(intptr_t)(address - (uintptr_t)hdr);
	uint64_t low = 0;
	uint64_t high = count;
	int32_t pair[2];

	if (count > (uint64_t)(c.end - table) / sizeof(pair))
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		memcpy(pair, table + sizeof(pair) * (size_t)middle, sizeof(pair));
		if (pair[0] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	memcpy(pair, table + sizeof(pair) * (size_t)(low - 1), sizeof(pair));
	return (uintptr_t)hdr + (uintptr_t)(intptr_t)pair[1];
}

struct fg_cfi_cursor fg_cfi_take_block(struct fg_cfi_cursor *c)
{
	uint64_t size = fg_cfi_take_uleb(c);
	struct fg_cfi_cursor block = {c->at, c->at};

	if (size <= (uint64_t)(c->end - c->at))
		block.end += size;
	c->at = block.end;
	return block;
}

bool fg_cfi_find(const struct fg_tables *tables, uintptr_t address,
		 struct fg_cfi_function *function)
{
	const uintptr_t entry = find_fde(tables, address);

	return entry && parse_fde(tables, entry, function) &&
	       address - function->start < function->size;
}
