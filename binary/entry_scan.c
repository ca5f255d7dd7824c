// SPDX-License-Identifier: Apache-2.0
/*
 * Each question is asked of more bytes than are likely to matter.  Branches with 32-bit distances
 * are searched for at every byte of the code, whether an instruction begins there or not: bytes
 * that only look like one lead into these few bytes once in a million.  Branches with 8-bit
 * distances and addresses would be found everywhere in this way.  They are read as the processor
 * reads them, from the start of each function to its end, and searched for at every byte where that
 * is not possible.
 */
#include "binary/entry_scan.h"

#include "base/base.h"
#include "base/sorted.h"

#include <Zydis/Zydis.h>

enum {
	WORD = 8,
	DISTANCE = 4, /* width of a 32-bit distance */
	MODRM_RELATIVE = 5,
	MODRM_REGISTER = 3,
};

struct scan {
	const struct fg_image *image;
	const struct fg_eh_frames *frames;
	struct fg_entry_place *places;
	size_t count;
	ZydisDecoder decoder;
	uint64_t low, high; /* ranges of code */
	/* sorted by address: branch targets inside a place, after its first byte */
	uint8_t *inside;
	uint8_t *known;   /* sorted by address: parts of functions that were read to their end */
	uint32_t *parts;  /* per frame: another frame of the same function, or itself */
	bool *is_unknown; /* per frame: it may jump anywhere in its function */
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
	const size_t before = fg_sorted_up_to(
		FG_SORTED(s->places, s->count, struct fg_entry_place, start), address);

	return before ? &s->places[before - 1] : NULL;
}

/* Marks the address as a branch target. */
static void mark(const struct scan *s, uint64_t address)
{
	struct fg_entry_place *place = NULL;

	if (is_in_code(s, address) && has(s->inside, address - s->low))
		place = place_before(s, address);
	if (place)
		place->is_entered = true;
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

/* The frame whose bytes contain this address; `count` of the frames: none. */
static size_t frame_of(const struct scan *s, uint64_t address)
{
	const struct fg_eh_frame *frame = fg_eh_frames_before(s->frames, address);

	return frame && address < frame->end ? (size_t)(frame - s->frames->items)
					     : s->frames->count;
}

/* Stubs through which other objects are called count as one frame. */
static bool is_linkage(const struct scan *s, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, address);

	return section && strncmp(section->name, ".plt", strlen(".plt")) == 0;
}

/* Records a jump from the frame to this address. */
static void follow(const struct scan *s, size_t frame, uint64_t target, bool may_leave)
{
	const struct fg_eh_frame *own = &s->frames->items[frame];
	struct fg_entry_place *place = NULL;
	size_t other = 0;

	if (!is_in_code(s, target))
		return;
	place = place_before(s, target);
	if (place && target < place->end && place->start == own->start)
		place->is_entered = true;
	mark(s, target);
	if (target >= own->start && target < own->end)
		return;
	other = frame_of(s, target);
	/* A jump to the start of another function, or to a linker stub, is a tail call. */
	if (other < s->frames->count && !is_linkage(s, target) &&
	    !(may_leave && s->frames->items[other].start == target))
		join(s, frame, other);
}

/* ---- what the processor would read ---- */

static bool decode(const struct scan *s, const uint8_t *bytes, uint64_t left,
		   ZydisDecodedInstruction *decoded)
{
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeInstruction(&s->decoder, NULL, bytes, (ZyanUSize)left, decoded));
}

static bool is_relative(const ZydisDecodedInstruction *decoded)
{
	return (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded->raw.modrm.mod == 0 &&
	       decoded->raw.modrm.rm == MODRM_RELATIVE;
}

static void take_instruction(struct scan *s, size_t frame, const ZydisDecodedInstruction *decoded,
			     uint64_t address)
{
	const bool is_jump = decoded->mnemonic == ZYDIS_MNEMONIC_JMP;
	const uint64_t behind = address + decoded->length;
	uint64_t target = 0;

	/*
	 * A jump through memory goes to an address, and words that are addresses are searched for
	 * separately.
	 */
	if (is_jump && (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	    decoded->raw.modrm.mod == MODRM_REGISTER)
		s->is_unknown[frame] = true;
	if (is_relative(decoded))
		mark(s, behind + (uint64_t)decoded->raw.disp.value);
	if (!decoded->raw.imm[0].is_relative)
		return;
	target = behind + (uint64_t)decoded->raw.imm[0].value.s;
	if (decoded->mnemonic == ZYDIS_MNEMONIC_CALL)
		mark(s, target);
	else
		follow(s, frame, target, is_jump);
}

/* The frame's bytes if all of it is code of the file; otherwise NULL. */
static const uint8_t *bytes_of(const struct scan *s, const struct fg_eh_frame *frame)
{
	const struct fg_image_section *section = fg_image_section_at(s->image, frame->start);

	if (!section || !section->is_code || !section->bytes ||
	    frame->end - section->address > section->size)
		return NULL;
	return section->bytes + (frame->start - section->address);
}

/* Reads a function from its start to its end. Returns false if it is not all code. */
static bool read_frame(struct scan *s, size_t index)
{
	const struct fg_eh_frame *frame = &s->frames->items[index];
	const uint64_t size = frame->end - frame->start;
	const uint8_t *bytes = bytes_of(s, frame);

	for (uint64_t at = 0; bytes && at < size;) {
		ZydisDecodedInstruction decoded;

		if (!decode(s, bytes + at, size - at, &decoded))
			return false;
		take_instruction(s, index, &decoded, frame->start + at);
		at += decoded.length;
	}
	for (uint64_t at = frame->start; bytes && at < frame->end; at++)
		set(s->known, at - s->low);
	return bytes != NULL;
}

static void refuse_at(struct scan *s, uint64_t start)
{
	struct fg_entry_place *place = place_before(s, start);

	if (place && place->start == start)
		place->is_entered = true;
}

static void read_all_frames(struct scan *s)
{
	for (size_t i = 0; i < s->frames->count; i++)
		s->is_unknown[i] |= !read_frame(s, i);
}

/* Code that cannot be decoded may jump into any other part of its function. */
static void refuse_unknown(struct scan *s)
{
	bool *is_unknown = fg_xcalloc(s->frames->count + 1, sizeof(is_unknown[0]));

	for (size_t i = 0; i < s->frames->count; i++)
		is_unknown[root_of(s, (uint32_t)i)] |= s->is_unknown[i];
	for (size_t i = 0; i < s->frames->count; i++) {
		if (is_unknown[root_of(s, (uint32_t)i)])
			refuse_at(s, s->frames->items[i].start);
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
 * Searches for bytes that could be a branch of 32 bits, and outside known code also for relative
 * addresses.
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
			mark(s, target);
		if ((bytes[0] & 0xc7) != MODRM_RELATIVE ||
		    has(s->known, section->address + at - s->low))
			continue;
		mark(s, target);
		mark(s, target + 1); /* an immediate operand follows */
		mark(s, target + 2);
		mark(s, target + 4);
	}
}

/* Searches code that is not understood for bytes that could be a branch of 8 bits. */
static void scan_narrow(const struct scan *s, const struct fg_image_section *section)
{
	for (uint64_t at = 0; at + 2 <= section->size; at++) {
		const uint8_t *bytes = section->bytes + at;
		const uint64_t address = section->address + at;

		if (has(s->known, address - s->low))
			continue;
		if (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0)
			mark(s, address + 2 + (uint64_t)(int64_t)(int8_t)bytes[1]);
	}
}

/* ---- data ---- */

/* Searches for words that are addresses, at any alignment. */
static void scan_words(const struct scan *s, const struct fg_image_section *section)
{
	for (uint64_t at = 0; !section->is_code && at + WORD <= section->size; at++) {
		uint64_t word;

		memcpy(&word, section->bytes + at, sizeof(word));
		mark(s, word);
	}
	for (uint64_t at = 0; s->image->is_fixed && at + DISTANCE <= section->size; at++) {
		uint32_t word;

		memcpy(&word, section->bytes + at, sizeof(word));
		mark(s, word);
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
	mark(context, address);
}

/* Returns false if some of the frame's handlers are unknown. */
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

		mark(s, frame->start);
		if (!mark_handlers(s, frame))
			s->is_unknown[i] = true;
	}
	for (size_t i = 0; i < s->image->entry_count; i++) {
		if (s->image->entries[i].is_defined)
			mark(s, s->image->entries[i].address);
	}
	for (size_t i = 0; i < s->image->relocation_count; i++) {
		const struct fg_image_relocation *relocation = &s->image->relocations[i];

		if (!relocation->import)
			mark(s, relocation->target);
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
	/* A file cannot be larger, but gaps between sections can. */
	return s->low < s->high && s->high - s->low <= 2 * (uint64_t)s->image->file_size;
}

static void scan_all(struct scan *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (uint64_t at = s->places[i].jump + 1; at < s->places[i].end; at++)
			set(s->inside, at - s->low);
	}
	for (size_t i = 0; i < s->frames->count; i++)
		s->parts[i] = (uint32_t)i;
	read_all_frames(s);
	scan_tables(s);
	scan_sections(s);
	refuse_unknown(s);
}

void fg_entry_scan(const struct fg_image *image, const struct fg_eh_frames *frames,
		   struct fg_entry_place *places, size_t count)
{
	struct scan s = {.image = image, .frames = frames, .places = places, .count = count};
	const bool is_ready = ZYAN_SUCCESS(ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64,
							    ZYDIS_STACK_WIDTH_64)) &&
			      ZYAN_SUCCESS(ZydisDecoderEnableMode(
				      &s.decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)) &&
			      find_code(&s);

	if (!is_ready) {
		for (size_t i = 0; i < count; i++)
			places[i].is_entered = true;
		return;
	}
	s.inside = fg_xcalloc((s.high - s.low) / 8 + 1, 1);
	s.known = fg_xcalloc((s.high - s.low) / 8 + 1, 1);
	s.parts = fg_xcalloc(frames->count + 1, sizeof(s.parts[0]));
	s.is_unknown = fg_xcalloc(frames->count + 1, sizeof(s.is_unknown[0]));
	scan_all(&s);
	free(s.inside);
	free(s.known);
	free(s.parts);
	free(s.is_unknown);
}
