// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the rules derived from unwind tables with libunwind, which is slower and complete: a
 * timer interrupts real work in libc at arbitrary instructions, and both must find the same caller.
 */
#include "collector/arch/arch.h"
#include "collector/sampler/crc32c.h"
#include "collector/unwind/rules.h"
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

FG_TEST(crc32c_is_castagnolis)
{
	fg_crc32c_init();
	assert_int_equal(fg_trace_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(fg_trace_crc32c(fg_trace_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(fg_trace_crc32c(0, "", 0), 0);
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

	return fg_rule_find(&tables, address);
}

/* Takes one step by a plain rule; false if only the walk itself can continue. */
static bool step(struct fg_regs *regs, uint64_t rule, uintptr_t link)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const unsigned reg = fg_rule_register(rule);

	if ((kind != FG_RULE_CFA && kind != FG_RULE_CFA_BP && kind != FG_RULE_LEAF) ||
	    (reg != FG_DWARF_SP && reg != FG_DWARF_BP))
		return false;
	const uintptr_t cfa = (reg == FG_DWARF_SP ? regs->sp : regs->bp) +
			      (uintptr_t)(intptr_t)fg_rule_offset(rule);

	if (kind == FG_RULE_CFA_BP)
		regs->bp = *(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(rule));
	if (kind == FG_RULE_LEAF)
		regs->pc = link;
	else
		regs->pc = fg_arch_strip(*(const uintptr_t *)fg_rule_return_at(rule, cfa));
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

		if (!step(&regs, rule_at(regs.pc, exact), exact ? fg_arch_link(context) : 0)) {
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

/* Works in many parts of libc: formatting, sorting, allocating, searching. */
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

FG_TEST(callers_are_those_that_libunwind_finds)
{
	struct sigaction action;
	struct itimerval every = {{0, 1000}, {0, 1000}};

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

FG_TEST(an_address_outside_every_function_has_no_rule)
{
	struct dl_find_object object;

	assert_int_equal(_dl_find_object((void *)(uintptr_t)busy, &object), 0);
	struct fg_tables tables = tables_of(&object);

	assert_int_equal(fg_rule_kind(fg_rule_find(&tables, (uintptr_t)object.dlfo_map_start)),
			 FG_RULE_UNKNOWN);
	tables.hdr = NULL;
	assert_int_equal(fg_rule_kind(fg_rule_find(&tables, (uintptr_t)busy)), FG_RULE_UNKNOWN);
}

/* ---- tables made by hand ---- */

#if FG_ARCH_LINK_REGISTER
# define RETURN FG_DWARF_LR /* the column of the return address */
#else
# define RETURN FG_DWARF_RA
#endif

static uint8_t function[64];
static uint8_t bytes[256] __attribute__((aligned(8)));
static const struct fg_tables by_hand = {bytes, bytes, bytes + sizeof(bytes)};

static void put32(size_t at, uint32_t value)
{
	memcpy(bytes + at, &value, sizeof(value));
}

static uint32_t distance(const void *to, size_t from)
{
	return (uint32_t)((uintptr_t)to - (uintptr_t)(bytes + from));
}

/*
 * .eh_frame_hdr, a CIE with CFA = sp + word and the return address below it (or CFA = sp and the
 * return address in its register), and an FDE with these instructions.
 */
static const struct fg_tables *tables_with(const uint8_t *instructions, size_t size)
{
	static const uint8_t header[] = {1, 0x1b, 0x03, 0x3b};
	const uint8_t cie[] = {
		1,
		'z',
		'R',
		0,
		1,
		(uint8_t)(0x80 - FG_WORD),
		RETURN,
		1,
		0x1b,
		0x0c,
		FG_DWARF_SP,
#if FG_ARCH_LINK_REGISTER
		0
	};
#else
		(uint8_t)FG_WORD,
		0x80 | FG_DWARF_RA,
		1
	};
#endif
	const size_t cie_at = 32;
	const size_t fde_at = 64;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, header, sizeof(header));
	put32(4, (uint32_t)cie_at - 4);
	put32(8, 1);
	put32(12, distance(function, 0));
	put32(16, (uint32_t)fde_at);
	put32(cie_at, (uint32_t)(fde_at - cie_at - 4));
	memcpy(bytes + cie_at + 8, cie, sizeof(cie));
	put32(fde_at, 4 + 4 + 4 + 1 + (uint32_t)size);
	put32(fde_at + 4, (uint32_t)(fde_at + 4 - cie_at));
	put32(fde_at + 8, distance(function, fde_at + 8));
	put32(fde_at + 12, sizeof(function));
	assert_true(fde_at + 17 + size < sizeof(bytes));
	memcpy(bytes + fde_at + 17, instructions, size);
	return &by_hand;
}

struct table_case {
	const char *why;
	uint8_t instructions[24];
	enum fg_rule_kind kind;
	unsigned reg;
	int bp_offset;
	int offset;
	int addend;
};

#define BREG_SP (0x70 + FG_DWARF_SP)
#define BREG_BP (0x70 + FG_DWARF_BP)

FG_TEST(rows_become_rules)
{
	static const struct table_case cases[] = {
#if FG_ARCH_LINK_REGISTER
		{"nothing but the CIE", {0}, FG_RULE_LEAF, FG_DWARF_SP, 0, 0, 0},
		{"a leaf with a frame", {0x0e, 100}, FG_RULE_LEAF, FG_DWARF_SP, 0, 100, 0},
		{"signed", {0x2d, 0x0e, 100}, FG_RULE_LEAF, FG_DWARF_SP, 0, 100, 0},
		{"a pair at the low end",
		 {0x0e, 48, 0x80 | FG_DWARF_BP, 6, 0x80 | RETURN, 5},
		 FG_RULE_CFA_BP,
		 FG_DWARF_SP,
		 -48,
		 48,
		 0},
		{"a pair, by the frame pointer",
		 {0x0c, FG_DWARF_BP, 16, 0x80 | FG_DWARF_BP, 2, 0x80 | RETURN, 1},
		 FG_RULE_CFA_BP,
		 FG_DWARF_BP,
		 -16,
		 16,
		 0},
		{"the return address alone",
		 {0x0e, 32, 0x80 | RETURN, 4},
		 FG_RULE_CFA,
		 FG_DWARF_SP,
		 -32,
		 32,
		 0},
		{"apart from each other",
		 {0x0e, 32, 0x80 | FG_DWARF_BP, 4, 0x80 | RETURN, 1},
		 FG_RULE_UNKNOWN,
		 0,
		 0,
		 0,
		 0},
		{"put back before the return",
		 {0x0e, 16, 0x80 | FG_DWARF_BP, 2, 0x80 | RETURN, 1, 0x41, 0xc0 | FG_DWARF_BP,
		  0xc0 | RETURN, 0x0e, 0},
		 FG_RULE_LEAF,
		 FG_DWARF_SP,
		 0,
		 0,
		 0},
		{"*(sp + 32) + 8",
		 {0x0f, 5, BREG_SP, 32, 0x06, 0x23, 8},
		 FG_RULE_UNKNOWN,
		 0,
		 0,
		 0,
		 0},
#else
		{"nothing but the CIE", {0}, FG_RULE_CFA, FG_DWARF_SP, 0, (int)FG_WORD, 0},
		{"sp + 100", {0x0e, 100}, FG_RULE_CFA, FG_DWARF_SP, 0, 100, 0},
		{"a frame pointer, saved",
		 {0x0c, FG_DWARF_BP, 16, 0x80 | FG_DWARF_BP, 2},
		 FG_RULE_CFA_BP,
		 FG_DWARF_BP,
		 -2 * (int)FG_WORD,
		 16,
		 0},
		{"another register", {0x0d, 3}, FG_RULE_CFA, 3, 0, (int)FG_WORD, 0},
		{"behind the address asked for",
		 {0x40 | 63, 0x0e, 100},
		 FG_RULE_CFA,
		 FG_DWARF_SP,
		 0,
		 (int)FG_WORD,
		 0},
		{"*(bp - 8)", {0x0f, 3, BREG_BP, 0x78, 0x06}, FG_RULE_DEREF, FG_DWARF_BP, 0, -8, 0},
		{"*(sp + 32) + 8",
		 {0x0f, 5, BREG_SP, 32, 0x06, 0x23, 8},
		 FG_RULE_DEREF,
		 FG_DWARF_SP,
		 0,
		 32,
		 8},
		{"the same, bp saved by it",
		 {0x0f, 5, BREG_SP, 32, 0x06, 0x23, 8, 0x80 | FG_DWARF_BP, 2},
		 FG_RULE_DEREF_CFA_BP,
		 FG_DWARF_SP,
		 -2 * (int)FG_WORD,
		 32,
		 8},
		{"*(bp - 8), bp saved by an expression",
		 {0x0f, 3, BREG_BP, 0x78, 0x06, 0x10, FG_DWARF_BP, 2, BREG_BP, 0},
		 FG_RULE_DEREF_BP,
		 FG_DWARF_BP,
		 0,
		 -8,
		 0},
		{"an addend that does not fit",
		 {0x0f, 7, BREG_SP, 32, 0x06, 0x23, 0xff, 0xff, 0x03},
		 FG_RULE_UNKNOWN,
		 0,
		 0,
		 0,
		 0},
		{"an expression of another kind",
		 {0x0f, 3, BREG_SP, 32, 0x1f},
		 FG_RULE_UNKNOWN,
		 0,
		 0,
		 0,
		 0},
#endif
		{"the end of the thread", {0x07, RETURN}, FG_RULE_END, 0, 0, 0, 0},
		{"an instruction that does not exist", {0x3f}, FG_RULE_UNKNOWN, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct table_case *is = &cases[i];
		const uint64_t rule =
			fg_rule_find(tables_with(is->instructions, sizeof(is->instructions)),
				     (uintptr_t)function + 8);
		const bool deref = is->kind >= FG_RULE_DEREF && is->kind <= FG_RULE_DEREF_CFA_BP;

		if (fg_rule_kind(rule) != is->kind || fg_rule_register(rule) != is->reg ||
		    fg_rule_bp_offset(rule) != is->bp_offset ||
		    (deref ? fg_rule_deref_offset(rule) : fg_rule_offset(rule)) != is->offset ||
		    (deref && fg_rule_addend(rule) != is->addend))
			fail_msg("%s: kind %d, register %u, bp %d, offset %d", is->why,
				 (int)fg_rule_kind(rule), fg_rule_register(rule),
				 fg_rule_bp_offset(rule), (int)fg_rule_offset(rule));
	}
}

FG_TEST(a_register_is_found_where_it_was_saved)
{
	static const uint8_t saved[] = {0x80 | 3, 4, 0x07, 1};
	const struct fg_tables *tables = tables_with(saved, sizeof(saved));
	const uintptr_t address = (uintptr_t)function + 8;
	int64_t offset = 0;

	assert_int_equal(fg_rule_saved(tables, address, 3, &offset), FG_SAVED_AT_CFA);
	assert_true(offset == -4 * (int)FG_WORD);
	assert_int_equal(fg_rule_saved(tables, address, 2, &offset), FG_SAVED_NOWHERE);
	assert_int_equal(fg_rule_saved(tables, address, 1, &offset), FG_SAVED_UNKNOWN);
	assert_int_equal(fg_rule_saved(tables, address + 100, 3, &offset), FG_SAVED_UNKNOWN);
}

FG_TEST(a_packed_rule_comes_back_whole)
{
	const uint64_t rule = fg_rule_pack(FG_RULE_CFA_BP, FG_DWARF_BP, -16, -2147483647);

	assert_int_equal(fg_rule_kind(rule), FG_RULE_CFA_BP);
	assert_int_equal(fg_rule_register(rule), FG_DWARF_BP);
	assert_int_equal(fg_rule_bp_offset(rule), -16);
	assert_int_equal(fg_rule_offset(rule), -2147483647);
}
