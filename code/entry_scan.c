// SPDX-License-Identifier: Apache-2.0
/*
 * Each question is asked of more than is likely to matter.  Branches of 32 bits are looked for at
 * every byte of the code, whether an instruction begins there or not: what only looks like one
 * leads into these few bytes once in a million.  Branches of 8 bits and addresses would be found
 * everywhere in this way: they are read as the processor does, from the start of each function to
 * its end, and looked for at every byte where that is not possible.
 */
#include "code/entry_scan.h"

#include "base/base.h"

#include <elf.h>
#include <Zydis/Zydis.h>

#define NOP_LIST "__patchable_function_entries"

enum {
	WORD = 8,
	DISTANCE = 4,    /* bytes of a 32-bit distance */
	LOOK_BACK = 64,  /* instructions, for where a jump takes its target from */
	TABLE_BACK = 16, /* instructions, for where a sum takes a distance from */
	TABLE_MAX = 65536,
	MODRM_RELATIVE = 5,
	MODRM_REGISTER = 3,
	JUMP_INDIRECT = 4, /* of opcode ff */
};

struct scan {
	const struct fg_image *image;
	const struct fg_eh_frames *frames;
	struct fg_entry_place *places;
	size_t count;
	ZydisDecoder decoder;
	ZydisDecoder full;
	const struct fg_image_section *nop_list; /* NULL: there is none that is left alone */
	uint64_t low, high;                      /* of the code */
	uint8_t *inside;                         /* by address: within a place, not its start */
	uint8_t *labels;                         /* by address: a branch leads there */
	uint8_t *known;     /* by address: part of a function that was read to its end */
	uint32_t *parts;    /* by frame: another frame of the same function, or itself */
	bool *is_unknown;   /* by frame: a jump in it could not be followed */
	bool *has_computed; /* by frame: a jump takes its target from a register */
	/* of the frame that is read: */
	size_t frame;
	const uint8_t *bytes;
	uint32_t *offsets; /* of its instructions */
	size_t offset_count, offset_capacity;
};

static bool has(const uint8_t *bits, uint64_t index)
{
	return bits[index / 8] >> (index % 8) & 1;
}

static void set(uint8_t *bits, uint64_t index)
{
	bits[index / 8] |= (uint8_t)(1u << (index % 8));
}

static bool is_in_code(const struct scan *s, uint64_t address)
{
	return address >= s->low && address < s->high;
}

/* The place that begins at or before the address, or NULL. */
static struct fg_entry_place *place_before(const struct scan *s, uint64_t address)
{
	size_t low = 0;
	size_t high = s->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->places[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->places[low - 1] : NULL;
}

static void refuse(struct fg_entry_place *place, enum fg_entry_refusal refusal)
{
	if (place->refusal == FG_ENTRY_ACCEPTED)
		place->refusal = refusal;
}

/* Something leads there. */
static void mark(const struct scan *s, uint64_t address, enum fg_entry_refusal refusal)
{
	struct fg_entry_place *place = NULL;

	if (is_in_code(s, address) && has(s->inside, address - s->low))
		place = place_before(s, address);
	if (place)
		refuse(place, refusal);
}

/* ---- functions in several parts ---- */

static uint32_t root_of(const struct scan *s, uint32_t frame)
{
	while (s->parts[frame] != frame) {
		s->parts[frame] = s->parts[s->parts[frame]];
		frame = s->parts[frame];
	}
	return frame;
}

static void join(const struct scan *s, size_t one, size_t other)
{
	const uint32_t a = root_of(s, (uint32_t)one);
	const uint32_t b = root_of(s, (uint32_t)other);

	s->parts[a > b ? a : b] = a > b ? b : a;
}

/* How many frames begin at this address or before it. */
static size_t frames_begun(const struct scan *s, uint64_t address)
{
	size_t low = 0;
	size_t high = s->frames->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->frames->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The frame whose bytes hold this address; `count` of the frames: none. */
static size_t frame_of(const struct scan *s, uint64_t address)
{
	const size_t begun = frames_begun(s, address);

	if (begun == 0 || address >= s->frames->items[begun - 1].end)
		return s->frames->count;
	return begun - 1;
}

/* Stubs through which other objects are called: one frame for all of them. */
static bool is_linkage(const struct scan *s, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, address);

	return section && strncmp(section->name, ".plt", strlen(".plt")) == 0;
}

/* Code of the current frame goes on there without a call. */
static void follow(const struct scan *s, uint64_t target, bool may_leave,
		   enum fg_entry_refusal refusal)
{
	const struct fg_eh_frame *own = &s->frames->items[s->frame];
	const bool is_own = target >= own->start && target < own->end;
	struct fg_entry_place *place = NULL;
	size_t other = 0;

	if (!is_in_code(s, target))
		return;
	set(s->labels, target - s->low);
	place = place_before(s, target);
	if (place && target < place->end && place->start == own->start)
		refuse(place, refusal == FG_ENTRY_BRANCH ? FG_ENTRY_LOOP : refusal);
	mark(s, target, refusal);
	if (is_own)
		return;
	other = frame_of(s, target);
	/* To the start of another, or to what the linker made: a call that does not come back. */
	if (other < s->frames->count && !is_linkage(s, target) &&
	    !(may_leave && s->frames->items[other].start == target))
		join(s, s->frame, other);
}

/* ---- what the processor would read ---- */

static bool decode(const struct scan *s, const uint8_t *bytes, uint64_t left,
		   ZydisDecodedInstruction *decoded)
{
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeInstruction(&s->decoder, NULL, bytes, (ZyanUSize)left, decoded));
}

static bool is_indirect_jump(const ZydisDecodedInstruction *decoded)
{
	return decoded->mnemonic == ZYDIS_MNEMONIC_JMP &&
	       (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM);
}

static bool is_relative(const ZydisDecodedInstruction *decoded)
{
	return (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded->raw.modrm.mod == 0 &&
	       decoded->raw.modrm.rm == MODRM_RELATIVE;
}

static void take_instruction(struct scan *s, const ZydisDecodedInstruction *decoded,
			     uint64_t address)
{
	const bool is_call = decoded->mnemonic == ZYDIS_MNEMONIC_CALL;
	uint64_t target = 0;

	if (is_indirect_jump(decoded) && decoded->raw.modrm.mod == MODRM_REGISTER)
		s->has_computed[s->frame] = true;
	if (is_relative(decoded))
		mark(s, address + decoded->length + (uint64_t)decoded->raw.disp.value,
		     FG_ENTRY_ADDRESS);
	if (!decoded->raw.imm[0].is_relative)
		return;
	target = address + decoded->length + (uint64_t)decoded->raw.imm[0].value.s;
	if (is_call)
		mark(s, target, FG_ENTRY_BRANCH);
	else
		follow(s, target, decoded->mnemonic == ZYDIS_MNEMONIC_JMP, FG_ENTRY_BRANCH);
}

static void keep_offset(struct scan *s, uint64_t offset)
{
	s->offsets = fg_grow(s->offsets, &s->offset_capacity, s->offset_count + 1,
			     sizeof(s->offsets[0]));
	s->offsets[s->offset_count++] = (uint32_t)offset;
}

/* Bytes of the frame, if all of it is code of the file; NULL otherwise. */
static const uint8_t *bytes_of(const struct scan *s, const struct fg_eh_frame *frame)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, frame->start);

	if (!section || !section->is_code || !section->bytes ||
	    frame->end - section->address > section->size || frame->end - frame->start > INT32_MAX)
		return NULL;
	return section->bytes + (frame->start - section->address);
}

/* Reads a function from its start to its end; its instructions are kept. */
static bool read_frame(struct scan *s, size_t index, bool is_first)
{
	const struct fg_eh_frame *frame = &s->frames->items[index];
	const uint64_t size = frame->end - frame->start;

	s->frame = index;
	s->offset_count = 0;
	s->bytes = bytes_of(s, frame);
	if (!s->bytes)
		return false;
	for (uint64_t at = 0; at < size;) {
		ZydisDecodedInstruction decoded;

		if (!decode(s, s->bytes + at, size - at, &decoded))
			return false;
		keep_offset(s, at);
		if (is_first)
			take_instruction(s, &decoded, frame->start + at);
		at += decoded.length;
	}
	return true;
}

static void refuse_at(struct scan *s, uint64_t start, enum fg_entry_refusal refusal)
{
	struct fg_entry_place *place = place_before(s, start);

	if (place && place->start == start)
		refuse(place, refusal);
}

static void read_all_frames(struct scan *s)
{
	for (size_t i = 0; i < s->frames->count; i++) {
		const struct fg_eh_frame *frame = &s->frames->items[i];

		if (!read_frame(s, i, true)) {
			s->is_unknown[i] = true;
			refuse_at(s, frame->start, FG_ENTRY_UNDECODED);
			continue;
		}
		for (uint64_t at = frame->start; at < frame->end; at++)
			set(s->known, at - s->low);
	}
}

/* The compiler's own start files have no frames; what they are is known by name. */
static bool is_start_code(const char *name)
{
	static const char *const names[] = {"deregister_tm_clones", "register_tm_clones",
					    "__do_global_dtors_aux", "frame_dummy"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* Where the frame begins that follows this address. */
static uint64_t next_frame(const struct scan *s, uint64_t address)
{
	const size_t begun = frames_begun(s, address);

	return begun < s->frames->count ? s->frames->items[begun].start : UINT64_MAX;
}

static void read_start_code(const struct scan *s, uint64_t start)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, start);
	const uint64_t next = next_frame(s, start);
	uint64_t at = start;
	uint64_t end = 0;

	if (!section || !section->is_code || !section->bytes)
		return;
	end = section->address + section->size;
	end = next < end ? next : end;
	while (at < end) {
		ZydisDecodedInstruction decoded;

		if (!decode(s, section->bytes + (at - section->address), end - at, &decoded))
			return;
		at += decoded.length;
		if (decoded.raw.imm[0].is_relative)
			mark(s, at + (uint64_t)decoded.raw.imm[0].value.s, FG_ENTRY_BRANCH);
		else if (is_relative(&decoded))
			mark(s, at + (uint64_t)decoded.raw.disp.value, FG_ENTRY_ADDRESS);
	}
	for (at = start; at < end; at++)
		set(s->known, at - s->low);
}

static void read_start_files(const struct scan *s)
{
	for (size_t i = 0; i < s->image->entry_count; i++) {
		const struct fg_image_entry *symbol = &s->image->entries[i];

		if (symbol->is_defined && is_in_code(s, symbol->address) &&
		    is_start_code(symbol->name))
			read_start_code(s, symbol->address);
	}
}

/* ---- jumps to what a register holds ---- */

static bool decode_full(const struct scan *s, size_t index, ZydisDecodedInstruction *decoded,
			ZydisDecodedOperand *operands)
{
	const struct fg_eh_frame *frame = &s->frames->items[s->frame];
	const uint32_t at = s->offsets[index];

	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&s->full, s->bytes + at,
						   (ZyanUSize)(frame->end - frame->start - at),
						   decoded, operands));
}

static bool writes(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands,
		   ZydisRegister name)
{
	for (size_t i = 0; i < decoded->operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operands[i].reg.value) == name)
			return true;
	}
	return false;
}

static bool is_kept_by_calls(ZydisRegister name)
{
	return name == ZYDIS_REGISTER_RBX || name == ZYDIS_REGISTER_RBP ||
	       (name >= ZYDIS_REGISTER_R12 && name <= ZYDIS_REGISTER_R15);
}

enum source {
	SOURCE_ADDRESS, /* a whole address, which stands somewhere: it was looked for there */
	SOURCE_SUM,     /* of a base and what a table holds */
	SOURCE_UNKNOWN,
};

/* What an instruction that writes the register makes of it; a copy: go on with `name`. */
static bool is_source(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands,
		      ZydisRegister *name, enum source *source)
{
	const bool is_move = decoded->mnemonic == ZYDIS_MNEMONIC_MOV;

	if (is_move && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		*name = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
							 operands[1].reg.value);
		return false;
	}
	*source = SOURCE_UNKNOWN;
	if (decoded->mnemonic == ZYDIS_MNEMONIC_ADD)
		*source = SOURCE_SUM;
	else if (is_move || (decoded->mnemonic == ZYDIS_MNEMONIC_LEA &&
			     operands[1].mem.base == ZYDIS_REGISTER_RIP))
		*source = SOURCE_ADDRESS;
	return true;
}

static bool is_table_load(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	return decoded->mnemonic == ZYDIS_MNEMONIC_MOVSXD &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[1].mem.scale == DISTANCE;
}

/* Does what is summed up by this instruction come out of a table, just before? */
static bool adds_table(const struct scan *s, size_t index)
{
	for (size_t back = 0; back < TABLE_BACK && index > 0; back++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

		index--;
		if (decode_full(s, index, &decoded, operands) && is_table_load(&decoded, operands))
			return true;
	}
	return false;
}

/* Where does the jump of this index get its target from? */
static enum source source_of(const struct scan *s, size_t index, ZydisRegister name)
{
	const uint64_t start = s->frames->items[s->frame].start;

	for (size_t back = 0; back < LOOK_BACK; back++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		enum source source = SOURCE_UNKNOWN;

		/* Who comes from elsewhere may bring something else. */
		if (has(s->labels, start + s->offsets[index] - s->low))
			return SOURCE_UNKNOWN;
		if (index == 0)
			return SOURCE_ADDRESS; /* an argument */
		index--;
		if (!decode_full(s, index, &decoded, operands))
			return SOURCE_UNKNOWN;
		if (decoded.meta.category == ZYDIS_CATEGORY_CALL && !is_kept_by_calls(name))
			return SOURCE_ADDRESS; /* a result */
		if (!writes(&decoded, operands, name) ||
		    !is_source(&decoded, operands, &name, &source))
			continue;
		return source == SOURCE_SUM && !adds_table(s, index) ? SOURCE_UNKNOWN : source;
	}
	return SOURCE_UNKNOWN;
}

/* Follows the distances of a table to their places; false: there are none. */
static bool follow_table(const struct scan *s, uint64_t base, int64_t displacement)
{
	const uint64_t address = base + (uint64_t)displacement;
	const struct fg_image_section *section = fg_image_section_at(s->image, address);
	uint64_t at = section ? address - section->address : 0;
	unsigned count = 0;

	if (!section || section->is_code || !section->bytes)
		return false;
	for (; count < TABLE_MAX && section->size - at >= DISTANCE; at += DISTANCE, count++) {
		int32_t distance = 0;
		uint64_t target = 0;

		memcpy(&distance, section->bytes + at, sizeof(distance));
		target = base + (uint64_t)(int64_t)distance;
		if (!is_in_code(s, target))
			break;
		follow(s, target, false, FG_ENTRY_TABLE);
	}
	return count > 0;
}

/* The tables that the current frame may take targets from: any base with any displacement. */
static bool follow_tables(const struct scan *s)
{
	const struct fg_eh_frame *frame = &s->frames->items[s->frame];
	int64_t displacements[LOOK_BACK];
	size_t count = 0;
	bool found = false;

	for (size_t i = 0; i < s->offset_count; i++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

		if (!decode_full(s, i, &decoded, operands))
			return false;
		if (is_table_load(&decoded, operands)) {
			if (count == LOOK_BACK)
				return false;
			displacements[count++] = operands[1].mem.disp.value;
		}
	}
	for (size_t i = 0; i < s->offset_count; i++) {
		ZydisDecodedInstruction decoded;
		uint64_t base = 0;
		int64_t last = INT64_MIN;

		(void)decode(s, s->bytes + s->offsets[i], frame->end - frame->start - s->offsets[i],
			     &decoded);
		if (decoded.mnemonic != ZYDIS_MNEMONIC_LEA || !is_relative(&decoded))
			continue;
		base = frame->start + s->offsets[i] + decoded.length +
		       (uint64_t)decoded.raw.disp.value;
		for (size_t k = 0; k < count; k++) {
			found |=
				displacements[k] != last && follow_table(s, base, displacements[k]);
			last = displacements[k];
		}
	}
	return found;
}

/* Can all jumps of the current frame that go where a register says be followed? */
static bool follow_computed(struct scan *s)
{
	bool has_sum = false;

	for (size_t i = 0; i < s->offset_count; i++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		enum source source = SOURCE_UNKNOWN;

		if (!decode_full(s, i, &decoded, operands))
			return false;
		if (!is_indirect_jump(&decoded) || decoded.raw.modrm.mod != MODRM_REGISTER)
			continue;
		source = source_of(s, i, operands[0].reg.value);
		if (source == SOURCE_UNKNOWN)
			return false;
		has_sum |= source == SOURCE_SUM;
	}
	return !has_sum || follow_tables(s);
}

static void follow_all_computed(struct scan *s)
{
	for (size_t i = 0; i < s->frames->count; i++) {
		if (!s->is_unknown[i] && s->has_computed[i] && read_frame(s, i, false))
			s->is_unknown[i] = !follow_computed(s);
	}
}

/* What leads from a part that is not understood may lead into any other part of the function. */
static void refuse_unknown(struct scan *s)
{
	bool *is_unknown = fg_xcalloc(s->frames->count + 1, sizeof(is_unknown[0]));

	for (size_t i = 0; i < s->frames->count; i++)
		is_unknown[root_of(s, (uint32_t)i)] |= s->is_unknown[i];
	for (size_t i = 0; i < s->frames->count; i++) {
		if (is_unknown[root_of(s, (uint32_t)i)])
			refuse_at(s, s->frames->items[i].start, FG_ENTRY_COMPUTED);
	}
	free(is_unknown);
}

/* ---- every byte ---- */

static uint64_t distance_at(const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return (uint64_t)(int64_t)distance;
}

/*
 * What could be a branch of 32 bits, and, where it is not known what is code, an address relative
 * to the instruction.
 */
static void scan_wide(const struct scan *s, const struct fg_image_section *section)
{
	for (uint64_t at = 0; at + 1 + DISTANCE <= section->size; at++) {
		const uint8_t *bytes = section->bytes + at;
		const uint64_t behind = section->address + at + 1 + DISTANCE;
		const uint64_t target = behind + distance_at(bytes + 1);
		const bool is_branch = bytes[0] == 0xe8 || bytes[0] == 0xe9 ||
				       (at && bytes[-1] == 0x0f && (bytes[0] & 0xf0) == 0x80) ||
				       (at && bytes[-1] == 0xc7 && bytes[0] == 0xf8);

		if (is_branch)
			mark(s, target, FG_ENTRY_BRANCH);
		if ((bytes[0] & 0xc7) != MODRM_RELATIVE ||
		    has(s->known, section->address + at - s->low))
			continue;
		mark(s, target, FG_ENTRY_ADDRESS);
		mark(s, target + 1, FG_ENTRY_ADDRESS); /* an immediate follows */
		mark(s, target + 2, FG_ENTRY_ADDRESS);
		mark(s, target + 4, FG_ENTRY_ADDRESS);
	}
}

/* What could be a branch of 8 bits, where it is not known what is code. */
static void scan_narrow(const struct scan *s, const struct fg_image_section *section)
{
	for (uint64_t at = 0; at + 2 <= section->size; at++) {
		const uint8_t *bytes = section->bytes + at;
		const uint64_t address = section->address + at;

		if (has(s->known, address - s->low))
			continue;
		if (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0)
			mark(s, address + 2 + (uint64_t)(int64_t)(int8_t)bytes[1], FG_ENTRY_BRANCH);
	}
}

/* ---- where the compiler left NOPs ---- */

/*
 * The addresses of NOPs that functions begin with stand in a section of their own, for those who
 * want to patch them.  Nobody jumps there, unless the program asks where the section is.
 */
static const struct fg_image_section *find_nop_list(const struct fg_image *image)
{
	for (size_t i = 0; i < image->entry_count; i++)
		if (strcmp(image->entries[i].name, "__start_" NOP_LIST) == 0)
			return NULL;
	for (size_t i = 0; i < image->section_count; i++)
		if (strcmp(image->sections[i].name, NOP_LIST) == 0)
			return &image->sections[i];
	return NULL;
}

static bool is_in_nop_list(const struct scan *s, uint64_t address)
{
	return s->nop_list && address >= s->nop_list->address &&
	       address - s->nop_list->address < s->nop_list->size;
}

/* Does a relocation put the word, an address, into the list? */
static bool is_for_nop_list(const struct scan *s, const struct fg_image_section *section,
			    uint64_t at)
{
	const uint64_t place = at - at % sizeof(Elf64_Rela);
	Elf64_Rela entry;

	if (!s->nop_list || strcmp(section->name, ".rela.dyn") != 0 ||
	    at - place != offsetof(Elf64_Rela, r_addend))
		return false;
	memcpy(&entry, section->bytes + place, sizeof(entry));
	return ELF64_R_TYPE(entry.r_info) == R_X86_64_RELATIVE && is_in_nop_list(s, entry.r_offset);
}

/* ---- data ---- */

/* Words that are addresses, wherever they stand. */
static void scan_words(const struct scan *s, const struct fg_image_section *section)
{
	if (section == s->nop_list)
		return;
	for (uint64_t at = 0; !section->is_code && at + WORD <= section->size; at++) {
		uint64_t word;

		if (is_for_nop_list(s, section, at))
			continue;
		memcpy(&word, section->bytes + at, sizeof(word));
		mark(s, word, FG_ENTRY_ADDRESS);
	}
	for (uint64_t at = 0; s->image->is_fixed && at + DISTANCE <= section->size; at++) {
		uint32_t word;

		memcpy(&word, section->bytes + at, sizeof(word));
		mark(s, word, FG_ENTRY_ADDRESS);
	}
}

static void scan_sections(const struct scan *s)
{
	for (size_t i = 0; i < s->image->section_count; i++) {
		const struct fg_image_section *section = &s->image->sections[i];

		if (!section->bytes)
			continue;
		if (section->is_code) {
			scan_wide(s, section);
			scan_narrow(s, section);
		}
		scan_words(s, section);
	}
}

/* ---- what tables say ---- */

static void mark_handler(void *context, uint64_t address)
{
	mark(context, address, FG_ENTRY_HANDLER);
}

/* False: not all of the frame's handlers are known. */
static bool mark_handlers(struct scan *s, const struct fg_eh_frame *frame)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, frame->handlers);
	struct fg_eh_section bytes;

	if (!frame->handlers)
		return true;
	if (!section || !section->bytes || section->is_writable)
		return false;
	bytes = (struct fg_eh_section){.bytes = section->bytes,
				       .size = (size_t)section->size,
				       .address = section->address};
	return fg_eh_frame_landing_pads(&bytes, frame, mark_handler, s);
}

static void scan_tables(struct scan *s)
{
	for (size_t i = 0; i < s->frames->count; i++) {
		const struct fg_eh_frame *frame = &s->frames->items[i];

		mark(s, frame->start, FG_ENTRY_PART);
		if (!mark_handlers(s, frame))
			s->is_unknown[i] = true;
	}
	for (size_t i = 0; i < s->image->entry_count; i++) {
		if (s->image->entries[i].is_defined)
			mark(s, s->image->entries[i].address, FG_ENTRY_SYMBOL);
	}
	for (size_t i = 0; i < s->image->relocation_count; i++) {
		const struct fg_image_relocation *relocation = &s->image->relocations[i];

		if (!relocation->import && !is_in_nop_list(s, relocation->address))
			mark(s, relocation->target, FG_ENTRY_ADDRESS);
	}
}

static bool find_code(struct scan *s)
{
	s->low = UINT64_MAX;
	for (size_t i = 0; i < s->image->section_count; i++) {
		const struct fg_image_section *section = &s->image->sections[i];

		if (!section->is_code)
			continue;
		if (section->address < s->low)
			s->low = section->address;
		if (section->address + section->size > s->high)
			s->high = section->address + section->size;
	}
	/* A file cannot be larger; holes between sections can. */
	return s->low < s->high && s->high - s->low <= 2 * (uint64_t)s->image->file_size;
}

static void scan_all(struct scan *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (uint64_t at = s->places[i].start + 1; at < s->places[i].end; at++)
			set(s->inside, at - s->low);
	}
	for (size_t i = 0; i < s->frames->count; i++)
		s->parts[i] = (uint32_t)i;
	read_all_frames(s);
	read_start_files(s);
	follow_all_computed(s);
	scan_tables(s);
	scan_sections(s);
	refuse_unknown(s);
}

void fg_entry_scan(const struct fg_image *image, const struct fg_eh_frames *frames,
		   struct fg_entry_place *places, size_t count)
{
	struct scan s = {.image = image,
			 .frames = frames,
			 .places = places,
			 .count = count,
			 .nop_list = find_nop_list(image)};
	const bool is_ready = ZYAN_SUCCESS(ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64,
							    ZYDIS_STACK_WIDTH_64)) &&
			      ZYAN_SUCCESS(ZydisDecoderInit(&s.full, ZYDIS_MACHINE_MODE_LONG_64,
							    ZYDIS_STACK_WIDTH_64)) &&
			      ZYAN_SUCCESS(ZydisDecoderEnableMode(
				      &s.decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)) &&
			      find_code(&s);

	if (!is_ready) {
		for (size_t i = 0; i < count; i++)
			refuse(&places[i], FG_ENTRY_UNREAD);
		return;
	}
	s.inside = fg_xcalloc((s.high - s.low) / 8 + 1, 1);
	s.labels = fg_xcalloc((s.high - s.low) / 8 + 1, 1);
	s.known = fg_xcalloc((s.high - s.low) / 8 + 1, 1);
	s.parts = fg_xcalloc(frames->count + 1, sizeof(s.parts[0]));
	s.is_unknown = fg_xcalloc(frames->count + 1, sizeof(s.is_unknown[0]));
	s.has_computed = fg_xcalloc(frames->count + 1, sizeof(s.has_computed[0]));
	scan_all(&s);
	free(s.inside);
	free(s.labels);
	free(s.known);
	free(s.parts);
	free(s.is_unknown);
	free(s.has_computed);
	free(s.offsets);
}
