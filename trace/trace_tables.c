// SPDX-License-Identifier: Apache-2.0
/*
 * Adds the rows of counter tables to a trace, and completes the statistics of arguments that a
 * killed process wrote in part.
 */
#include "base/base.h"
#include "base/sort.h"
#include "trace/trace_records.h"

#include <string.h>

/* greater than the number of any written state */
static const uint32_t state_of_tables = UINT32_MAX;

struct site_32 {
	FG_TRACE_SITE_MEMBERS(uint32_t, uint32_t)
};

struct site_64 {
	FG_TRACE_SITE_MEMBERS(uint64_t, uint32_t)
};

static void add_value(struct fg_trace *trace, const struct fg_trace_value *owner, uint32_t measure,
		      uint64_t value)
{
	struct fg_trace_value *added = NULL;

	if (value == 0)
		return;
	added = &FG_APPEND(trace->values, trace->value_count, trace->value_capacity);
	*added = *owner;
	added->measure = measure;
	added->value = value;
}

static void add_counts(struct fg_trace *trace, const struct fg_trace_table *table,
		       const uint8_t *bytes)
{
	struct fg_trace_counts_row row;
	struct fg_trace_value owner = {.thread = table->thread};

	memcpy(&row, bytes, sizeof(row));
	owner.region = row.region;
	owner.path = row.path;
	for (uint32_t i = 0; i < FG_TRACE_COUNT_KINDS; i++)
		add_value(trace, &owner, table->measure + i, row.values[i]);
}

static void add_calls(struct fg_trace *trace, const struct fg_trace_table *table,
		      const uint8_t *bytes)
{
	struct fg_trace_calls_row row;
	struct fg_trace_value owner = {.thread = table->thread};

	memcpy(&row, bytes, sizeof(row));
	owner.region = row.region;
	owner.path = row.path;
	add_value(trace, &owner, row.measure, row.calls);
}

static struct site_64 read_site(const struct fg_trace *trace, const uint8_t *bytes)
{
	struct site_32 narrow;
	struct site_64 site;

	if (trace->header.word_bits != 32) {
		memcpy(&site, bytes, sizeof(site));
		return site;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return (struct site_64){
		.bytes = narrow.bytes,
		.blocks = narrow.blocks,
		.most = narrow.most,
		.at_peak = narrow.at_peak,
		.returned_bytes = narrow.returned_bytes,
		.returned_blocks = narrow.returned_blocks,
		.epoch = narrow.epoch,
		.temporary = narrow.temporary,
		.what = narrow.what,
		.thread = narrow.thread,
		.region = narrow.region,
		.path = narrow.path,
	};
}

/* Returns the difference; 0 if the counters were caught between two steps. */
static uint64_t left_of(uint64_t value, uint64_t less)
{
	return value > less ? value - less : 0;
}

static void add_site(struct fg_trace *trace, const struct fg_trace_table *table,
		     const uint8_t *bytes)
{
	const struct site_64 site = read_site(trace, bytes);
	const struct fg_trace_value owner = {.thread = site.thread,
					     .region = site.region,
					     .path = site.path,
					     .state = state_of_tables};
	const uint64_t held = left_of(site.bytes, site.returned_bytes);
	uint32_t first = table->measure;

	if (site.what >= FG_TRACE_HELD_WHAT)
		return;
	first += site.what * FG_HELD_KINDS;
	add_value(trace, &owner, first + FG_HELD_LIVE, held);
	add_value(trace, &owner, first + FG_HELD_LIVE_BLOCKS,
		  left_of(site.blocks, site.returned_blocks));
	add_value(trace, &owner, first + FG_HELD_PEAK,
		  site.epoch == trace->held_epochs[site.what] ? site.at_peak : held);
	add_value(trace, &owner, first + FG_HELD_OWN_PEAK, site.most);
	add_value(trace, &owner, first + FG_HELD_TEMPORARY, site.temporary);
	trace->held_measure = table->measure;
}

size_t fg_trace_row_size(const struct fg_trace *trace, const struct fg_trace_table *table)
{
	if (table->kind == FG_TABLE_COUNTS)
		return sizeof(struct fg_trace_counts_row);
	if (table->kind == FG_TABLE_CALLS)
		return sizeof(struct fg_trace_calls_row);
	if (table->kind != FG_TABLE_SITES)
		return 0;
	return trace->header.word_bits == 32 ? sizeof(struct site_32) : sizeof(struct site_64);
}

void fg_trace_begin_table(struct fg_trace *trace, const struct fg_trace_table *table)
{
	for (size_t i = 0; table->kind == FG_TABLE_SITES && i < FG_TRACE_HELD_WHAT; i++)
		if (table->epochs[i])
			trace->held_epochs[i] = table->epochs[i];
}

void fg_trace_add_row(struct fg_trace *trace, const struct fg_trace_table *table,
		      const uint8_t *row)
{
	if (table->kind == FG_TABLE_COUNTS)
		add_counts(trace, table, row);
	else if (table->kind == FG_TABLE_CALLS)
		add_calls(trace, table, row);
	else
		add_site(trace, table, row);
}

static void forget_measure(struct fg_trace *trace, uint32_t measure)
{
	if (measure < trace->measure_count && trace->measures[measure])
		trace->measures[measure] = "";
}

/*
 * Sorts statistics by their ids. Among entries with equal ids, final statistics come first, then
 * the statistics with the most values, which are the latest.
 */
FG_ORDER_BY(by_ids, struct fg_trace_domain, FG_UP(thread), FG_UP(region), FG_UP(path),
	    FG_UP(measure), FG_UP(argument), FG_UP(is_so_far), FG_DOWN(values))

static bool has_same_ids(const struct fg_trace_domain *a, const struct fg_trace_domain *b)
{
	return a->thread == b->thread && a->region == b->region && a->path == b->path &&
	       a->measure == b->measure && a->argument == b->argument;
}

static void settle_domains(struct fg_trace *trace)
{
	const bool is_killed = trace->header.end == FG_END_UNKNOWN;
	size_t kept = 0;

	if (is_killed && trace->domain_count > 0)
		qsort(trace->domains, trace->domain_count, sizeof(trace->domains[0]), by_ids);
	for (size_t i = 0; i < trace->domain_count; i++) {
		const struct fg_trace_domain *domain = &trace->domains[i];

		if (domain->is_so_far &&
		    (!is_killed || (kept > 0 && has_same_ids(&trace->domains[kept - 1], domain))))
			continue;
		trace->domains[kept++] = *domain;
	}
	trace->domain_count = kept;
}

void fg_trace_end_tables(struct fg_trace *trace)
{
	settle_domains(trace);
	/* A state written at the end of the process takes precedence. */
	if (trace->header.end != FG_END_UNKNOWN || !trace->held_measure)
		return;
	trace->last_state = state_of_tables;
	for (uint32_t what = 0; what < FG_TRACE_HELD_WHAT; what++) {
		const uint32_t first = trace->held_measure + what * FG_HELD_KINDS;

		forget_measure(trace, first + FG_HELD_LEAKED);
		forget_measure(trace, first + FG_HELD_LEAKED_BLOCKS);
		forget_measure(trace, first + FG_HELD_UNTOUCHED);
	}
}
