// SPDX-License-Identifier: Apache-2.0
/* The first pass: the addresses of data without a name (strings, constants, switches). */
#include "base/sort.h"
#include "base/sorted.h"
#include "base/text.h"
#include "binary/digester.h"

static void note_unnamed(struct fg_digester *d, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);

	if (!section || section->is_code || fg_image_symbol_at(&d->image, address))
		return;
	FG_APPEND(d->unnamed, d->unnamed_count, d->unnamed_capacity) = address;
}

static void scan_arm64(struct fg_digester *d, const uint8_t *bytes, uint64_t size, uint64_t address)
{
	size_t count = 0;
	struct fg_arm64_place *places = fg_arm64_places(bytes, size, address, &count);

	for (size_t i = 0; i < count; i++) {
		if (places[i].has_target)
			note_unnamed(d, places[i].target);
	}
	free(places);
}

static void scan_function(struct fg_digester *d, const struct fg_image_symbol *symbol)
{
	uint64_t left = 0;
	const uint8_t *bytes = fg_digester_bytes(&d->image, symbol->address, &left);
	const uint64_t size = bytes && symbol->size < left ? symbol->size : left;

	if (bytes && d->image.machine == EM_AARCH64) {
		scan_arm64(d, bytes, size, symbol->address);
		return;
	}
	for (uint64_t at = 0; bytes && at < size;) {
		struct fg_decoded i;

		if (!fg_decoded_decode(&d->decoder, bytes + at, size - at, symbol->address + at,
				       &i)) {
			at++;
			continue;
		}
		note_unnamed(d, fg_decoded_displacement(&d->image, &i).target);
		for (unsigned k = 0; k < 2; k++)
			note_unnamed(d, fg_decoded_immediate(&d->image, &i, k).target);
		at += i.decoded.length;
	}
}

/*
 * True for tables of the loader and the unwinder, which are full of numbers that merely look like
 * addresses.
 */
static bool is_bookkeeping(const struct fg_image_section *section)
{
	static const char *const beginnings[] = {".eh_frame", ".gcc_except", ".dyn", ".gnu",
						 ".hash",     ".rela",       ".note"};

	return FG_TEXT_STARTS_WITH_ANY(section->name, beginnings);
}

/* Without relocations, a word that looks like an address in the image counts as one. */
static void scan_fixed_data(struct fg_digester *d)
{
	for (size_t s = 0; s < d->image.section_count; s++) {
		const struct fg_image_section *section = &d->image.sections[s];
		uint64_t at = (FG_DIGEST_WORD - section->address % FG_DIGEST_WORD) % FG_DIGEST_WORD;

		if (section->is_code || !section->bytes || is_bookkeeping(section))
			continue;
		for (; at + FG_DIGEST_WORD <= section->size; at += FG_DIGEST_WORD) {
			uint64_t word;

			memcpy(&word, section->bytes + at, sizeof(word));
			if (fg_digester_owns(&d->image, word))
				note_unnamed(d, word);
		}
	}
}

FG_ORDER_BY(compare_addresses, uint64_t, FG_ORDER(*a, *b))

void fg_digester_collect_unnamed(struct fg_digester *d)
{
	size_t used = 0;

	for (size_t i = 0; i < d->image.symbol_count; i++) {
		const struct fg_image_symbol *symbol = &d->image.symbols[i];
		const uint64_t entries = fg_digester_relative_entries(d, symbol);

		if (symbol->is_function)
			scan_function(d, symbol);
		for (uint64_t k = 0; k < entries; k++)
			note_unnamed(d, fg_digester_relative_target(d, symbol->address, k));
	}
	for (size_t i = 0; i < d->image.relocation_count; i++) {
		if (!d->image.relocations[i].import)
			note_unnamed(d, d->image.relocations[i].target);
	}
	if (d->image.is_fixed)
		scan_fixed_data(d);
	if (d->unnamed_count)
		qsort(d->unnamed, d->unnamed_count, sizeof(d->unnamed[0]), compare_addresses);
	for (size_t i = 0; i < d->unnamed_count; i++) {
		if (used == 0 || d->unnamed[used - 1] != d->unnamed[i])
			d->unnamed[used++] = d->unnamed[i];
	}
	d->unnamed_count = used;
}

uint64_t fg_digester_unnamed_end(const struct fg_digester *d, uint64_t address)
{
	const struct fg_image_section *section = fg_image_section_at(&d->image, address);
	uint64_t end = section->address + section->size;
	size_t next = 0;

	next = fg_sorted_up_to(
		&(struct fg_sorted){d->unnamed, d->unnamed_count, sizeof(d->unnamed[0]), 0},
		address);
	if (next < d->unnamed_count && d->unnamed[next] < end)
		end = d->unnamed[next];
	next = fg_sorted_up_to(
		FG_SORTED(d->image.symbols, d->image.symbol_count, struct fg_image_symbol, address),
		address);
	if (next < d->image.symbol_count && d->image.symbols[next].address < end)
		end = d->image.symbols[next].address;
	return end;
}
