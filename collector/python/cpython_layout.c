// SPDX-License-Identifier: Apache-2.0
#include "collector/python/cpython_layout.h"

#include "base/attrs.h"

#include <stddef.h>
#include <string.h>

static const struct fg_python_layout layouts[] = {
	{
		.version = 0x030b,
		.chain = FG_PYTHON_ENTRIES_MARKED,
		.tss_key = 592,
		.thread_id = 152,
		.native_thread_id = 160,
		.cframe = 56,
		.current_frame = 8,
		.cframe_previous = 16,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_instruction = 56,
		.frame_is_entry = 68,
		.frame_owner = 69,
		.code_first_line = 72,
		.code_filename = 112,
		.code_qualname = 128,
		.code_linetable = 136,
		.code_instructions = 184,
		.ascii_size = 48,
		.compact_size = 72,
	},
	{
		.version = 0x030c,
		.chain = FG_PYTHON_ENTRIES_APART,
		.tss_key = 1544,
		.thread_id = 136,
		.native_thread_id = 144,
		.cframe = 56,
		.current_frame = 0,
		.cframe_previous = 8,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_first_line = 68,
		.code_filename = 112,
		.code_qualname = 128,
		.code_linetable = 136,
		.code_instructions = 192,
		.ascii_size = 40,
		.compact_size = 56,
	},
	{
		.version = 0x030d,
		.chain = FG_PYTHON_ENTRIES_APART,
		.tss_key = 2160,
		.has_offsets = true,
		.thread_id = 152,
		.native_thread_id = 160,
		.current_frame = 72,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_first_line = 68,
		.code_filename = 112,
		.code_qualname = 128,
		.code_linetable = 136,
		.code_instructions = 200,
		.ascii_size = 40,
		.compact_size = 56,
	},
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
