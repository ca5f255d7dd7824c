// SPDX-License-Identifier: Apache-2.0
#include "binary/entries.h"

#include "base/base.h"
#include "base/fs.h"
#include "base/text.h"
#include "binary/eh_frame.h"
#include "binary/entry_scan.h"
#include "binary/image.h"

#include <elf.h>

struct reading {
	const char *path;
	struct fg_image image;
	struct fg_eh_frames frames;
	struct fg_entries *entries;
};

/* ---- the object as a whole ---- */

/* Sums the segments that are never writable; the collector compares them with those in memory. */
static bool sum_segments(struct reading *r)
{
	const struct fg_image *image = &r->image;

	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W))
			continue;
		if (segment->p_offset > image->file_size ||
		    segment->p_filesz > image->file_size - segment->p_offset)
			return false;
		r->entries->sum = fg_plan_sum(r->entries->sum, image->file + segment->p_offset,
					      segment->p_filesz);
	}
	return true;
}

/*
 * True for the C library, the libraries that it needs and the collector: the collector calls them,
 * or they follow rules of their own.
 */
static bool is_runtime(const char *path)
{
	static const char *const names[] = {
		"ld-linux", "libc.",     "libpthread.",           "libdl.",
		"librt.",   "libgcc_s.", "libfastgate_collector", "libunwind."};
	const char *name = fg_fs_base_name(path);

	return FG_TEXT_STARTS_WITH_ANY(name, names);
}

/*
 * Does this section or symbol mark code whose functions check small stacks or use other calling
 * conventions (Go, OCaml, Haskell), or a program that patches itself at its list of NOPs?
 */
static bool is_mark(const char *name)
{
	static const char *const marks[] = {
		".gopclntab",         ".go.buildinfo", ".note.go.buildid",
		"runtime.morestack",  "caml_startup",  "caml_start_program",
		"stg_upd_frame_info", "hs_init",       "__start___patchable_function_entries"};

	return FG_TEXT_IS_AMONG(name, marks);
}

static bool has_marks(const struct fg_image *image)
{
	for (size_t i = 0; i < image->section_count; i++)
		if (is_mark(image->sections[i].name))
			return true;
	for (size_t i = 0; i < image->entry_count; i++)
		if (is_mark(image->entries[i].name))
			return true;
	return false;
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
	if (is_runtime(r->path))
		return FG_ENTRY_RUNTIME;
	if (!sum_segments(r) || has_marks(&r->image))
		return FG_ENTRY_OBJECT;
	return read_frames(r) ? FG_ENTRY_ACCEPTED : FG_ENTRY_UNBOUNDED;
}

/* ---- functions ---- */

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
		    (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC))
			continue;
		*entry = (struct fg_plan_entry){
			.address = symbol->address, .name = entries->count, .is_clone = is_clone};
		entries->names[entries->count++] =
			fg_arena_strndup(&entries->arena, symbol->name, size);
		if (symbol->type == STT_GNU_IFUNC)
			entry->refusal = FG_ENTRY_UNBOUNDED;
	}
}

/* Orders by address, then by name. */
static int compare_entries(const void *left, const void *right, void *names)
{
	const struct fg_plan_entry *a = left;
	const struct fg_plan_entry *b = right;
	const char **all = names;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(all[a->name], all[b->name]);
}

/* Sorts the entries and drops those that both symbol tables have. */
static void settle(struct fg_entries *entries)
{
	size_t used = 0;

	qsort_r(entries->entries, entries->count, sizeof(entries->entries[0]), compare_entries,
		(void *)entries->names);
	for (size_t i = 0; i < entries->count; i++) {
		struct fg_plan_entry *entry = &entries->entries[i];
		struct fg_plan_entry *last = used ? &entries->entries[used - 1] : NULL;

		if (last && compare_entries(last, entry, (void *)entries->names) == 0)
			last->is_clone |= entry->is_clone;
		else
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

	if (!section || !section->is_code || section->is_writable || !section->bytes ||
	    strncmp(section->name, ".text", strlen(".text")) != 0 || !frame ||
	    frame->start != entry->address || frame->is_signal ||
	    frame->end - section->address > section->size)
		return FG_ENTRY_UNBOUNDED;
	size = frame->end - frame->start;
	return fg_entry_window(section->bytes + (entry->address - section->address), (size_t)size,
			       entry);
}

int fg_entries_read(const char *path, struct fg_entries *entries, struct fg_error *err)
{
	struct reading r = {.path = path, .entries = entries};

	*entries = (struct fg_entries){0};
	FG_TRY(fg_image_read_parts(path, &r.image, err));
	entries->refusal = judge_object(&r);
	take_symbols(&r);
	settle(entries);
	for (size_t i = 0; i < entries->count; i++) {
		struct fg_plan_entry *entry = &entries->entries[i];

		if (entry->refusal == FG_ENTRY_ACCEPTED)
			entry->refusal = (uint8_t)entries->refusal;
		if (entry->refusal == FG_ENTRY_ACCEPTED)
			entry->refusal = (uint8_t)judge_entry(&r, entry);
	}
	if (entries->refusal == FG_ENTRY_ACCEPTED)
		fg_entry_scan(&r.image, &r.frames, entries->entries, entries->count);
	fg_eh_frames_release(&r.frames);
	fg_image_release(&r.image);
	return FG_OK;
}

void fg_entries_release(struct fg_entries *entries)
{
	fg_arena_release(&entries->arena);
	*entries = (struct fg_entries){0};
}
