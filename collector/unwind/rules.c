// SPDX-License-Identifier: Apache-2.0
/*
 * A reader of .eh_frame (the DWARF call frame information that every object carries) for the three
 * registers that a walk needs: the frame's address (CFA), the return address and the frame pointer.
 *
 * .eh_frame_hdr is a table of (function start, entry), sorted, so the entry (FDE) of an address is
 * found by bisection. The FDE and its CIE hold little programs that build the row of the unwind
 * table for an address; running them up to that address gives the row.  Compilers use few of the
 * possibilities; anything else becomes FG_RULE_UNKNOWN, and the walk falls back to other means.
 */
#include "collector/unwind/rules.h"

#include "collector/arch/arch.h"

#include <stdbool.h>
#include <string.h>

enum {
	DW_EH_PE_OMIT = 0xff,
	DW_EH_PE_ULEB = 0x01,
	DW_EH_PE_UDATA2 = 0x02,
	DW_EH_PE_UDATA4 = 0x03,
	DW_EH_PE_UDATA8 = 0x04,
	DW_EH_PE_SLEB = 0x09,
	DW_EH_PE_SDATA2 = 0x0a,
	DW_EH_PE_SDATA4 = 0x0b,
	DW_EH_PE_SDATA8 = 0x0c,
	DW_EH_PE_PCREL = 0x10,
	DW_EH_PE_DATAREL = 0x30,
	DW_EH_PE_INDIRECT = 0x80,
};

/* Limits on what a table can make us do. */
enum {
	MAX_INSTRUCTIONS = 1 << 16, /* a parser generated as one function was seen to have 19,000 */
	MAX_STATES = 8,
	NO_REGISTER = 255,
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

struct cie {
	struct cursor program;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding;
	bool has_augmentation;
	bool signal;
};

struct fde {
	struct cie cie;
	struct cursor program;
	uintptr_t start;
	uintptr_t size;
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
	struct cursor expression;
};

struct row {
	uint64_t reg;
	int64_t offset;
	struct cursor expression; /* at != NULL: the CFA is computed */
	struct saved bp;
	struct saved ra;
	struct saved other;
};

static uint64_t take(struct cursor *c, unsigned size)
{
	uint64_t value = 0;

	if (c->end - c->at < (ptrdiff_t)size) {
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

static uint64_t take_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7fu) << shift;
		if (!(byte & 0x80u))
			break;
	}
	return value;
}

static int64_t take_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte = 0;

	while (c->at < c->end) {
		byte = *c->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7fu) << shift;
		shift += 7;
		if (!(byte & 0x80u))
			break;
	}
	if (shift < 64 && (byte & 0x40u))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

static uintptr_t take_encoded(struct cursor *c, uint8_t encoding)
{
	const uintptr_t here = (uintptr_t)c->at;
	uint64_t value;

	switch (encoding & 0x0fu) {
	case 0:
		value = take(c, FG_WORD);
		break;
	case DW_EH_PE_ULEB:
		value = take_uleb(c);
		break;
	case DW_EH_PE_SLEB:
		value = (uint64_t)take_sleb(c);
		break;
	case DW_EH_PE_UDATA2:
		value = take(c, 2);
		break;
	case DW_EH_PE_SDATA2:
		value = (uint64_t)(int64_t)(int16_t)take(c, 2);
		break;
	case DW_EH_PE_UDATA4:
		value = take(c, 4);
		break;
	case DW_EH_PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)take(c, 4);
		break;
	case DW_EH_PE_UDATA8:
	case DW_EH_PE_SDATA8:
		value = take(c, 8);
		break;
	default:
		c->at = c->end;
		return 0;
	}
	if ((encoding & 0x70u) == DW_EH_PE_PCREL)
		value += here;
	return (uintptr_t)value;
}

/* May `size` bytes be read at this address, which may be nonsense? */
static bool inside(const struct fg_tables *tables, uintptr_t at, size_t size)
{
	const uintptr_t low = (uintptr_t)tables->low;
	const uintptr_t high = (uintptr_t)tables->high;

	return at >= low && at <= high && high - at >= size;
}

/*
 * An entry starts with its length. A 64-bit form exists, but .eh_frame never uses it on these
 * machines.
 */
static bool open_entry(const struct fg_tables *tables, uintptr_t entry, struct cursor *c)
{
	uint32_t length;

	if (!inside(tables, entry, sizeof(length)))
		return false;
	c->at = tables->low + (entry - (uintptr_t)tables->low);
	memcpy(&length, c->at, sizeof(length));
	if (length < 4 || length >= 0xfffffff0u || !inside(tables, entry + 4, length))
		return false;
	c->at += 4;
	c->end = c->at + length;
	return true;
}

static void parse_augmentation(struct cie *cie, struct cursor *c, const char *augmentation)
{
	if (*augmentation != 'z')
		return;
	cie->has_augmentation = true;
	const uint64_t size = take_uleb(c);
	const uint8_t *behind = size < (uint64_t)(c->end - c->at) ? c->at + size : c->end;

	for (const char *letter = augmentation + 1; *letter; letter++) {
		if (*letter == 'R') {
			cie->encoding = (uint8_t)take(c, 1);
		} else if (*letter == 'S') {
			cie->signal = true;
		} else if (*letter == 'L') {
			(void)take(c, 1);
		} else if (*letter == 'P') {
			uint8_t encoding = (uint8_t)take(c, 1);

			(void)take_encoded(c, encoding);
		} else {
			break;
		}
	}
	c->at = behind;
}

static bool parse_cie(const struct fg_tables *tables, uintptr_t entry, struct cie *cie)
{
	struct cursor c;

	*cie = (struct cie){0};
	if (!open_entry(tables, entry, &c) || take(&c, 4) != 0)
		return false;
	uint8_t version = (uint8_t)take(&c, 1);

	if (version != 1 && version != 3)
		return false;
	const char *augmentation = (const char *)c.at;

	const size_t length = strnlen(augmentation, (size_t)(c.end - c.at));

	if (length >= (size_t)(c.end - c.at))
		return false;
	c.at += length + 1;
	cie->code_align = take_uleb(&c);
	cie->data_align = take_sleb(&c);
	cie->ra = version == 1 ? take(&c, 1) : take_uleb(&c);
	parse_augmentation(cie, &c, augmentation);
	cie->program = c;
	return true;
}

static bool parse_fde(const struct fg_tables *tables, uintptr_t entry, struct fde *fde)
{
	struct cursor c;

	if (!open_entry(tables, entry, &c))
		return false;
	const uintptr_t back_from = (uintptr_t)c.at;
	uint32_t back = (uint32_t)take(&c, 4);

	if (back == 0 || !parse_cie(tables, back_from - back, &fde->cie))
		return false;
	fde->start = take_encoded(&c, fde->cie.encoding);
	fde->size = take_encoded(&c, fde->cie.encoding & 0x0fu);
	if (fde->cie.has_augmentation) {
		uint64_t size = take_uleb(&c);

		if (size > (uint64_t)(c.end - c.at))
			return false;
		c.at += size;
	}
	fde->program = c;
	return true;
}

/*
 * .eh_frame_hdr: version, three encodings, pointer to .eh_frame, count, then pairs of 32-bit
 * offsets from its start. Returns the address of the entry; 0: none.
 */
static uintptr_t find_fde(const struct fg_tables *tables, uintptr_t address)
{
	const uint8_t *hdr = tables->hdr;

	if (!hdr || !inside(tables, (uintptr_t)hdr, 4) || hdr[0] != 1 ||
	    hdr[2] != DW_EH_PE_UDATA4 || hdr[3] != (DW_EH_PE_DATAREL | DW_EH_PE_SDATA4))
		return 0;
	struct cursor c = {hdr + 4, tables->high};

	(void)take_encoded(&c, hdr[1]);
	const uint64_t count = take(&c, 4);
	const uint8_t *table = c.at;
	const int64_t wanted = (int64_t)(intptr_t)(address - (uintptr_t)hdr);
	uint64_t low = 0;
	uint64_t high = count;
	int32_t pair[2];

	if (count > (uint64_t)(c.end - table) / sizeof(pair))
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		memcpy(pair, table + sizeof(pair) * (size_t)middle, sizeof(pair));
		if (pair[0] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	memcpy(pair, table + sizeof(pair) * (size_t)(low - 1), sizeof(pair));
	return (uintptr_t)hdr + (uintptr_t)(intptr_t)pair[1];
}

static struct cursor take_block(struct cursor *c)
{
	uint64_t size = take_uleb(c);
	struct cursor block = {c->at, c->at};

	if (size <= (uint64_t)(c->end - c->at))
		block.end += size;
	c->at = block.end;
	return block;
}

struct machine {
	const struct cie *cie;
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
	m->row.expression = (struct cursor){NULL, NULL};
	return true;
}

static void restore(struct machine *m, uint64_t reg)
{
	const struct saved *initial = saved_of(m, &m->initial, reg);

	if (initial)
		save(m, reg, *initial);
}

/*
 * Factors from a damaged table may overflow; the result is as arbitrary as the rest of that table.
 */
static int64_t times_data_align(const struct machine *m, int64_t factored)
{
	return (int64_t)((uint64_t)factored * (uint64_t)m->cie->data_align);
}

static struct saved at_offset(const struct machine *m, int64_t factored)
{
	return (struct saved){SAVED_OFFSET, times_data_align(m, factored), {NULL, NULL}};
}

/* One instruction with its operands; false: the row cannot be computed. */
static bool execute_extended(struct machine *m, uint8_t op, struct cursor *c)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		m->location = take_encoded(c, m->cie->encoding);
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
		m->location += (uintptr_t)(take(c, 1) * m->cie->code_align);
		return true;
	case 0x03:
		m->location += (uintptr_t)(take(c, 2) * m->cie->code_align);
		return true;
	case 0x04:
		m->location += (uintptr_t)(take(c, 4) * m->cie->code_align);
		return true;
	case 0x05: /* offset_extended */
		reg = take_uleb(c);
		save(m, reg, at_offset(m, (int64_t)take_uleb(c)));
		return true;
	case 0x11: /* offset_extended_sf */
		reg = take_uleb(c);
		save(m, reg, at_offset(m, take_sleb(c)));
		return true;
	case 0x06: /* restore_extended */
		restore(m, take_uleb(c));
		return true;
	case 0x07: /* undefined */
		save(m, take_uleb(c), (struct saved){SAVED_UNDEFINED, 0, {NULL, NULL}});
		return true;
	case 0x08: /* same_value */
		save(m, take_uleb(c), (struct saved){SAVED_SAME, 0, {NULL, NULL}});
		return true;
	case 0x0a:
		return push_state(m);
	case 0x0b:
		return pop_state(m);
	case 0x0c: /* def_cfa */
		reg = take_uleb(c);
		return define_cfa(m, reg, (int64_t)take_uleb(c));
	case 0x12: /* def_cfa_sf */
		reg = take_uleb(c);
		return define_cfa(m, reg, times_data_align(m, take_sleb(c)));
	case 0x0d: /* def_cfa_register */
		return define_cfa(m, take_uleb(c), m->row.offset);
	case 0x0e: /* def_cfa_offset */
		return define_cfa(m, m->row.reg, (int64_t)take_uleb(c));
	case 0x13: /* def_cfa_offset_sf */
		return define_cfa(m, m->row.reg, times_data_align(m, take_sleb(c)));
	case 0x0f: /* def_cfa_expression */
		m->row.expression = take_block(c);
		return true;
	case 0x10: /* expression */
		reg = take_uleb(c);
		save(m, reg, (struct saved){SAVED_EXPRESSION, 0, take_block(c)});
		return true;
	case 0x2e: /* GNU_args_size */
		(void)take_uleb(c);
		return true;
	default:
		return false;
	}
}

static bool run(struct machine *m, struct cursor c)
{
	for (unsigned n = 0; c.at < c.end && m->location <= m->target; n++) {
		uint8_t op = *c.at++;
		uint8_t low = op & 0x3fu;

		if (n > MAX_INSTRUCTIONS)
			return false;
		if ((op & 0xc0u) == 0x40u) { /* advance_loc */
			m->location += (uintptr_t)(low * m->cie->code_align);
		} else if ((op & 0xc0u) == 0x80u) { /* offset */
			save(m, low, at_offset(m, (int64_t)take_uleb(&c)));
		} else if ((op & 0xc0u) == 0xc0u) { /* restore */
			restore(m, low);
		} else if (!execute_extended(m, op, &c)) {
			return false;
		}
	}
	return true;
}

struct simple {
	unsigned reg;
	int64_t offset;
	bool deref;
	uint64_t addend;
};

/*
 * DW_OP_breg<n> <offset>, then optionally DW_OP_deref and DW_OP_plus_uconst <addend>: what
 * compilers emit for realigned stacks, and hand-written assembly for a new stack that holds the old
 * pointer.
 */
static bool simple_expression(struct cursor c, struct simple *is)
{
	uint8_t op = (uint8_t)take(&c, 1);

	if (op < 0x70 || op > 0x8f)
		return false;
	*is = (struct simple){.reg = op - 0x70u, .offset = take_sleb(&c)};
	is->deref = c.at < c.end && *c.at == 0x06;
	if (is->deref)
		c.at++;
	if (is->deref && c.at < c.end && *c.at == 0x23) {
		c.at++;
		is->addend = take_uleb(&c);
	}
	return c.at == c.end;
}

/* What linkers emit for all their lazy-binding entries. */
static bool plt_expression(struct cursor c)
{
	static const uint8_t known[] = FG_ARCH_PLT_EXPRESSION;

	return c.end - c.at == (ptrdiff_t)sizeof(known) && memcmp(c.at, known, sizeof(known)) == 0;
}

static bool fits16(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
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

static uint64_t rule_of_row(const struct row *row)
{
	if (row->ra.how == SAVED_UNDEFINED)
		return fg_rule_pack(FG_RULE_END, 0, 0, 0);
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

/* The row for `address`; false if the tables do not say. */
static bool row_at(const struct fg_tables *tables, uintptr_t address, struct machine *m,
		   struct fde *fde)
{
	const uintptr_t entry = find_fde(tables, address);

	if (!entry || !parse_fde(tables, entry, fde) || address - fde->start >= fde->size)
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
	struct fde fde;

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
	struct fde fde;

	if (!row_at(tables, address, &m, &fde) || fde.cie.signal)
		return FG_SAVED_UNKNOWN;
	if (m.row.other.how == SAVED_SAME)
		return FG_SAVED_NOWHERE;
	if (m.row.other.how != SAVED_OFFSET)
		return FG_SAVED_UNKNOWN;
	*offset = m.row.other.offset;
	return FG_SAVED_AT_CFA;
}
