// SPDX-License-Identifier: Apache-2.0
#include "binary/entries.h"

#include "base/base.h"
#include "base/fs.h"
#include "binary/eh_frame.h"
#include "binary/entry_scan.h"
#include "binary/image.h"

#include <elf.h>

struct reading {
	const char *path;
	struct fg_image image;
	struct fg_eh_frames frames;
	struct fg_entries *entries;
	struct fg_entry_place *places;
	size_t place_count;
};

/* ---- the object as a whole ---- */

static const Elf64_Phdr *segments_of(const struct fg_image *image, struct fg_arena *arena,
				     size_t *count)
{
	Elf64_Ehdr header;
	Elf64_Phdr *copy = NULL;

	memcpy(&header, image->file, sizeof(header));
	if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > image->file_size ||
	    (image->file_size - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return NULL;
	*count = header.e_phnum;
	copy = fg_arena_array(arena, *count, sizeof(*copy));
	memcpy(copy, image->file + header.e_phoff, *count * sizeof(*copy));
	return copy;
}

/* The dynamic linker changes this code. */
static bool has_text_relocations(const struct fg_image *image, const Elf64_Phdr *segment)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment->p_filesz;
	     at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;

		memcpy(&entry, image->file + segment->p_offset + at, sizeof(entry));
		if (entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_TEXTREL ||
		    (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL)))
			return true;
	}
	return false;
}

/* Bytes of the segments that are executable and never writable. */
static enum fg_entry_refusal judge_segments(struct reading *r)
{
	const struct fg_image *image = &r->image;
	size_t count = 0;
	const Elf64_Phdr *segments = segments_of(image, &r->entries->arena, &count);

	if (!segments)
		return FG_ENTRY_OBJECT;
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *segment = &segments[i];
		const bool in_file = segment->p_offset <= image->file_size &&
				     segment->p_filesz <= image->file_size - segment->p_offset;

		if (segment->p_type != PT_LOAD && segment->p_type != PT_DYNAMIC)
			continue;
		if (!in_file)
			return FG_ENTRY_OBJECT;
		if (segment->p_type == PT_DYNAMIC) {
			if (has_text_relocations(image, segment))
				return FG_ENTRY_OBJECT;
			continue;
		}
		if ((segment->p_flags & PF_W) && (segment->p_flags & PF_X))
			return FG_ENTRY_OBJECT;
		if (!(segment->p_flags & PF_W))
			r->entries->sum =
				fg_plan_sum(r->entries->sum, image->file + segment->p_offset,
					    segment->p_filesz);
	}
	return FG_ENTRY_ACCEPTED;
}

/*
 * The C library and the libraries below it: the collector calls them, or they follow rules of their
 * own.
 */
static bool is_runtime(const char *path)
{
	static const char *const names[] = {
		"ld-linux", "libc.",     "libpthread.",           "libdl.",
		"librt.",   "libgcc_s.", "libfastgate_collector", "libunwind."};
	const char *name = fg_fs_base_name(path);

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Sections and symbols of languages whose functions run on small stacks that they check, or use
 * other calling conventions; and the list of NOPs, which only a program names that patches itself.
 */
static enum fg_entry_refusal judge_marks(const struct fg_image *image)
{
	static const char *const marks[] = {
		".gopclntab",   ".go.buildinfo",      ".note.go.buildid",   "runtime.morestack",
		"caml_startup", "caml_start_program", "stg_upd_frame_info", "hs_init"};
	static const char patcher[] = "__start___patchable_function_entries";

	for (size_t k = 0; k < FG_ARRAY_SIZE(marks); k++) {
		for (size_t i = 0; i < image->section_count; i++)
			if (strcmp(image->sections[i].name, marks[k]) == 0)
				return FG_ENTRY_OBJECT;
		for (size_t i = 0; i < image->entry_count; i++)
			if (strcmp(image->entries[i].name, marks[k]) == 0)
				return FG_ENTRY_OBJECT;
	}
	for (size_t i = 0; i < image->entry_count; i++)
		if (strcmp(image->entries[i].name, patcher) == 0)
			return FG_ENTRY_OBJECT;
	return FG_ENTRY_ACCEPTED;
}

static bool read_frames(struct reading *r)
{
	r->frames.is_complete = true;
	for (size_t i = 0; i < r->image.section_count; i++) {
		const struct fg_image_section *section = &r->image.sections[i];
		const struct fg_eh_section bytes = {.bytes = section->bytes,
						    .size = (size_t)section->size,
						    .address = section->address};

		if (strcmp(section->name, ".eh_frame") != 0)
			continue;
		if (!section->bytes || section->is_writable)
			return false;
		fg_eh_frames_add(&r->frames, &bytes);
	}
	return r->frames.is_complete && r->frames.count > 0;
}

static enum fg_entry_refusal judge_object(struct reading *r)
{
	enum fg_entry_refusal refusal = judge_segments(r);

	if (refusal == FG_ENTRY_ACCEPTED && is_runtime(r->path))
		refusal = FG_ENTRY_RUNTIME;
	if (refusal == FG_ENTRY_ACCEPTED)
		refusal = judge_marks(&r->image);
	if (refusal != FG_ENTRY_ACCEPTED)
		return refusal;
	return read_frames(r) ? FG_ENTRY_ACCEPTED : FG_ENTRY_UNBOUNDED;
}

/* ---- its functions ---- */

/* Hooks that compilers call with conventions of their own. */
static bool is_hook(const char *name)
{
	static const char *const names[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit",
					    "__fentry__", "mcount", "_mcount"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static void take_symbols(struct reading *r)
{
	const struct fg_image *image = &r->image;
	struct fg_entries *entries = r->entries;

	entries->entries = fg_arena_array(&entries->arena, image->entry_count + 1,
					  sizeof(entries->entries[0]));
	entries->names =
		fg_arena_array(&entries->arena, image->entry_count + 1, sizeof(entries->names[0]));
	for (size_t i = 0; i < image->entry_count; i++) {
		const struct fg_image_entry *symbol = &image->entries[i];
		struct fg_plan_entry *entry = &entries->entries[entries->count];
		bool is_clone = false;
		bool is_part = false;
		const size_t size = (size_t)fg_plan_plain_size(symbol->name, &is_clone, &is_part);

		/* Fragments of functions are not entries. */
		if (!symbol->is_defined || !*symbol->name || is_part ||
		    (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC) ||
		    entries->count == FG_PLAN_ENTRIES_MAX)
			continue;
		*entry = (struct fg_plan_entry){
			.address = symbol->address, .name = entries->count, .is_clone = is_clone};
		entries->names[entries->count++] =
			fg_arena_strndup(&entries->arena, symbol->name, size);
		if (symbol->type == STT_GNU_IFUNC || is_hook(symbol->name))
			entry->refusal = FG_ENTRY_UNBOUNDED;
	}
}

/* By address; refused entries first. */
static int compare_entries(const void *left, const void *right, void *names)
{
	const struct fg_plan_entry *a = left;
	const struct fg_plan_entry *b = right;
	const char **all = names;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->refusal != b->refusal)
		return a->refusal > b->refusal ? -1 : 1;
	return strcmp(all[a->name], all[b->name]);
}

/* Sorts, and drops duplicates of the two symbol tables. */
static void settle(struct fg_entries *entries)
{
	size_t used = 0;

	qsort_r(entries->entries, entries->count, sizeof(entries->entries[0]), compare_entries,
		(void *)entries->names);
	for (size_t i = 0; i < entries->count; i++) {
		struct fg_plan_entry *entry = &entries->entries[i];

		if (used && entries->entries[used - 1].address == entry->address &&
		    strcmp(entries->names[entries->entries[used - 1].name],
			   entries->names[entry->name]) == 0)
			continue;
		entries->entries[used++] = *entry;
	}
	entries->count = used;
}

/* ---- one function ---- */

static enum fg_entry_refusal judge_entry(struct reading *r, struct fg_plan_entry *entry)
{
	const struct fg_image_section *section = fg_image_section_at(&r->image, entry->address);
	const struct fg_eh_frame *frame = fg_eh_frames_before(&r->frames, entry->address);
	uint64_t size = 0;

	if (!section || !section->is_code || !section->bytes ||
	    strncmp(section->name, ".text", strlen(".text")) != 0 || !frame ||
	    frame->start != entry->address || frame->is_signal ||
	    frame->end - section->address > section->size)
		return FG_ENTRY_UNBOUNDED;
	size = frame->end - frame->start;
	return fg_entry_window(section->bytes + (entry->address - section->address), (size_t)size,
			       entry);
}

/* The first entry of an address stands for all: they share the refusal and the window. */
static void judge_entries(struct reading *r)
{
	struct fg_entries *entries = r->entries;

	r->places = fg_arena_array(&entries->arena, entries->count + 1, sizeof(r->places[0]));
	for (size_t i = 0; i < entries->count; i++) {
		struct fg_plan_entry *entry = &entries->entries[i];

		if (i && entries->entries[i - 1].address == entry->address)
			continue;
		if (entry->refusal == FG_ENTRY_ACCEPTED)
			entry->refusal = (uint8_t)judge_entry(r, entry);
		if (entry->refusal == FG_ENTRY_ACCEPTED)
			r->places[r->place_count++] =
				(struct fg_entry_place){.start = entry->address,
							.jump = entry->address + entry->jump_at,
							.end = entry->address + entry->window_size};
	}
}

/* Copies the findings to all entries of the same address. */
static void share(struct reading *r)
{
	struct fg_entries *entries = r->entries;
	size_t place = 0;

	for (size_t i = 0; i < entries->count; i++) {
		struct fg_plan_entry *entry = &entries->entries[i];
		const struct fg_plan_entry *before = i ? &entries->entries[i - 1] : NULL;

		while (place < r->place_count && r->places[place].start < entry->address)
			place++;
		if (before && before->address == entry->address) {
			const struct fg_plan_entry own = *entry;

			*entry = *before;
			entry->name = own.name;
			entry->is_clone |= own.is_clone;
			continue;
		}
		if (place < r->place_count && r->places[place].start == entry->address &&
		    r->places[place].is_entered)
			entry->refusal = FG_ENTRY_INSIDE;
	}
}

int fg_entries_read(const char *path, struct fg_entries *entries, struct fg_error *err)
{
	struct reading r = {.path = path, .entries = entries};
	int status;

	*entries = (struct fg_entries){0};
	status = fg_image_read_parts(path, &r.image, err);
	if (status != FG_OK)
		return status;
	entries->refusal = judge_object(&r);
	take_symbols(&r);
	settle(entries);
	if (entries->refusal == FG_ENTRY_ACCEPTED) {
		judge_entries(&r);
		fg_entry_scan(&r.image, &r.frames, r.places, r.place_count);
		share(&r);
	}
	for (size_t i = 0; i < entries->count && entries->refusal != FG_ENTRY_ACCEPTED; i++)
		entries->entries[i].refusal = (uint8_t)entries->refusal;
	fg_eh_frames_release(&r.frames);
	fg_image_release(&r.image);
	return FG_OK;
}

void fg_entries_release(struct fg_entries *entries)
{
	fg_arena_release(&entries->arena);
	*entries = (struct fg_entries){0};
}
