// SPDX-License-Identifier: Apache-2.0
/*
 * The instructions of an FDE and its CIE build the row of the unwind table for an address: running
 * them up to that address gives the row.  A walk needs three values from the row: the frame's
 * address (CFA), the return address and the frame pointer.  Compilers use few of the possibilities;
 * any other row becomes FG_RULE_UNKNOWN, and the walk falls back to other means.
 */
#include "collector/unwind/rules.h"

#include "collector/arch/arch.h"
#include "collector/unwind/cfi.h"

#include <string.h>

/* Limits on the work that a table can cause. */
enum {
	MAX_INSTRUCTIONS = 1 << 16, /* one generated parser needs 19,000 */
	MAX_STATES = 8,
	NO_REGISTER = 255,
};

enum saved_how {
	SAVED_SAME,
	SAVED_OFFSET,
	SAVED_EXPRESSION,
	SAVED_UNDEFINED
};

struct saved {
	enum saved_how how;
	int64_t offset;
	struct fg_cfi_cursor expression;
};

struct row {
	uint64_t reg;
	int64_t offset;
	struct fg_cfi_cursor expression; /* at != NULL: the CFA is computed */
	struct saved bp;
	struct saved ra;
	struct saved other;
};

struct machine {
	const struct fg_cfi_common *cie;
	uint64_t other_reg; /* the register saved at row.other */
	struct row row;
	struct row initial;
	struct row stack[MAX_STATES];
	unsigned depth;
	uintptr_t location;
	uintptr_t target;
};

static struct saved *saved_of(const struct machine *m, struct row *row, uint64_t reg)
{
	if (reg == FG_DWARF_BP)
		return &row->bp;
	if (reg == m->cie->ra)
		return &row->ra;
	return reg == m->other_reg ? &row->other : NULL;
}

static void save(struct machine *m, uint64_t reg, struct saved how)
{
	struct saved *saved = saved_of(m, &m->row, reg);

	if (saved)
		*saved = how;
}

static bool push_state(struct machine *m)
{
	if (m->depth >= MAX_STATES)
		return false;
	m->stack[m->depth++] = m->row;
	return true;
}

static bool pop_state(struct machine *m)
{
	if (m->depth == 0)
		return false;
	m->row = m->stack[--m->depth];
	return true;
}

static bool define_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row.reg = reg;
	m->row.offset = offset;
	m->row.expression = (struct fg_cfi_cursor){NULL, NULL};
	return true;
}

static void restore(struct machine *m, uint64_t reg)
{
	const struct saved *initial = saved_of(m, &m->initial, reg);

	if (initial)
		save(m, reg, *initial);
}

/*
 * Multiplies by the data alignment. If the table is damaged, the product may overflow; it is then
 * as arbitrary as the rest of that table.
 */
static int64_t times_data_align(const struct machine *m, int64_t factored)
{
	return (int64_t)((uint64_t)factored * (uint64_t)m->cie->data_align);
}

static struct saved at_offset(const struct machine *m, int64_t factored)
{
	return (struct saved){SAVED_OFFSET, times_data_align(m, factored), {NULL, NULL}};
}

/* Executes one instruction; false: the row cannot be computed. */
static bool execute_extended(struct machine *m, uint8_t op, struct fg_cfi_cursor *c)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		m->location = fg_cfi_take_encoded(c, m->cie->encoding);
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
		m->location += (uintptr_t)(fg_cfi_take(c, 1) * m->cie->code_align);
		return true;
	case 0x03:
		m->location += (uintptr_t)(fg_cfi_take(c, 2) * m->cie->code_align);
		return true;
	case 0x04:
		m->location += (uintptr_t)(fg_cfi_take(c, 4) * m->cie->code_align);
		return true;
	case 0x05: /* offset_extended */
		reg = fg_cfi_take_uleb(c);
		save(m, reg, at_offset(m, (int64_t)fg_cfi_take_uleb(c)));
		return true;
	case 0x11: /* offset_extended_sf */
		reg = fg_cfi_take_uleb(c);
		save(m, reg, at_offset(m, fg_cfi_take_sleb(c)));
		return true;
	case 0x06: /* restore_extended */
		restore(m, fg_cfi_take_uleb(c));
		return true;
	case 0x07: /* undefined */
		save(m, fg_cfi_take_uleb(c), (struct saved){SAVED_UNDEFINED, 0, {NULL, NULL}});
		return true;
	case 0x08: /* same_value */
		save(m, fg_cfi_take_uleb(c), (struct saved){SAVED_SAME, 0, {NULL, NULL}});
		return true;
	case 0x0a:
		return push_state(m);
	case 0x0b:
		return pop_state(m);
	case 0x0c: /* def_cfa */
		reg = fg_cfi_take_uleb(c);
		return define_cfa(m, reg, (int64_t)fg_cfi_take_uleb(c));
	case 0x12: /* def_cfa_sf */
		reg = fg_cfi_take_uleb(c);
		return define_cfa(m, reg, times_data_align(m, fg_cfi_take_sleb(c)));
	case 0x0d: /* def_cfa_register */
		return define_cfa(m, fg_cfi_take_uleb(c), m->row.offset);
	case 0x0e: /* def_cfa_offset */
		return define_cfa(m, m->row.reg, (int64_t)fg_cfi_take_uleb(c));
	case 0x13: /* def_cfa_offset_sf */
		return define_cfa(m, m->row.reg, times_data_align(m, fg_cfi_take_sleb(c)));
	case 0x0f: /* def_cfa_expression */
		m->row.expression = fg_cfi_take_block(c);
		return true;
	case 0x10: /* expression */
		reg = fg_cfi_take_uleb(c);
		save(m, reg, (struct saved){SAVED_EXPRESSION, 0, fg_cfi_take_block(c)});
		return true;
#if FG_ARCH_LINK_REGISTER
	case 0x2d: /* AARCH64_negate_ra_state: a walk strips the signature of every address */
		return true;
#endif
	case 0x2e: /* GNU_args_size */
		(void)fg_cfi_take_uleb(c);
		return true;
	default:
		return false;
	}
}

static bool run(struct machine *m, struct fg_cfi_cursor c)
{
	for (unsigned n = 0; c.at < c.end && m->location <= m->target; n++) {
		uint8_t op = *c.at++;
		uint8_t low = op & 0x3fu;

		if (n > MAX_INSTRUCTIONS)
			return false;
		if ((op & 0xc0u) == 0x40u) { /* advance_loc */
			m->location += (uintptr_t)(low * m->cie->code_align);
		} else if ((op & 0xc0u) == 0x80u) { /* offset */
			save(m, low, at_offset(m, (int64_t)fg_cfi_take_uleb(&c)));
		} else if ((op & 0xc0u) == 0xc0u) { /* restore */
			restore(m, low);
		} else if (!execute_extended(m, op, &c)) {
			return false;
		}
	}
	return true;
}

static bool fits16(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

#if FG_ARCH_LINK_REGISTER

static uint64_t rule_of_frame(const struct row *row)
{
	const bool keeps_bp = row->bp.how == SAVED_SAME || row->bp.how == SAVED_UNDEFINED;
	const unsigned reg = (unsigned)row->reg;

	if (row->expression.at || row->offset < INT32_MIN || row->offset > INT32_MAX ||
	    row->reg >= FG_DWARF_REGS)
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	if (row->ra.how == SAVED_SAME && keeps_bp)
		return fg_rule_pack(FG_RULE_LEAF, reg, 0, (int32_t)row->offset);
	if (row->ra.how != SAVED_OFFSET || !fits16(row->ra.offset))
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	if (keeps_bp)
		return fg_rule_pack(FG_RULE_CFA, reg, (int)row->ra.offset, (int32_t)row->offset);
	if (row->bp.how == SAVED_OFFSET && fits16(row->bp.offset) &&
	    row->bp.offset + (int64_t)FG_WORD == row->ra.offset)
		return fg_rule_pack(FG_RULE_CFA_BP, reg, (int)row->bp.offset, (int32_t)row->offset);
	return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
}

#else

struct simple {
	unsigned reg;
	int64_t offset;
	bool deref;
	uint64_t addend;
};

/*
 * Reads DW_OP_breg<n> <offset>, then optionally DW_OP_deref and DW_OP_plus_uconst <addend>.
 * Compilers emit this expression for realigned stacks; hand-written assembly uses it for a new
 * stack that holds the old pointer.
 */
static bool simple_expression(struct fg_cfi_cursor c, struct simple *is)
{
	uint8_t op = (uint8_t)fg_cfi_take(&c, 1);

	if (op < 0x70 || op > 0x8f)
		return false;
	*is = (struct simple){.reg = op - 0x70u, .offset = fg_cfi_take_sleb(&c)};
	is->deref = c.at < c.end && *c.at == 0x06;
	if (is->deref)
		c.at++;
	if (is->deref && c.at < c.end && *c.at == 0x23) {
		c.at++;
		is->addend = fg_cfi_take_uleb(&c);
	}
	return c.at == c.end;
}

/* Linkers emit this expression for all PLT entries that bind lazily. */
static bool plt_expression(struct fg_cfi_cursor c)
{
	static const uint8_t known[] = FG_ARCH_PLT_EXPRESSION;

	return c.end - c.at == (ptrdiff_t)sizeof(known) && memcmp(c.at, known, sizeof(known)) == 0;
}

static uint64_t rule_of_expression(const struct row *row)
{
	struct simple cfa;
	struct simple bp;

	if (plt_expression(row->expression))
		return fg_rule_pack(FG_RULE_PLT, FG_DWARF_SP, 0, (int32_t)FG_WORD);
	if (!simple_expression(row->expression, &cfa) || !cfa.deref || !fits16(cfa.offset) ||
	    cfa.addend > INT16_MAX)
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	const int32_t offsets = fg_rule_two_offsets((int)cfa.offset, (int)cfa.addend);

	if (row->bp.how == SAVED_SAME)
		return fg_rule_pack(FG_RULE_DEREF, cfa.reg, 0, offsets);
	if (row->bp.how == SAVED_OFFSET && fits16(row->bp.offset))
		return fg_rule_pack(FG_RULE_DEREF_CFA_BP, cfa.reg, (int)row->bp.offset, offsets);
	if (row->bp.how == SAVED_EXPRESSION && simple_expression(row->bp.expression, &bp) &&
	    !bp.deref && bp.reg == FG_DWARF_BP && fits16(bp.offset))
		return fg_rule_pack(FG_RULE_DEREF_BP, cfa.reg, (int)bp.offset, offsets);
	return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
}

static uint64_t rule_of_frame(const struct row *row)
{
	if (row->ra.how != SAVED_OFFSET ||
	    row->ra.offset != (int64_t)(intptr_t)fg_return_address_at(0))
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	if (row->expression.at)
		return rule_of_expression(row);
	if (row->offset < INT32_MIN || row->offset > INT32_MAX || row->reg >= FG_DWARF_REGS)
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	if (row->bp.how == SAVED_OFFSET && fits16(row->bp.offset))
		return fg_rule_pack(FG_RULE_CFA_BP, (unsigned)row->reg, (int)row->bp.offset,
				    (int32_t)row->offset);
	if (row->bp.how == SAVED_SAME || row->bp.how == SAVED_UNDEFINED)
		return fg_rule_pack(FG_RULE_CFA, (unsigned)row->reg, 0, (int32_t)row->offset);
	return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
}

#endif

static uint64_t rule_of_row(const struct row *row)
{
	if (row->ra.how == SAVED_UNDEFINED)
		return fg_rule_pack(FG_RULE_END, 0, 0, 0);
	return rule_of_frame(row);
}

/* Computes the row for `address`; false: the tables have none, or it is not supported. */
static bool row_at(const struct fg_tables *tables, uintptr_t address, struct machine *m,
		   struct fg_cfi_function *fde)
{
	if (!fg_cfi_find(tables, address, fde))
		return false;
	if (fde->cie.signal)
		return true;
	m->cie = &fde->cie;
	m->depth = 0;
	m->row = (struct row){0};
	m->initial = m->row;
	m->location = 0;
	m->target = UINTPTR_MAX;
	if (!run(m, fde->cie.program))
		return false;
	m->initial = m->row;
	m->location = fde->start;
	m->target = address;
	return run(m, fde->program);
}

uint64_t fg_rule_find(const struct fg_tables *tables, uintptr_t address)
{
	struct machine m = {.other_reg = NO_REGISTER};
	struct fg_cfi_function fde;

	if (!row_at(tables, address, &m, &fde))
		return fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0);
	if (fde.cie.signal)
		return fg_rule_pack(FG_RULE_SIGNAL, 0, 0, 0);
	return rule_of_row(&m.row);
}

enum fg_saved_where fg_rule_saved(const struct fg_tables *tables, uintptr_t address, unsigned reg,
				  int64_t *offset)
{
	struct machine m = {.other_reg = reg};
	struct fg_cfi_function fde;

	if (!row_at(tables, address, &m, &fde) || fde.cie.signal)
		return FG_SAVED_UNKNOWN;
	if (m.row.other.how == SAVED_SAME)
		return FG_SAVED_NOWHERE;
	if (m.row.other.how != SAVED_OFFSET)
		return FG_SAVED_UNKNOWN;
	*offset = m.row.other.offset;
	return FG_SAVED_AT_CFA;
}
