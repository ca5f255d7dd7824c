/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of a whole store stand on: an empty one in a folder that it has to make. */
#ifndef FG_TESTS_UNIT_STORE_FIXTURE_H
#define FG_TESTS_UNIT_STORE_FIXTURE_H

#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

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

#endif
