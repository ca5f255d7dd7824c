// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/sort.h"
#include "base/sorted.h"
#include "binary/disassemble.h"
#include "profile/listing.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINES_MAX = 20000
};

struct writer {
	struct fg_symbolizer *symbolizer;
	struct fg_symbol_module *module;
	uint64_t start, end;
	uint64_t *labels; /* targets of jumps within the function, in order */
	size_t label_count;
	struct fg_strbuf text;
};

FG_ORDER_BY(by_address, uint64_t, FG_ORDER(*a, *b))

static bool is_inside(const struct writer *w, uint64_t address)
{
	return address >= w->start && address < w->end;
}

static void find_labels(struct writer *w, const struct fg_instruction *instructions, size_t count)
{
	size_t kept = 0;

	w->labels = fg_xcalloc(count + 1, sizeof(w->labels[0]));
	for (size_t i = 0; i < count; i++) {
		if (is_inside(w, instructions[i].target))
			w->labels[w->label_count++] = instructions[i].target;
	}
	qsort(w->labels, w->label_count, sizeof(w->labels[0]), by_address);
	for (size_t i = 0; i < w->label_count; i++) {
		if (kept == 0 || w->labels[kept - 1] != w->labels[i])
			w->labels[kept++] = w->labels[i];
	}
	w->label_count = kept;
}

/* Returns the number of the label at this address, from 1; 0: no jump leads there. */
static size_t label_at(const struct writer *w, uint64_t address)
{
	const uint64_t *found =
		bsearch(&address, w->labels, w->label_count, sizeof(w->labels[0]), by_address);

	return found ? (size_t)(found - w->labels) + 1 : 0;
}

static void add_place(struct writer *w, uint64_t address)
{
	const struct fg_symbol *chain = NULL;

	if (label_at(w, address) > 0) {
		fg_strbuf_printf(&w->text, ".L%zu", label_at(w, address));
		return;
	}
	(void)fg_symbolizer_find(w->symbolizer, w->module, address, &chain);
	fg_strbuf_add_text(&w->text,
			   chain->flags & FG_FRAME_NAMELESS ? "elsewhere" : chain->function->name);
}

/*
 * Adds an instruction with its address replaced by a name: "call malloc", "jnz .L3", "mov eax,
 * [data]".
 */
static void add_instruction(struct writer *w, const struct fg_instruction *instruction)
{
	const size_t label = label_at(w, instruction->address);
	char address[24];
	const char *found = NULL;

	if (label > 0)
		fg_strbuf_printf(&w->text, ".L%zu: ", label);
	(void)snprintf(address, sizeof(address), "0x%llx",
		       (unsigned long long)(instruction->target ? instruction->target
								: instruction->place));
	if (instruction->target || instruction->place)
		found = strstr(instruction->text, address);
	if (!found) {
		fg_strbuf_add_text(&w->text, instruction->text);
	} else {
		fg_strbuf_add(&w->text, instruction->text, (size_t)(found - instruction->text));
		if (instruction->target)
			add_place(w, instruction->target);
		else
			fg_strbuf_add_text(&w->text, "data");
		fg_strbuf_add_text(&w->text, found + strlen(address));
	}
	fg_strbuf_add_char(&w->text, '\n');
}

static void write_code(struct writer *w, const struct fg_instruction *instructions, size_t count,
		       struct fg_code_text *text)
{
	find_labels(w, instructions, count);
	text->addresses = fg_xcalloc(count + 1, sizeof(text->addresses[0]));
	for (size_t i = 0; i < count; i++) {
		text->addresses[i] = instructions[i].address;
		add_instruction(w, &instructions[i]);
	}
	text->addresses[count] = w->end;
	text->count = count;
	text->text = fg_strbuf_detach(&w->text);
	free(w->labels);
}

/* `binary` is "BUILD_ID PATH". */
struct fg_symbol_module *fg_code_text_module(struct fg_symbolizer *symbolizer, const char *binary)
{
	uint8_t id[FG_BUILD_ID_MAX];
	const size_t size = fg_hex_read(binary, id, sizeof(id));
	const char *path = strchr(binary, ' ');

	return fg_symbolizer_module(symbolizer, path ? path + 1 : binary, id, size, false);
}

int fg_code_text_read(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module,
		      uint64_t address, struct fg_code_text *code_text, struct fg_error *err)
{
	struct writer w = {.symbolizer = symbolizer, .module = module};
	struct fg_symbol_code code = {0};
	int status = fg_symbolizer_code(module, address, &code, err);

	*code_text = (struct fg_code_text){0};
	if (status != FG_OK)
		return status;
	w.start = code.start;
	w.end = code.end;
	write_code(&w, code.instructions, fg_min_size(code.count, LINES_MAX), code_text);
	free(code.instructions);
	return FG_OK;
}

unsigned fg_code_text_line(const struct fg_code_text *code, uint64_t address)
{
	if (code->count == 0 || address < code->addresses[0] ||
	    address >= code->addresses[code->count])
		return 0;
	return (unsigned)fg_sorted_up_to(
		&(struct fg_sorted){code->addresses, code->count, sizeof(code->addresses[0]), 0},
		address);
}

void fg_code_text_release(struct fg_code_text *code)
{
	free(code->text);
	free(code->addresses);
	*code = (struct fg_code_text){0};
}
