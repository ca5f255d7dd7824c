// SPDX-License-Identifier: Apache-2.0
/* Finds the interpreter: the module that exports _PyRuntime. */
#include "collector/process/exports.h"
#include "collector/python/python.h"
#include "collector/sampler/writer.h"

#include <string.h>

struct fg_python fg_python;

enum {
	VERSION_TEXT = 96,
};

static uintptr_t find_export(const struct fg_exports *exports, const char *name)
{
	const uint32_t index = fg_exports_next(exports, name, fg_name_hash(name), 0);

	return index ? exports->bias + exports->symbols[index].st_value : 0;
}

static size_t add_text(char *to, size_t used, const char *text)
{
	const size_t size = strlen(text);

	memcpy(to + used, text, size + 1);
	return used + size;
}

/* Writes the reason for the lack of Python frames to the trace. */
static void note_refusal(struct fg_thread *thread)
{
	char text[VERSION_TEXT + 2 * FG_NUMBER_SIZE];
	size_t used = add_text(text, 0, "Python ");

	if (fg_python.version) {
		used += fg_number_text(fg_python.version >> 24, text + used);
		text[used++] = '.';
		used += fg_number_text(fg_python.version >> 16 & 0xff, text + used);
	} else {
		used = add_text(text, used, "before 3.11");
	}
	if (fg_python.layout)
		(void)add_text(text, used, ", in an unusual build: no Python frames");
	else
		(void)add_text(
			text, used,
			": no Python frames (supported: 3.11, 3.12, 3.13 in 64-bit programs)");
	(void)fg_note(thread, text);
}

void fg_python_rewrite(struct fg_thread *thread)
{
	const uint32_t state = atomic_load(&fg_python.state);

	if (state == FG_PYTHON_REFUSED)
		note_refusal(thread);
	if (!fg_python_is_on())
		return;
	fg_record_begin(thread, FG_RECORD_PYTHON);
	fg_record_number(thread, fg_python.module);
	fg_record_number(thread, fg_python.version);
	(void)fg_record_write(thread);
}

void fg_python_check_module(struct fg_thread *thread, uint32_t module, uintptr_t bias,
			    const ElfW(Dyn) * dynamic)
{
	static _Atomic uint32_t meeting;
	struct fg_exports exports;
	uint32_t nobody = 0;

	if (fg_g.options.no_python || atomic_load(&meeting))
		return;
	fg_exports_read(&exports, bias, dynamic);
	const uintptr_t runtime = find_export(&exports, "_PyRuntime");

	if (!runtime || !atomic_compare_exchange_strong(&meeting, &nobody, 1))
		return;
	const uintptr_t version = find_export(&exports, "Py_Version");

	fg_python.module = module;
	fg_python.runtime = runtime;
	fg_python.types = (struct fg_python_types){
		.code = find_export(&exports, "PyCode_Type"),
		.str = find_export(&exports, "PyUnicode_Type"),
		.bytes = find_export(&exports, "PyBytes_Type"),
	};
	fg_python.version = version ? *(const unsigned long *)version : 0;
	fg_python.layout = FG_WORD == sizeof(uint64_t) ? fg_python_layout(fg_python.version) : NULL;
	atomic_store(&fg_python.state, fg_python.layout ? FG_PYTHON_FOUND : FG_PYTHON_REFUSED);
	fg_python_rewrite(thread);
}
