// SPDX-License-Identifier: Apache-2.0
/*
 * CPython's structures are read and never written, and nothing of the interpreter is called.  What
 * a thread's own frames lead to does not change while its handler looks: only the moment when a
 * frame is made or given up can leave an address that is not valid yet, or no longer.  So every
 * word is read behind a check that it can be, and judged before it is believed.
 */
#include "collector/python_stack.h"

#include <string.h>

enum {
	WORD = sizeof(uint64_t),
	FRAME_BYTES = 72, /* of a frame: as far as anything is read of it */
	CODE_BYTES = 144, /* of a code object, likewise */
	CODE_UNIT = 2,    /* bytes of an instruction */
	CODE_UNITS_MAX = 1 << 24,
	EVALUATIONS_MAX = FG_PYTHON_CHAIN_MAX,
	STR_MAX = 1 << 24,
	STR_BYTES = 40, /* of its head */
	KEY_WORDS = 16, /* of a text without a hash, from its beginning and from its end */
	KEY_BYTES = KEY_WORDS * WORD,
	HEAD_BYTES = 24, /* of an object of variable size */
	SURROGATES = 0xd800,
	SURROGATES_END = 0xe000,
	UNICODE_END = 0x110000,
};

static uint64_t word_of(const uint8_t *bytes, unsigned offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static bool read_word(struct fg_pages *pages, uintptr_t address, uintptr_t *value)
{
	uint64_t word = 0;

	if (address % WORD != 0 || !fg_pages_read(pages, address, &word, sizeof(word)))
		return false;
	*value = (uintptr_t)word;
	return true;
}

static bool read_frame(struct fg_pages *pages, uintptr_t address, uint8_t bytes[FRAME_BYTES])
{
	return address % WORD == 0 && fg_pages_read(pages, address, bytes, FRAME_BYTES);
}

static bool push(const struct fg_python_layout *layout, struct fg_python_stack *stack,
		 const uint8_t *frame, uintptr_t native)
{
	if (stack->total >= FG_PYTHON_CHAIN_MAX)
		return false;
	*fg_python_at(stack, stack->total++) = (struct fg_python_frame){
		.code = (uintptr_t)word_of(frame, layout->frame_code),
		.instruction = (uintptr_t)word_of(frame, layout->frame_instruction),
		.stack = native,
	};
	return true;
}

/* The frames of one evaluation, from its innermost one. */
static bool read_evaluation(const struct fg_python_layout *layout, struct fg_python_stack *stack,
			    uintptr_t innermost, uintptr_t native)
{
	uint8_t frame[FRAME_BYTES];

	for (uintptr_t at = innermost;;) {
		if (!read_frame(&stack->pages, at, frame) || !push(layout, stack, frame, native))
			return false;
		if (frame[layout->frame_is_entry] > 1)
			return false;
		if (frame[layout->frame_is_entry])
			return true;
		at = (uintptr_t)word_of(frame, layout->frame_previous);
	}
}

static bool read_marked(const struct fg_python_layout *layout, uintptr_t evaluation,
			struct fg_python_stack *stack)
{
	uintptr_t previous = 0;
	uintptr_t innermost = 0;

	for (unsigned n = 0; n < EVALUATIONS_MAX; n++, evaluation = previous) {
		if (!read_word(&stack->pages, evaluation + layout->cframe_previous, &previous) ||
		    !read_word(&stack->pages, evaluation + layout->current_frame, &innermost))
			return false;
		/* The thread's first one is no evaluation. */
		if (previous == 0)
			return true;
		if (!read_evaluation(layout, stack, innermost, evaluation))
			return false;
	}
	return false;
}

/* The frames from this one on were evaluated by the native frame that `native` lies in. */
static void close_evaluation(struct fg_python_stack *stack, uint32_t first, uintptr_t native)
{
	for (uint32_t i = first; i < stack->total; i++)
		if (!fg_python_is_cut(stack, i))
			fg_python_at(stack, i)->stack = native;
}

/* `holder` has the innermost frame. */
static bool read_apart(const struct fg_python_layout *layout, uintptr_t holder,
		       struct fg_python_stack *stack)
{
	uint8_t frame[FRAME_BYTES];
	uintptr_t at = 0;
	uint32_t first = 0;

	if (!read_word(&stack->pages, holder + layout->current_frame, &at))
		return false;
	for (unsigned n = 0; at && n < 2 * EVALUATIONS_MAX; n++) {
		if (!read_frame(&stack->pages, at, frame))
			return false;
		if (frame[layout->frame_owner] > FG_PYTHON_OWNED_BY_C_STACK)
			return false;
		if (frame[layout->frame_owner] == FG_PYTHON_OWNED_BY_C_STACK) {
			close_evaluation(stack, first, at);
			first = stack->total;
		} else if (!push(layout, stack, frame, 0)) {
			return false;
		}
		at = (uintptr_t)word_of(frame, layout->frame_previous);
	}
	return at == 0 && first == stack->total;
}

bool fg_python_chain_read(const struct fg_python_layout *layout, uintptr_t thread_state,
			  struct fg_python_stack *stack)
{
	uintptr_t holder = thread_state;
	bool is_read =
		!layout->cframe || read_word(&stack->pages, thread_state + layout->cframe, &holder);

	stack->total = 0;
	if (is_read && layout->chain == FG_PYTHON_ENTRIES_MARKED)
		is_read = read_marked(layout, holder, stack);
	else if (is_read)
		is_read = read_apart(layout, holder, stack);
	if (!is_read)
		stack->total = 0;
	return is_read;
}

bool fg_python_code_read(const struct fg_python_layout *layout, const struct fg_python_types *types,
			 struct fg_pages *pages, uintptr_t address, struct fg_python_code *code)
{
	uint8_t bytes[CODE_BYTES];

	if (address % WORD != 0 || !fg_pages_read(pages, address, bytes, sizeof(bytes)))
		return false;
	*code = (struct fg_python_code){
		.address = address,
		.filename = (uintptr_t)word_of(bytes, layout->code_filename),
		.qualname = (uintptr_t)word_of(bytes, layout->code_qualname),
		.linetable = (uintptr_t)word_of(bytes, layout->code_linetable),
		.size = word_of(bytes, FG_PYTHON_SIZE),
		.first_line = (uint32_t)word_of(bytes, layout->code_first_line),
	};
	return word_of(bytes, FG_PYTHON_TYPE) == types->code && code->size > 0 &&
	       code->size <= CODE_UNITS_MAX && code->first_line <= INT32_MAX;
}

bool fg_python_instruction(const struct fg_python_layout *layout, const struct fg_python_code *code,
			   uintptr_t address, uint32_t *number)
{
	const uintptr_t before = code->address + layout->code_instructions - CODE_UNIT;
	const uintptr_t distance = address - before;

	if (distance % CODE_UNIT != 0 || distance / CODE_UNIT > code->size)
		return false;
	*number = (uint32_t)(distance / CODE_UNIT);
	return true;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

struct characters {
	uintptr_t at;
	uint64_t count;
	uint64_t hash;
	uint32_t width; /* bytes of one: 1, 2, 4 */
};

static bool find_characters(const struct fg_python_layout *layout, uint64_t type,
			    struct fg_pages *pages, uintptr_t address, struct characters *found)
{
	uint8_t head[STR_BYTES];
	uint32_t state = 0;

	if (address % WORD != 0 || !fg_pages_read(pages, address, head, sizeof(head)) ||
	    word_of(head, FG_PYTHON_TYPE) != type)
		return false;
	memcpy(&state, head + FG_PYTHON_STR_STATE, sizeof(state));
	found->count = word_of(head, FG_PYTHON_SIZE);
	found->hash = word_of(head, FG_PYTHON_STR_HASH);
	found->width = state >> FG_PYTHON_STR_KIND_SHIFT & FG_PYTHON_STR_KIND_MASK;
	found->at =
		address + (state & FG_PYTHON_STR_ASCII ? layout->ascii_size : layout->compact_size);
	return (state & FG_PYTHON_STR_COMPACT) && found->count <= STR_MAX &&
	       (found->width == 1 || found->width == 2 || found->width == 4);
}

size_t fg_python_text_read(const struct fg_python_layout *layout,
			   const struct fg_python_types *types, struct fg_pages *pages,
			   uintptr_t address, char *to, size_t room)
{
	struct characters text;
	size_t used = 0;

	if (!find_characters(layout, types->str, pages, address, &text))
		return 0;
	for (uint64_t i = 0; i < text.count && used + 4 <= room; i++) {
		uint32_t c = 0;

		if (!fg_pages_read(pages, text.at + (uintptr_t)(i * text.width), &c, text.width))
			return 0;
		if (c >= UNICODE_END || (c >= SURROGATES && c < SURROGATES_END))
			c = '?';
		used += put_utf8(to + used, c);
	}
	return used;
}

static bool mix_text(struct fg_pages *pages, uintptr_t at, uint64_t size, uint64_t *key)
{
	uint64_t words[KEY_WORDS] = {0};

	if (size > sizeof(words))
		size = sizeof(words);
	if (!fg_pages_read(pages, at, words, (size_t)size))
		return false;
	for (unsigned i = 0; i < KEY_WORDS; i++)
		*key = fg_python_mix(*key, words[i]);
	return true;
}

bool fg_python_text_key(const struct fg_python_layout *layout, const struct fg_python_types *types,
			struct fg_pages *pages, uintptr_t address, uint64_t *key)
{
	struct characters text;

	if (!find_characters(layout, types->str, pages, address, &text))
		return false;
	*key = fg_python_mix(fg_python_mix(address, text.count), text.hash);
	if (text.hash != UINT64_MAX)
		return true;
	const uint64_t size = text.count * text.width;
	const uint64_t tail = size < KEY_BYTES ? size : KEY_BYTES;

	return mix_text(pages, text.at, size, key) &&
	       mix_text(pages, text.at + (uintptr_t)(size - tail), tail, key);
}

size_t fg_python_bytes_size(const struct fg_python_types *types, struct fg_pages *pages,
			    uintptr_t address)
{
	uint8_t head[HEAD_BYTES];

	if (address % WORD != 0 || !fg_pages_read(pages, address, head, sizeof(head)) ||
	    word_of(head, FG_PYTHON_TYPE) != types->bytes)
		return 0;
	const uint64_t size = word_of(head, FG_PYTHON_SIZE);

	return size <= STR_MAX ? (size_t)size : 0;
}
