// SPDX-License-Identifier: Apache-2.0
#include "binary/eh_frame.h"

#include "base/sort.h"
#include "base/sorted.h"

/* Encodings of numbers in unwind tables (DW_EH_PE). */
enum {
	ENCODED_NONE = 0xff,
	DIRECT = 0x7f,           /* mask of the encoding without the indirect flag */
	ENCODED_RELATIVE = 0x10, /* relative to the field's own address */
	ENCODED_WORD = 0x00,
	ENCODED_ULEB = 0x01,
	ENCODED_U2 = 0x02,
	ENCODED_U4 = 0x03,
	ENCODED_U8 = 0x04,
	ENCODED_S4 = 0x0b,
	ENCODED_S8 = 0x0c,
};

/* Reads a piece of a section; reading beyond its end fails. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t address; /* address of `at` */
	bool is_narrow;
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

static uint64_t take_plain(struct cursor *c, unsigned encoding)
{
	switch (encoding & 0x0f) {
	case ENCODED_WORD:
		return take_fixed(c, c->is_narrow ? 4 : 8);
	case ENCODED_U8:
	case ENCODED_S8:
		return take_fixed(c, 8);
	case ENCODED_ULEB:
		return take_leb(c);
	case ENCODED_U2:
		return take_fixed(c, 2);
	case ENCODED_U4:
		return take_fixed(c, 4);
	case ENCODED_S4:
		return (uint64_t)(int64_t)(int32_t)take_fixed(c, 4);
	default:
		c->failed = true;
		return 0;
	}
}

static uint64_t take_encoded(struct cursor *c, unsigned encoding)
{
	const uint64_t here = c->address;
	uint64_t value = take_plain(c, encoding);

	if ((encoding & 0x70) == ENCODED_RELATIVE)
		value = value ? here + value : 0;
	else
		c->failed |= (encoding & 0x70) != 0;
	return c->is_narrow ? (uint32_t)value : value;
}

/* Starts reading at this address of the section. */
static bool cursor_at(const struct fg_eh_section *section, uint64_t address, struct cursor *c)
{
	const uint64_t offset = address - section->address;

	if (address < section->address || offset >= section->size)
		return false;
	*c = (struct cursor){.at = section->bytes + offset,
			     .end = section->bytes + section->size,
			     .address = address,
			     .is_narrow = section->is_narrow};
	return true;
}

/* ---- functions ---- */

/* The common part (CIE) that frames refer to. */
struct common {
	unsigned pointers; /* encoding of the frames' addresses */
	unsigned handlers; /* encoding of the address of the table of landing pads */
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

/* `c` points after the id of the common part. */
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

/* Reads one entry of .eh_frame; `c` holds only that entry, after its length. */
static bool read_entry(const struct fg_eh_section *section, struct cursor *c,
		       struct fg_eh_frames *frames)
{
	const uint64_t here = c->address;
	const uint64_t back = take_fixed(c, 4);
	struct fg_eh_frame frame = {.offset = here - 4 - section->address};
	struct common common;
	struct cursor to;

	if (back == 0)
		return true; /* a common part is read when a frame refers to it */
	if (c->failed || !cursor_at(section, here - back, &to))
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
		return true; /* the linker dropped the function */
	FG_APPEND(frames->items, frames->count, frames->capacity) = frame;
	return true;
}

FG_ORDER_BY(by_start, struct fg_eh_frame, FG_UP(start))

static bool read_entries(struct fg_eh_frames *frames, const struct fg_eh_section *section)
{
	struct cursor c;
	bool all = true;

	if (!cursor_at(section, section->address, &c))
		return true;
	while (c.at < c.end) {
		const uint64_t size = take_fixed(&c, 4);
		struct cursor entry = c;

		if (size == 0 && !c.failed)
			break;
		skip(&c, size);
		if (c.failed || size == UINT32_MAX)
			return false;
		entry.end = c.at;
		all &= read_entry(section, &entry, frames);
	}
	return all;
}

void fg_eh_frames_add(struct fg_eh_frames *frames, const struct fg_eh_section *section)
{
	frames->is_complete &= read_entries(frames, section);
	if (frames->count)
		qsort(frames->items, frames->count, sizeof(frames->items[0]), by_start);
}

void fg_eh_frames_release(struct fg_eh_frames *frames)
{
	free(frames->items);
	*frames = (struct fg_eh_frames){0};
}

const struct fg_eh_frame *fg_eh_frames_before(const struct fg_eh_frames *frames, uint64_t address)
{
	const size_t before = fg_sorted_up_to(
		FG_SORTED(frames->items, frames->count, struct fg_eh_frame, start), address);

	return before > 0 ? &frames->items[before - 1] : NULL;
}

/* ---- landing pads ---- */

bool fg_eh_frame_landing_pads(const struct fg_eh_section *section, const struct fg_eh_frame *frame,
			      void (*visit)(void *context, uint64_t address), void *context)
{
	uint64_t base = frame->start;
	unsigned encoding = 0;
	uint64_t size = 0;
	struct cursor c;

	if (!cursor_at(section, frame->handlers, &c))
		return false;
	encoding = (unsigned)take_fixed(&c, 1);
	if (encoding != ENCODED_NONE)
		base = take_encoded(&c, encoding);
	if (take_fixed(&c, 1) != ENCODED_NONE)
		(void)take_leb(&c); /* end of the table of types */
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
