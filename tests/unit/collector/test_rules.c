// SPDX-License-Identifier: Apache-2.0
/*
 * The rules that we work out of unwind tables against libunwind, which is slower and knows everything: a timer interrupts real work in
 * libc at arbitrary instructions, and at each the caller that we find must be the caller that libunwind finds.
 */
#include "collector/arch.h"
#include "collector/crc32c.h"
#include "collector/rules.h"
#include "tests/support/fg_test.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

enum {
	WANTED = 400,
	FRAMES = 40
};

static volatile sig_atomic_t compared;
static volatile sig_atomic_t agreed;
static volatile sig_atomic_t unknown;

static void crc32c_is_castagnolis(void **state)
{
	(void)state;
	fg__crc32c_init();
	assert_int_equal(fg__crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(fg__crc32c(fg__crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(fg__crc32c(0, "", 0), 0);
}

static struct fg_tables tables_of(const struct dl_find_object *object)
{
	return (struct fg_tables){object->dlfo_eh_frame, object->dlfo_map_start,
				  object->dlfo_map_end};
}

static uint64_t rule_at(uintptr_t pc, bool exact)
{
	const uintptr_t address = exact ? pc : pc - 1;
	struct dl_find_object object;

	if (_dl_find_object((void *)address, &object) != 0)
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	const struct fg_tables tables = tables_of(&object);

	return fg__rule_find(&tables, address);
}

/* One step by a plain rule; false where only the walk itself, with all it knows, can go on. */
static bool step(struct fg_regs *regs, uint64_t rule)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const unsigned reg = fg_rule_register(rule);

	if ((kind != FG_RULE_CFA && kind != FG_RULE_CFA_BP) ||
	    (reg != FG_DWARF_SP && reg != FG_DWARF_BP))
		return false;
	const uintptr_t cfa = (reg == FG_DWARF_SP ? regs->sp : regs->bp) +
			      (uintptr_t)(intptr_t)fg_rule_offset(rule);

	if (kind == FG_RULE_CFA_BP)
		regs->bp = *(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(rule));
	regs->pc = *(const uintptr_t *)(cfa - FG_WORD);
	regs->sp = cfa;
	return true;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	unw_context_t *start = context;
	unw_cursor_t cursor;
	struct fg_regs regs = {fg_arch_register(context, FG_DWARF_RA),
			       fg_arch_register(context, FG_DWARF_SP),
			       fg_arch_register(context, FG_DWARF_BP)};
	bool exact = true;

	(void)number;
	(void)info;
	if (compared >= WANTED || unw_init_local2(&cursor, start, UNW_INIT_SIGNAL_FRAME) != 0)
		return;
	for (unsigned i = 0; i < FRAMES; i++) {
		unw_word_t pc = 0;
		unw_word_t sp = 0;

		if (!step(&regs, rule_at(regs.pc, exact))) {
			unknown += exact;
			break;
		}
		exact = false;
		if (unw_step(&cursor) <= 0)
			break;
		(void)unw_get_reg(&cursor, UNW_REG_IP, &pc);
		(void)unw_get_reg(&cursor, UNW_REG_SP, &sp);
		compared++;
		agreed += pc == regs.pc && sp == regs.sp;
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Work in many places of libc: formatting, sorting, allocating, searching. */
static void busy(unsigned round)
{
	char *texts[64];

	for (unsigned i = 0; i < 64; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%u %.6f %x", (i * 7919 + round) % 1000, i / 3.0,
			       round);
		texts[i] = strdup(text);
	}
	qsort(texts, 64, sizeof(texts[0]), compare_texts);
	for (unsigned i = 0; i < 64; i++)
		free(texts[i]);
}

static void callers_are_those_that_libunwind_finds(void **state)
{
	struct sigaction action;
	struct itimerval every = {
		{0, 1000},
                {0, 1000}
        };

	(void)state;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &every, NULL), 0);
	for (unsigned round = 0; compared < WANTED && round < 2000000; round++)
		busy(round);
	memset(&every, 0, sizeof(every));
	(void)setitimer(ITIMER_PROF, &every, NULL);
	assert_true(compared >= WANTED);
	if (agreed != compared)
		fail_msg("%d of %d steps agree", (int)agreed, (int)compared);
	assert_true(unknown < 20);
}

static void an_address_outside_every_function_has_no_rule(void **state)
{
	struct dl_find_object object;

	(void)state;
	assert_int_equal(_dl_find_object((void *)(uintptr_t)busy, &object), 0);
	struct fg_tables tables = tables_of(&object);

	assert_int_equal(fg_rule_kind(fg__rule_find(&tables, (uintptr_t)object.dlfo_map_start)),
			 FG_RULE_UNKNOWN);
	tables.hdr = NULL;
	assert_int_equal(fg_rule_kind(fg__rule_find(&tables, (uintptr_t)busy)), FG_RULE_UNKNOWN);
}

static void a_packed_rule_comes_back_whole(void **state)
{
	const uint64_t rule = fg_rule_pack(FG_RULE_CFA_BP, FG_DWARF_BP, -16, -2147483647);

	(void)state;
	assert_int_equal(fg_rule_kind(rule), FG_RULE_CFA_BP);
	assert_int_equal(fg_rule_register(rule), FG_DWARF_BP);
	assert_int_equal(fg_rule_bp_offset(rule), -16);
	assert_int_equal(fg_rule_offset(rule), -2147483647);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c_is_castagnolis),
		cmocka_unit_test(a_packed_rule_comes_back_whole),
		cmocka_unit_test(an_address_outside_every_function_has_no_rule),
		cmocka_unit_test(callers_are_those_that_libunwind_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
