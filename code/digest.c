// SPDX-License-Identifier: Apache-2.0
/*
 * From an image to digests.  Two passes over the code: the first collects the addresses of data
 * without a name (strings, constants, tables of switches), so that the second knows where each of
 * them ends: at the next one.  An item's text is then written piece by piece and hashed: bytes as
 * they are, addresses as what they mean.
 */
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "code/code.h"
#include "code/image.h"

#include <Zydis/Zydis.h>

enum {
	DEPTH_MAX = 8, /* unnamed data that points to unnamed data, and so on */
	WORD = sizeof(uint64_t),
	TABLE_ENTRY = sizeof(int32_t),
	PLT_STEPS = 4,
	MODRM_BASE_NONE = 5, /* mod 0, rm 5: relative to the next instruction */
};

/* How the text of an item describes a location; a marker covers no byte of code. */
enum marker {
	MARK_BYTES = 1,
	MARK_SELF,
	MARK_ITEM,
	MARK_IMPORT,
	MARK_DATA,
	MARK_ZEROS,
	MARK_UNKNOWN,
	MARK_END,
	MARK_BACK, /* to what is being described */
};

struct digester {
	struct fg_image image;
	struct fg_code *code;
	ZydisDecoder decoder;      /* lengths and fields only: three times as fast */
	ZydisDecoder full_decoder; /* operands, too */
	uint32_t *item_of_symbol;  /* image symbol → item, by name */
	uint64_t *unnamed; /* sorted addresses of data without a name that something names */
	size_t unnamed_count;
	size_t unnamed_capacity;
	size_t uses_capacity;
	size_t item;               /* whose text is being written */
	uint64_t trail[DEPTH_MAX]; /* the addresses that led to the one that is described */
};

static bool is_ours(const struct fg_image *image, uint64_t address)
{
	return address >= image->low && address < image->high;
}

static const uint8_t *bytes_at(const struct fg_image *image, uint64_t address, uint64_t *left)
{
	const struct fg_image_section *section = fg_image_section_at(image, address);

	if (!section || !section->bytes)
		return NULL;
	*left = section->address + section->size - address;
	return section->bytes + (address - section->address);
}

/* Where an entry of a table leads that holds distances from its own start; its bytes are there. */
static uint64_t relative_target(const struct digester *d, uint64_t table, uint64_t index)
{
	uint64_t left = 0;
	const uint8_t *bytes = bytes_at(&d->image, table, &left);
	int32_t offset;

	memcpy(&offset, bytes + index * TABLE_ENTRY, sizeof(offset));
	return table + (uint64_t)(int64_t)offset;
}

/* ---- an instruction ---- */

struct instruction {
	ZydisDecodedInstruction decoded;
	uint64_t address;
	const uint8_t *bytes;
};

static bool decode(const struct digester *d, const uint8_t *bytes, uint64_t left, uint64_t address,
		   struct instruction *instruction)
{
	instruction->address = address;
	instruction->bytes = bytes;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d->decoder, NULL, bytes, (ZyanUSize)left,
							  &instruction->decoded));
}

static uint64_t next_of(const struct instruction *i)
{
	return i->address + i->decoded.length;
}

static bool is_ip_relative(const struct instruction *i)
{
	const ZydisDecodedInstruction *decoded = &i->decoded;

	return (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded->raw.modrm.mod == 0 &&
	       decoded->raw.modrm.rm == MODRM_BASE_NONE && decoded->raw.disp.size == 32;
}

/* A field of the instruction that holds an address: where it lies, and the address. */
struct place {
	unsigned offset;
	unsigned size; /* bytes; 0: there is none */
	uint64_t target;
	bool is_operand; /* what stands there is read or written, unless the instruction is LEA */
};

static struct place displacement_of(const struct fg_image *image, const struct instruction *i)
{
	const uint64_t value = (uint64_t)i->decoded.raw.disp.value;
	const struct place place = {
		.offset = i->decoded.raw.disp.offset,
		.size = i->decoded.raw.disp.size / 8u,
		.target = is_ip_relative(i) ? next_of(i) + value : value,
		.is_operand = i->decoded.mnemonic != ZYDIS_MNEMONIC_LEA,
	};

	if (is_ip_relative(i) ||
	    (image->is_fixed && place.size == 4 && is_ours(image, place.target)))
		return place;
	return (struct place){0};
}

static struct place immediate_of(const struct fg_image *image, const struct instruction *i,
				 unsigned index)
{
	const bool relative = i->decoded.raw.imm[index].is_relative;
	const struct place place = {
		.offset = i->decoded.raw.imm[index].offset,
		.size = i->decoded.raw.imm[index].size / 8u,
		.target = (relative ? next_of(i) : 0) +
			  (relative ? (uint64_t)i->decoded.raw.imm[index].value.s
				    : i->decoded.raw.imm[index].value.u),
	};

	if (place.size &&
	    (relative || (image->is_fixed && place.size >= 4 && is_ours(image, place.target))))
		return place;
	return (struct place){0};
}

/*
 * clang makes of an array of constant pointers, where it needs no relocation then, a table of
 * distances from the table's own start. Only its name tells it from one of numbers. Returns the
 * number of entries; 0: it is none.
 */
static uint64_t relative_entries(const struct digester *d, const struct fg_image_symbol *symbol)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, symbol->address);
	const uint64_t count = symbol->size / TABLE_ENTRY;

	if (symbol->is_function || strncmp(symbol->name, "reltable.", strlen("reltable.")) != 0 ||
	    !section || !section->bytes || section->is_writable || symbol->size % TABLE_ENTRY ||
	    symbol->size > section->address + section->size - symbol->address)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!fg_image_section_at(&d->image, relative_target(d, symbol->address, i)))
			return 0;
	}
	return count;
}

/* ---- the first pass: what has no name ---- */

static void note_unnamed(struct digester *d, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);

	if (!section || section->is_code || fg_image_symbol_at(&d->image, address))
		return;
	d->unnamed = fg_grow(d->unnamed, &d->unnamed_capacity, d->unnamed_count + 1,
			     sizeof(d->unnamed[0]));
	d->unnamed[d->unnamed_count++] = address;
}

static void scan_function(struct digester *d, const struct fg_image_symbol *symbol)
{
	uint64_t left = 0;
	const uint8_t *bytes = bytes_at(&d->image, symbol->address, &left);
	const uint64_t size = bytes && symbol->size < left ? symbol->size : left;

	for (uint64_t at = 0; bytes && at < size;) {
		struct instruction i;

		if (!decode(d, bytes + at, size - at, symbol->address + at, &i)) {
			at++;
			continue;
		}
		note_unnamed(d, displacement_of(&d->image, &i).target);
		for (unsigned k = 0; k < 2; k++)
			note_unnamed(d, immediate_of(&d->image, &i, k).target);
		at += i.decoded.length;
	}
}

/*
 * Tables of the loader and of the unwinder: full of numbers that only look like addresses of data.
 */
static bool is_bookkeeping(const struct fg_image_section *section)
{
	static const char *const beginnings[] = {".eh_frame", ".gcc_except", ".dyn", ".gnu",
						 ".hash",     ".rela",       ".note"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(beginnings); i++) {
		if (strncmp(section->name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

/* Without relocations a word of data that looks like one of our addresses is taken for one. */
static void scan_fixed_data(struct digester *d)
{
	for (size_t s = 0; s < d->image.section_count; s++) {
		const struct fg_image_section *section = &d->image.sections[s];
		uint64_t at = (WORD - section->address % WORD) % WORD;

		if (section->is_code || !section->bytes || is_bookkeeping(section))
			continue;
		for (; at + WORD <= section->size; at += WORD) {
			uint64_t word;

			memcpy(&word, section->bytes + at, sizeof(word));
			if (is_ours(&d->image, word))
				note_unnamed(d, word);
		}
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void collect_unnamed(struct digester *d)
{
	size_t used = 0;

	for (size_t i = 0; i < d->image.symbol_count; i++) {
		const struct fg_image_symbol *symbol = &d->image.symbols[i];
		const uint64_t entries = relative_entries(d, symbol);

		if (symbol->is_function)
			scan_function(d, symbol);
		for (uint64_t k = 0; k < entries; k++)
			note_unnamed(d, relative_target(d, symbol->address, k));
	}
	for (size_t i = 0; i < d->image.relocation_count; i++) {
		if (!d->image.relocations[i].import)
			note_unnamed(d, d->image.relocations[i].target);
	}
	if (d->image.is_fixed)
		scan_fixed_data(d);
	if (d->unnamed_count)
		qsort(d->unnamed, d->unnamed_count, sizeof(d->unnamed[0]), compare_addresses);
	for (size_t i = 0; i < d->unnamed_count; i++) {
		if (used == 0 || d->unnamed[used - 1] != d->unnamed[i])
			d->unnamed[used++] = d->unnamed[i];
	}
	d->unnamed_count = used;
}

/*
 * Where unnamed data at this address ends: at the next that something names, a symbol, or the
 * section's end.
 */
static uint64_t unnamed_end(const struct digester *d, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);
	uint64_t end = section->address + section->size;
	size_t low = 0;
	size_t high = d->unnamed_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (d->unnamed[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < d->unnamed_count && d->unnamed[low] < end)
		end = d->unnamed[low];
	low = 0;
	high = d->image.symbol_count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (d->image.symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < d->image.symbol_count && d->image.symbols[low].address < end)
		end = d->image.symbols[low].address;
	return end;
}

/* ---- the second pass: an item's text ---- */

static void add_mark(struct fg_strbuf *text, enum marker mark)
{
	const char byte = (char)mark;

	fg_strbuf_add(text, &byte, 1);
}

static void add_number(struct fg_strbuf *text, uint64_t number)
{
	fg_strbuf_add(text, (const char *)&number, sizeof(number));
}

static void add_bytes(struct fg_strbuf *text, const void *bytes, size_t size)
{
	add_mark(text, MARK_BYTES);
	add_number(text, size);
	fg_strbuf_add(text, bytes, size);
}

/* Nothing is known about it: the address itself is recorded, so that another build differs. */
static void add_unknown(struct fg_strbuf *text, uint64_t address)
{
	add_mark(text, MARK_UNKNOWN);
	add_number(text, address);
}

static void add_import(struct fg_strbuf *text, const struct fg_image_relocation *relocation)
{
	add_mark(text, MARK_IMPORT);
	fg_strbuf_add(text, relocation->import, strlen(relocation->import) + 1);
	add_number(text, (uint64_t)relocation->addend);
}

static void note_use(struct digester *d, uint32_t item)
{
	struct fg_code_item *self = &d->code->items[d->item];

	for (uint32_t i = 0; i < self->use_count; i++) {
		if (d->code->uses[self->first_use + i] == item)
			return;
	}
	d->code->uses = fg_grow(d->code->uses, &d->uses_capacity, d->code->use_count + 1,
				sizeof(d->code->uses[0]));
	d->code->uses[d->code->use_count++] = item;
	self->use_count++;
}

static void add_item(struct digester *d, struct fg_strbuf *text,
		     const struct fg_image_symbol *symbol, uint64_t address)
{
	const uint32_t index = d->item_of_symbol[symbol - d->image.symbols];
	const struct fg_code_item *item = &d->code->items[index];

	if (index == d->item) {
		add_mark(text, MARK_SELF);
	} else {
		add_mark(text, MARK_ITEM);
		fg_strbuf_add(text, item->name, strlen(item->name) + 1);
		fg_strbuf_add(text, item->unit, strlen(item->unit) + 1);
		add_number(text, item->ordinal);
		note_use(d, index);
	}
	add_number(text, address - item->address);
}

static void add_address(struct digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth);

/* A stub that jumps through a slot: the slot's import is what is called. */
static const struct fg_image_relocation *stub_target(const struct digester *d, uint64_t address)
{
	for (unsigned step = 0; step < PLT_STEPS; step++) {
		struct instruction i;
		uint64_t left = 0;
		const uint8_t *bytes = bytes_at(&d->image, address, &left);

		if (!bytes || !decode(d, bytes, left, address, &i))
			return NULL;
		if (i.decoded.mnemonic == ZYDIS_MNEMONIC_JMP) {
			const struct place slot = displacement_of(&d->image, &i);

			return slot.size ? fg_image_relocation_at(&d->image, slot.target) : NULL;
		}
		address = next_of(&i);
	}
	return NULL;
}

/*
 * Bytes in which words may be addresses: those that the loader relocates, or (fixed programs) that
 * look like one of ours.
 */
static void add_data(struct digester *d, struct fg_strbuf *text, uint64_t address, uint64_t size,
		     unsigned depth)
{
	uint64_t left = 0;
	const uint8_t *bytes = bytes_at(&d->image, address, &left);
	size_t next = fg_image_first_relocation(&d->image, address);
	uint64_t from = 0;

	d->trail[depth] = address;
	add_mark(text, MARK_DATA);
	add_number(text, size);
	if (!bytes || size > left) {
		add_mark(text, MARK_ZEROS);
		return;
	}
	for (uint64_t at = 0; at + WORD <= size;) {
		const struct fg_image_relocation *relocation = NULL;
		uint64_t word;

		if (next < d->image.relocation_count &&
		    d->image.relocations[next].address == address + at)
			relocation = &d->image.relocations[next++];
		memcpy(&word, bytes + at, sizeof(word));
		if (!relocation && !(d->image.is_fixed && (address + at) % WORD == 0 &&
				     is_ours(&d->image, word))) {
			at++;
			continue;
		}
		add_bytes(text, bytes + from, at - from);
		if (relocation && relocation->import)
			add_import(text, relocation);
		else
			add_address(d, text, relocation ? relocation->target : word, depth + 1);
		at += WORD;
		from = at;
	}
	add_bytes(text, bytes + from, size - from);
}

/*
 * In the function whose text is being written, or in a part of it that lies elsewhere ("f.cold")?
 */
static bool is_in_function(const struct digester *d, uint64_t address)
{
	const struct fg_image_symbol *symbol = fg_image_symbol_at(&d->image, address);
	const char *name = d->code->items[d->item].name;
	const size_t length = strlen(name);

	return symbol && symbol->is_function && strncmp(symbol->name, name, length) == 0 &&
	       (symbol->name[length] == '\0' || symbol->name[length] == '.');
}

/*
 * The table of a switch: offsets from its own start to places in the function that uses it. Returns
 * the number of entries that fit this description; a table has at least two. Whatever follows does
 * not belong to it.
 */
static uint64_t switch_entries(const struct digester *d, uint64_t address, uint64_t size)
{
	uint64_t count = 0;

	while ((count + 1) * TABLE_ENTRY <= size &&
	       is_in_function(d, relative_target(d, address, count)))
		count++;
	return count < 2 ? 0 : count;
}

/*
 * How much of [address, address + extent) is content, without the padding up to the next object.
 * Text may continue past the extent, because linkers let one string be the end of another.
 */
static uint64_t content_size(const struct digester *d, uint64_t address, uint64_t extent)
{
	uint64_t left = 0;
	const uint8_t *bytes = bytes_at(&d->image, address, &left);
	const uint8_t *zero = memchr(bytes, '\0', left);
	const size_t behind = fg_image_first_relocation(&d->image, address + extent);
	uint64_t size = extent;
	uint64_t least = 0;

	if (behind > 0 && d->image.relocations[behind - 1].address >= address)
		least = d->image.relocations[behind - 1].address + WORD - address;
	if (zero && (uint64_t)(zero - bytes) > size)
		size = (uint64_t)(zero - bytes);
	while (size > least && bytes[size - 1] == 0)
		size--;
	/* An address ends in zeros, too. */
	if (d->image.is_fixed && (address + size) % WORD) {
		const uint64_t last = (address + size) / WORD * WORD;
		uint64_t word = 0;

		if (last >= address && last + WORD <= address + left)
			memcpy(&word, bytes + (last - address), sizeof(word));
		if (is_ours(&d->image, word))
			size = last + WORD - address;
	}
	return size < left ? size : left;
}

static void add_relative_table(struct digester *d, struct fg_strbuf *text, uint64_t table,
			       uint64_t entries, unsigned depth)
{
	d->trail[depth] = table;
	for (uint64_t i = 0; i < entries; i++)
		add_address(d, text, relative_target(d, table, i), depth + 1);
}

static void add_unnamed(struct digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	uint64_t left = 0;
	const uint64_t extent = unnamed_end(d, address) - address;
	uint64_t entries;

	if (!bytes_at(&d->image, address, &left)) {
		add_mark(text, MARK_ZEROS);
		return;
	}
	entries = switch_entries(d, address, extent);
	add_relative_table(d, text, address, entries, depth);
	if (entries == 0)
		add_data(d, text, address, content_size(d, address, extent), depth);
}

/*
 * Does it lead back to something on the way to it?  __dso_handle, which has no size and so no name
 * here, holds its own address; the head of an empty list does.
 */
static bool add_way_back(const struct digester *d, struct fg_strbuf *text, uint64_t address,
			 unsigned depth)
{
	for (unsigned steps = 1; steps <= depth; steps++) {
		if (d->trail[depth - steps] != address)
			continue;
		add_mark(text, MARK_BACK);
		add_number(text, steps);
		return true;
	}
	return false;
}

/* What has no name: what its content means. */
static void add_content(struct digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);
	const struct fg_image_relocation *slot = fg_image_relocation_at(&d->image, address);

	if (depth >= DEPTH_MAX || !section) {
		add_unknown(text, address);
		return;
	}
	d->trail[depth] = address;
	if (slot) {
		add_address(d, text, slot->target, depth + 1);
	} else if (section->is_code) {
		slot = stub_target(d, address);
		if (slot && slot->import)
			add_import(text, slot);
		else if (slot)
			add_address(d, text, slot->target, depth + 1);
		else
			add_unknown(text, address);
	} else {
		add_unnamed(d, text, address, depth);
	}
}

/* Describes what is at an address in a way that is the same in every build. */
static void add_address(struct digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	const struct fg_image_symbol *symbol = fg_image_symbol_at(&d->image, address);
	const struct fg_image_relocation *slot = fg_image_relocation_at(&d->image, address);

	if (slot && slot->import)
		add_import(text, slot);
	else if (symbol)
		add_item(d, text, symbol, address);
	else if (!add_way_back(d, text, address, depth))
		add_content(d, text, address, depth);
}

/*
 * Bytes that the instruction reads or writes at its displacement; 0: it only takes the address, or
 * unknown.
 */
static uint64_t operand_size(const struct digester *d, const struct instruction *i)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->full_decoder, i->bytes, i->decoded.length,
						 &decoded, operands)))
		return 0;
	for (unsigned k = 0; k < decoded.operand_count; k++) {
		if (operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[k].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    operands[k].mem.index == ZYDIS_REGISTER_NONE)
			return operands[k].size / 8;
	}
	return 0;
}

/* A constant that the instruction uses as a whole: what follows it does not matter. */
static bool add_constant(struct digester *d, struct fg_strbuf *text, const struct instruction *i,
			 uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);
	uint64_t size;

	if (!section || section->is_code || section->is_writable ||
	    fg_image_symbol_at(&d->image, address) || fg_image_relocation_at(&d->image, address))
		return false;
	size = operand_size(d, i);
	if (size == 0)
		return false;
	add_data(d, text, address, size, 0);
	return true;
}

static void add_field(struct digester *d, struct fg_strbuf *text, const struct instruction *i,
		      unsigned *from, struct place place)
{
	if (!place.size)
		return;
	add_bytes(text, i->bytes + *from, place.offset - *from);
	if (!place.is_operand || !add_constant(d, text, i, place.target))
		add_address(d, text, place.target, 0);
	*from = place.offset + place.size;
}

static void add_instruction(struct digester *d, struct fg_strbuf *text, const struct instruction *i)
{
	unsigned from = 0;

	add_field(d, text, i, &from, displacement_of(&d->image, i));
	for (unsigned k = 0; k < 2; k++)
		add_field(d, text, i, &from, immediate_of(&d->image, i, k));
	add_bytes(text, i->bytes + from, i->decoded.length - from);
}

static void add_function(struct digester *d, struct fg_strbuf *text,
			 const struct fg_image_symbol *symbol)
{
	uint64_t left = 0;
	const uint8_t *bytes = bytes_at(&d->image, symbol->address, &left);
	const uint64_t size = bytes && symbol->size < left ? symbol->size : left;

	for (uint64_t at = 0; bytes && at < size;) {
		struct instruction i;

		if (decode(d, bytes + at, size - at, symbol->address + at, &i)) {
			add_instruction(d, text, &i);
			d->code->asks_processor |= i.decoded.mnemonic == ZYDIS_MNEMONIC_CPUID ||
						   i.decoded.mnemonic == ZYDIS_MNEMONIC_XGETBV;
			at += i.decoded.length;
		} else {
			add_mark(text, MARK_UNKNOWN);
			add_bytes(text, bytes + at, 1);
			at++;
		}
	}
}

static void digest_item(struct digester *d, const struct fg_image_symbol *symbol,
			struct fg_strbuf *text)
{
	struct fg_code_item *item = &d->code->items[d->item];
	const uint64_t entries = relative_entries(d, symbol);
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_strbuf_clear(text);
	item->first_use = (uint32_t)d->code->use_count;
	if (symbol->is_function)
		add_function(d, text, symbol);
	else if (entries)
		add_relative_table(d, text, symbol->address, entries, 0);
	else
		add_data(d, text, symbol->address, symbol->size, 0);
	/* What a start file names still counts: it is how main() is reached. */
	if (symbol->is_start_file)
		fg_strbuf_clear(text);
	add_mark(text, MARK_END);
	fg_sha256_init(&sha);
	fg_sha256_add(&sha, text->data, text->length);
	fg_sha256_finish(&sha, digest);
	memcpy(item->digest, digest, sizeof(item->digest));
}

/* ---- items, by name ---- */

struct ordering {
	const struct fg_image_symbol *symbol;
	uint32_t index;
};

static int compare_names(const struct fg_image_symbol *a, const struct fg_image_symbol *b)
{
	const int by_name = strcmp(a->name, b->name);

	return by_name ? by_name : strcmp(a->unit, b->unit);
}

static int compare_orderings(const void *left, const void *right)
{
	const struct ordering *a = left;
	const struct ordering *b = right;
	const int by_name = compare_names(a->symbol, b->symbol);

	return by_name ? by_name : (a->index > b->index) - (a->index < b->index);
}

/*
 * A part of the image that runs without being named: constructors, the loader's own code.
 */
static bool acts_by_itself(const struct fg_image_section *section)
{
	return strcmp(section->name, ".init_array") == 0 ||
	       strcmp(section->name, ".fini_array") == 0 ||
	       strcmp(section->name, ".preinit_array") == 0 ||
	       strcmp(section->name, ".interp") == 0;
}

/* A program walks a section of such a name between marks that the linker sets at its ends. */
static bool is_walked(const struct fg_image_section *section)
{
	return section && *section->name && *section->name != '.';
}

/* Symbols for those, so that they are items like any other. */
static void add_section_symbols(struct fg_image *image)
{
	struct fg_image_symbol *grown = fg_arena_array(
		&image->arena, image->symbol_count + image->section_count, sizeof(grown[0]));

	memcpy(grown, image->symbols, image->symbol_count * sizeof(grown[0]));
	for (size_t i = 0; i < image->section_count; i++) {
		const struct fg_image_section *section = &image->sections[i];

		if (acts_by_itself(section) && !fg_image_symbol_at(image, section->address))
			grown[image->symbol_count++] = (struct fg_image_symbol){
				.name = section->name,
				.unit = "",
				.address = section->address,
				.size = section->size,
				.is_exported = true,
			};
	}
	image->symbols = grown;
}

static int by_address(const void *left, const void *right)
{
	const struct fg_image_symbol *a = left;
	const struct fg_image_symbol *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void name_items(struct digester *d)
{
	struct fg_image *image = &d->image;
	struct fg_code *code = d->code;
	struct ordering *order;

	add_section_symbols(image);
	qsort(image->symbols, image->symbol_count, sizeof(image->symbols[0]), by_address);
	order = fg_xcalloc(image->symbol_count + 1, sizeof(order[0]));
	d->item_of_symbol = fg_xcalloc(image->symbol_count + 1, sizeof(d->item_of_symbol[0]));
	code->items = fg_arena_array(&code->arena, image->symbol_count, sizeof(code->items[0]));
	for (size_t i = 0; i < image->symbol_count; i++)
		order[i] = (struct ordering){&image->symbols[i], (uint32_t)i};
	qsort(order, image->symbol_count, sizeof(order[0]), compare_orderings);
	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct fg_image_symbol *symbol = order[i].symbol;
		const bool again = i > 0 && compare_names(order[i - 1].symbol, symbol) == 0;

		d->item_of_symbol[order[i].index] = (uint32_t)i;
		code->items[i] = (struct fg_code_item){
			.name = fg_arena_strdup(&code->arena, symbol->name),
			.unit = fg_arena_strdup(&code->arena, symbol->unit),
			.address = symbol->address,
			.size = symbol->size,
			.is_function = symbol->is_function,
			.is_exported = symbol->is_exported ||
				       is_walked(fg_image_section_at(image, symbol->address)),
			.ordinal = again ? code->items[i - 1].ordinal + 1 : 0,
		};
	}
	code->item_count = image->symbol_count;
	free(order);
}

static int compare_aliases(const void *left, const void *right)
{
	const struct fg_code_alias *a = left;
	const struct fg_code_alias *b = right;
	const int by_name = strcmp(a->name, b->name);

	return by_name ? by_name : (a->item > b->item) - (a->item < b->item);
}

static void name_aliases(struct digester *d)
{
	const struct fg_image *image = &d->image;
	struct fg_code *code = d->code;

	code->aliases =
		fg_arena_array(&code->arena, image->alias_count + 1, sizeof(code->aliases[0]));
	for (size_t i = 0; i < image->alias_count; i++) {
		const struct fg_image_symbol *symbol =
			fg_image_symbol_at(image, image->aliases[i].address);

		if (symbol)
			code->aliases[code->alias_count++] = (struct fg_code_alias){
				.name = fg_arena_strdup(&code->arena, image->aliases[i].name),
				.item = d->item_of_symbol[symbol - image->symbols],
			};
	}
	qsort(code->aliases, code->alias_count, sizeof(code->aliases[0]), compare_aliases);
}

static void note_bringing(const struct fg_image *image, struct fg_code *code)
{
	static const char *const names[] = {"dlopen", "dlmopen", "mprotect", "pkey_mprotect"};

	for (size_t i = 0; i < image->relocation_count && !code->brings_code; i++) {
		const char *import = image->relocations[i].import;

		for (size_t k = 0; k < FG_ARRAY_SIZE(names) && import; k++) {
			if (strcmp(import, names[k]) == 0)
				code->brings_code = names[k];
		}
	}
}

/* ---- the whole ---- */

static bool is_entrance(const struct fg_image_symbol *symbol)
{
	return symbol->is_start_file || symbol->is_exported;
}

static void digest_whole(const struct digester *d)
{
	struct fg_code *code = d->code;
	bool *reached = fg_xcalloc(code->item_count + 1, sizeof(reached[0]));
	uint32_t *queue = fg_xcalloc(code->item_count + 1, sizeof(queue[0]));
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;
	size_t tail = 0;

	for (size_t i = 0; i < d->image.symbol_count; i++) {
		if (is_entrance(&d->image.symbols[i])) {
			reached[d->item_of_symbol[i]] = true;
			queue[tail++] = d->item_of_symbol[i];
		}
	}
	for (size_t head = 0; head < tail; head++) {
		const struct fg_code_item *item = &code->items[queue[head]];

		for (uint32_t u = 0; u < item->use_count; u++) {
			const uint32_t used = code->uses[item->first_use + u];

			if (!reached[used]) {
				reached[used] = true;
				queue[tail++] = used;
			}
		}
	}
	fg_sha256_init(&sha);
	for (size_t i = 0; i < code->item_count; i++) {
		const struct fg_code_item *item = &code->items[i];

		if (!reached[i])
			continue;
		fg_sha256_add(&sha, item->name, strlen(item->name) + 1);
		fg_sha256_add(&sha, item->unit, strlen(item->unit) + 1);
		fg_sha256_add(&sha, item->digest, sizeof(item->digest));
	}
	fg_sha256_finish(&sha, digest);
	memcpy(code->digest, digest, sizeof(code->digest));
	free(reached);
	free(queue);
}

/* The build-id tells builds apart that differ in their debug information alone. */
static void digest_layout(const struct fg_image *image, uint8_t layout[FG_CODE_DIGEST_SIZE])
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < image->section_count; i++) {
		const struct fg_image_section *section = &image->sections[i];
		const uint64_t place[] = {section->address, section->size, section->is_code,
					  section->is_writable};

		fg_sha256_add(&sha, section->name, strlen(section->name) + 1);
		fg_sha256_add(&sha, place, sizeof(place));
		if (section->bytes && strcmp(section->name, ".note.gnu.build-id") != 0)
			fg_sha256_add(&sha, section->bytes, section->size);
	}
	fg_sha256_finish(&sha, digest);
	memcpy(layout, digest, FG_CODE_DIGEST_SIZE);
}

int fg_code_read(const char *path, const char *folder, struct fg_code *code, struct fg_error *err)
{
	struct digester d = {.code = code};
	struct fg_strbuf text = {0};
	int status;

	*code = (struct fg_code){0};
	status = fg_image_read(path, folder, &d.image, err);
	if (status != FG_OK)
		return status;
	if (!ZYAN_SUCCESS(ZydisDecoderInit(&d.decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(&d.full_decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderEnableMode(&d.decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE))) {
		fg_image_release(&d.image);
		return fg_error_set(err, FG_EUNSUPPORTED, "the instruction decoder did not start");
	}
	digest_layout(&d.image, code->layout);
	name_items(&d);
	name_aliases(&d);
	note_bringing(&d.image, code);
	collect_unnamed(&d);
	for (size_t i = 0; i < d.image.symbol_count; i++) {
		d.item = d.item_of_symbol[i];
		digest_item(&d, &d.image.symbols[i], &text);
	}
	digest_whole(&d);
	fg_strbuf_release(&text);
	free(d.item_of_symbol);
	free(d.unnamed);
	fg_image_release(&d.image);
	return FG_OK;
}

void fg_code_release(struct fg_code *code)
{
	free(code->uses);
	fg_arena_release(&code->arena);
	*code = (struct fg_code){0};
}
