// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel lists the mappings in /proc/self/smaps. Mappings of the same name are added up. The
 * collector's own memory, which may be part of any anonymous mapping, is subtracted.
 *
 * The kernel needs about a microsecond to list a mapping, and more for a large mapping. So before
 * the end, the mappings are read only when the heap has grown by a sixteenth, and only if reading
 * has taken at most 1/64 of the time.
 */
#include "collector/counting/live.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/writer.h"

#include <string.h>

enum {
	NAMES = 192,
	NAME_SIZE = 256,
	GROWN_BY = 16,      /* divisor: growth of the heap before the next reading */
	PUT_OFF_BY = 64,    /* divisor: growth of the heap before the next try if time is short */
	FIRST_AT = 1 << 18, /* bytes of the heap below which mappings are read only at the end */
	SHARE_OF_TIME = 64,
	LARGE = 1 << 20,
};

struct mapping {
	char name[NAME_SIZE];
	uint64_t resident;
};

struct snapshot {
	uint64_t time_ns;
	struct fg_held_now held;
	uint64_t anonymous; /* anonymous resident bytes of all mappings, without the collector's */
	uint32_t count;
	struct mapping items[NAMES];
};

static struct snapshot at_peak;
static struct snapshot at_end;
static uint64_t spent_ns;
static uint64_t began_ns;
static _Atomic size_t look_at = FIRST_AT; /* size of the heap at the next reading, in bytes */
static _Atomic bool is_busy;

/* ---- reading ---- */

struct reader {
	struct snapshot *into;
	struct mapping *mapping;
};

static struct mapping *find(struct snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->count; i++)
		if (strncmp(snapshot->items[i].name, name, NAME_SIZE - 1) == 0)
			return &snapshot->items[i];
	/* The last row collects the names that do not fit. */
	if (snapshot->count == NAMES - 1)
		name = "[others]";
	if (snapshot->count == NAMES)
		return &snapshot->items[NAMES - 1];

	struct mapping *made = &snapshot->items[snapshot->count++];

	memset(made, 0, sizeof(*made));
	(void)strncpy(made->name, name, NAME_SIZE - 1);
	return made;
}

static bool is_ours(const char *name)
{
	const size_t length = strlen(name);
	const size_t suffix = sizeof(FG_TRACE_SUFFIX) - 1;

	return strstr(name, "/libfastgate_collector") ||
	       (length > suffix && strcmp(name + length - suffix, FG_TRACE_SUFFIX) == 0);
}

/* Reads a line such as "7f00-7f01 rw-p 00000000 00:00 0    /path": five fields, then the name. */
static void read_header(struct reader *reader, const char *at)
{
	for (int field = 0; field < 5 && *at; field++) {
		at += strcspn(at, " ");
		while (*at == ' ')
			at++;
	}
	if (is_ours(at))
		at = "[fastgate]";
	reader->mapping = find(reader->into, *at ? at : "[anonymous]");
}

/* Parses "Rss: 12 kB". */
static uint64_t read_size(const char *at)
{
	uint64_t value = 0;

	while (*at == ' ')
		at++;
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value * 1024;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static void read_line(void *context, const char *line)
{
	static const char resident[] = "Rss:";
	static const char anonymous[] = "Anonymous:";
	struct reader *reader = context;

	if (is_hex(line[0]))
		read_header(reader, line);
	else if (!reader->mapping)
		return;
	else if (strncmp(line, resident, strlen(resident)) == 0)
		reader->mapping->resident += read_size(line + strlen(resident));
	else if (strncmp(line, anonymous, strlen(anonymous)) == 0 &&
		 strcmp(reader->mapping->name, "[fastgate]") != 0)
		reader->into->anonymous += read_size(line + strlen(anonymous));
}

/* ---- the collector's memory ---- */

static uint64_t own_resident(void)
{
	uintptr_t at = 0;
	uintptr_t next = 0;
	uint64_t bytes = 0;

	while (at != UINTPTR_MAX) {
		const uintptr_t end = fg_own_memory_end(at, UINTPTR_MAX, &next);

		if (end)
			bytes += fg_resident_bytes(fg_page_down(at), fg_page_up(end));
		at = end ? end : next;
	}
	return bytes;
}

/* ---- snapshots ---- */

static bool take(struct snapshot *snapshot, struct fg_held_now held)
{
	static char buffer[FG_PROC_LINES_ROOM];
	struct reader reader = {.into = snapshot};
	struct mapping *anonymous = NULL;
	uint64_t own = 0;
	bool is_done = false;

	snapshot->count = 0;
	snapshot->anonymous = 0;
	snapshot->held = held;
	snapshot->time_ns = fg_clock_ns(CLOCK_MONOTONIC);
	is_done = fg_proc_lines("/proc/self/smaps", buffer, read_line, &reader);
	own = own_resident();
	anonymous = find(snapshot, "[anonymous]");
	own = own < anonymous->resident ? own : anonymous->resident;
	anonymous->resident -= own;
	snapshot->anonymous -= own < snapshot->anonymous ? own : snapshot->anonymous;
	find(snapshot, "[fastgate]")->resident += own;
	return is_done;
}

static void look(struct fg_held_now now)
{
	const uint64_t start_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const bool is_due = spent_ns <= (start_ns - began_ns) / SHARE_OF_TIME;

	if (!began_ns)
		began_ns = start_ns;
	if (is_due)
		(void)take(&at_peak, now);
	spent_ns += is_due ? fg_clock_ns(CLOCK_MONOTONIC) - start_ns : 0;
	atomic_store(&look_at, now.bytes + now.bytes / (is_due ? GROWN_BY : PUT_OFF_BY));
}

void fg_mappings_look(struct fg_held_now now)
{
	if (now.bytes < atomic_load_explicit(&look_at, memory_order_relaxed) || fg_g.sandboxed ||
	    atomic_exchange(&is_busy, true))
		return;
	look(now);
	atomic_store(&is_busy, false);
}

/* ---- writing the trace ---- */

enum moment {
	MOMENT_PEAK = 1,
	MOMENT_END = 2,
};

static void write_snapshot(struct fg_thread *writer, const struct snapshot *snapshot,
			   enum moment moment, uint32_t state)
{
	for (uint32_t i = 0; i < snapshot->count; i++) {
		const struct mapping *mapping = &snapshot->items[i];

		if (!mapping->resident)
			continue;
		fg_record_begin(writer, FG_RECORD_RESIDENT);
		fg_record_number(writer, state);
		fg_record_number(writer, moment);
		fg_record_number(writer, snapshot->time_ns);
		fg_record_number(writer, snapshot->held.bytes);
		fg_record_number(writer, mapping->resident);
		fg_record_text(writer, mapping->name, strlen(mapping->name));
		if (!fg_record_write(writer))
			fg_count_loss(FG_LOSS_NO_ROOM, 1);
	}
}

/*
 * Adds a note to the trace if the process has LARGE or more bytes of anonymous memory, and less
 * than a quarter of it was counted.
 */
static void note_uncounted(struct fg_thread *writer, const struct snapshot *snapshot)
{
	if (snapshot->anonymous < LARGE || snapshot->held.most >= snapshot->anonymous / 4)
		return;
	(void)fg_note(writer,
		      "most of the process's memory does not come from the counted allocator: the "
		      "program has static arrays, maps memory itself, or has its own allocator; "
		      "fastgate view -V resident shows its mappings");
}

void fg_mappings_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state)
{
	/* A thread that is reading mappings may have been stopped for good: never wait for it. */
	if (fg_g.sandboxed || atomic_exchange(&is_busy, true))
		return;
	if (take(&at_end, now)) {
		write_snapshot(writer, at_peak.count ? &at_peak : &at_end, MOMENT_PEAK, state);
		write_snapshot(writer, &at_end, MOMENT_END, state);
		note_uncounted(writer, &at_end);
	}
	atomic_store(&is_busy, false);
}

void fg_mappings_forget(void)
{
	at_peak.count = 0;
	spent_ns = 0;
	began_ns = 0;
	atomic_store(&look_at, FIRST_AT);
	atomic_store(&is_busy, false);
}
