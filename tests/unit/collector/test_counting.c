// SPDX-License-Identifier: Apache-2.0
/*
 * A call may be counted without an atomic operation, except while another thread reads the counts.
 * A child of fork may do so again, whatever the parent's threads were doing. The collector is
 * linked into this program and off.
 */
#include "collector/process/threads.h"
#include "tests/support/fg_test.h"

enum {
	WRITER,
	FIRST,
	SECOND,
	COUNT
};

static struct fg_thread threads[COUNT];
static unsigned visits;

static int begin(void **state)
{
	(void)state;
	visits = 0;
	for (unsigned i = 0; i < COUNT; i++) {
		threads[i] = (struct fg_thread){.taken = 1, .index = i, .id = i + 1};
		atomic_store(&fg_g.threads[i], &threads[i]);
		atomic_store(&fg_g.tids[i], (pid_t)i + 1);
	}
	atomic_store(&fg_g.thread_high, COUNT);
	atomic_store(&threads[WRITER].busy, 1);
	return 0;
}

static void may_count(struct fg_thread *thread, bool expected)
{
	assert_int_equal(fg_thread_count_begin(thread), expected);
	assert_int_equal(fg_thread_is_counting(thread), expected);
	if (expected)
		fg_thread_count_end(thread);
}

/* The second thread is not visited yet, but must not count either. */
static void visit(struct fg_thread *writer, uint32_t slot, uint32_t thread)
{
	assert_ptr_equal(writer, &threads[WRITER]);
	assert_int_equal(thread, slot + 1);
	may_count(&threads[FIRST], false);
	may_count(&threads[SECOND], false);
	visits++;
}

FG_TEST_IN(nothing_is_counted_while_a_thread_is_visited, begin, NULL)
{
	may_count(&threads[FIRST], true);
	fg_threads_visit_others(&threads[WRITER], visit);
	assert_int_equal(visits, 2);
	may_count(&threads[FIRST], true);
	may_count(&threads[SECOND], true);
}

FG_TEST_IN(a_handler_does_not_count_into_interrupted_tables, begin, NULL)
{
	assert_true(fg_thread_count_begin(&threads[FIRST]));
	assert_false(fg_thread_count_begin(&threads[FIRST]));
	assert_false(fg_thread_enter(&threads[FIRST]));
	fg_thread_count_end(&threads[FIRST]);
	assert_true(fg_thread_enter(&threads[FIRST]));
	may_count(&threads[FIRST], false);
	fg_thread_leave(&threads[FIRST]);
}

FG_TEST_IN(a_child_of_fork_counts_whatever_its_parent_was_doing, begin, NULL)
{
	atomic_store(&fg_g.visiting, true);
	atomic_store(&threads[FIRST].counting, 1);
	fg_threads_forget();
	may_count(&threads[FIRST], true);
	may_count(&threads[SECOND], true);
}
