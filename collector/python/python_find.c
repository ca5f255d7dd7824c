// SPDX-License-Identifier: Apache-2.0
/* Which module is an interpreter: the one that exports _PyRuntime. */
#include "collector/python/python.h"
#include "collector/sampler/writer.h"

#include <string.h>

struct fg_python fg_python;

enum {
	DYNAMIC_MAX = 256,
	CHAIN_MAX = 1 << 16,
	VERSION_TEXT = 96,
};

/* The exports of a loaded object. */
struct exports {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

static const void *at(const struct exports *exports, uintptr_t value)
{
	return (const void *)(value >= exports->bias ? value : exports->bias + value);
}

static bool find_exports(const ElfW(Dyn) * dynamic, struct exports *exports)
{
	for (unsigned i = 0; i < DYNAMIC_MAX && dynamic[i].d_tag != DT_NULL; i++) {
		const uintptr_t value = dynamic[i].d_un.d_ptr;

		if (dynamic[i].d_tag == DT_SYMTAB)
			exports->symbols = at(exports, value);
		else if (dynamic[i].d_tag == DT_STRTAB)
			exports->names = at(exports, value);
		else if (dynamic[i].d_tag == DT_GNU_HASH)
			exports->hash = at(exports, value);
	}
	return exports->symbols && exports->names && exports->hash;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The table of DT_GNU_HASH: head, bloom filter, buckets, chains. */
static uintptr_t find_export(const struct exports *exports, const char *name)
{
	const uint32_t *head = exports->hash;
	const uint32_t bucket_count = head[0];
	const uint32_t first = head[1];
	const uint32_t *buckets = &head[4 + (size_t)head[2] * (sizeof(uintptr_t) / 4)];
	const uint32_t *chains = &buckets[bucket_count];
	const uint32_t wanted = hash_name(name);
	uint32_t i = bucket_count ? buckets[wanted % bucket_count] : 0;

	for (unsigned n = 0; i >= first && i != 0 && n < CHAIN_MAX; n++, i++) {
		const ElfW(Sym) *symbol = &exports->symbols[i];

		if ((chains[i - first] | 1u) == (wanted | 1u) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(exports->names + symbol->st_name, name) == 0)
			return exports->bias + symbol->st_value;
		if (chains[i - first] & 1u)
			break;
	}
	return 0;
}

static size_t add_text(char *to, size_t used, const char *text)
{
	const size_t size = strlen(text);

	memcpy(to + used, text, size + 1);
	return used + size;
}

/* Writes one line for people. */
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
		(void)add_text(text, used, ", an unusual build: no Python frames");
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

void fg_python_meet(struct fg_thread *thread, uint32_t module, uintptr_t bias,
		    const ElfW(Dyn) * dynamic)
{
	static _Atomic uint32_t meeting;
	struct exports exports = {.bias = bias};
	uint32_t nobody = 0;

	if (fg_g.options.no_python || atomic_load(&meeting) || !find_exports(dynamic, &exports))
		return;
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
	atomic_store(&fg_python.state, fg_python.layout ? FG_PYTHON_MET : FG_PYTHON_REFUSED);
	fg_python_rewrite(thread);
}
