/* SPDX-License-Identifier: Apache-2.0 */
/* The basis of the store's tests: an empty store in a folder that the store must create. */
#ifndef FG_TESTS_UNIT_STORE_FIXTURE_H
#define FG_TESTS_UNIT_STORE_FIXTURE_H

#include "store/db.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"
#include "tests/unit/store/samples.h"

struct fixture {
	struct fg_scratch scratch;
	struct fg_store *store;
	struct fg_error err;
};

static inline void must(struct fixture *f, int status)
{
	if (status != FG_OK)
		fail_msg("%s", f->err.message);
}

static inline void open_store(struct fixture *f)
{
	must(f, fg_store_open(fg_scratch_path(&f->scratch, "deep/er/store.db"), 0, &f->store,
			      &f->err));
}

static inline int setup(void **state)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));

	fg_scratch_init(&f->scratch);
	open_store(f);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	fg_store_close(f->store);
	fg_scratch_release(&f->scratch);
	free(f);
	return 0;
}

static inline const char *sample_id(uint64_t seed)
{
	static char ring[4][37];
	static unsigned next;
	char *text = ring[next++ % 4];

	(void)snprintf(text, sizeof(ring[0]), "0198f000-0000-7000-8000-%012llx",
		       (unsigned long long)seed);
	return text;
}

static inline int save_plain(struct fg_store *store, const struct fg_stored_run *run,
			     struct fg_error *err)
{
	return fg_store_save(store, &run->run, run->profiles, run->report, err);
}

static inline void save_samples(struct fixture *f, uint64_t first, uint64_t last,
				const struct fg_sample_shape *shape)
{
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t seed = first; seed <= last; seed++) {
		struct fg_stored_run s = {0};

		fg_sample_run(&s, seed, shape);
		must(f, save_plain(f->store, &s, &f->err));
		fg_stored_run_release(&s);
	}
	must(f, fg_store_batch_end(f->store, &f->err));
}

/*
 * Mean self time of a function in one arm, computed from the loaded run to check the store's
 * query.
 */
static inline double self_of(struct fixture *f, const char *run, const char *name, uint8_t arm)
{
	struct fg_stored_run s = {0};
	double sum = 0;
	unsigned rows = 0;

	must(f, fg_store_load(f->store, run, &s, &f->err));
	for (size_t r = 0; r < s.profiles[0]->row_count; r++) {
		const struct fg_profile_row *row = &s.profiles[0]->rows[r];

		rows += row->arm == arm;
		for (uint32_t i = 0; i < row->count && row->arm == arm; i++) {
			const struct fg_profile_node *node = &s.profiles[0]->nodes[row->nodes[i]];

			if (strcmp(s.profiles[0]->functions[node->function].name, name) == 0)
				sum += row->values[i];
		}
	}
	fg_stored_run_release(&s);
	return sum / rows;
}

#endif
