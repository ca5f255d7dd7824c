// SPDX-License-Identifier: Apache-2.0
/*
 * A thread remembers what it threw last.  What it catches is looked up there by its address, and
 * counted in a table of pairs of call paths that all threads share without a lock: an entry is
 * named once and then only counted.
 */
#include "collector/counting/catches.h"

#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"

#include <stddef.h>
#include <string.h>
#include <unwind.h>

enum {
	PAIRS = 8192,
	PROBES = 64, /* at most, for a place in the table */
	REMEMBERED =
		16, /* exceptions at a time, by thread: each may be thrown while another lives */
};

enum pair_state {
	PAIR_FREE,
	PAIR_BEING_NAMED,
	PAIR_NAMED,
};

struct pair {
	_Atomic uint8_t state;
	bool is_again; /* it had been caught before */
	uint32_t thrown;
	uint32_t caught;
	uint32_t measure;
	_Atomic uint32_t count;
};

struct thrown {
	const void *exception;
	uint32_t path;
	uint32_t measure;
	bool is_caught;
};

/* By slot, newest at `next` - 1; touched by its thread alone. */
static struct memory {
	struct thrown items[REMEMBERED];
	uint32_t next;
} memories[FG_THREADS_MAX];

static struct pair pairs[PAIRS];
static _Atomic uint32_t lost; /* catches for which there was no room */

static struct thrown *find(struct memory *memory, const void *exception)
{
	for (uint32_t back = 1; back <= REMEMBERED; back++) {
		struct thrown *thrown = &memory->items[(memory->next - back) % REMEMBERED];

		if (thrown->exception == exception)
			return thrown;
	}
	return NULL;
}

/* The object lies right after the header by whose address it is caught. */
void fg_catches_throw(const struct fg_thread *thread, const void *object, uint32_t path,
		      uint32_t measure)
{
	struct memory *memory = &memories[thread->index];

	memory->items[memory->next++ % REMEMBERED] = (struct thrown){
		.exception = (const struct _Unwind_Exception *)object - 1,
		.path = path,
		.measure = measure,
	};
}

static bool is_same(const struct pair *pair, const struct pair *wanted)
{
	return pair->thrown == wanted->thrown && pair->caught == wanted->caught &&
	       pair->measure == wanted->measure && pair->is_again == wanted->is_again;
}

/* Two threads may name one pair twice: readers add them up. */
static bool add(struct pair *pair, const struct pair *wanted)
{
	uint8_t state = PAIR_FREE;

	if (atomic_compare_exchange_strong(&pair->state, &state, PAIR_BEING_NAMED)) {
		pair->thrown = wanted->thrown;
		pair->caught = wanted->caught;
		pair->measure = wanted->measure;
		pair->is_again = wanted->is_again;
		atomic_store_explicit(&pair->state, PAIR_NAMED, memory_order_release);
	} else if (state != PAIR_NAMED || !is_same(pair, wanted)) {
		return false;
	}
	(void)atomic_fetch_add_explicit(&pair->count, 1, memory_order_relaxed);
	return true;
}

void fg_catches_catch(const struct fg_thread *thread, const void *exception, uint32_t path)
{
	struct thrown *thrown = find(&memories[thread->index], exception);
	struct pair wanted = {.caught = path};
	uint32_t at = 0;

	if (thrown) {
		wanted.thrown = thrown->path;
		wanted.measure = thrown->measure;
		wanted.is_again = thrown->is_caught;
		thrown->is_caught = true;
	}
	at = fg_spread((uint64_t)wanted.thrown << 32 | wanted.caught);
	for (unsigned i = 0; i < PROBES; i++)
		if (add(&pairs[(at + i) % PAIRS], &wanted))
			return;
	(void)atomic_fetch_add(&lost, 1);
}

static void write_pair(struct fg_thread *writer, struct pair *pair)
{
	const uint32_t count = atomic_exchange(&pair->count, 0);

	if (!count)
		return;
	fg_record_begin(writer, FG_RECORD_CAUGHT);
	fg_record_number(writer, pair->thrown);
	fg_record_number(writer, pair->caught);
	fg_record_number(writer, pair->measure);
	fg_record_number(writer, pair->is_again);
	fg_record_number(writer, count);
	if (!fg_record_write(writer))
		fg_lose(FG_LOSS_NO_ROOM, 1);
}

void fg_catches_write(struct fg_thread *writer)
{
	for (unsigned i = 0; i < PAIRS; i++)
		if (atomic_load_explicit(&pairs[i].state, memory_order_acquire) == PAIR_NAMED)
			write_pair(writer, &pairs[i]);
	if (atomic_exchange(&lost, 0))
		(void)fg_note(writer, "exceptions were thrown and caught on too many pairs of call "
				      "paths: where some were caught is not known");
}

void fg_catches_forget(void)
{
	memset(pairs, 0, sizeof(pairs));
	memset(memories, 0, fg_g.thread_high * sizeof(memories[0]));
	atomic_store(&lost, 0);
}
