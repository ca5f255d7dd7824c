// SPDX-License-Identifier: Apache-2.0
/*
 * Points are kept at an interval, the first ones 10 microseconds apart.  When there is no more
 * room, every second one goes, and the interval doubles.  A peak between two points is not lost:
 * each point has the most that was held until then.
 */
#include "collector/counting/history.h"

#include "collector/sampler/writer.h"

#include <string.h>

enum {
	POINTS = 512,
	FIRST_INTERVAL_NS = 10000,
};

static struct point {
	uint64_t time_ns;
	struct fg_held_now held;
} points[POINTS];

static uint32_t point_count;
static uint64_t interval_ns = FIRST_INTERVAL_NS;
static _Atomic uint64_t due_ns;
static _Atomic bool is_busy;

static void thin_out(void)
{
	for (uint32_t i = 0; i < POINTS / 2; i++)
		points[i] = points[2 * i + 1];
	point_count = POINTS / 2;
	interval_ns *= 2;
}

static void keep(uint64_t now_ns, struct fg_held_now held)
{
	if (point_count == POINTS)
		thin_out();
	points[point_count++] = (struct point){.time_ns = now_ns, .held = held};
	atomic_store_explicit(&due_ns, now_ns + interval_ns, memory_order_relaxed);
}

void fg_history_look(struct fg_held_now now)
{
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);

	if (now_ns < atomic_load_explicit(&due_ns, memory_order_relaxed) ||
	    atomic_exchange(&is_busy, true))
		return;
	keep(now_ns, now);
	fg_mappings_look(now);
	atomic_store(&is_busy, false);
}

static void write_point(struct fg_thread *writer, const struct point *point, uint32_t state,
			uint32_t dump)
{
	fg_record_begin(writer, FG_RECORD_HELD_AT);
	fg_record_number(writer, state);
	fg_record_number(writer, point->time_ns);
	fg_record_number(writer, point->held.bytes);
	fg_record_number(writer, point->held.most);
	fg_record_number(writer, dump);
	if (!fg_record_write(writer))
		fg_lose(FG_LOSS_NO_ROOM, 1);
}

void fg_history_write_dump(struct fg_thread *writer, struct fg_held_now now, uint32_t dump)
{
	const struct point point = {.time_ns = fg_clock_ns(CLOCK_MONOTONIC), .held = now};

	write_point(writer, &point, 0, dump);
}

void fg_history_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state)
{
	const struct point last = {.time_ns = fg_clock_ns(CLOCK_MONOTONIC), .held = now};

	if (atomic_exchange(&is_busy, true))
		return; /* the thread that keeps a point may have been stopped for good */
	for (uint32_t i = 0; i < point_count; i++)
		write_point(writer, &points[i], state, 0);
	write_point(writer, &last, state, 0);
	fg_mappings_write(writer, now, state);
	atomic_store(&is_busy, false);
}

void fg_history_forget(void)
{
	fg_mappings_forget();
	point_count = 0;
	interval_ns = FIRST_INTERVAL_NS;
	atomic_store(&due_ns, 0);
	atomic_store(&is_busy, false);
}
