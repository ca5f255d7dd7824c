// SPDX-License-Identifier: Apache-2.0
/* Binaries from anybody: symbols, build-ids, PLT names. */
#include "symbols/elf_file.h"
#include "symbols/elf_starts.h"
#include "tests/fuzz/fuzz.h"

static void use(const struct fg_elf *elf)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const struct fg_elf_symbol *symbol = &elf->symbols[i];

		FG_ASSERT(i == 0 || elf->symbols[i - 1].value < symbol->value);
		(void)fg_elf_find(elf, symbol->value + symbol->size / 2);
		FG_ASSERT(*fg_elf_name(elf, symbol));
	}
	for (size_t i = 0; i < elf->plt_count; i++)
		(void)fg_elf_plt_target(elf, elf->plt[i].end - 1);
}

/* The table of function beginnings has no frame of its own: any bytes may be one. */
static void use_as_starts(const uint8_t *data, size_t size)
{
	const struct fg_elf elf = {
		.code_start = 0x1000, .code_end = 0x100000, .unwind_table = 0x80000};
	struct fg_elf_starts starts = {0};
	struct fg_error err = {0};

	if (fg_elf_starts_parse(data, size, &elf, &starts, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0');
		return;
	}
	for (size_t i = 0; i < starts.count; i++)
		FG_ASSERT(fg_elf_starts_find(&starts, starts.items[i]) == starts.items[i]);
	fg_elf_starts_release(&starts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_elf elf;
	struct fg_error err = {0};
	char text[FG_BUILD_ID_TEXT];

	use_as_starts(data, size);
	if (fg_elf_parse(data, size, "fuzz", &elf, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0');
		return 0;
	}
	use(&elf);
	fg_elf_build_id_text(&elf, text);
	fg_elf_release(&elf);
	return 0;
}
