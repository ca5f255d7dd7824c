// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the places in arm64 code that hold addresses.
 *
 * All instructions are 32 bits wide, and few forms hold an address. Branches, ADR and literals hold
 * a distance; every other address needs a pair, ADRP for the page and an ADD, load or store for the
 * offset in it. The halves of a pair need not be neighbours, so the pages that registers hold are
 * followed through the function, along its branches, until nothing changes.
 *
 * A page is lost if two paths bring different pages, or after a jump with an unknown target. If
 * such a register is read anyway, or a page is used other than as half of a pair, all pages of the
 * function are digested as they are: the function then counts as changed if the linker placed
 * anything that it refers to elsewhere.
 *
 * Compilers reach neighbouring objects from one object's address (section anchors), so a whole
 * address is also followed, as long as it stays in registers.
 */
#include "base/base.h"
#include "binary/digester.h"

enum {
	REGISTERS = 31, /* general registers; number 31 is the stack pointer or zero */
	CALL_CHANGES = 19,
	LINK = 30,
	PASSES_MAX = 64,
	COUNT_MAX = 1 << 18,
	/* the content of a register, in the lower bits; the address is above them */
	LOST = 1, /* an unknown page */
	HELD = 2, /* a page */
	WHOLE = 3,
	KIND_BITS = 2,
};

struct pages {
	uint64_t of[REGISTERS + 1];
	bool is_reached;
};

struct follow {
	const uint8_t *bytes;
	uint64_t address;
	size_t count;
	uint32_t *label_of; /* per instruction, from 1; 0: no branch leads here */
	struct pages *labels;
	struct pages now;
	struct pages jumped; /* pages at an unknown target, such as a case of a switch */
	struct pages thrown; /* pages at a landing pad, after a call that threw */
	bool is_exact;
	bool is_stable;
};

static uint32_t word_at(const struct follow *f, size_t i)
{
	uint32_t word;

	memcpy(&word, f->bytes + i * sizeof(word), sizeof(word));
	return word;
}

/* Decodes the signed field of `bits` bits at bit `low`, which counts instructions, into bytes. */
static int64_t distance(uint32_t word, unsigned low, unsigned bits)
{
	const uint32_t field = word << (32 - low - bits);

	return ((int64_t)(int32_t)field >> (32 - bits)) * 4;
}

static bool is_adrp(uint32_t word)
{
	return (word & 0x9f000000u) == 0x90000000u;
}

static uint64_t adr_distance(uint32_t word)
{
	const int64_t high = distance(word, 5, 19);

	return (uint64_t)high | (word >> 29 & 3u);
}

static uint64_t page_of(uint32_t word, uint64_t address)
{
	return (address & ~(uint64_t)0xfff) + (adr_distance(word) << 12);
}

struct form {
	uint32_t mask;
	uint32_t bits;
	uint8_t low; /* lowest bit of the distance */
	uint8_t width;
	bool is_branch;
	bool continues; /* may continue with the next instruction */
};

static const struct form forms[] = {
	{0xfc000000u, 0x14000000u, 0, 26, true, false}, /* b */
	{0xfc000000u, 0x94000000u, 0, 26, false, true}, /* bl */
	{0xff000000u, 0x54000000u, 5, 19, true, true},  /* b.cond */
	{0x7e000000u, 0x34000000u, 5, 19, true, true},  /* cbz, cbnz */
	{0x7e000000u, 0x36000000u, 5, 14, true, true},  /* tbz, tbnz */
	{0x3b000000u, 0x18000000u, 5, 19, false, true}, /* ldr, literal */
};

static const struct form *form_of(uint32_t word)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(forms); i++)
		if ((word & forms[i].mask) == forms[i].bits)
			return &forms[i];
	return NULL;
}

/* Is this bl, blr or an authenticated form of blr? */
static bool is_call(uint32_t word)
{
	return (word & 0xfc000000u) == 0x94000000u || (word & 0xfee00000u) == 0xd6200000u;
}

/* Is this br, or an authenticated form of br? Its target is unknown. */
static bool is_jump(uint32_t word)
{
	return (word & 0xfee00000u) == 0xd6000000u;
}

/* Is this br or ret, or another form of either? */
static bool is_end(uint32_t word)
{
	return (word & 0xfe000000u) == 0xd6000000u && !is_call(word);
}

/* ---- halves of a pair ---- */

struct half {
	unsigned base;
	uint64_t offset;
	unsigned operand_size; /* bytes that are read or written; 0: only the address is taken */
};

static bool is_half(uint32_t word, struct half *half)
{
	const uint64_t field = word >> 10 & 0xfffu;
	const bool is_vector = word >> 26 & 1u;
	const unsigned scale = is_vector && (word >> 23 & 1u) ? 4 : word >> 30;

	*half = (struct half){.base = word >> 5 & 31u};
	if (half->base == REGISTERS)
		return false;
	if ((word & 0xffc00000u) == 0x91000000u) { /* add, of x registers */
		half->offset = field;
		return true;
	}
	if ((word & 0x3b000000u) != 0x39000000u)
		return false;
	half->offset = field << scale;
	half->operand_size = 1u << scale;
	return true;
}

/* ---- registers ---- */

static bool is_page(uint64_t held)
{
	return held && (held & WHOLE) != WHOLE;
}

static void read_of(struct follow *f, unsigned number)
{
	if (number < REGISTERS && is_page(f->now.of[number]))
		f->is_exact = false;
}

static void write_to(struct follow *f, unsigned number)
{
	f->now.of[number] = 0;
}

static void may_write(struct follow *f, unsigned number)
{
	f->now.of[number] = is_page(f->now.of[number]) ? LOST : 0;
}

static void follow_memory(struct follow *f, uint32_t word)
{
	const bool is_vector = word >> 26 & 1u;
	const bool is_pair = (word & 0x3a000000u) == 0x28000000u;
	const bool is_plain = (word & 0x3a000000u) == 0x38000000u;
	const bool is_load = is_pair ? word >> 22 & 1u : (word >> 22 & 3u) != 0;
	struct half half;

	if (!is_half(word, &half)) {
		read_of(f, word >> 5 & 31u);
		may_write(f, word >> 5 & 31u); /* some forms update the base register */
	}
	if (!is_pair && !is_plain) { /* exclusive accesses and similar */
		read_of(f, word >> 10 & 31u);
		read_of(f, word >> 16 & 31u);
		read_of(f, word & 31u);
		may_write(f, word & 31u);
		may_write(f, word >> 10 & 31u);
		may_write(f, word >> 16 & 31u);
		return;
	}
	if (is_plain && (word & 0x01200000u) == 0x00200000u) { /* register index, or atomic */
		read_of(f, word >> 16 & 31u);
		if ((word & 0xc00u) == 0)
			may_write(f, word & 31u);
	}
	if (is_vector || (word & 0xf8c00000u) == 0xf8800000u) /* prefetch */
		return;
	for (unsigned n = 0; n < (is_pair ? 2u : 1u); n++) {
		const unsigned number = (n ? word >> 10 : word) & 31u;

		if (is_load)
			write_to(f, number);
		else
			read_of(f, number);
	}
}

/*
 * Returns the address that the pair forms; its base register must hold a page or a whole address.
 */
static uint64_t address_in(const struct follow *f, const struct half *half)
{
	return (f->now.of[half->base] >> KIND_BITS) + half->offset;
}

static void follow_immediate(struct follow *f, uint32_t word)
{
	const unsigned group = word >> 23 & 7u;
	struct half half;
	uint64_t result = 0;

	if (group == 5) { /* movz, movn; movk keeps the other bits */
		if ((word >> 29 & 3u) == 3)
			read_of(f, word & 31u);
	} else if (group > 1 && !is_half(word, &half)) {
		read_of(f, word >> 5 & 31u);
		if (group == 7)
			read_of(f, word >> 16 & 31u);
	} else if (group > 1 && f->now.of[half.base] & HELD) {
		result = address_in(f, &half) << KIND_BITS | WHOLE;
	}
	write_to(f, word & 31u);
	f->now.of[word & 31u] = result;
}

static void follow_registers(struct follow *f, uint32_t word)
{
	const bool is_ccmp = (word & 0x1fe00000u) == 0x1a400000u;
	const bool is_of_one = (word & 0x5fe00000u) == 0x5ac00000u;
	const bool is_of_three = (word & 0x1f000000u) == 0x1b000000u;
	const bool is_copy = (word & 0xffe0ffe0u) == 0xaa0003e0u;
	const uint64_t copied = f->now.of[word >> 16 & 31u];

	read_of(f, word >> 5 & 31u);
	if (!is_of_one)
		read_of(f, word >> 16 & 31u);
	if (is_of_three)
		read_of(f, word >> 10 & 31u);
	if (!is_ccmp)
		write_to(f, word & 31u);
	if (is_copy && (copied & WHOLE) == WHOLE)
		f->now.of[word & 31u] = copied;
}

/* Only a few vector instructions use the general registers. */
static void follow_vector(struct follow *f, uint32_t word)
{
	const bool converts =
		(word & 0x5f20fc00u) == 0x1e200000u || (word & 0x5f200000u) == 0x1e000000u;
	const bool copies = (word & 0x9fe08400u) == 0x0e000400u;
	const bool is_scalable = (word & 0x1e000000u) == 0x04000000u;

	if (!converts && !copies && !is_scalable)
		return;
	read_of(f, word >> 5 & 31u);
	may_write(f, word & 31u);
}

static void follow_branch(struct follow *f, uint32_t word)
{
	if (is_call(word)) {
		for (unsigned number = 0; number < CALL_CHANGES; number++)
			write_to(f, number);
		write_to(f, LINK);
	} else if ((word & 0x7c000000u) == 0x34000000u) { /* cbz, tbz */
		read_of(f, word & 31u);
	} else if ((word & 0xff000000u) == 0xd5000000u) { /* system registers */
		read_of(f, word & 31u);
		may_write(f, word & 31u);
	}
	if ((word & 0xfe000000u) == 0xd6000000u)
		read_of(f, word >> 5 & 31u);
}

static void follow_word(struct follow *f, uint32_t word, uint64_t address)
{
	if (is_adrp(word)) {
		f->now.of[word & 31u] = page_of(word, address) << KIND_BITS | HELD;
		return;
	}
	if ((word & 0x3b000000u) == 0x18000000u) {
		if (!(word >> 26 & 1u))
			write_to(f, word & 31u);
	} else if ((word & 0x1c000000u) == 0x10000000u) {
		follow_immediate(f, word);
	} else if ((word & 0x1c000000u) == 0x14000000u) {
		follow_branch(f, word);
	} else if ((word & 0x0a000000u) == 0x08000000u) {
		follow_memory(f, word);
	} else if ((word & 0x0e000000u) == 0x0a000000u) {
		follow_registers(f, word);
	} else {
		follow_vector(f, word);
	}
}

/* ---- paths through a function ---- */

/* A page is known only if all paths to this place bring the same page. */
static void join(struct follow *f, struct pages *at, const struct pages *from)
{
	if (!at->is_reached) {
		*at = *from;
		at->is_reached = true;
		f->is_stable = false;
		return;
	}
	for (unsigned number = 0; number < REGISTERS; number++) {
		const bool is_lost = is_page(at->of[number]) || is_page(from->of[number]);

		if (at->of[number] == from->of[number] || at->of[number] == (is_lost ? LOST : 0))
			continue;
		at->of[number] = is_lost ? LOST : 0;
		f->is_stable = false;
	}
}

static void leave(struct follow *f, struct pages *to)
{
	for (unsigned number = 0; number < REGISTERS; number++) {
		if (is_page(f->now.of[number]) && !to->of[number]) {
			to->of[number] = LOST;
			f->is_stable = false;
		}
	}
}

static size_t target_in(const struct follow *f, size_t i, uint32_t word, const struct form *form)
{
	const uint64_t to = i * 4 + (uint64_t)distance(word, form->low, form->width);

	return form->is_branch && to / 4 < f->count ? (size_t)(to / 4) : f->count;
}

static void take(const struct follow *f, size_t i, struct fg_arm64_place *place)
{
	const uint32_t word = word_at(f, i);
	const uint64_t address = f->address + i * 4;
	const struct form *form = form_of(word);
	struct half half;

	*place = (struct fg_arm64_place){.kept = word};
	if (form) {
		place->kept = word & ~(((UINT32_C(1) << form->width) - 1) << form->low);
		place->has_target = true;
		place->target = address + (uint64_t)distance(word, form->low, form->width);
	} else if ((word & 0x1f000000u) == 0x10000000u) {
		place->kept = word & 0x9f00001fu;
		place->has_target = !is_adrp(word);
		place->target = address + adr_distance(word);
		if (is_adrp(word))
			place->page = page_of(word, address) | HELD;
	} else if (is_half(word, &half) && f->now.of[half.base] & HELD) {
		place->kept = word & ~(0xfffu << 10);
		place->has_target = true;
		place->target = address_in(f, &half);
		place->operand_size = half.operand_size;
	}
}

static void arrive(struct follow *f, struct pages *label)
{
	if (label && f->now.is_reached)
		join(f, label, &f->now);
	if (label && f->jumped.is_reached)
		join(f, label, &f->jumped);
	if (label) {
		f->now = *label;
	} else if (!f->now.is_reached) {
		f->now = f->jumped;
		for (unsigned number = 0; number < REGISTERS; number++)
			f->now.of[number] |= f->thrown.of[number];
	}
	f->now.is_reached = true;
}

/* Makes one pass over the function and fills `places` (may be NULL), one per instruction. */
static void pass(struct follow *f, struct fg_arm64_place *places)
{
	f->now = (struct pages){.is_reached = true};
	f->is_stable = true;
	for (size_t i = 0; i < f->count; i++) {
		const uint32_t word = word_at(f, i);
		const struct form *form = form_of(word);
		struct half half;

		arrive(f, f->label_of[i] ? &f->labels[f->label_of[i]] : NULL);
		if (places)
			take(f, i, &places[i]);
		if (is_half(word, &half) && f->now.of[half.base] == LOST)
			f->is_exact = false;
		follow_word(f, word, f->address + i * 4);
		if (form && target_in(f, i, word, form) < f->count)
			join(f, &f->labels[f->label_of[target_in(f, i, word, form)]], &f->now);
		if (is_call(word))
			leave(f, &f->thrown);
		if (is_jump(word)) {
			leave(f, &f->jumped);
			f->jumped.is_reached = true;
		}
		f->now.is_reached = !is_end(word) && !(form && !form->continues);
	}
}

static void find_labels(struct follow *f)
{
	uint32_t count = 0;

	f->label_of = fg_xcalloc(f->count + 1, sizeof(f->label_of[0]));
	for (size_t i = 0; i < f->count; i++) {
		const uint32_t word = word_at(f, i);
		const struct form *form = form_of(word);
		const size_t to = form ? target_in(f, i, word, form) : f->count;

		if (to < f->count && !f->label_of[to])
			f->label_of[to] = ++count;
	}
	f->labels = fg_xcalloc(count + (size_t)1, sizeof(f->labels[0]));
}

struct fg_arm64_place *fg_arm64_places(const uint8_t *bytes, uint64_t size, uint64_t address,
				       size_t *count)
{
	struct follow f = {.bytes = bytes, .address = address, .count = (size_t)(size / 4)};
	struct fg_arm64_place *places = fg_xcalloc(f.count + 1, sizeof(places[0]));
	unsigned passes = 0;

	*count = f.count;
	find_labels(&f);
	for (; !f.is_stable && passes < PASSES_MAX && f.count <= COUNT_MAX; passes++)
		pass(&f, NULL);
	f.is_exact = f.is_stable;
	pass(&f, places);
	for (size_t i = 0; i < f.count && f.is_exact; i++)
		places[i].page = 0;
	free(f.label_of);
	free(f.labels);
	return places;
}
