// SPDX-License-Identifier: Apache-2.0
/*
 * Carries out the plan of entry_plan.h. Each object must still be as it was when it was examined.
 * Then memory within reach of its code gets a stub for each function,
 *
 *	lea   -128(%rsp),%rsp	keeps the red zone
 *	push  $number
 *	call  *entry(%rip)	call_jump_entry.c
 *	lea   136(%rsp),%rsp
 *	...			the function's first instructions
 *	jmp   function + n	continues after them
 *
 * and each function gets its jump. Meanwhile the code is writable, a whole segment at a time, so
 * that the kernel's list of mappings does not grow. One step makes a segment both executable and
 * writable: if that is forbidden, it fails before anything has changed.
 */
#include "collector/calls/call_jumps.h"

#include "collector/calls/call_objects.h"
#include "collector/calls/call_registers.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/entry_plan.h"
#include "collector/process/proc_stat.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PAGE = 4096,
	STUB_BYTES = 80,
	STUB_HEAD = 24, /* size of a stub's own instructions, before the function's */
	AREA_HEAD = 64, /* bytes before the first stub; they hold the address that stubs call */
	NAMES_MAX = 8,  /* names of refused functions kept per reason */
	JUMP = 0xe9,
	TRAP = 0xcc,
};

static const uint64_t reach = UINT64_C(0x7f000000); /* range of a 32-bit distance, with a margin */

/* A loaded object that the plan knows. */
struct target {
	const struct fg_plan_view *plan;
	const struct fg_plan_object *object;
	const struct dl_phdr_info *info;
	const char *path;
	uintptr_t low, high; /* mapping of its code */
	bool is_prepared;
	enum fg_entry_refusal refusal; /* result of prepare() */
	uint8_t *area;                 /* memory for stubs */
	size_t area_bytes;
	uint32_t stub_count;
};

const char *fg_call_jumps_plan;

static struct {
	uint64_t count;
	const char *names[NAMES_MAX];
	uint32_t named;
} refused[FG_ENTRY_REFUSALS];

static void note(enum fg_entry_refusal refusal, const char *name)
{
	const char *kept =
		name && refused[refusal].named < NAMES_MAX ? fg_call_keep_text(name) : NULL;

	if (kept)
		refused[refusal].names[refused[refusal].named++] = kept;
	refused[refusal].count++;
}

/* ---- the plan ---- */

static const struct fg_plan_object *object_of_path(const struct fg_plan_view *plan,
						   const char *path)
{
	for (uint64_t i = 0; i < plan->header->object_count; i++) {
		const struct fg_plan_object *object = &plan->objects[i];

		if (strcmp(plan->texts + object->path, *path ? path : fg_g.program) == 0)
			return object;
	}
	return NULL;
}

/* ---- an object ---- */

/* Finds the code. Do the segments that are not writable have the checksum in the plan? */
static bool is_the_same(struct target *t)
{
	uint64_t sum = 0;

	t->low = UINTPTR_MAX;
	for (size_t i = 0; i < t->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &t->info->dlpi_phdr[i];
		const uintptr_t start = t->info->dlpi_addr + header->p_vaddr;
		const bool is_code = header->p_flags & PF_X;

		if (header->p_type != PT_LOAD || (!is_code && (header->p_flags & PF_W)))
			continue;
		if ((header->p_flags & PF_W) || !(header->p_flags & PF_R))
			return false;
		sum = fg_plan_sum(sum, (const void *)start, header->p_filesz);
		if (is_code && start < t->low)
			t->low = start;
		if (is_code && start + header->p_filesz > t->high)
			t->high = start + header->p_filesz;
	}
	return t->low < t->high && sum == t->object->sum;
}

/*
 * Sets the protection of the code. Writable code stays executable, because the only thread may run
 * in it.
 */
static bool protect_code(const struct target *t, int protection)
{
	bool all = true;

	for (size_t i = 0; i < t->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &t->info->dlpi_phdr[i];
		const uintptr_t start =
			(t->info->dlpi_addr + header->p_vaddr) & ~(uintptr_t)(PAGE - 1);
		const uintptr_t end = t->info->dlpi_addr + header->p_vaddr + header->p_filesz;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		all = mprotect((void *)start, end - start, protection) == 0 && all;
	}
	return all;
}

/*
 * Maps memory for stubs below the code, because a program's heap grows above it. Each attempt tries
 * an address farther away.
 */
static bool map_area(struct target *t, size_t count)
{
	const uintptr_t low = t->low & ~(uintptr_t)(PAGE - 1);
	const uintptr_t start = (uintptr_t)16 * PAGE;

	t->area_bytes = (AREA_HEAD + count * STUB_BYTES + PAGE - 1) & ~(size_t)(PAGE - 1);
	for (uintptr_t far = start; t->high - low + far + t->area_bytes < reach; far *= 2) {
		const uintptr_t distance = far + t->area_bytes;
		void *memory = MAP_FAILED;

		if (low < distance + start)
			return false;
		memory = mmap((void *)(low - distance), t->area_bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			      0);
		if (memory != MAP_FAILED) {
			t->area = memory;
			return true;
		}
	}
	return false;
}

/* ---- functions ---- */

/* `place`: the result of fg_call_symbol_add() for the symbol by which the call is counted. */
static uintptr_t write_stub(struct target *t, uint32_t place, const struct fg_plan_entry *entry)
{
	static const uint8_t head[STUB_HEAD] = {
		0x48, 0x8d, 0x64, 0x24, 0x80,                   /* lea -128(%rsp),%rsp */
		0x68, 0,    0,    0,    0,                      /* push */
		0xff, 0x15, 0,    0,    0,    0,                /* call *(%rip) */
		0x48, 0x8d, 0xa4, 0x24, 0x88, 0x00, 0x00, 0x00, /* lea 136(%rsp),%rsp */
	};
	uint8_t *stub = t->area + AREA_HEAD + (size_t)t->stub_count++ * STUB_BYTES;
	uint8_t *code = stub + STUB_HEAD;

	memset(stub, TRAP, STUB_BYTES);
	memcpy(stub, head, STUB_HEAD);
	memcpy(stub + 6, &place, sizeof(place));
	fg_plan_set_distance(stub + 12, (uintptr_t)stub + 16, (uintptr_t)t->area);
	fg_plan_move(entry, t->info->dlpi_addr + entry->address, code, (uintptr_t)code);
	return (uintptr_t)stub;
}

static void write_jump(const struct target *t, const struct fg_plan_entry *entry, uintptr_t stub)
{
	uint8_t *at = (uint8_t *)(t->info->dlpi_addr + entry->address + entry->jump_at);

	at[0] = JUMP;
	fg_plan_set_distance(at + 1, (uintptr_t)at + FG_PLAN_JUMP, stub);
}

/* Is the entry wanted, and counted neither by the function itself nor under another name? */
static bool is_wanted(const struct target *t, const struct fg_plan_entry *entry,
		      char readable[FG_CALL_NAME_MAX])
{
	struct fg_call_symbol known;

	return fg_call_is_wanted(t->plan->texts + entry->name, t->path, readable) &&
	       !fg_call_symbol_find(t->info->dlpi_addr + entry->address, &known);
}

/*
 * Makes the code writable and maps memory for stubs. Returns FG_ENTRY_ACCEPTED, or the reason for a
 * failure.
 */
static enum fg_entry_refusal prepare(struct target *t)
{
	const uintptr_t code = (uintptr_t)fg_call_jump_code;

	if (!is_the_same(t))
		return FG_ENTRY_CHANGED;
	if (!map_area(t, t->object->entry_count))
		return FG_ENTRY_SYSTEM;
	/* Each step from here on is undone if a later step is refused. */
	if (mprotect(t->area, t->area_bytes, PROT_READ | PROT_EXEC) == 0 &&
	    mprotect(t->area, t->area_bytes, PROT_READ | PROT_WRITE) == 0 &&
	    protect_code(t, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		memcpy(t->area, &code, sizeof(code));
		return FG_ENTRY_ACCEPTED;
	}
	(void)protect_code(t, PROT_READ | PROT_EXEC);
	(void)munmap(t->area, t->area_bytes);
	return FG_ENTRY_SYSTEM;
}

static enum fg_entry_refusal add_jump(struct target *t, const struct fg_plan_entry *entry,
				      const char *readable)
{
	struct fg_call_symbol symbol = {.way = FG_CALL_WAY_ENTRY,
					.is_counted_only = entry->is_clone};
	uint32_t place = 0;

	if (fg_object_is_used_by_us(t->info->dlpi_addr + entry->address))
		return FG_ENTRY_RUNTIME;
	if (!t->is_prepared)
		t->refusal = prepare(t);
	t->is_prepared = true;
	if (t->refusal != FG_ENTRY_ACCEPTED)
		return t->refusal;
	if (fg_call_symbol_take(t->plan->texts + entry->name, readable, t->path, &symbol))
		place = fg_call_symbol_add(t->info->dlpi_addr + entry->address, &symbol);
	if (!place)
		return FG_ENTRY_FULL;
	write_jump(t, entry, write_stub(t, place, entry));
	return FG_ENTRY_ACCEPTED;
}

static void patch(struct target *t)
{
	const struct fg_plan_entry *entries = t->plan->entries + t->object->first_entry;
	char readable[FG_CALL_NAME_MAX];

	for (uint64_t i = 0; i < t->object->entry_count; i++) {
		if (!is_wanted(t, &entries[i], readable))
			continue;
		if (entries[i].refusal == FG_ENTRY_ACCEPTED)
			note(add_jump(t, &entries[i], readable), readable);
		else
			note(entries[i].refusal, readable);
	}
	if (!t->is_prepared || t->refusal != FG_ENTRY_ACCEPTED)
		return;
	(void)mprotect(t->area, t->area_bytes, PROT_READ | PROT_EXEC);
	(void)protect_code(t, PROT_READ | PROT_EXEC);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct fg_plan_view *plan = data;
	struct target t = {
		.plan = plan, .info = info, .path = info->dlpi_name ? info->dlpi_name : ""};

	(void)size;
	t.object = object_of_path(plan, t.path);
	if (t.object)
		patch(&t);
	return 0;
}

void fg_call_jumps_begin(void)
{
	struct fg_plan_view plan;
	size_t size = 0;
	void *bytes = NULL;

	if (!fg_call_jumps_plan)
		return;
	bytes = fg_call_file_map(fg_call_jumps_plan, &size);
	if (!fg_call_registers_init()) {
		note(FG_ENTRY_SYSTEM, NULL);
	} else if (fg_stat_field("/proc/self/stat", FG_STAT_THREADS) != 1) {
		note(FG_ENTRY_LATE, NULL);
	} else if (!bytes || !fg_plan_open(bytes, size, &plan)) {
		note(FG_ENTRY_OBJECT, NULL);
	} else {
		if (!object_of_path(&plan, ""))
			note(FG_ENTRY_LATE, fg_g.program);
		(void)dl_iterate_phdr(visit, &plan);
	}
	if (bytes)
		(void)munmap(bytes, size);
}

/* ---- the report ---- */

void fg_call_jumps_write(struct fg_thread *writer)
{
	for (uint32_t i = 0; fg_call_jumps_plan && i < FG_ENTRY_REFUSALS; i++) {
		if (refused[i].count == 0 && i != FG_ENTRY_ACCEPTED)
			continue;
		fg_record_begin(writer, FG_RECORD_ENTRIES);
		fg_record_number(writer, i);
		fg_record_number(writer, refused[i].count);
		for (uint32_t n = 0; n < refused[i].named; n++)
			fg_record_text(writer, refused[i].names[n], strlen(refused[i].names[n]));
		(void)fg_record_write(writer);
	}
}
