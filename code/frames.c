// SPDX-License-Identifier: Apache-2.0
#include "code/frames.h"

#include "base/base.h"

/* How numbers are encoded in unwind tables (DW_EH_PE). */
enum {
	ENCODED_NONE = 0xff,
	DIRECT = 0x7f,           /* all but that a word there has the address */
	ENCODED_RELATIVE = 0x10, /* to where they stand */
	ENCODED_WORD = 0x00,
	ENCODED_ULEB = 0x01,
	ENCODED_U2 = 0x02,
	ENCODED_U4 = 0x03,
	ENCODED_U8 = 0x04,
	ENCODED_S4 = 0x0b,
	ENCODED_S8 = 0x0c,
};

/* Reads from a piece of a section; what goes beyond its end is a failure. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t address; /* of `at` */
	bool failed;
};

static void skip(struct cursor *c, uint64_t size)
{
	if (c->failed || size > (uint64_t)(c->end - c->at)) {
		c->failed = true;
		return;
	}
	c->at += size;
	c->address += size;
}

static uint64_t take_fixed(struct cursor *c, size_t size)
{
	uint64_t value = 0;
	const uint8_t *from = c->at;

	skip(c, size);
	if (!c->failed)
		memcpy(&value, from, size);
	return value;
}

static uint64_t take_leb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		const uint64_t byte = take_fixed(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	return 0;
}

static uint64_t take_encoded(struct cursor *c, unsigned encoding)
{
	const uint64_t here = c->address;
	uint64_t value = 0;

	switch (encoding & 0x0f) {
	case ENCODED_WORD:
	case ENCODED_U8:
	case ENCODED_S8:
		value = take_fixed(c, 8);
		break;
	case ENCODED_ULEB:
		value = take_leb(c);
		break;
	case ENCODED_U2:
		value = take_fixed(c, 2);
		break;
	case ENCODED_U4:
		value = take_fixed(c, 4);
		break;
	case ENCODED_S4:
		value = (uint64_t)(int64_t)(int32_t)take_fixed(c, 4);
		break;
	default:
		c->failed = true;
		break;
	}
	if ((encoding & 0x70) == ENCODED_RELATIVE)
		return value ? here + value : 0;
	c->failed |= (encoding & 0x70) != 0;
	return value;
}

static bool cursor_at(const struct fg_image *image, uint64_t address, struct cursor *c)
{
	const struct fg_image_section *section = fg_image_section_at(image, address);

	if (!section || !section->bytes || section->is_writable)
		return false;
	*c = (struct cursor){.at = section->bytes + (address - section->address),
			     .end = section->bytes + section->size,
			     .address = address};
	return true;
}

/* ---- which function is where ---- */

/* What frames have in common. */
struct common {
	unsigned pointers; /* encoding of their addresses */
	unsigned handlers; /* of the address of their landing pads' table */
	bool is_augmented;
	bool is_signal;
};

static bool read_augmentation(struct cursor *c, const char *letters, struct common *common)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			common->pointers = (unsigned)take_fixed(c, 1);
			break;
		case 'L':
			common->handlers = (unsigned)take_fixed(c, 1);
			break;
		case 'P':
			(void)take_encoded(c, (unsigned)take_fixed(c, 1) & DIRECT);
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !c->failed;
}

/* `c` is behind the id of the common part. */
static bool read_common(struct cursor *c, struct common *common)
{
	const unsigned version = (unsigned)take_fixed(c, 1);
	const char *letters = (const char *)c->at;
	const size_t left = (size_t)(c->end - c->at);

	*common = (struct common){.handlers = ENCODED_NONE};
	if (c->failed || (version != 1 && version != 3) || strnlen(letters, left) == left)
		return false;
	skip(c, strlen(letters) + 1);
	(void)take_leb(c); /* alignment of code and data, column of the return address */
	(void)take_leb(c);
	if (version == 1)
		skip(c, 1);
	else
		(void)take_leb(c);
	if (*letters == '\0')
		return !c->failed;
	if (*letters != 'z')
		return false;
	common->is_augmented = true;
	(void)take_leb(c);
	return read_augmentation(c, letters + 1, common);
}

/* One entry of .eh_frame: `c` reads it alone, from behind its length. */
static bool read_entry(const struct fg_image *image, struct cursor *c, struct fg_arena *arena,
		       struct fg_code_frames *frames)
{
	const uint64_t here = c->address;
	const uint64_t back = take_fixed(c, 4);
	struct fg_code_frame frame = {0};
	struct common common;
	struct cursor to;

	if (back == 0)
		return true; /* a common part: read where a frame refers to it */
	if (c->failed || !cursor_at(image, here - back, &to))
		return false;
	skip(&to, 8); /* length and id */
	if (to.failed || !read_common(&to, &common))
		return false;
	frame.start = take_encoded(c, common.pointers);
	frame.end = frame.start + take_encoded(c, common.pointers & 0x0f);
	if (common.is_augmented)
		(void)take_leb(c);
	if (common.is_augmented && common.handlers != ENCODED_NONE)
		frame.handlers = take_encoded(c, common.handlers);
	frame.is_signal = common.is_signal;
	if (c->failed || frame.end < frame.start)
		return false;
	if (frame.end == frame.start || !frame.start)
		return true; /* the linker has thrown the function away */
	frames->frames = fg_arena_grow(arena, frames->frames, &frames->capacity, frames->count + 1,
				       sizeof(frame));
	frames->frames[frames->count++] = frame;
	return true;
}

static int compare_frames(const void *left, const void *right)
{
	const struct fg_code_frame *a = left;
	const struct fg_code_frame *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static bool read_section(const struct fg_image *image, const struct fg_image_section *section,
			 struct fg_arena *arena, struct fg_code_frames *frames)
{
	struct cursor c;

	if (!cursor_at(image, section->address, &c))
		return false;
	while (c.at < c.end) {
		const uint64_t size = take_fixed(&c, 4);
		struct cursor entry = c;

		if (size == 0 && !c.failed)
			break;
		skip(&c, size);
		if (c.failed || size == UINT32_MAX)
			return false;
		entry.end = c.at;
		if (!read_entry(image, &entry, arena, frames))
			return false;
	}
	return true;
}

bool fg_code_frames_read(const struct fg_image *image, struct fg_arena *arena,
			 struct fg_code_frames *frames)
{
	*frames = (struct fg_code_frames){0};
	for (size_t i = 0; i < image->section_count; i++) {
		if (strcmp(image->sections[i].name, ".eh_frame") == 0 &&
		    !read_section(image, &image->sections[i], arena, frames))
			return false;
	}
	if (frames->count)
		qsort(frames->frames, frames->count, sizeof(frames->frames[0]), compare_frames);
	return frames->count > 0;
}

const struct fg_code_frame *fg_code_frame_at(const struct fg_code_frames *frames, uint64_t address)
{
	size_t low = 0;
	size_t high = frames->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (frames->frames[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < frames->count && frames->frames[low].start == address ? &frames->frames[low]
									   : NULL;
}

/* ---- landing pads ---- */

bool fg_code_frame_handlers(const struct fg_image *image, const struct fg_code_frame *frame,
			    void (*visit)(void *context, uint64_t address), void *context)
{
	uint64_t base = frame->start;
	unsigned encoding = 0;
	uint64_t size = 0;
	struct cursor c;

	if (!frame->handlers)
		return true;
	if (!cursor_at(image, frame->handlers, &c))
		return false;
	encoding = (unsigned)take_fixed(&c, 1);
	if (encoding != ENCODED_NONE)
		base = take_encoded(&c, encoding);
	if (take_fixed(&c, 1) != ENCODED_NONE)
		(void)take_leb(&c); /* where the types end */
	encoding = (unsigned)take_fixed(&c, 1);
	size = take_leb(&c);
	if (c.failed || size > (uint64_t)(c.end - c.at))
		return false;
	c.end = c.at + size;
	while (c.at < c.end && !c.failed) {
		uint64_t pad = 0;

		(void)take_encoded(&c, encoding);
		(void)take_encoded(&c, encoding);
		pad = take_encoded(&c, encoding);
		(void)take_leb(&c);
		if (pad && !c.failed)
			visit(context, base + pad);
	}
	return !c.failed;
}
