// SPDX-License-Identifier: Apache-2.0
/*
 * The second pass turns an item into text: its bytes, with each address replaced by a description
 * of its target.
 */
#include "base/hash.h"
#include "base/text.h"
#include "binary/digester.h"

enum {
	PLT_STEPS = 4
};

/* Each part of an item's text begins with a mark, which gives the kind of the part. */
enum marker {
	MARK_BYTES = 1,
	MARK_SELF,
	MARK_ITEM,
	MARK_IMPORT,
	MARK_DATA,
	MARK_ZEROS,
	MARK_UNKNOWN,
	MARK_END,
	MARK_BACK, /* refers to an item that led here */
};

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

/*
 * Adds an address whose target is unknown as a number, so that each address gives a different
 * digest.
 */
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

static void note_use(struct fg_digester *d, uint32_t item)
{
	struct fg_code_item *self = &d->code->items[d->item];

	for (uint32_t i = 0; i < self->use_count; i++) {
		if (d->code->uses[self->first_use + i] == item)
			return;
	}
	FG_APPEND(d->code->uses, d->code->use_count, d->uses_capacity) = item;
	self->use_count++;
}

static void add_item(struct fg_digester *d, struct fg_strbuf *text,
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

static void add_address(struct fg_digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth);

/* Decodes the first instructions of a stub at this address. */
static struct fg_arm64_place *stub_places(const struct fg_digester *d, uint64_t address,
					  size_t *count)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, address, &left);
	const uint64_t most = (uint64_t)PLT_STEPS * sizeof(uint32_t);

	*count = 0;
	return bytes ? fg_arm64_places(bytes, left < most ? left : most, address, count) : NULL;
}

static const struct fg_image_relocation *arm64_stub_target(const struct fg_digester *d,
							   uint64_t address)
{
	const struct fg_image_relocation *slot = NULL;
	size_t count = 0;
	struct fg_arm64_place *places = stub_places(d, address, &count);

	for (size_t i = 0; i < count && !slot; i++) {
		if (places[i].has_target && places[i].operand_size)
			slot = fg_image_relocation_at(&d->image, places[i].target);
	}
	free(places);
	return slot;
}

/*
 * Returns the target of a veneer ("__f_veneer"), a jump that the linker inserts for a distant call.
 */
static uint64_t behind_veneer(const struct fg_digester *d, const struct fg_image_symbol *symbol,
			      uint64_t address)
{
	size_t count = 0;

	if (d->image.machine != EM_AARCH64 || !symbol || symbol->address != address ||
	    !fg_text_ends_with(symbol->name, "_veneer"))
		return address;
	struct fg_arm64_place *places = stub_places(d, address, &count);

	/* adrp, add, br */
	if (count > 2 && places[1].has_target && !places[1].operand_size)
		address = places[1].target;
	free(places);
	return address;
}

/*
 * Returns the relocation of the slot through which a stub jumps; its import is the callee. NULL:
 * not a stub.
 */
static const struct fg_image_relocation *stub_target(const struct fg_digester *d, uint64_t address)
{
	if (d->image.machine == EM_AARCH64)
		return arm64_stub_target(d, address);
	for (unsigned step = 0; step < PLT_STEPS; step++) {
		struct fg_decoded i;
		uint64_t left = 0;
		const uint8_t *bytes = fg_digester_bytes(&d->image, address, &left);

		if (!bytes || !fg_decoded_decode(&d->decoder, bytes, left, address, &i))
			return NULL;
		if (i.decoded.mnemonic == ZYDIS_MNEMONIC_JMP) {
			const struct fg_code_place slot = fg_decoded_displacement(&d->image, &i);

			return slot.size ? fg_image_relocation_at(&d->image, slot.target) : NULL;
		}
		address = fg_decoded_next(&i);
	}
	return NULL;
}

/*
 * Adds bytes that may hold addresses: the loader relocates them, or (in fixed programs) they look
 * like an address in the image.
 */
static void add_data(struct fg_digester *d, struct fg_strbuf *text, uint64_t address, uint64_t size,
		     unsigned depth)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, address, &left);
	size_t next = fg_image_first_relocation(&d->image, address);
	uint64_t from = 0;

	d->trail[depth] = address;
	add_mark(text, MARK_DATA);
	add_number(text, size);
	if (!bytes || size > left) {
		add_mark(text, MARK_ZEROS);
		return;
	}
	for (uint64_t at = 0; at + FG_DIGEST_WORD <= size;) {
		const struct fg_image_relocation *relocation = NULL;
		uint64_t word;

		if (next < d->image.relocation_count &&
		    d->image.relocations[next].address == address + at)
			relocation = &d->image.relocations[next++];
		memcpy(&word, bytes + at, sizeof(word));
		if (!relocation && !(d->image.is_fixed && (address + at) % FG_DIGEST_WORD == 0 &&
				     fg_digester_owns(&d->image, word))) {
			at++;
			continue;
		}
		add_bytes(text, bytes + from, at - from);
		if (relocation && relocation->import)
			add_import(text, relocation);
		else
			add_address(d, text, relocation ? relocation->target : word, depth + 1);
		at += FG_DIGEST_WORD;
		from = at;
	}
	add_bytes(text, bytes + from, size - from);
}

/*
 * True for an address in the function whose text is being written, or in another part of it
 * ("f.cold").
 */
static bool is_in_function(const struct fg_digester *d, uint64_t address)
{
	const struct fg_image_symbol *symbol = fg_image_symbol_at(&d->image, address);
	const char *name = d->code->items[d->item].name;
	const size_t length = strlen(name);

	return symbol && symbol->is_function && strncmp(symbol->name, name, length) == 0 &&
	       (symbol->name[length] == '\0' || symbol->name[length] == '.');
}

/*
 * Measures the table of a switch: offsets from its own start to places in the function that uses
 * it. Returns the number of entries; 0: fewer than two, so not a table.
 */
static uint64_t switch_entries(const struct fg_digester *d, uint64_t address, uint64_t size)
{
	uint64_t count = 0;

	while ((count + 1) * FG_DIGEST_TABLE_ENTRY <= size &&
	       is_in_function(d, fg_digester_relative_target(d, address, count)))
		count++;
	return count < 2 ? 0 : count;
}

/*
 * Returns the size of the content in [address, address + extent), without the padding before the
 * next object. A string may continue past the extent, because linkers let one string be the end of
 * another.
 */
static uint64_t content_size(const struct fg_digester *d, uint64_t address, uint64_t extent)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, address, &left);
	const uint8_t *zero = memchr(bytes, '\0', left);
	const size_t behind = fg_image_first_relocation(&d->image, address + extent);
	uint64_t size = extent;
	uint64_t least = 0;

	if (behind > 0 && d->image.relocations[behind - 1].address >= address)
		least = d->image.relocations[behind - 1].address + FG_DIGEST_WORD - address;
	if (zero && (uint64_t)(zero - bytes) > size)
		size = (uint64_t)(zero - bytes);
	while (size > least && bytes[size - 1] == 0)
		size--;
	/* The zeros cut off may be the upper bytes of an address. */
	if (d->image.is_fixed && (address + size) % FG_DIGEST_WORD) {
		const uint64_t last = (address + size) / FG_DIGEST_WORD * FG_DIGEST_WORD;
		uint64_t word = 0;

		if (last >= address && last + FG_DIGEST_WORD <= address + left)
			memcpy(&word, bytes + (last - address), sizeof(word));
		if (fg_digester_owns(&d->image, word))
			size = last + FG_DIGEST_WORD - address;
	}
	return size < left ? size : left;
}

static void add_relative_table(struct fg_digester *d, struct fg_strbuf *text, uint64_t table,
			       uint64_t entries, unsigned depth)
{
	d->trail[depth] = table;
	for (uint64_t i = 0; i < entries; i++)
		add_address(d, text, fg_digester_relative_target(d, table, i), depth + 1);
}

static void add_unnamed(struct fg_digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	uint64_t left = 0;
	const uint64_t extent = fg_digester_unnamed_end(d, address) - address;
	uint64_t entries;

	if (!fg_digester_bytes(&d->image, address, &left)) {
		add_mark(text, MARK_ZEROS);
		return;
	}
	entries = switch_entries(d, address, extent);
	add_relative_table(d, text, address, entries, depth);
	if (entries == 0)
		add_data(d, text, address, content_size(d, address, extent), depth);
}

/*
 * Adds a reference from data back to an item that led to it. __dso_handle, which has no size and so
 * no name here, holds its own address; so does the head of an empty list.
 */
static bool add_way_back(const struct fg_digester *d, struct fg_strbuf *text, uint64_t address,
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

/* Describes unnamed data by its content. */
static void add_content(struct fg_digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);
	const struct fg_image_relocation *slot = fg_image_relocation_at(&d->image, address);

	if (depth >= FG_DIGEST_DEPTH_MAX || !section) {
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

/* Describes the target of an address, if possible without the address itself. */
static void add_address(struct fg_digester *d, struct fg_strbuf *text, uint64_t address,
			unsigned depth)
{
	const struct fg_image_symbol *symbol = fg_image_symbol_at(&d->image, address);
	const struct fg_image_relocation *slot = fg_image_relocation_at(&d->image, address);
	const uint64_t behind = behind_veneer(d, symbol, address);

	if (behind != address) {
		address = behind;
		symbol = fg_image_symbol_at(&d->image, address);
	}
	if (slot && slot->import)
		add_import(text, slot);
	else if (symbol)
		add_item(d, text, symbol, address);
	else if (!add_way_back(d, text, address, depth))
		add_content(d, text, address, depth);
}

/*
 * Returns how many bytes the instruction reads or writes at its displacement; 0: it only takes the
 * address, or the number is unknown.
 */
static uint64_t operand_size(const struct fg_digester *d, const struct fg_decoded *i)
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

static bool may_be_constant(const struct fg_digester *d, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);

	return section && !section->is_code && !section->is_writable &&
	       !fg_image_symbol_at(&d->image, address) &&
	       !fg_image_relocation_at(&d->image, address);
}

/* Adds a constant that the instruction reads as a whole; the bytes after it do not matter. */
static bool add_constant(struct fg_digester *d, struct fg_strbuf *text, uint64_t size,
			 uint64_t address)
{
	if (size > 0)
		add_data(d, text, address, size, 0);
	return size > 0;
}

static void add_field(struct fg_digester *d, struct fg_strbuf *text, const struct fg_decoded *i,
		      unsigned *from, struct fg_code_place place)
{
	if (!place.size)
		return;
	add_bytes(text, i->bytes + *from, place.offset - *from);
	if (!place.is_operand || !may_be_constant(d, place.target) ||
	    !add_constant(d, text, operand_size(d, i), place.target))
		add_address(d, text, place.target, 0);
	*from = place.offset + place.size;
}

static void add_instruction(struct fg_digester *d, struct fg_strbuf *text,
			    const struct fg_decoded *i)
{
	unsigned from = 0;

	add_field(d, text, i, &from, fg_decoded_displacement(&d->image, i));
	for (unsigned k = 0; k < 2; k++)
		add_field(d, text, i, &from, fg_decoded_immediate(&d->image, i, k));
	add_bytes(text, i->bytes + from, i->decoded.length - from);
}

/* Excludes moves, shuffles and register zeroing, which occur in scalar code as well. */
static bool is_vector_arithmetic(ZydisMnemonic mnemonic)
{
	static const char *const whole[] = {"padd", "psub", "pmul", "pmadd", "pmax", "pmin", "pabs",
					    "pavg", "pcmp", "psad", "psll",  "psra", "psrl"};
	static const char *const packed[] = {"add", "sub", "mul",   "div",   "max",
					     "min", "cmp", "fmadd", "fmsub", "sqrt"};
	const char *name = ZydisMnemonicGetString(mnemonic);

	name += *name == 'v';
	return FG_TEXT_STARTS_WITH_ANY(name, whole) ||
	       (FG_TEXT_STARTS_WITH_ANY(name, packed) &&
		(fg_text_ends_with(name, "ps") || fg_text_ends_with(name, "pd")));
}

static void note_form(struct fg_digester *d, const struct fg_decoded *i)
{
	struct fg_code_item *self = &d->code->items[d->item];
	const ZydisMnemonic mnemonic = i->decoded.mnemonic;
	const struct fg_image_symbol *symbol = NULL;
	struct fg_code_place to;

	/* Vector instructions never have one-byte opcodes. */
	if (i->decoded.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT && is_vector_arithmetic(mnemonic))
		self->vector_count++;
	if (mnemonic != ZYDIS_MNEMONIC_JMP && mnemonic != ZYDIS_MNEMONIC_CALL)
		return;
	to = fg_decoded_immediate(&d->image, i, 0);
	symbol = to.size ? fg_image_symbol_at(&d->image, to.target) : NULL;
	if (mnemonic == ZYDIS_MNEMONIC_CALL)
		self->calls_itself |= symbol && to.target == self->address;
	else if (to.size && !is_in_function(d, to.target) &&
		 (!symbol || symbol->address == to.target))
		self->tail_count++;
}

/* Is this mrs from a register that identifies the processor? */
static bool queries_cpu(uint32_t word)
{
	return (word & 0xfffff000u) == 0xd5380000u;
}

static void add_arm64_function(struct fg_digester *d, struct fg_strbuf *text, const uint8_t *bytes,
			       uint64_t size, uint64_t address)
{
	size_t count = 0;
	struct fg_arm64_place *places = fg_arm64_places(bytes, size, address, &count);

	for (size_t i = 0; i < count; i++) {
		const struct fg_arm64_place *place = &places[i];

		add_bytes(text, &place->kept, sizeof(place->kept));
		if (place->page)
			add_unknown(text, place->page);
		if (place->has_target &&
		    (!may_be_constant(d, place->target) ||
		     !add_constant(d, text, place->operand_size, place->target)))
			add_address(d, text, place->target, 0);
		d->code->queries_cpu |= queries_cpu(place->kept);
	}
	add_bytes(text, bytes + count * sizeof(uint32_t), size - count * sizeof(uint32_t));
	free(places);
}

static void add_function(struct fg_digester *d, struct fg_strbuf *text,
			 const struct fg_image_symbol *symbol)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, symbol->address, &left);
	const uint64_t size = bytes && symbol->size < left ? symbol->size : left;

	if (bytes && d->image.machine == EM_AARCH64) {
		add_arm64_function(d, text, bytes, size, symbol->address);
		return;
	}
	for (uint64_t at = 0; bytes && at < size;) {
		struct fg_decoded i;

		if (fg_decoded_decode(&d->decoder, bytes + at, size - at, symbol->address + at,
				      &i)) {
			add_instruction(d, text, &i);
			note_form(d, &i);
			d->code->queries_cpu |= i.decoded.mnemonic == ZYDIS_MNEMONIC_CPUID ||
						i.decoded.mnemonic == ZYDIS_MNEMONIC_XGETBV;
			at += i.decoded.length;
		} else {
			add_mark(text, MARK_UNKNOWN);
			add_bytes(text, bytes + at, 1);
			at++;
		}
	}
}

void fg_digester_item(struct fg_digester *d, const struct fg_image_symbol *symbol,
		      struct fg_strbuf *text)
{
	struct fg_code_item *item = &d->code->items[d->item];
	const uint64_t entries = fg_digester_relative_entries(d, symbol);
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
	/* The code of a start file does not count, but its uses do: they lead to main(). */
	if (symbol->is_start_file)
		fg_strbuf_clear(text);
	add_mark(text, MARK_END);
	fg_sha256_init(&sha);
	fg_sha256_add(&sha, text->data, text->length);
	fg_sha256_finish(&sha, digest);
	memcpy(item->digest, digest, sizeof(item->digest));
}
