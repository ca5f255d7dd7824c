// SPDX-License-Identifier: Apache-2.0
/*
 * An instruction is moved only if its address has no effect: it works on registers, on the stack,
 * on the thread's control block (%fs:0x28) or on data at a fixed distance. An access to other
 * memory may raise a signal, whose handler could neither unwind from the new place nor recognise
 * the instruction.
 */
#include "base/base.h"
#include "binary/digester.h"
#include "binary/entry_scan.h"

enum {
	STACK_LIMIT = 0x70, /* offset from %fs; -fsplit-stack keeps the end of the stack there */
};

struct window {
	struct fg_plan_entry *entry;
	ZydisDecoder decoder;
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address; /* address of the instruction */
	const uint8_t *bytes;
};

static bool is_plain(ZydisInstructionCategory category)
{
	static const ZydisInstructionCategory plain[] = {
		ZYDIS_CATEGORY_BINARY,     ZYDIS_CATEGORY_LOGICAL, ZYDIS_CATEGORY_DATAXFER,
		ZYDIS_CATEGORY_PUSH,       ZYDIS_CATEGORY_SHIFT,   ZYDIS_CATEGORY_ROTATE,
		ZYDIS_CATEGORY_BITBYTE,    ZYDIS_CATEGORY_CMOV,    ZYDIS_CATEGORY_SETCC,
		ZYDIS_CATEGORY_CONVERT,    ZYDIS_CATEGORY_SSE,     ZYDIS_CATEGORY_AVX,
		ZYDIS_CATEGORY_AVX2,       ZYDIS_CATEGORY_BMI1,    ZYDIS_CATEGORY_BMI2,
		ZYDIS_CATEGORY_LOGICAL_FP, ZYDIS_CATEGORY_LZCNT,   ZYDIS_CATEGORY_VFMA,
		ZYDIS_CATEGORY_BROADCAST,
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(plain); i++)
		if (plain[i] == category)
			return true;
	return false;
}

/* True for memory that is always mapped: the stack, the control block, data of the object. */
static bool is_safe_memory(const ZydisDecodedOperand *operand)
{
	const bool has_base = operand->mem.base != ZYDIS_REGISTER_NONE;
	const bool has_index = operand->mem.index != ZYDIS_REGISTER_NONE;

	if (has_index || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return false;
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		return !has_base && operand->mem.disp.value != STACK_LIMIT;
	return (operand->mem.segment == ZYDIS_REGISTER_SS ||
		operand->mem.segment == ZYDIS_REGISTER_DS) &&
	       (operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_RIP);
}

static bool has_safe_operands(const struct window *w)
{
	for (size_t i = 0; i < w->decoded.operand_count; i++) {
		const ZydisDecodedOperand *operand = &w->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && !is_safe_memory(operand))
			return false;
	}
	return true;
}

/* ---- moved code ---- */

static bool add_bytes(struct fg_plan_entry *entry, const uint8_t *bytes, size_t size)
{
	if (entry->code_size + size > FG_PLAN_CODE)
		return false;
	memcpy(entry->code + entry->code_size, bytes, size);
	entry->code_size = (uint8_t)(entry->code_size + size);
	return true;
}

/* Makes the distance at `at`, in the instruction added last, lead to `target`. */
static bool add_fixup(struct fg_plan_entry *entry, size_t at, uint64_t target)
{
	const int64_t distance = (int64_t)(target - (entry->address + entry->code_size));

	if (entry->fixup_count == FG_PLAN_FIXUPS || distance < INT32_MIN || distance > INT32_MAX)
		return false;
	fg_plan_set_distance(entry->code + at, entry->address + entry->code_size, target);
	entry->fixups[entry->fixup_count++] = (uint8_t)at;
	return true;
}

/* Adds a branch to `target`; `operation` holds the bytes before its distance. */
static bool add_branch(struct fg_plan_entry *entry, const uint8_t *operation, size_t size,
		       uint64_t target)
{
	const uint8_t distance[4] = {0};
	const size_t at = entry->code_size + size;

	return add_bytes(entry, operation, size) && add_bytes(entry, distance, sizeof(distance)) &&
	       add_fixup(entry, at, target);
}

static bool copy(struct window *w)
{
	const ZydisDecodedInstruction *decoded = &w->decoded;
	const size_t at = w->entry->code_size + (size_t)decoded->raw.disp.offset;

	return add_bytes(w->entry, w->bytes, decoded->length) &&
	       (!(decoded->attributes & ZYDIS_ATTRIB_IS_RELATIVE) ||
		(decoded->raw.disp.size == 32 &&
		 add_fixup(w->entry, at,
			   w->address + decoded->length + (uint64_t)decoded->raw.disp.value)));
}

/* ---- instructions ---- */

/*
 * Copies a conditional jump, with a 32-bit distance. Refuses other branches, and a prefix for the
 * operand size, on which processors differ.
 */
static bool copy_branch(const struct window *w)
{
	const ZydisDecodedInstruction *decoded = &w->decoded;
	const bool is_jcc = decoded->opcode_map == ZYDIS_OPCODE_MAP_0F
				    ? (decoded->opcode & 0xf0) == 0x80
				    : (decoded->opcode & 0xf0) == 0x70;
	const uint8_t jump[] = {0x0f, 0x80 | (decoded->opcode & 0x0f)};

	return is_jcc && !(decoded->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
	       add_branch(w->entry, jump, sizeof(jump),
			  w->address + decoded->length + (uint64_t)decoded->raw.imm[0].value.s);
}

static bool is_movable(const struct window *w)
{
	const ZydisDecodedInstruction *decoded = &w->decoded;
	const ZydisInstructionCategory category = decoded->meta.category;

	if (category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP)
		return true;
	return (is_plain(category) || decoded->mnemonic == ZYDIS_MNEMONIC_LEA) &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_DIV &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_IDIV && has_safe_operands(w);
}

static enum fg_entry_refusal take(struct window *w)
{
	bool is_taken = false;

	switch (w->decoded.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
		return FG_ENTRY_SHORT;
	case ZYDIS_CATEGORY_COND_BR:
		is_taken = copy_branch(w);
		break;
	default:
		is_taken = is_movable(w) && copy(w);
	}
	return is_taken ? FG_ENTRY_ACCEPTED : FG_ENTRY_FIXED;
}

static bool decode(struct window *w, const uint8_t *bytes, size_t size)
{
	w->bytes = bytes;
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&w->decoder, bytes, size, &w->decoded, w->operands));
}

static enum fg_entry_refusal take_all(struct window *w, const uint8_t *bytes, size_t size)
{
	static const uint8_t jump[] = {0xe9};
	struct fg_plan_entry *entry = w->entry;
	size_t at = 0;

	if (!decode(w, bytes, size))
		return FG_ENTRY_UNBOUNDED;
	if (w->decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		at = w->decoded.length;
	entry->jump_at = (uint8_t)at;
	while (at < entry->jump_at + (size_t)FG_PLAN_JUMP) {
		enum fg_entry_refusal refusal = FG_ENTRY_SHORT;

		if (at == size)
			return FG_ENTRY_SHORT;
		if (!decode(w, bytes + at, size - at))
			return FG_ENTRY_UNBOUNDED;
		w->address = entry->address + at;
		refusal = take(w);
		if (refusal != FG_ENTRY_ACCEPTED)
			return refusal;
		at += w->decoded.length;
	}
	if (at > FG_PLAN_WINDOW)
		return FG_ENTRY_FIXED;
	entry->window_size = (uint8_t)at;
	return add_branch(entry, jump, sizeof(jump), entry->address + at) ? FG_ENTRY_ACCEPTED
									  : FG_ENTRY_FIXED;
}

enum fg_entry_refusal fg_entry_window(const uint8_t *bytes, size_t size,
				      struct fg_plan_entry *entry)
{
	struct window w = {.entry = entry};
	const struct fg_plan_entry before = *entry;
	enum fg_entry_refusal refusal = FG_ENTRY_UNBOUNDED;

	if (fg_decoder_start(&w.decoder, true))
		refusal = take_all(&w, bytes, size);
	if (refusal != FG_ENTRY_ACCEPTED)
		*entry = before;
	entry->refusal = (uint8_t)refusal;
	return refusal;
}
