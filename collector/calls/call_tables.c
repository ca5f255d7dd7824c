// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_tables.h"

#include <sys/mman.h>

enum {
	DOMAINS_MAX = 1 << 15, /* arguments with statistics, per thread */
	TIMES_MAX = 1 << 14,
	VALUES_MAX = 1 << 14,
};

struct fg_call_table fg_call_tables[FG_THREADS_MAX];
_Atomic uint64_t fg_calls_unplaced[FG_CALLED_MAX];

/* Returns the array, which is allocated at its first use; NULL: out of memory. */
static void *array_of(void **array, size_t size)
{
	if (!*array)
		*array = fg_own_map(size, MAP_NORESERVE);
	return *array;
}

/* Gives the entry statistics of its arguments. If they do not fit, calls are still counted. */
static void add_domains(struct fg_call_table *table, struct fg_call_entry *entry)
{
	const struct fg_signature *signature = fg_called[entry->key.number - 1].signature;

	if (!signature || table->domain_count + signature->count > DOMAINS_MAX ||
	    !array_of((void **)&table->domains, DOMAINS_MAX * sizeof(table->domains[0])))
		return;
	entry->domains = table->domain_count + 1;
	table->domain_count += signature->count;
	if (fg_call_values_wanted() && table->value_count < VALUES_MAX &&
	    array_of((void **)&table->values, VALUES_MAX * sizeof(table->values[0])))
		entry->values = &table->values[table->value_count++];
}

static void add_times(struct fg_call_table *table, struct fg_call_entry *entry)
{
	if (fg_called[entry->key.number - 1].is_timed && table->time_count < TIMES_MAX &&
	    array_of((void **)&table->times, TIMES_MAX * sizeof(table->times[0])))
		entry->times = &table->times[table->time_count++];
}

struct fg_call_entry *fg_call_entry_get(struct fg_call_table *table, const struct fg_path_key *key)
{
	const uint8_t *entries = table->entries.entries;
	const uint32_t used = table->entries.used;
	struct fg_call_entry *entry = fg_path_table_get(&table->entries, key);

	/* Sites point to entries, which have just moved. */
	if (table->entries.entries != entries)
		fg_call_sites_forget(table->sites);
	if (entry && table->entries.used > used) {
		add_domains(table, entry);
		add_times(table, entry);
	}
	return entry;
}

static void forget_array(void *array, size_t size)
{
	if (array)
		(void)madvise(array, size, MADV_DONTNEED);
}

void fg_call_tables_clear(void)
{
	for (uint32_t i = 0; i < FG_THREADS_MAX; i++) {
		struct fg_call_table *table = &fg_call_tables[i];

		/* in a child, the parent's file is not mapped */
		table->entries = (struct fg_path_table){0};
		forget_array(table->domains, DOMAINS_MAX * sizeof(table->domains[0]));
		forget_array(table->times, TIMES_MAX * sizeof(table->times[0]));
		forget_array(table->values, VALUES_MAX * sizeof(table->values[0]));
		fg_call_sites_forget(table->sites);
		table->domain_count = 0;
		table->time_count = 0;
		table->value_count = 0;
	}
	for (uint32_t i = 0; i < fg_called_count; i++)
		atomic_store(&fg_calls_unplaced[i], 0);
}
