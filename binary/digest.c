// SPDX-License-Identifier: Apache-2.0
/* Digests an image: each of its items, by name, and the whole. */
#include "base/hash.h"
#include "base/sort.h"
#include "base/text.h"
#include "binary/digester.h"

/* ---- items, by name ---- */

struct ordering {
	const struct fg_image_symbol *symbol;
	uint32_t index;
};

static int compare_names(const struct fg_image_symbol *a, const struct fg_image_symbol *b)
{
	const int by_name = strcmp(a->name, b->name);

	return by_name ? by_name : strcmp(a->unit, b->unit);
}

FG_ORDER_BY(compare_orderings, struct ordering, compare_names(a->symbol, b->symbol), FG_UP(index))

/*
 * True for a section that takes effect although nothing references it: constructors, destructors,
 * .interp.
 */
static bool acts_by_itself(const struct fg_image_section *section)
{
	return strcmp(section->name, ".init_array") == 0 ||
	       strcmp(section->name, ".fini_array") == 0 ||
	       strcmp(section->name, ".preinit_array") == 0 ||
	       strcmp(section->name, ".interp") == 0;
}

/*
 * A program may walk a section whose name is a C identifier, between __start_NAME and __stop_NAME,
 * which the linker defines.
 */
static bool is_walked(const struct fg_image_section *section)
{
	return section && *section->name && *section->name != '.';
}

/* Adds a symbol for each section that acts by itself, so that it is an item like any other. */
static void add_section_symbols(struct fg_image *image)
{
	struct fg_image_symbol *grown = fg_arena_array(
		&image->arena, image->symbol_count + image->section_count, sizeof(grown[0]));

	memcpy(grown, image->symbols, image->symbol_count * sizeof(grown[0]));
	for (size_t i = 0; i < image->section_count; i++) {
		const struct fg_image_section *section = &image->sections[i];

		if (acts_by_itself(section) && !fg_image_symbol_at(image, section->address))
			grown[image->symbol_count++] = (struct fg_image_symbol){
				.name = section->name,
				.unit = "",
				.address = section->address,
				.size = section->size,
				.is_exported = true,
			};
	}
	image->symbols = grown;
}

FG_ORDER_BY(by_address, struct fg_image_symbol, FG_UP(address))

static void name_items(struct fg_digester *d)
{
	struct fg_image *image = &d->image;
	struct fg_code *code = d->code;
	struct ordering *order;

	add_section_symbols(image);
	qsort(image->symbols, image->symbol_count, sizeof(image->symbols[0]), by_address);
	order = fg_xcalloc(image->symbol_count + 1, sizeof(order[0]));
	d->item_of_symbol = fg_xcalloc(image->symbol_count + 1, sizeof(d->item_of_symbol[0]));
	code->items = fg_arena_array(&code->arena, image->symbol_count, sizeof(code->items[0]));
	for (size_t i = 0; i < image->symbol_count; i++)
		order[i] = (struct ordering){&image->symbols[i], (uint32_t)i};
	qsort(order, image->symbol_count, sizeof(order[0]), compare_orderings);
	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct fg_image_symbol *symbol = order[i].symbol;
		const bool again = i > 0 && compare_names(order[i - 1].symbol, symbol) == 0;

		d->item_of_symbol[order[i].index] = (uint32_t)i;
		code->items[i] = (struct fg_code_item){
			.name = fg_arena_strdup(&code->arena, symbol->name),
			.unit = fg_arena_strdup(&code->arena, symbol->unit),
			.address = symbol->address,
			.size = symbol->size,
			.is_function = symbol->is_function,
			.is_exported = symbol->is_exported ||
				       is_walked(fg_image_section_at(image, symbol->address)),
			.ordinal = again ? code->items[i - 1].ordinal + 1 : 0,
		};
	}
	code->item_count = image->symbol_count;
	free(order);
}

FG_ORDER_BY(compare_aliases, struct fg_code_alias, FG_TEXT_UP(name), FG_UP(item))

static void name_aliases(struct fg_digester *d)
{
	const struct fg_image *image = &d->image;
	struct fg_code *code = d->code;

	code->aliases =
		fg_arena_array(&code->arena, image->alias_count + 1, sizeof(code->aliases[0]));
	for (size_t i = 0; i < image->alias_count; i++) {
		const struct fg_image_symbol *symbol =
			fg_image_symbol_at(image, image->aliases[i].address);

		if (symbol)
			code->aliases[code->alias_count++] = (struct fg_code_alias){
				.name = fg_arena_strdup(&code->arena, image->aliases[i].name),
				.item = d->item_of_symbol[symbol - image->symbols],
			};
	}
	qsort(code->aliases, code->alias_count, sizeof(code->aliases[0]), compare_aliases);
}

static void note_bringing(const struct fg_image *image, struct fg_code *code)
{
	static const char *const names[] = {"dlopen", "dlmopen", "mprotect", "pkey_mprotect"};

	for (size_t i = 0; i < image->relocation_count && !code->code_loader; i++) {
		const char *import = image->relocations[i].import;

		if (import && FG_TEXT_IS_AMONG(import, names))
			code->code_loader =
				names[fg_text_find(import, names, FG_ARRAY_SIZE(names))];
	}
}

/* ---- whole image ---- */

/* main counts as well: the start file may build its address in pieces, which are not followed. */
static bool is_entrance(const struct fg_image_symbol *symbol)
{
	return symbol->is_start_file || symbol->is_exported || strcmp(symbol->name, "main") == 0;
}

static void digest_whole(const struct fg_digester *d)
{
	struct fg_code *code = d->code;
	bool *reached = fg_xcalloc(code->item_count + 1, sizeof(reached[0]));
	uint32_t *queue = fg_xcalloc(code->item_count + 1, sizeof(queue[0]));
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;
	size_t tail = 0;

	for (size_t i = 0; i < d->image.symbol_count; i++) {
		if (is_entrance(&d->image.symbols[i])) {
			reached[d->item_of_symbol[i]] = true;
			queue[tail++] = d->item_of_symbol[i];
		}
	}
	for (size_t head = 0; head < tail; head++) {
		const struct fg_code_item *item = &code->items[queue[head]];

		for (uint32_t u = 0; u < item->use_count; u++) {
			const uint32_t used = code->uses[item->first_use + u];

			if (!reached[used]) {
				reached[used] = true;
				queue[tail++] = used;
			}
		}
	}
	fg_sha256_init(&sha);
	for (size_t i = 0; i < code->item_count; i++) {
		const struct fg_code_item *item = &code->items[i];

		if (!reached[i])
			continue;
		fg_sha256_add_text(&sha, item->name);
		fg_sha256_add_text(&sha, item->unit);
		fg_sha256_add(&sha, item->digest, sizeof(item->digest));
	}
	fg_sha256_finish(&sha, digest);
	memcpy(code->digest, digest, sizeof(code->digest));
	free(reached);
	free(queue);
}

/* The build-id is left out: it distinguishes builds that differ only in their debug information. */
static void digest_layout(const struct fg_image *image, uint8_t layout[FG_CODE_DIGEST_SIZE])
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < image->section_count; i++) {
		const struct fg_image_section *section = &image->sections[i];
		const uint64_t place[] = {section->address, section->size, section->is_code,
					  section->is_writable};

		fg_sha256_add_text(&sha, section->name);
		fg_sha256_add(&sha, place, sizeof(place));
		if (section->bytes && strcmp(section->name, ".note.gnu.build-id") != 0)
			fg_sha256_add(&sha, section->bytes, section->size);
	}
	fg_sha256_finish(&sha, digest);
	memcpy(layout, digest, FG_CODE_DIGEST_SIZE);
}

int fg_code_read(const char *path, const char *folder, struct fg_code *code, struct fg_error *err)
{
	struct fg_digester d = {.code = code};
	struct fg_strbuf text = {0};

	*code = (struct fg_code){0};
	FG_TRY(fg_image_read(path, folder, &d.image, err));
	if (!fg_decoder_start(&d.decoder, false) || !fg_decoder_start(&d.full_decoder, true)) {
		fg_image_release(&d.image);
		return fg_error_set(err, FG_EUNSUPPORTED, "the instruction decoder did not start");
	}
	digest_layout(&d.image, code->layout);
	name_items(&d);
	name_aliases(&d);
	note_bringing(&d.image, code);
	fg_digester_collect_unnamed(&d);
	for (size_t i = 0; i < d.image.symbol_count; i++) {
		d.item = d.item_of_symbol[i];
		fg_digester_item(&d, &d.image.symbols[i], &text);
	}
	digest_whole(&d);
	fg_strbuf_release(&text);
	free(d.item_of_symbol);
	free(d.unnamed);
	fg_image_release(&d.image);
	return FG_OK;
}

void fg_code_release(struct fg_code *code)
{
	free(code->uses);
	fg_arena_release(&code->arena);
	*code = (struct fg_code){0};
}
