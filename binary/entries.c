// SPDX-License-Identifier: Apache-2.0
#include "binary/entries.h"

#include "base/fs.h"
#include "base/sort.h"
#include "base/text.h"
#include "binary/eh_frame.h"
#include "binary/entry_scan.h"
#include "binary/image.h"

#include <elf.h>

struct reading {
	struct fg_entries *plan;
	struct fg_plan_object object;
	struct fg_image image;
	struct fg_eh_frames frames;
	enum fg_entry_refusal refusal; /* reason to refuse the whole object */
};

/* ---- the object as a whole ---- */

/*
 * Sums the segments that are never writable; the collector compares the sum with that of the
 * segments in memory.
 */
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
		r->object.sum = fg_plan_sum(r->object.sum, image->file + segment->p_offset,
					    segment->p_filesz);
	}
	return true;
}

/*
 * True for the C library (except libm), libgcc, libunwind and the collector: the collector calls
 * their functions, or their code follows special rules.
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

static enum fg_entry_refusal read_sections(struct reading *r)
{
	r->frames.is_complete = true;
	for (size_t i = 0; i < r->image.section_count; i++) {
		const struct fg_image_section *section = &r->image.sections[i];
		const struct fg_eh_section bytes = {.bytes = section->bytes,
						    .size = (size_t)section->size,
						    .address = section->address};

		if (is_mark(section->name))
			return FG_ENTRY_OBJECT;
		if (strcmp(section->name, ".eh_frame") != 0)
			continue;
		if (!section->bytes || section->is_writable)
			return FG_ENTRY_UNBOUNDED;
		fg_eh_frames_add(&r->frames, &bytes);
	}
	return r->frames.is_complete && r->frames.count > 0 ? FG_ENTRY_ACCEPTED
							    : FG_ENTRY_UNBOUNDED;
}

static enum fg_entry_refusal judge_object(struct reading *r, const char *path)
{
	if (is_runtime(path))
		return FG_ENTRY_RUNTIME;
	if (!sum_segments(r))
		return FG_ENTRY_OBJECT;
	for (size_t i = 0; i < r->image.entry_count; i++)
		if (is_mark(r->image.entries[i].name))
			return FG_ENTRY_OBJECT;
	return read_sections(r);
}

/* ---- functions ---- */

static enum fg_entry_refusal judge_entry(struct reading *r, struct fg_plan_entry *entry)
{
	const struct fg_eh_frame *frame = fg_eh_frames_before(&r->frames, entry->address);
	const struct fg_image_section *section = frame ? fg_entry_section(&r->image, frame) : NULL;

	if (!section || section->is_writable || !fg_text_starts_with(section->name, ".text") ||
	    frame->start != entry->address || frame->is_signal)
		return FG_ENTRY_UNBOUNDED;
	return fg_entry_window(section->bytes + (entry->address - section->address),
			       (size_t)(frame->end - frame->start), entry);
}

FG_ORDER_BY(by_address, struct fg_image_entry, FG_UP(address), FG_TEXT_UP(name))

static uint64_t add_text(struct fg_strbuf *texts, const char *text, size_t size)
{
	const uint64_t at = texts->length;

	fg_strbuf_add(texts, text, size);
	fg_strbuf_add_char(texts, '\0');
	return at;
}

/*
 * Adds a function to the plan. A function that is in both symbol tables comes twice in a row; it is
 * added once.
 */
static void add_entry(struct reading *r, const struct fg_image_entry *symbol)
{
	struct fg_strbuf *entries = &r->plan->entries;
	struct fg_strbuf *texts = &r->plan->texts;
	struct fg_plan_entry *last =
		r->object.entry_count ? (void *)(entries->data + entries->length - sizeof(*last))
				      : NULL;
	struct fg_plan_entry entry = {.address = symbol->address};
	bool is_part = false;
	bool is_clone = false;
	const size_t size = (size_t)fg_plan_plain_size(symbol->name, &is_clone, &is_part);

	if (is_part)
		return; /* a fragment of a function */
	if (last && last->address == symbol->address &&
	    strncmp(texts->data + last->name, symbol->name, size) == 0 &&
	    texts->data[last->name + size] == '\0') {
		last->is_clone |= is_clone;
		return;
	}
	entry.is_clone = is_clone;
	entry.name = add_text(texts, symbol->name, size);
	if (symbol->type == STT_GNU_IFUNC)
		entry.refusal = FG_ENTRY_UNBOUNDED;
	else
		entry.refusal = (uint8_t)(r->refusal ? r->refusal : judge_entry(r, &entry));
	fg_strbuf_add(entries, &entry, sizeof(entry));
	r->object.entry_count++;
}

int fg_entries_add(struct fg_entries *plan, const char *path, const char *name,
		   struct fg_error *err)
{
	const size_t first = plan->entries.length;
	struct reading r = {.plan = plan,
			    .object.first_entry = first / sizeof(struct fg_plan_entry)};

	FG_TRY(fg_image_read_parts(path, &r.image, err));
	r.object.path = add_text(&plan->texts, name, strlen(name));
	r.refusal = judge_object(&r, path);
	qsort(r.image.entries, r.image.entry_count, sizeof(r.image.entries[0]), by_address);
	for (size_t i = 0; i < r.image.entry_count; i++) {
		const struct fg_image_entry *symbol = &r.image.entries[i];

		if (symbol->is_defined && *symbol->name &&
		    (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC))
			add_entry(&r, symbol);
	}
	if (r.refusal == FG_ENTRY_ACCEPTED && r.object.entry_count)
		fg_entry_scan(&r.image, &r.frames, (void *)(plan->entries.data + first),
			      r.object.entry_count);
	fg_strbuf_add(&plan->objects, &r.object, sizeof(r.object));
	fg_eh_frames_release(&r.frames);
	fg_image_release(&r.image);
	return FG_OK;
}

void fg_entries_release(struct fg_entries *plan)
{
	fg_strbuf_release(&plan->objects);
	fg_strbuf_release(&plan->entries);
	fg_strbuf_release(&plan->texts);
}
