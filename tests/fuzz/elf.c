// SPDX-License-Identifier: Apache-2.0
/* Untrusted binaries: symbols, build-ids, PLT names. */
#include "binary/eh_frame.h"
#include "binary/elf_file.h"
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

/* The reader of unwind tables needs no ELF file: it gets the bytes as a section. */
static void use_as_frames(const uint8_t *data, size_t size)
{
	const struct fg_eh_section section = {.bytes = data, .size = size, .address = 0x1000};
	struct fg_eh_frames frames = {.is_complete = true};

	if (size == 0)
		return;
	fg_eh_frames_add(&frames, &section);
	for (size_t i = 0; i < frames.count; i++) {
		const struct fg_eh_frame *frame = &frames.items[i];

		FG_ASSERT(frame->end > frame->start && frame->offset < size);
		FG_ASSERT(fg_eh_frames_before(&frames, frame->start)->start == frame->start);
	}
	fg_eh_frames_release(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_elf elf;
	struct fg_error err = {0};
	char text[FG_BUILD_ID_TEXT];

	use_as_frames(data, size);
	if (fg_elf_parse(data, size, "fuzz", &elf, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0');
		return 0;
	}
	use(&elf);
	fg_elf_build_id_text(&elf, text);
	fg_elf_release(&elf);
	return 0;
}
