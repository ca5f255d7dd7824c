// SPDX-License-Identifier: Apache-2.0
/*
 * Code objects are created and freed, and a new one may have the address of an old one, with its
 * strings where the old strings were. So a key of 64 bits identifies a code object: it covers the
 * object's address, size and strings, its first line, and the address of its line table. The
 * strings are written when the object is first sampled; the reader of the trace computes the lines.
 */
#include "collector/python/python.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/tables.h"

enum {
	CODES_FIRST = 1 << 10,
	FRAMES_FIRST = 1 << 11,
	NEW_CODES_MAX = 32, /* maximum number of new codes in one run of the handler */
	LINES_STEP = 2048,
};

static struct fg_keyed_ids codes;
static struct fg_keyed_ids frames;
static _Atomic uint32_t next_code;

int fg_python_codes_init(void)
{
	const int status = fg_ids_init(&codes, CODES_FIRST);

	return status ? status : fg_ids_init(&frames, FRAMES_FIRST);
}

void fg_python_codes_clear(void)
{
	if (!codes.levels[0].entries)
		return;
	fg_ids_clear(&codes);
	fg_ids_clear(&frames);
	atomic_store(&next_code, 0);
}

/* Writes the code's table of lines, as far as it can be read. */
static void write_lines(struct fg_thread *thread, uint32_t id, uint64_t linetable)
{
	struct fg_python_look *look = &thread->stack->python;
	size_t size = fg_python_bytes_size(&look->reader, linetable);

	size = size < FG_PYTHON_LINES_MAX ? size : FG_PYTHON_LINES_MAX;
	for (size_t at = 0; at < size; at += LINES_STEP) {
		const size_t step = size - at < LINES_STEP ? size - at : LINES_STEP;

		if (!look->reader.read(&look->pages, linetable + FG_PYTHON_BYTES + at, look->text,
				       step))
			return;
		fg_record_begin(thread, FG_RECORD_PYTHON_LINES);
		fg_record_number(thread, id);
		fg_record_number(thread, at);
		fg_record_text(thread, look->text, step);
		if (!fg_record_write(thread))
			return;
	}
}

static uint32_t write_code(struct fg_thread *thread, const struct fg_python_code *code)
{
	struct fg_python_look *look = &thread->stack->python;
	const size_t name =
		fg_python_text_read(&look->reader, code->qualname, look->text, FG_PYTHON_NAME_MAX);
	const size_t file = fg_python_text_read(&look->reader, code->filename, look->text + name,
						FG_PYTHON_FILE_MAX);

	if (name == 0 || file == 0)
		return 0;
	const uint32_t id = atomic_fetch_add_explicit(&next_code, 1, memory_order_relaxed) + 1;

	fg_record_begin(thread, FG_RECORD_PYTHON_CODE);
	fg_record_number(thread, id);
	fg_record_number(thread, code->first_line);
	fg_record_text(thread, look->text, name);
	fg_record_text(thread, look->text + name, file);
	if (!fg_record_write(thread))
		return 0;
	write_lines(thread, id, code->linetable);
	return id;
}

static uint32_t number_code(struct fg_thread *thread, const struct fg_python_code *code)
{
	struct fg_python_look *look = &thread->stack->python;
	const uint64_t key = fg_python_code_key(&look->reader, code);
	uint32_t id = key ? fg_ids_find(&codes, key) : 0;

	if (FG_LIKELY(id))
		return id;
	if (!key || look->new_codes >= NEW_CODES_MAX || !fg_ids_have_room(&codes))
		return 0;
	look->new_codes++;
	id = write_code(thread, code);
	if (id)
		fg_ids_add(&codes, key, id);
	return id;
}

static uint32_t number_frame(struct fg_thread *thread, uint32_t code, uint32_t instruction)
{
	const uint64_t key = (uint64_t)code << 32 | instruction;
	uint32_t id = fg_ids_find(&frames, key);

	if (FG_LIKELY(id))
		return id;
	if (!fg_ids_have_room(&frames))
		return 0;
	id = fg_frame_number();
	fg_record_begin(thread, FG_RECORD_PYTHON_FRAME);
	fg_record_number(thread, id);
	fg_record_number(thread, code);
	fg_record_number(thread, instruction);
	if (!fg_record_write(thread))
		return 0;
	fg_ids_add(&frames, key, id);
	return id;
}

bool fg_python_codes_number(struct fg_thread *thread)
{
	struct fg_python_look *look = &thread->stack->python;
	struct fg_python_stack *stack = &look->stack;
	struct fg_python_code code = {0};
	uint32_t code_id = 0;
	uint32_t instruction = 0;

	look->new_codes = 0;
	for (uint32_t i = 0; i < stack->total; i++) {
		struct fg_python_frame *frame = fg_python_at(stack, i);

		if (fg_python_is_cut(stack, i))
			continue;
		/* A function that calls itself needs only one lookup. */
		if (frame->code != code.address) {
			if (!fg_python_code_read(&look->reader, frame->code, &code))
				return false;
			code_id = number_code(thread, &code);
		}
		if (!code_id || !fg_python_instruction(fg_python.layout, &code, frame->instruction,
						       &instruction))
			return false;
		frame->id = number_frame(thread, code_id, instruction);
		if (!frame->id)
			return false;
	}
	return true;
}
