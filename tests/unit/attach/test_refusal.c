// SPDX-License-Identifier: Apache-2.0
/*
 * The message for each setting of Yama. Only the messages are tested, because few kernels have Yama
 * and a test cannot set it.
 */
#include "profile/attach/threads.h"
#include "tests/support/fg_test.h"

FG_TEST(the_setting_that_forbids_it_is_named_with_its_fix)
{
	static const struct {
		long scope;
		const char *words; /* NULL: the setting forbids nothing */
	} rows[] = {
		{-1, NULL}, /* no Yama */
		{0, NULL},
		{1, "kernel.yama.ptrace_scope is 1; use `sysctl kernel.yama.ptrace_scope=0`"},
		{2, "kernel.yama.ptrace_scope is 2; use `sysctl kernel.yama.ptrace_scope=0`"},
		{3, "kernel.yama.ptrace_scope is 3, which only a reboot can change"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		char *reason = fg_thread_reason_of_scope(rows[i].scope);

		if (rows[i].words) {
			assert_non_null(reason);
			assert_non_null(strstr(reason, rows[i].words));
		} else {
			assert_null(reason);
		}
		free(reason);
	}
}
