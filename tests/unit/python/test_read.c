// SPDX-License-Identifier: Apache-2.0
/*
 * Reads Python frames, code objects and strings from synthetic structures in the layout of each
 * version, intact and damaged.
 */
#include "base/base.h"
#include "collector/python/cpython_read.h"
#include "tests/support/fg_test.h"

#include <string.h>

enum {
	PAGE = 4096,
	PAGES = 16,
	SIZE = PAGE * PAGES,
	STATE = 0,      /* addresses */
	CFRAMES = 512,  /* 64 bytes each */
	ENTRIES = 1024, /* entry frames, 128 bytes each */
	FRAMES = 4096,  /* 128 bytes each */
	CODE = 8192,
	TEXTS = 12288,
	STEP = 128,
	INSTRUCTION = 6,
	CODE_UNITS = 100,
	ROUNDS = 30000,
	LOW_MAX = 0x7fff0000,
};

static uint8_t *memory;
static const uint8_t *more; /* additional memory */
static size_t more_size;
static struct fg_python_stack stack;
static struct fg_python_reader reader;
static const uint32_t versions[] = {0x030b02f0, 0x030c01f0, 0x030d00f0};
#define NO_ADDRESS (UINT64_C(1) << 52) /* Linux maps nothing so high unasked */
static uint64_t random_state = UINT64_C(88172645463325252);

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 11;
}

static uintptr_t at(unsigned offset)
{
	return (uintptr_t)memory + offset;
}

static void put(unsigned offset, uint64_t word)
{
	memcpy(memory + offset, &word, sizeof(word));
}

static bool lies_in(uint64_t address, size_t size, const uint8_t *area, size_t area_size)
{
	const uint64_t offset = address - (uintptr_t)area;

	return area && offset < area_size && size <= area_size - offset;
}

static bool read_made(void *unused, uint64_t address, void *to, size_t size)
{
	(void)unused;
	if (!lies_in(address, size, memory, SIZE) && !lies_in(address, size, more, more_size))
		return false;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return true;
}

static int begin(void **state)
{
	(void)state;
	memory = fg_xcalloc(1, SIZE);
	reader = (struct fg_python_reader){
		.read = read_made,
		.types = {.code = 0x1110, .str = 0x2220, .bytes = 0x3330},
	};
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

static unsigned frame_at(unsigned index)
{
	return FRAMES + STEP * index;
}

static void put_frame(const struct fg_python_layout *layout, unsigned offset, uint64_t previous,
		      unsigned owner)
{
	put(offset + layout->frame_code, at(CODE));
	put(offset + layout->frame_instruction,
	    at(CODE) + layout->code_instructions + (uint64_t)(2 * INSTRUCTION));
	put(offset + layout->frame_previous, previous);
	memory[offset + layout->frame_owner] = (uint8_t)owner;
}

/*
 * Two evaluations: frames 0, 1 and 2 are in the inner evaluation, and frame 3 is in the outer one.
 * Sets `known_by` to the numbers that identify their native frames.
 */
static void make_marked(const struct fg_python_layout *layout, unsigned known_by[2])
{
	put(STATE + layout->cframe, at(CFRAMES));
	for (unsigned i = 0; i < 3; i++)
		put(CFRAMES + 64 * i + layout->cframe_previous,
		    i < 2 ? at(CFRAMES + 64 * (i + 1)) : 0);
	put(CFRAMES + layout->current_frame, at(frame_at(0)));
	put(CFRAMES + 64 + layout->current_frame, at(frame_at(3)));
	for (unsigned i = 0; i < 4; i++) {
		put_frame(layout, frame_at(i), i < 3 ? at(frame_at(i + 1)) : 0, 0);
		memory[frame_at(i) + layout->frame_is_entry] = i >= 2;
	}
	known_by[0] = CFRAMES;
	known_by[1] = CFRAMES + 64;
}

static void make_apart(const struct fg_python_layout *layout, unsigned known_by[2])
{
	const unsigned order[] = {frame_at(0), frame_at(1), frame_at(2),
				  ENTRIES,     frame_at(3), ENTRIES + STEP};
	unsigned holder = STATE;

	if (layout->cframe) {
		put(STATE + layout->cframe, at(CFRAMES));
		holder = CFRAMES;
	}
	put(holder + layout->current_frame, at(order[0]));
	for (unsigned i = 0; i < 6; i++)
		put_frame(layout, order[i], i < 5 ? at(order[i + 1]) : 0,
			  i == 3 || i == 5 ? FG_PYTHON_OWNED_BY_C_STACK : 0);
	known_by[0] = ENTRIES;
	known_by[1] = ENTRIES + STEP;
}

static void make_code(const struct fg_python_layout *layout)
{
	put(CODE + FG_PYTHON_TYPE, reader.types.code);
	put(CODE + FG_PYTHON_SIZE, CODE_UNITS);
	put(CODE + layout->code_filename, at(TEXTS));
	put(CODE + layout->code_qualname, at(TEXTS + 512));
	put(CODE + layout->code_linetable, at(TEXTS + 1024));
	memory[CODE + layout->code_first_line] = 77;
}

static void make(const struct fg_python_layout *layout, unsigned known_by[2])
{
	memset(memory, 0, SIZE);
	reader.layout = layout;
	if (layout->chain == FG_PYTHON_ENTRIES_MARKED)
		make_marked(layout, known_by);
	else
		make_apart(layout, known_by);
	make_code(layout);
}

static void frames_are_in_order_with_the_evaluation_of_each(void **state)
{
	(void)state;
	for (size_t v = 0; v < FG_ARRAY_SIZE(versions); v++) {
		const struct fg_python_layout *layout = fg_python_layout(versions[v]);
		unsigned known_by[2] = {0};
		struct fg_python_code code;
		uint32_t number = 0;

		make(layout, known_by);
		assert_true(fg_python_chain_read(&reader, at(STATE), &stack));
		assert_int_equal(stack.total, 4);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(fg_python_at(&stack, i)->stack, at(known_by[i == 3]));
		assert_true(fg_python_code_read(&reader, fg_python_at(&stack, 2)->code, &code));
		assert_int_equal(code.first_line, 77);
		assert_int_equal(code.size, CODE_UNITS);
		assert_true(fg_python_instruction(layout, &code,
						  fg_python_at(&stack, 2)->instruction, &number));
		assert_int_equal(number, INSTRUCTION + 1);
	}
}

static void instructions_belong_to_their_code(void **state)
{
	const struct fg_python_layout *layout = fg_python_layout(versions[0]);
	const struct fg_python_code code = {.address = 0x10000, .size = CODE_UNITS};
	const uintptr_t first = code.address + layout->code_instructions;
	uint32_t number = 0;

	(void)state;
	assert_true(fg_python_instruction(layout, &code, first - 2, &number));
	assert_int_equal(number, 0);
	assert_true(fg_python_instruction(layout, &code, first + 2 * (CODE_UNITS - 1), &number));
	assert_int_equal(number, CODE_UNITS);
	assert_false(fg_python_instruction(layout, &code, first + 2 * CODE_UNITS, &number));
	assert_false(fg_python_instruction(layout, &code, first - 4, &number));
	assert_false(fg_python_instruction(layout, &code, first + 1, &number));
	assert_false(fg_python_instruction(layout, &code, 0, &number));
}

static void put_text(const struct fg_python_layout *layout, unsigned offset, unsigned width,
		     bool is_ascii, const void *text, size_t count)
{
	put(offset + FG_PYTHON_TYPE, reader.types.str);
	put(offset + FG_PYTHON_SIZE, count);
	put(offset + FG_PYTHON_STR_STATE, (uint64_t)width << FG_PYTHON_STR_KIND_SHIFT |
						  FG_PYTHON_STR_COMPACT |
						  (is_ascii ? FG_PYTHON_STR_ASCII : 0u));
	memcpy(memory + offset + (is_ascii ? layout->ascii_size : layout->compact_size), text,
	       count * width);
}

static void expect_text(unsigned offset, size_t room, const char *expected)
{
	char text[64];
	const size_t size = fg_python_text_read(&reader, at(offset), text, room);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(text, expected, size);
}

static void texts_of_every_width_are_utf8(void **state)
{
	static const uint8_t narrow[] = {'f', 0xe4, 'n'};
	static const uint16_t wide[] = {0x3b1, '+', 0x20ac, 0xd800};
	static const uint32_t widest[] = {0x1f40d, 'x'};

	(void)state;
	for (size_t v = 0; v < FG_ARRAY_SIZE(versions); v++) {
		const struct fg_python_layout *layout = fg_python_layout(versions[v]);
		char text[200];

		reader.layout = layout;
		put_text(layout, TEXTS, 1, true, "train.py", 8);
		expect_text(TEXTS, 64, "train.py");
		expect_text(TEXTS, 8, "train");
		put_text(layout, TEXTS, 1, false, narrow, 3);
		expect_text(TEXTS, 64, "f\xc3\xa4n");
		put_text(layout, TEXTS, 2, false, wide, 4);
		expect_text(TEXTS, 64, "\xce\xb1+\xe2\x82\xac?");
		put_text(layout, TEXTS, 4, false, widest, 2);
		expect_text(TEXTS, 64, "\xf0\x9f\x90\x8dx");
		/* The text has a wrong type, or is longer than the memory. */
		put_text(layout, TEXTS, 3, false, "abc", 1);
		expect_text(TEXTS, 64, "");
		put_text(layout, SIZE - 128, 1, true, "abc", 3);
		put(SIZE - 128 + FG_PYTHON_SIZE, 1000);
		assert_int_equal(fg_python_text_read(&reader, at(SIZE - 128), text, sizeof(text)),
				 0);
	}
}

static void deep_chains_keep_both_ends(void **state)
{
	const struct fg_python_layout *layout = fg_python_layout(versions[2]);
	const uint32_t depth = FG_PYTHON_FRAMES + 1000;
	const size_t size = (size_t)STEP * (depth + 1);
	uint8_t *frames = fg_xcalloc(1, size);
	uint8_t *const own = memory;

	(void)state;
	memory = frames;
	for (uint32_t i = 0; i <= depth; i++) {
		put_frame(layout, STEP * i, i < depth ? at(STEP * (i + 1)) : 0,
			  i == depth ? FG_PYTHON_OWNED_BY_C_STACK : 0);
		put(STEP * i + layout->frame_code, i);
	}
	memory = own;
	more = frames;
	more_size = size;
	memset(memory, 0, SIZE);
	reader.layout = layout;
	put(STATE + layout->current_frame, (uintptr_t)frames);
	assert_true(fg_python_chain_read(&reader, at(STATE), &stack));
	assert_int_equal(stack.total, depth);
	for (uint32_t i = 0; i < depth; i++) {
		const bool is_kept = i < FG_PYTHON_INNER || i >= depth - FG_PYTHON_EDGE;

		assert_int_equal(!fg_python_is_cut(&stack, i), is_kept);
		if (!is_kept)
			continue;
		assert_int_equal(fg_python_at(&stack, i)->code, i);
		assert_int_equal(fg_python_at(&stack, i)->stack,
				 (uintptr_t)frames + (size_t)STEP * depth);
	}
	more = NULL;
	free(frames);
}

/*
 * Replaces some words with arbitrary values: addresses nearby or at the end, small values, and wild
 * ones.
 */
static void damage(void)
{
	const uint64_t choices[] = {at((unsigned)(draw() % SIZE)) & ~UINT64_C(7),
				    at(SIZE - 8),
				    at((unsigned)(draw() % SIZE)),
				    draw() % 5,
				    draw() % LOW_MAX & ~UINT64_C(7),
				    draw() | NO_ADDRESS,
				    UINT64_MAX - draw() % 200};
	const unsigned areas[] = {STATE, CFRAMES, ENTRIES, FRAMES, CODE};
	const unsigned area = areas[draw() % FG_ARRAY_SIZE(areas)];
	const unsigned offset = area + 8 * (unsigned)(draw() % 64);

	put(offset, choices[draw() % FG_ARRAY_SIZE(choices)]);
}

static void use_all(const struct fg_python_layout *layout)
{
	(void)fg_python_chain_read(&reader, at(STATE), &stack);
	assert_true(stack.total <= FG_PYTHON_CHAIN_MAX);
	for (uint32_t i = 0; i < stack.total && i < 64; i++) {
		const struct fg_python_frame *frame = fg_python_at(&stack, i);
		struct fg_python_code code;
		char text[100];
		uint32_t number = 0;

		if (!fg_python_code_read(&reader, frame->code, &code))
			continue;
		(void)fg_python_code_key(&reader, &code);
		if (fg_python_instruction(layout, &code, frame->instruction, &number))
			assert_true(number <= code.size);
		assert_true(fg_python_text_read(&reader, code.qualname, text, sizeof(text)) <=
			    sizeof(text));
		(void)fg_python_bytes_size(&reader, code.linetable);
	}
}

static void damaged_structures_are_harmless(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct fg_python_layout *layout =
			fg_python_layout(versions[round % FG_ARRAY_SIZE(versions)]);
		unsigned known_by[2] = {0};

		make(layout, known_by);
		for (uint64_t n = 1 + draw() % 6; n > 0; n--)
			damage();
		use_all(layout);
	}
}

static void an_endless_chain_is_given_up(void **state)
{
	(void)state;
	for (size_t v = 0; v < FG_ARRAY_SIZE(versions); v++) {
		const struct fg_python_layout *layout = fg_python_layout(versions[v]);
		unsigned known_by[2] = {0};

		make(layout, known_by);
		put(frame_at(1) + layout->frame_previous, at(frame_at(0)));
		assert_false(fg_python_chain_read(&reader, at(STATE), &stack));
		assert_int_equal(stack.total, 0);
	}
}

static void other_versions_have_no_layout(void **state)
{
	uint64_t words[FG_PYTHON_OFFSET_WORDS] = {0};

	(void)state;
	assert_null(fg_python_layout(0));
	assert_null(fg_python_layout(0x030a0df0));
	assert_null(fg_python_layout(0x030e00f0));
	assert_non_null(fg_python_layout(0x030d0cf0));
	assert_false(fg_python_layout_agrees(fg_python_layout(0x030d00f0), words));
	memcpy(words, "xdebugpy", 8);
	assert_false(fg_python_layout_agrees(fg_python_layout(0x030d00f0), words));
}

static void code_is_identified_by_its_texts(void **state)
{
	const struct fg_python_layout *layout = fg_python_layout(versions[1]);
	unsigned known_by[2] = {0};
	struct fg_python_code code;
	uint64_t first = 0;

	(void)state;
	make(layout, known_by);
	assert_true(fg_python_code_read(&reader, at(CODE), &code));
	assert_int_equal(fg_python_code_key(&reader, &code), 0); /* no texts */
	put_text(layout, TEXTS, 1, true, "train.py", 8);
	put_text(layout, TEXTS + 512, 1, true, "step", 4);
	first = fg_python_code_key(&reader, &code);
	assert_int_not_equal(first, 0);
	assert_int_equal(fg_python_code_key(&reader, &code), first);
	/* A known hash identifies the text. */
	put(TEXTS + 512 + FG_PYTHON_STR_HASH, 1234);
	assert_int_not_equal(fg_python_code_key(&reader, &code), first);
	put(TEXTS + 512 + FG_PYTHON_STR_HASH, UINT64_MAX);
	first = fg_python_code_key(&reader, &code);
	put_text(layout, TEXTS + 512, 1, true, "stop", 4);
	put(TEXTS + 512 + FG_PYTHON_STR_HASH, UINT64_MAX);
	assert_int_not_equal(fg_python_code_key(&reader, &code), first);
	code.first_line++;
	assert_int_not_equal(fg_python_code_key(&reader, &code), first);
}

static void an_interpreter_has_the_type_of_code_of_its_version(void **state)
{
	const struct fg_python_layout *layout = fg_python_layout(versions[0]);
	const struct fg_python_types types = reader.types;
	uint64_t words[FG_PYTHON_OFFSET_WORDS];

	(void)state;
	memset(memory, 0, SIZE);
	reader.layout = layout;
	reader.types.code = at(CODE);
	put(CODE + FG_PYTHON_TYPE_NAME, at(TEXTS));
	put(CODE + FG_PYTHON_TYPE_BASIC_SIZE, layout->code_instructions);
	memcpy(memory + TEXTS, "code", 5);
	assert_true(fg_python_is_as_expected(&reader, at(STATE), words));
	put(CODE + FG_PYTHON_TYPE_BASIC_SIZE, layout->code_instructions + 8);
	assert_false(fg_python_is_as_expected(&reader, at(STATE), words));
	put(CODE + FG_PYTHON_TYPE_BASIC_SIZE, layout->code_instructions);
	memcpy(memory + TEXTS, "coda", 5);
	assert_false(fg_python_is_as_expected(&reader, at(STATE), words));
	assert_false(fg_python_is_as_expected(&reader, at(SIZE - 8), words));
	reader.types = types;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_in_order_with_the_evaluation_of_each),
		cmocka_unit_test(instructions_belong_to_their_code),
		cmocka_unit_test(texts_of_every_width_are_utf8),
		cmocka_unit_test(deep_chains_keep_both_ends),
		cmocka_unit_test(damaged_structures_are_harmless),
		cmocka_unit_test(an_endless_chain_is_given_up),
		cmocka_unit_test(other_versions_have_no_layout),
		cmocka_unit_test(code_is_identified_by_its_texts),
		cmocka_unit_test(an_interpreter_has_the_type_of_code_of_its_version),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
