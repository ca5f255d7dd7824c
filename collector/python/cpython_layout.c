// SPDX-License-Identifier: Apache-2.0
#include "collector/python/cpython_layout.h"

#include "base/attrs.h"

#include <stddef.h>
#include <string.h>

/* Offsets in Python 3.11, 3.12 and 3.13; 0 also for a member that the version lacks. */
/* clang-format off */
#define OFFSETS(AT) \
	AT(tss_key, 592, 1544, 2160)                   \
	AT(thread_id, 152, 136, 152)                   \
	AT(native_thread_id, 160, 144, 160)            \
	AT(cframe, 56, 56, 0)                          \
	AT(current_frame, 8, 0, 72)                    \
	AT(cframe_previous, 16, 8, 0)                  \
	AT(frame_code, 32, 0, 0)                       \
	AT(frame_previous, 48, 8, 8)                   \
	AT(frame_instruction, 56, 56, 56)              \
	AT(frame_is_entry, 68, 0, 0)                   \
	AT(frame_owner, 69, 70, 70)                    \
	AT(code_first_line, 72, 68, 68)                \
	AT(code_filename, 112, 112, 112)               \
	AT(code_qualname, 128, 128, 128)               \
	AT(code_linetable, 136, 136, 136)              \
	AT(code_instructions, 184, 192, 200)           \
	AT(ascii_size, 48, 40, 40)                     \
	AT(compact_size, 72, 56, 56)
/* clang-format on */

#define IN_3_11(member, first, second, third) .member = (first),
#define IN_3_12(member, first, second, third) .member = (second),
#define IN_3_13(member, first, second, third) .member = (third),

static const struct fg_python_layout layouts[] = {
	{.version = 0x030b, .chain = FG_PYTHON_ENTRIES_MARKED, OFFSETS(IN_3_11)},
	{.version = 0x030c, .chain = FG_PYTHON_ENTRIES_APART, OFFSETS(IN_3_12)},
	{.version = 0x030d,
	 .chain = FG_PYTHON_ENTRIES_APART,
	 .has_offsets = true,
	 OFFSETS(IN_3_13)},
};

const struct fg_python_layout *fg_python_layout(uint64_t version)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(layouts); i++)
		if (layouts[i].version == version >> 16)
			return &layouts[i];
	return NULL;
}

/* Words of _Py_DebugOffsets in 3.13. */
enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_FREE_THREADED,
	WORD_CURRENT_FRAME = 23,
	WORD_THREAD_ID = 24,
	WORD_NATIVE_THREAD_ID = 25,
	WORD_FRAME_PREVIOUS = 29,
	WORD_FRAME_CODE = 30,
	WORD_FRAME_INSTRUCTION = 31,
	WORD_FRAME_OWNER = 33,
	WORD_CODE_FILENAME = 35,
	WORD_CODE_QUALNAME = 37,
	WORD_CODE_LINETABLE = 38,
	WORD_CODE_FIRST_LINE = 39,
	WORD_CODE_INSTRUCTIONS = 43,
	WORD_TYPE = 45,
	WORD_TYPE_NAME = 47,
};

bool fg_python_layout_agrees(const struct fg_python_layout *layout,
			     const uint64_t words[FG_PYTHON_OFFSET_WORDS])
{
	const struct {
		unsigned word;
		uint64_t value;
	} expected[] = {
		{.word = WORD_FREE_THREADED, .value = 0},
		{.word = WORD_CURRENT_FRAME, .value = layout->current_frame},
		{.word = WORD_THREAD_ID, .value = layout->thread_id},
		{.word = WORD_NATIVE_THREAD_ID, .value = layout->native_thread_id},
		{.word = WORD_FRAME_PREVIOUS, .value = layout->frame_previous},
		{.word = WORD_FRAME_CODE, .value = layout->frame_code},
		{.word = WORD_FRAME_INSTRUCTION, .value = layout->frame_instruction},
		{.word = WORD_FRAME_OWNER, .value = layout->frame_owner},
		{.word = WORD_CODE_FILENAME, .value = layout->code_filename},
		{.word = WORD_CODE_QUALNAME, .value = layout->code_qualname},
		{.word = WORD_CODE_LINETABLE, .value = layout->code_linetable},
		{.word = WORD_CODE_FIRST_LINE, .value = layout->code_first_line},
		{.word = WORD_CODE_INSTRUCTIONS, .value = layout->code_instructions},
		{.word = WORD_TYPE, .value = FG_PYTHON_TYPE},
		{.word = WORD_TYPE_NAME, .value = FG_PYTHON_TYPE_NAME},
	};

	if (memcmp(&words[WORD_COOKIE], "xdebugpy", sizeof(words[0])) != 0)
		return false;
	for (size_t i = 0; i < FG_ARRAY_SIZE(expected); i++)
		if (words[expected[i].word] != expected[i].value)
			return false;
	return true;
}
