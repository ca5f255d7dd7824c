// SPDX-License-Identifier: Apache-2.0
#include "profile/listing.h"

#include "base/hash.h"
#include "binary/disassemble.h"
#include "profile/instruction_samples.h"

struct lister {
	struct fg_profile *profile;
	struct fg_symbolizer *symbolizer;
	size_t instructions;
	/* the current module */
	uint32_t module;
	struct fg_symbol_module *symbols;
	bool has_failed;
};

static void open_module(struct lister *l, uint32_t module)
{
	const struct fg_module_info *info = &l->profile->modules[module];
	uint8_t id[FG_BUILD_ID_MAX];
	const size_t size = fg_hex_read(info->build_id, id, sizeof(id));

	l->module = module;
	l->has_failed = false;
	l->symbols = fg_symbolizer_module(l->symbolizer, info->path, id, size,
					  strcmp(info->name, "[vdso]") == 0);
}

static void fail(struct lister *l, const char *why)
{
	if (!l->has_failed)
		fg_profile_add_note(l->profile, "%s: instructions cannot be shown: %s",
				    l->profile->modules[l->module].name, why);
	l->has_failed = true;
}

/* "call 0x1030 <exp@plt>": adds the name of a target outside the function. */
static const char *text_of(struct lister *l, const struct fg_listing *listing,
			   const struct fg_instruction *instruction)
{
	const struct fg_symbol *chain = NULL;
	const uint64_t target = instruction->target;

	if (target == 0 || (target >= listing->start && target < listing->end))
		return fg_arena_strdup(&l->profile->arena, instruction->text);
	(void)fg_symbolizer_find(l->symbolizer, l->symbols, target, &chain);
	if (chain->flags & FG_FRAME_NAMELESS)
		return fg_arena_strdup(&l->profile->arena, instruction->text);
	return fg_arena_printf(&l->profile->arena, "%s <%s>", instruction->text,
			       chain->function->name);
}

static void add_line(struct lister *l, struct fg_listing *listing,
		     const struct fg_instruction *instruction)
{
	const struct fg_symbol *chain = NULL;
	const size_t levels =
		fg_symbolizer_find(l->symbolizer, l->symbols, instruction->address, &chain);
	const struct fg_symbol *innermost = &chain[levels - 1];

	listing->lines[listing->line_count++] = (struct fg_listed){
		.address = instruction->address,
		.text = text_of(l, listing, instruction),
		.file = fg_profile_text(l->profile, innermost->at_file),
		.line = innermost->at_line,
		.inlined =
			levels > 1 ? fg_profile_text(l->profile, innermost->function->name) : NULL,
	};
}

static void list_code(struct lister *l, const struct fg_symbol_code *code, uint64_t address)
{
	struct fg_profile *profile = l->profile;
	const struct fg_symbol *chain = NULL;
	struct fg_listing *listing = NULL;

	listing = &FG_APPEND(profile->listings, profile->listing_count, profile->listing_capacity);
	(void)fg_symbolizer_find(l->symbolizer, l->symbols, address, &chain);
	*listing = (struct fg_listing){
		.module = l->module,
		.name = fg_profile_text(profile, chain->function->name),
		.start = code->start,
		.end = code->end,
		.lines = fg_arena_array(&profile->arena, code->count, sizeof(listing->lines[0])),
	};
	for (size_t i = 0; i < code->count; i++)
		add_line(l, listing, &code->instructions[i]);
	l->instructions += code->count;
}

static void add_listing(struct lister *l, uint64_t address)
{
	struct fg_symbol_code code = {0};
	const char *name = l->profile->modules[l->module].name;
	struct fg_error err = {0};

	/*
	 * A fixed reason for kernel code makes the note the same on every host and for an archive.
	 */
	if (*name == '[' && strcmp(name, "[vdso]") != 0)
		fail(l, "kernel code is not in a file");
	else if (fg_symbolizer_code(l->symbols, address, &code, &err) != FG_OK)
		fail(l, err.message);
	else if (code.count > FG_LISTED_MAX - l->instructions)
		fail(l, "there are too many");
	else
		list_code(l, &code, address);
	free(code.instructions);
}

void fg_listings_add(struct fg_profile *profile, struct fg_symbolizer *symbolizer)
{
	struct lister l = {.profile = profile, .symbolizer = symbolizer};
	struct fg_instruction_sample *hits = NULL;
	const size_t count = fg_instruction_samples(profile, 0, &hits);

	for (size_t i = 0; i < count; i++) {
		const struct fg_frame *frame = hits[i].frame;
		const struct fg_listing *last =
			profile->listing_count > 0 ? &profile->listings[profile->listing_count - 1]
						   : NULL;

		if (frame->module != l.module)
			open_module(&l, frame->module);
		else if (last && last->module == frame->module && frame->address < last->end)
			continue;
		add_listing(&l, frame->address);
	}
	free(hits);
}

const struct fg_listing *fg_listings_find(const struct fg_profile *profile, uint32_t module,
					  uint64_t address)
{
	const struct fg_listing *found = NULL;
	size_t low = 0;
	size_t high = profile->listing_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct fg_listing *at = &profile->listings[middle];

		if (at->module < module || (at->module == module && at->end <= address))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < profile->listing_count)
		found = &profile->listings[low];
	return found && found->module == module && found->start <= address ? found : NULL;
}
