// SPDX-License-Identifier: Apache-2.0
#include "collector/counting/classes.h"

#include "base/attrs.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"

#include <string.h>

enum {
	CLASSES = 42, /* 0, 1, 2, 4, 8, ... 2^40: each ends there */
	CHUNK_SITES = 4096,
	CHUNKS = (FG_BLOCK_SITES_MAX + 1) / CHUNK_SITES,
	FIRST_MEASURE = 2048, /* the number of the first name in the trace */
};

struct histogram {
	_Atomic size_t counts[CLASSES];
};

/* The trace's names; model/measure.c describes them. */
static const char *const names[FG_CLASS_KINDS] = {
	[FG_CLASSES_OF_SIZES] = "heap.sizes.",
	[FG_CLASSES_OF_LIFETIMES] = "heap.lifetimes.",
};

static struct histogram *_Atomic chunks[FG_CLASS_KINDS][CHUNKS];
static _Atomic uint64_t met[FG_CLASS_KINDS]; /* bits of classes */

static unsigned class_of(uint64_t value)
{
	const unsigned bits = value > 1 ? 64 - (unsigned)__builtin_clzll(value - 1) : 0;

	if (value == 0)
		return 0;
	return bits + 1 < CLASSES ? bits + 1 : CLASSES - 1;
}

static uint64_t end_of(unsigned class)
{
	return class == 0 ? 0 : UINT64_C(1) << (class - 1);
}

static struct histogram *histogram_of(enum fg_class_kind kind, uint32_t number, bool make)
{
	struct histogram *_Atomic *place = &chunks[kind][number / CHUNK_SITES];
	struct histogram *chunk = atomic_load_explicit(place, memory_order_acquire);
	void *made = NULL;

	if (!chunk && make) {
		made = fg_own_map(CHUNK_SITES * sizeof(struct histogram), MAP_NORESERVE);
		if (made && atomic_compare_exchange_strong(place, &chunk, made))
			chunk = made;
	}
	return chunk ? &chunk[number % CHUNK_SITES] : NULL;
}

void fg_classes_add(enum fg_class_kind kind, uint32_t number, uint64_t value, int count)
{
	struct histogram *histogram = histogram_of(kind, number, true);
	const unsigned class = class_of(value);

	if (!histogram)
		return;
	(void)atomic_fetch_add_explicit(&histogram->counts[class], (size_t)count,
					memory_order_relaxed);
	if (FG_UNLIKELY(!(atomic_load_explicit(&met[kind], memory_order_relaxed) >> class & 1)))
		(void)atomic_fetch_or(&met[kind], UINT64_C(1) << class);
}

/* ---- into the trace ---- */

static uint32_t measure_of(enum fg_class_kind kind, unsigned class)
{
	return FIRST_MEASURE + (uint32_t)kind * CLASSES + class;
}

bool fg_classes_are_known(enum fg_class_kind kind, uint32_t number)
{
	const struct histogram *histogram = histogram_of(kind, number, false);

	for (unsigned i = 0; histogram && i < CLASSES; i++)
		if (atomic_load(&histogram->counts[i]))
			return true;
	return false;
}

void fg_classes_write(struct fg_thread *writer, enum fg_class_kind kind, uint32_t number)
{
	const struct histogram *histogram = histogram_of(kind, number, false);

	for (unsigned i = 0; histogram && i < CLASSES; i++) {
		const size_t count = atomic_load(&histogram->counts[i]);

		if (!count)
			continue;
		fg_record_number(writer, measure_of(kind, i));
		fg_record_number(writer, count);
	}
}

static void introduce(struct fg_thread *writer, enum fg_class_kind kind, unsigned class)
{
	char text[FG_NUMBER_SIZE + 1];

	text[fg_number_text(end_of(class), text)] = '\0';
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, measure_of(kind, class));
	fg_record_texts(writer, names[kind], text);
	(void)fg_record_write(writer);
}

void fg_classes_introduce(struct fg_thread *writer)
{
	for (unsigned kind = 0; kind < FG_CLASS_KINDS; kind++) {
		const uint64_t bits = atomic_load(&met[kind]);

		for (unsigned i = 0; i < CLASSES; i++)
			if (bits >> i & 1)
				introduce(writer, (enum fg_class_kind)kind, i);
	}
}

void fg_classes_forget(void)
{
	for (unsigned kind = 0; kind < FG_CLASS_KINDS; kind++) {
		for (unsigned i = 0; i < CHUNKS; i++) {
			struct histogram *chunk = atomic_load(&chunks[kind][i]);

			if (chunk)
				(void)madvise(chunk, CHUNK_SITES * sizeof(*chunk), MADV_DONTNEED);
		}
		atomic_store(&met[kind], 0);
	}
}
