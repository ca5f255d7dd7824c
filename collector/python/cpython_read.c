// SPDX-License-Identifier: Apache-2.0
/*
 * CPython's structures are only read, and none of the interpreter's functions is called. A thread's
 * own frames, and the objects that they point to, do not change while the thread is stopped. If the
 * thread was creating or releasing a frame, an address may not be valid yet, or may no longer be
 * valid. So each address is checked before the word there is read, and each value before it is
 * used.
 */
#include "collector/python/cpython_read.h"

#include <string.h>

enum {
	WORD = sizeof(uint64_t),
	FRAME_BYTES = 72, /* maximum number of bytes read from a frame */
	CODE_BYTES = 144, /* maximum number of bytes read from a code object */
	CODE_UNIT = 2,    /* bytes of an instruction */
	CODE_UNITS_MAX = 1 << 24,
	EVALUATIONS_MAX = FG_PYTHON_CHAIN_MAX,
	STR_MAX = 1 << 24,
	STR_BYTES = 40, /* head of a str */
	KEY_WORDS = 16, /* words read from each end of a str without a hash */
	KEY_BYTES = KEY_WORDS * WORD,
	HEAD_BYTES = 24, /* head of an object of variable size */
	NAME_SIZE = 5,   /* "code" with its NUL */
	TYPE_BYTES = 40,
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

static bool read_word(const struct fg_python_reader *reader, uint64_t address, uint64_t *value)
{
	uint64_t word = 0;

	if (address % WORD != 0 || !reader->read(reader->memory, address, &word, sizeof(word)))
		return false;
	*value = word;
	return true;
}

static bool read_frame(const struct fg_python_reader *reader, uint64_t address,
		       uint8_t bytes[FRAME_BYTES])
{
	return address % WORD == 0 && reader->read(reader->memory, address, bytes, FRAME_BYTES);
}

static bool push(const struct fg_python_reader *reader, struct fg_python_stack *stack,
		 const uint8_t *frame, uint64_t native)
{
	const struct fg_python_layout *layout = reader->layout;

	if (stack->total >= FG_PYTHON_CHAIN_MAX)
		return false;
	*fg_python_at(stack, stack->total++) = (struct fg_python_frame){
		.code = word_of(frame, layout->frame_code),
		.instruction = word_of(frame, layout->frame_instruction),
		.stack = native,
	};
	return true;
}

/* Reads the frames of one evaluation, from the innermost frame outwards. */
static bool read_evaluation(const struct fg_python_reader *reader, struct fg_python_stack *stack,
			    uint64_t innermost, uint64_t native)
{
	uint8_t frame[FRAME_BYTES];

	for (uint64_t at = innermost;;) {
		if (!read_frame(reader, at, frame) || !push(reader, stack, frame, native))
			return false;
		if (frame[reader->layout->frame_is_entry] > 1)
			return false;
		if (frame[reader->layout->frame_is_entry])
			return true;
		at = word_of(frame, reader->layout->frame_previous);
	}
}

static bool read_marked(const struct fg_python_reader *reader, uint64_t evaluation,
			struct fg_python_stack *stack)
{
	uint64_t previous = 0;
	uint64_t innermost = 0;

	for (unsigned n = 0; n < EVALUATIONS_MAX; n++, evaluation = previous) {
		if (!read_word(reader, evaluation + reader->layout->cframe_previous, &previous) ||
		    !read_word(reader, evaluation + reader->layout->current_frame, &innermost))
			return false;
		/* The thread's first _PyCFrame is not an evaluation. */
		if (previous == 0)
			return true;
		if (!read_evaluation(reader, stack, innermost, evaluation))
			return false;
	}
	return false;
}

/*
 * Notes that the frames from `first` on were evaluated by the native frame that contains `native`.
 */
static void close_evaluation(struct fg_python_stack *stack, uint32_t first, uint64_t native)
{
	for (uint32_t i = first; i < stack->total; i++)
		if (!fg_python_is_cut(stack, i))
			fg_python_at(stack, i)->stack = native;
}

/* `holder` points to the innermost frame. */
static bool read_apart(const struct fg_python_reader *reader, uint64_t holder,
		       struct fg_python_stack *stack)
{
	uint8_t frame[FRAME_BYTES];
	uint64_t at = 0;
	uint32_t first = 0;

	if (!read_word(reader, holder + reader->layout->current_frame, &at))
		return false;
	for (unsigned n = 0; at && n < 2 * EVALUATIONS_MAX; n++) {
		if (!read_frame(reader, at, frame))
			return false;
		if (frame[reader->layout->frame_owner] > FG_PYTHON_OWNED_BY_C_STACK)
			return false;
		if (frame[reader->layout->frame_owner] == FG_PYTHON_OWNED_BY_C_STACK) {
			close_evaluation(stack, first, at);
			first = stack->total;
		} else if (!push(reader, stack, frame, 0)) {
			return false;
		}
		at = word_of(frame, reader->layout->frame_previous);
	}
	return at == 0 && first == stack->total;
}

bool fg_python_chain_read(const struct fg_python_reader *reader, uint64_t thread_state,
			  struct fg_python_stack *stack)
{
	const struct fg_python_layout *layout = reader->layout;
	uint64_t holder = thread_state;
	bool is_read = !layout->cframe || read_word(reader, thread_state + layout->cframe, &holder);

	stack->total = 0;
	if (is_read && layout->chain == FG_PYTHON_ENTRIES_MARKED)
		is_read = read_marked(reader, holder, stack);
	else if (is_read)
		is_read = read_apart(reader, holder, stack);
	if (!is_read)
		stack->total = 0;
	return is_read;
}

bool fg_python_next(struct fg_python_stack *stack, uint64_t sp, struct fg_python_frame **frame,
		    uint32_t *left_out)
{
	const uint32_t index = stack->left - 1;

	*frame = NULL;
	if (stack->left == 0)
		return false;
	if (fg_python_is_cut(stack, index)) {
		*left_out = stack->total - FG_PYTHON_FRAMES;
		stack->left = FG_PYTHON_INNER;
		return true;
	}
	if (fg_python_at(stack, index)->stack < sp)
		return false;
	*frame = fg_python_at(stack, index);
	stack->left--;
	return true;
}

bool fg_python_code_read(const struct fg_python_reader *reader, uint64_t address,
			 struct fg_python_code *code)
{
	const struct fg_python_layout *layout = reader->layout;
	uint8_t bytes[CODE_BYTES];

	if (address % WORD != 0 || !reader->read(reader->memory, address, bytes, sizeof(bytes)))
		return false;
	*code = (struct fg_python_code){
		.address = address,
		.filename = word_of(bytes, layout->code_filename),
		.qualname = word_of(bytes, layout->code_qualname),
		.linetable = word_of(bytes, layout->code_linetable),
		.size = word_of(bytes, FG_PYTHON_SIZE),
		.first_line = (uint32_t)word_of(bytes, layout->code_first_line),
	};
	return word_of(bytes, FG_PYTHON_TYPE) == reader->types.code && code->size > 0 &&
	       code->size <= CODE_UNITS_MAX && code->first_line <= INT32_MAX;
}

bool fg_python_instruction(const struct fg_python_layout *layout, const struct fg_python_code *code,
			   uint64_t address, uint32_t *number)
{
	const uint64_t before = code->address + layout->code_instructions - CODE_UNIT;
	const uint64_t distance = address - before;

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
	uint64_t at;
	uint64_t count;
	uint64_t hash;
	uint32_t width; /* bytes of one character: 1, 2, 4 */
};

static bool find_characters(const struct fg_python_reader *reader, uint64_t address,
			    struct characters *found)
{
	const struct fg_python_layout *layout = reader->layout;
	uint8_t head[STR_BYTES];
	uint32_t state = 0;

	if (address % WORD != 0 || !reader->read(reader->memory, address, head, sizeof(head)) ||
	    word_of(head, FG_PYTHON_TYPE) != reader->types.str)
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

size_t fg_python_text_read(const struct fg_python_reader *reader, uint64_t address, char *to,
			   size_t room)
{
	struct characters text;
	size_t used = 0;

	if (!find_characters(reader, address, &text))
		return 0;
	for (uint64_t i = 0; i < text.count && used + 4 <= room; i++) {
		uint32_t c = 0;

		if (!reader->read(reader->memory, text.at + i * text.width, &c, text.width))
			return 0;
		if (c >= UNICODE_END || (c >= SURROGATES && c < SURROGATES_END))
			c = '?';
		used += put_utf8(to + used, c);
	}
	return used;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	return hash ^ hash >> 32;
}

static bool mix_text(const struct fg_python_reader *reader, uint64_t at, uint64_t size,
		     uint64_t *key)
{
	uint64_t words[KEY_WORDS] = {0};

	if (size > sizeof(words))
		size = sizeof(words);
	if (!reader->read(reader->memory, at, words, (size_t)size))
		return false;
	for (unsigned i = 0; i < KEY_WORDS; i++)
		*key = mix(*key, words[i]);
	return true;
}

/*
 * Computes a key that distinguishes a str from earlier strs at the same address: from its length
 * and hash, or, if it has no hash yet, from its length and both ends of its characters. False: not
 * a str.
 */
static bool text_key(const struct fg_python_reader *reader, uint64_t address, uint64_t *key)
{
	struct characters text;

	if (!find_characters(reader, address, &text))
		return false;
	*key = mix(mix(address, text.count), text.hash);
	if (text.hash != UINT64_MAX)
		return true;
	const uint64_t size = text.count * text.width;
	const uint64_t tail = size < KEY_BYTES ? size : KEY_BYTES;

	return mix_text(reader, text.at, size, key) &&
	       mix_text(reader, text.at + (size - tail), tail, key);
}

uint64_t fg_python_code_key(const struct fg_python_reader *reader,
			    const struct fg_python_code *code)
{
	uint64_t file = 0;
	uint64_t name = 0;
	uint64_t key = 0;

	if (!text_key(reader, code->filename, &file) || !text_key(reader, code->qualname, &name))
		return 0;
	key = mix(code->address, file);
	key = mix(key, name);
	key = mix(key, code->linetable);
	key = mix(key, code->size << 32 | code->first_line);
	return key | 1u;
}

size_t fg_python_bytes_size(const struct fg_python_reader *reader, uint64_t address)
{
	uint8_t head[HEAD_BYTES];

	if (address % WORD != 0 || !reader->read(reader->memory, address, head, sizeof(head)) ||
	    word_of(head, FG_PYTHON_TYPE) != reader->types.bytes)
		return 0;
	const uint64_t size = word_of(head, FG_PYTHON_SIZE);

	return size <= STR_MAX ? (size_t)size : 0;
}

bool fg_python_is_as_expected(const struct fg_python_reader *reader, uint64_t runtime,
			      uint64_t words[FG_PYTHON_OFFSET_WORDS])
{
	const struct fg_python_layout *layout = reader->layout;
	uint64_t type[TYPE_BYTES / WORD];
	char name[NAME_SIZE];

	return reader->read(reader->memory, runtime, words,
			    FG_PYTHON_OFFSET_WORDS * sizeof(words[0])) &&
	       (!layout->has_offsets || fg_python_layout_agrees(layout, words)) &&
	       reader->types.str && reader->types.bytes &&
	       reader->read(reader->memory, reader->types.code, type, sizeof(type)) &&
	       type[FG_PYTHON_TYPE_BASIC_SIZE / WORD] == layout->code_instructions &&
	       reader->read(reader->memory, type[FG_PYTHON_TYPE_NAME / WORD], name, sizeof(name)) &&
	       memcmp(name, "code", sizeof(name)) == 0;
}
