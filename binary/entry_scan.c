// SPDX-License-Identifier: Apache-2.0
/*
 * The search covers more bytes than are likely to matter. Branches with 32-bit distances are
 * searched for at every byte of the code, whether an instruction begins there or not: bytes that
 * only look like such a branch point to a given few bytes once in a million. Branches with 8-bit
 * distances and addresses would match everywhere. They are decoded as the processor would, from the
 * start of each function to its end, and searched for at every byte only if that is not possible.
 */
#include "binary/entry_scan.h"

#include "base/text.h"
#include "binary/digester.h"

enum {
	WORD = 8,
	DISTANCE = 4, /* width of a 32-bit distance */
	MODRM_RELATIVE = 5,
	MODRM_REGISTER = 3,
	/* marks for a byte of code */
	KNOWN = 1,   /* part of a function that was decoded to its end */
	ENTERED = 2, /* something may lead here */
	LOOPED = 4,  /* the byte's own function jumps here */
};

struct scan {
	const struct fg_image *image;
	const struct fg_eh_frames *frames;
	ZydisDecoder decoder;
	uint64_t low, high; /* range of code */
	uint8_t *bytes;     /* marks per byte of code */
	uint32_t *parts;    /* per frame: another frame of the same function, or itself */
	bool *is_unknown;   /* per frame: true if it may jump anywhere in its function */
};

static void mark(const struct scan *s, uint64_t address, unsigned how)
{
	if (address >= s->low && address < s->high)
		s->bytes[address - s->low] |= (uint8_t)how;
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

/*
 * Returns the index of the frame that contains this address, or the number of frames if none does.
 */
static size_t frame_of(const struct scan *s, uint64_t address)
{
	const struct fg_eh_frame *frame = fg_eh_frames_before(s->frames, address);

	return frame && address < frame->end ? (size_t)(frame - s->frames->items)
					     : s->frames->count;
}

/* Records a jump from the frame to this address. */
static void follow(const struct scan *s, size_t frame, uint64_t target, bool may_leave)
{
	const struct fg_eh_frame *own = &s->frames->items[frame];
	const struct fg_image_section *section = NULL;
	size_t other = 0;

	if (target >= own->start && target < own->end) {
		mark(s, target, ENTERED | LOOPED);
		return;
	}
	mark(s, target, ENTERED);
	section = fg_image_section_at(s->image, target);
	other = frame_of(s, target);
	/* A jump to the start of another function is a tail call. Linker stubs share one frame. */
	if (other < s->frames->count && !(section && fg_text_starts_with(section->name, ".plt")) &&
	    !(may_leave && s->frames->items[other].start == target))
		join(s, frame, other);
}

/* ---- decoding ---- */

static void take_instruction(struct scan *s, size_t frame, const struct fg_decoded *i)
{
	const bool is_jump = i->decoded.mnemonic == ZYDIS_MNEMONIC_JMP;
	const uint64_t target = fg_decoded_immediate(s->image, i, 0).target;

	/*
	 * A jump through memory goes to an address, and words that are addresses are searched for
	 * separately.
	 */
	if (is_jump && (i->decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	    i->decoded.raw.modrm.mod == MODRM_REGISTER)
		s->is_unknown[frame] = true;
	mark(s, fg_decoded_displacement(s->image, i).target, ENTERED);
	if (!i->decoded.raw.imm[0].is_relative || i->decoded.mnemonic == ZYDIS_MNEMONIC_CALL)
		mark(s, target, ENTERED);
	else
		follow(s, frame, target, is_jump);
}

const struct fg_image_section *fg_entry_section(const struct fg_image *image,
						const struct fg_eh_frame *frame)
{
	const struct fg_image_section *section = fg_image_section_at(image, frame->start);

	return section && section->is_code && section->bytes &&
			       frame->end - section->address <= section->size
		       ? section
		       : NULL;
}

/* Reads a function from its start to its end. Returns false if it is not all code. */
static bool read_frame(struct scan *s, size_t index)
{
	const struct fg_eh_frame *frame = &s->frames->items[index];
	const struct fg_image_section *section = fg_entry_section(s->image, frame);
	struct fg_decoded i;

	if (!section)
		return false;
	for (uint64_t at = frame->start; at < frame->end; at = fg_decoded_next(&i)) {
		if (!fg_decoded_decode(&s->decoder, section->bytes + (at - section->address),
				       frame->end - at, at, &i))
			return false;
		take_instruction(s, index, &i);
	}
	for (uint64_t at = frame->start; at < frame->end; at++)
		mark(s, at, KNOWN);
	return true;
}

/* ---- every byte ---- */

/*
 * Searches for bytes that could be a branch with a 32-bit distance, and outside known code also for
 * branches with 8-bit distances and for relative addresses, which an immediate operand may follow.
 */
static void scan_code(const struct scan *s, const struct fg_image_section *section)
{
	static const uint8_t immediates[] = {0, 1, 2, 4};

	for (uint64_t at = 0; at + 2 <= section->size; at++) {
		const uint8_t *bytes = section->bytes + at;
		const uint64_t address = section->address + at;
		const bool known = s->bytes[address - s->low] & KNOWN;
		uint64_t target = address + 1 + DISTANCE;
		int32_t distance;

		if (!known &&
		    (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0))
			mark(s, address + 2 + (uint64_t)(int64_t)(int8_t)bytes[1], ENTERED);
		if (section->size - at < 1 + DISTANCE)
			continue;
		memcpy(&distance, bytes + 1, sizeof(distance));
		target += (uint64_t)(int64_t)distance;
		if (bytes[0] == 0xe8 || bytes[0] == 0xe9 ||
		    (at && bytes[-1] == 0x0f && (bytes[0] & 0xf0) == 0x80) ||
		    (at && bytes[-1] == 0xc7 && bytes[0] == 0xf8))
			mark(s, target, ENTERED);
		for (size_t i = 0;
		     !known && (bytes[0] & 0xc7) == MODRM_RELATIVE && i < FG_ARRAY_SIZE(immediates);
		     i++)
			mark(s, target + immediates[i], ENTERED);
	}
}

/* ---- data ---- */

/* Searches for words that are addresses, at any alignment. */
static void scan_words(const struct scan *s, const struct fg_image_section *section)
{
	for (uint64_t at = 0; at + DISTANCE <= section->size; at++) {
		uint32_t narrow;
		uint64_t word;

		memcpy(&narrow, section->bytes + at, sizeof(narrow));
		if (s->image->is_fixed)
			mark(s, narrow, ENTERED);
		if (section->is_code || section->size - at < WORD)
			continue;
		memcpy(&word, section->bytes + at, sizeof(word));
		mark(s, word, ENTERED);
	}
}

static void scan_sections(const struct scan *s)
{
	for (size_t i = 0; i < s->image->section_count; i++) {
		const struct fg_image_section *section = &s->image->sections[i];

		if (!section->bytes)
			continue;
		if (section->is_code)
			scan_code(s, section);
		scan_words(s, section);
	}
}

/* ---- exception tables ---- */

static void mark_handler(void *context, uint64_t address)
{
	mark(context, address, ENTERED);
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

		mark(s, frame->start, ENTERED);
		if (!mark_handlers(s, frame))
			s->is_unknown[i] = true;
	}
	for (size_t i = 0; i < s->image->entry_count; i++) {
		if (s->image->entries[i].is_defined)
			mark(s, s->image->entries[i].address, ENTERED);
	}
	for (size_t i = 0; i < s->image->relocation_count; i++) {
		const struct fg_image_relocation *relocation = &s->image->relocations[i];

		if (!relocation->import)
			mark(s, relocation->target, ENTERED);
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
	/* The sections fit into the file; a larger range has huge gaps between them. */
	return s->low < s->high && s->high - s->low <= 2 * (uint64_t)s->image->file_size;
}

static bool is_entered(const struct scan *s, const struct fg_plan_entry *entry)
{
	const uint64_t jump = entry->address + entry->jump_at;

	if (s->is_unknown[root_of(s, (uint32_t)frame_of(s, entry->address))])
		return true;
	for (uint64_t at = entry->address; at < entry->address + entry->window_size; at++) {
		/*
		 * Other code may lead to the first byte of the jump, but not to a byte after that.
		 */
		if (s->bytes[at - s->low] & (at > jump ? ENTERED | LOOPED : LOOPED))
			return true;
	}
	return false;
}

void fg_entry_scan(const struct fg_image *image, const struct fg_eh_frames *frames,
		   struct fg_plan_entry *entries, size_t count)
{
	struct scan s = {.image = image, .frames = frames};
	const bool is_ready = fg_decoder_start(&s.decoder, false) && find_code(&s);

	s.bytes = fg_xcalloc(is_ready ? s.high - s.low : 1, 1);
	s.parts = fg_xcalloc(frames->count + 1, sizeof(s.parts[0]));
	s.is_unknown = fg_xcalloc(frames->count + 1, sizeof(s.is_unknown[0]));
	for (size_t i = 0; i < frames->count; i++)
		s.parts[i] = (uint32_t)i;
	if (is_ready) {
		for (size_t i = 0; i < frames->count; i++)
			s.is_unknown[i] = !read_frame(&s, i) || s.is_unknown[i];
		scan_tables(&s);
		scan_sections(&s);
	}
	/* If one part may jump anywhere in its function, this holds for the whole function. */
	for (size_t i = 0; i < frames->count; i++)
		s.is_unknown[root_of(&s, (uint32_t)i)] |= s.is_unknown[i];
	for (size_t i = 0; i < count; i++) {
		if (entries[i].refusal == FG_ENTRY_ACCEPTED &&
		    (!is_ready || is_entered(&s, &entries[i])))
			entries[i].refusal = FG_ENTRY_INSIDE;
	}
	free(s.bytes);
	free(s.parts);
	free(s.is_unknown);
}
