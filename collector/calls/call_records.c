// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_tables.h"
#include "collector/sampler/writer.h"

#include <string.h>

static _Atomic uint32_t measure_count; /* measures named in this process's trace file */

/* Returns the number of a measure in the trace, assigned at its first use. */
static uint32_t number_of(_Atomic uint32_t *measure)
{
	uint32_t number = atomic_load(measure);
	uint32_t fresh = 0;

	if (number)
		return number;
	fresh = atomic_fetch_add(&measure_count, 1) + 1;
	return atomic_compare_exchange_strong(measure, &number, fresh) ? fresh : number;
}

static uint32_t measure_of(const struct fg_call_entry *entry)
{
	return number_of(&fg_called[entry->key.number - 1].measure);
}

static bool name_measure(struct fg_thread *writer, uint32_t number, const char *family,
			 const char *name)
{
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, number);
	fg_record_texts(writer, family, name);
	return fg_record_write(writer);
}

/*
 * Writes the function's measures, the ways in which its calls are counted and its signature, once
 * per trace file.
 */
static void describe(struct fg_thread *writer, uint32_t function)
{
	struct fg_called *called = &fg_called[function];
	const uint32_t number = number_of(&called->measure);

	if (called->is_described)
		return;
	called->is_described = name_measure(writer, number, "calls.", called->name);
	if (called->ways) {
		fg_record_begin(writer, FG_RECORD_CALL_WAYS);
		fg_record_number(writer, number);
		fg_record_number(writer, called->ways);
		(void)fg_record_write(writer);
	}
	if (called->is_timed)
		(void)name_measure(writer, number_of(&called->time_measure), "time.", called->name);
	if (!called->signature)
		return;
	fg_record_begin(writer, FG_RECORD_SIGNATURE);
	fg_record_number(writer, number);
	fg_record_text(writer, called->signature->text, strlen(called->signature->text));
	(void)fg_record_write(writer);
}

static void begin_record(struct fg_thread *writer, enum fg_trace_record kind, uint32_t thread,
			 const struct fg_call_entry *entry)
{
	fg_record_begin(writer, kind);
	fg_record_number(writer, thread);
	fg_record_number(writer, entry->key.region);
	fg_record_number(writer, entry->key.path);
}

static void write_entry(struct fg_thread *writer, uint32_t thread, struct fg_call_entry *entry)
{
	if (!entry->calls)
		return;
	describe(writer, entry->key.number - 1);
	begin_record(writer, FG_RECORD_COUNTS, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_record_number(writer, entry->calls);
	if (fg_record_write(writer)) {
		entry->calls = 0;
		entry->flush_at = 0;
	} else {
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
	}
}

void fg_call_entry_describe(struct fg_thread *writer, struct fg_call_entry *entry)
{
	describe(writer, entry->key.number - 1);
	entry->measure = measure_of(entry);
}

static void write_domains(struct fg_thread *writer, uint32_t thread,
			  const struct fg_call_table *table, const struct fg_call_entry *entry,
			  enum fg_trace_record kind)
{
	const struct fg_signature *signature = fg_called[entry->key.number - 1].signature;

	for (unsigned i = 0; entry->domains && i < signature->count; i++) {
		struct fg_call_domain *domain = &table->domains[entry->domains - 1 + i];

		if (!fg_domain_values(domain))
			continue;
		begin_record(writer, kind, thread, entry);
		fg_record_number(writer, measure_of(entry));
		fg_record_number(writer, i);
		if (kind == FG_RECORD_DOMAIN)
			fg_domain_take(writer, domain);
		else
			fg_domain_append(writer, domain);
		if (!fg_record_write(writer))
			fg_count_loss(FG_LOSS_NO_ROOM, 1);
	}
}

static void write_times(struct fg_thread *writer, uint32_t thread,
			const struct fg_call_entry *entry)
{
	if (!entry->times || !entry->times->returned)
		return;
	begin_record(writer, FG_RECORD_COUNTS, thread, entry);
	fg_record_number(writer, number_of(&fg_called[entry->key.number - 1].time_measure));
	fg_record_number(writer, entry->times->outermost_ns);
	if (!fg_record_write(writer))
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
	begin_record(writer, FG_RECORD_CALL_TIMES, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_call_times_take(writer, entry->times);
	if (!fg_record_write(writer))
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

void fg_call_values_flush(struct fg_thread *writer, uint32_t thread,
			  const struct fg_call_entry *entry)
{
	if (!entry->values || !entry->values->rows)
		return;
	describe(writer, entry->key.number - 1);
	begin_record(writer, FG_RECORD_CALL_VALUES, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_call_values_take(writer, entry->values,
			    fg_called[entry->key.number - 1].signature->count);
	if (!fg_record_write(writer))
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

void fg_calls_flush(struct fg_thread *writer, uint32_t slot, uint32_t thread)
{
	struct fg_call_table *table = &fg_call_tables[slot];

	for (uint32_t i = 0; table->entries.entries && i <= table->entries.mask; i++) {
		struct fg_call_entry *entry = fg_path_table_at(&table->entries, i);

		if (!entry)
			continue;
		write_entry(writer, thread, entry);
		write_domains(writer, thread, table, entry, FG_RECORD_DOMAIN);
		write_times(writer, thread, entry);
		fg_call_values_flush(writer, thread, entry);
	}
}

void fg_call_details_flush(struct fg_thread *writer, const struct fg_call_table *table,
			   struct fg_call_entry *entry)
{
	write_domains(writer, writer->id, table, entry, FG_RECORD_DOMAIN_SO_FAR);
	write_times(writer, writer->id, entry);
	fg_call_values_flush(writer, writer->id, entry);
	entry->flush_at = 2 * entry->calls;
}

static void flush_unplaced(struct fg_thread *writer)
{
	for (uint32_t i = 0; i < fg_called_count; i++) {
		struct fg_call_entry entry = {.key.number = i + 1,
					      .calls = atomic_exchange(&fg_calls_unplaced[i], 0)};

		write_entry(writer, 0, &entry);
	}
}

/* Records whether each pattern matched a function, and which requests could not be met. */
static void write_patterns(struct fg_thread *writer)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		const struct fg_call_pattern *pattern = &fg_call_patterns[i];
		const char *where = pattern->is_reached ? NULL : pattern->exported_by;

		if (pattern->only_known && !pattern->is_exact &&
		    strcmp(pattern->library, "libm") != 0)
			continue; /* libmvec, which few programs have */
		fg_record_begin(writer, FG_RECORD_PATTERN);
		fg_record_number(writer, pattern->is_reached);
		fg_record_number(writer, pattern->unresolved);
		fg_record_text(writer, pattern->text, strlen(pattern->text));
		fg_record_text(writer, pattern->library, strlen(pattern->library));
		fg_record_number(writer, where != NULL);
		if (where)
			fg_record_path(writer, *where ? where : fg_g.program);
		fg_record_number(writer, pattern->is_unsigned);
		fg_record_number(writer, pattern->is_untimed);
		fg_record_number(writer, pattern->is_overloaded);
		(void)fg_record_write(writer);
	}
}

void fg_call_records_begin(void)
{
	atomic_store(&measure_count, 0);
	for (uint32_t i = 0; i < fg_called_count; i++) {
		fg_called[i].is_described = false;
		atomic_store(&fg_called[i].measure, 0);
		atomic_store(&fg_called[i].time_measure, 0);
	}
}

void fg_call_records_finish(struct fg_thread *writer)
{
	flush_unplaced(writer);
	/* A function named without wildcards is listed even if it was never called. */
	for (uint32_t i = 0; i < fg_called_count; i++)
		if (fg_called[i].is_named)
			describe(writer, i);
	write_patterns(writer);
	if (fg_called_table_full)
		(void)fg_note(writer, "more than 32768 functions are requested: some are left out");
	if (fg_call_nameless)
		(void)fg_note(writer,
			      "an object compiled with -finstrument-functions or -mfentry has "
			      "no symbol table: only functions that it exports are counted");
}
