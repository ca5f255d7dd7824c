// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/library.h"
#include "tests/support/fg_test.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
	THREADS = 8,
	ROUNDS = 200,
};

struct functions {
	__typeof__(cos) *cos;
	__typeof__(hypot) *hypot;
};

static const char *const names[] = {"cos", "hypot"};
static const char *const names_of_others[] = {"cos", "fg_no_such_function"};

static atomic_int opened; /* calls of dlopen() */
static atomic_int flags_seen;

void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags);

void *__wrap_dlopen(const char *file, int flags)
{
	atomic_fetch_add(&opened, 1);
	atomic_store(&flags_seen, flags);
	return __real_dlopen(file, flags);
}

FG_TEST(its_functions_are_called_with_their_types)
{
	struct functions table = {0};
	struct fg_library library = FG_LIBRARY(table, names, "libm.so.6", "libc6", "to count");

	assert_int_equal(fg_library_open(&library, NULL), FG_OK);
	assert_int_equal(flags_seen, RTLD_NOW | RTLD_LOCAL);
	assert_true(table.cos(0.0) > 0.99 && table.cos(0.0) < 1.01);
	assert_true(table.hypot(3.0, 4.0) > 4.99 && table.hypot(3.0, 4.0) < 5.01);
}

FG_TEST(a_missing_library_is_reported_in_one_line)
{
	struct functions table = {0};
	struct fg_library library =
		FG_LIBRARY(table, names, "libfg_none.so.7", "libfg7", "to count");
	struct fg_error err = {0};

	for (int i = 1; i <= 2; i++) {
		atomic_store(&opened, 0);
		assert_int_equal(fg_library_open(&library, &err), FG_EUNSUPPORTED);
		assert_int_equal(err.code, FG_EUNSUPPORTED);
		assert_string_equal(
			err.message,
			"libfg_none.so.7 is needed to count but cannot be opened: install the "
			"package libfg7 "
			"(libfg_none.so.7: cannot open shared object file: No such file or directory)");
		assert_int_equal(opened, 1); /* tried again: it may be installed now */
	}
	library.package = "";
	assert_int_equal(fg_library_open(&library, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, ": install it ("));
	assert_null(table.cos);
}

FG_TEST(a_missing_function_leaves_the_table_empty)
{
	struct functions table = {0};
	struct fg_library library =
		FG_LIBRARY(table, names_of_others, "libm.so.6", "libc6", "to count");
	struct fg_error err = {0};

	assert_int_equal(fg_library_open(&library, &err), FG_EUNSUPPORTED);
	assert_string_equal(
		err.message,
		"libm.so.6, which is needed to count, has no function fg_no_such_function: "
		"unexpected version");
	assert_null(table.cos);
	assert_null(table.hypot);
	library.names = names;
	assert_int_equal(fg_library_open(&library, &err), FG_OK);
	assert_non_null(table.cos);
}

struct crowd {
	struct functions table;
	struct fg_library counted;
	pthread_barrier_t barrier;
	atomic_int failed;
};

static void *open_and_call(void *context)
{
	struct crowd *crowd = context;
	double length = 0.0;

	(void)pthread_barrier_wait(&crowd->barrier);
	if (fg_library_open(&crowd->counted, NULL) == FG_OK)
		length = crowd->table.hypot(3.0, 4.0);
	if (length < 4.99 || length > 5.01)
		atomic_fetch_add(&crowd->failed, 1);
	return NULL;
}

FG_TEST(many_threads_open_it_once)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct crowd crowd = {
			.counted = FG_LIBRARY(crowd.table, names, "libm.so.6", "libc6", "to count"),
		};
		pthread_t threads[THREADS];

		atomic_store(&opened, 0);
		assert_int_equal(pthread_barrier_init(&crowd.barrier, NULL, THREADS), 0);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, open_and_call, &crowd),
					 0);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(crowd.failed, 0);
		assert_int_equal(opened, 1);
		assert_int_equal(pthread_barrier_destroy(&crowd.barrier), 0);
	}
}
