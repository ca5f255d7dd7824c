// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/stacks.h"

#include <libunwind.h>

/* libunwind exports this function for tools that know where the tables of another process lie. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t address,
					      unw_dyn_info_t *tables, unw_proc_info_t *info,
					      int need_unwind_info, void *context);

enum {
	CACHE_ENTRIES = 4096,
	TABLE_ENTRY_WORDS = 8 / sizeof(unw_word_t),
};

#define OWN_TABLES         UINT64_C(0xffff800000000000)
#define OWN_TABLE_DISTANCE (UINT64_C(1) << 32)

struct fg_stack_walker {
	struct fg_memory *memory;
	const struct fg_mappings *mappings;
	const struct user_regs_struct *registers;
	unw_addr_space_t space;
};

/*
 * Tables made by fastgate get addresses in the kernel's half, which no program uses. libunwind
 * reads them like any memory, through access_memory().
 */
static uint64_t own_table_address(const struct fg_stack_walker *walker,
				  const struct fg_mapping *mapping)
{
	return OWN_TABLES + (uint64_t)(mapping - walker->mappings->items) * OWN_TABLE_DISTANCE;
}

static bool read_own_table(const struct fg_stack_walker *walker, uint64_t address, void *value)
{
	const uint64_t number = (address - OWN_TABLES) / OWN_TABLE_DISTANCE;
	const uint64_t offset = (address - OWN_TABLES) % OWN_TABLE_DISTANCE;
	const struct fg_mapping *mapping = NULL;

	if (number >= walker->mappings->count)
		return false;
	mapping = &walker->mappings->items[number];
	if (!mapping->own_table ||
	    offset + sizeof(unw_word_t) > mapping->table_entries * sizeof(mapping->own_table[0]))
		return false;
	memcpy(value, (const char *)mapping->own_table + offset, sizeof(unw_word_t));
	return true;
}

static int find_tables(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *info,
		       int need_unwind_info, void *context)
{
	const struct fg_stack_walker *walker = context;
	const struct fg_mapping *mapping = fg_mappings_find(walker->mappings, address);
	unw_dyn_info_t tables = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};

	if (!mapping || !mapping->table_entries)
		return -UNW_ENOINFO;
	tables.start_ip = mapping->start;
	tables.end_ip = mapping->end;
	tables.u.rti.segbase = mapping->table_base;
	tables.u.rti.table_data =
		mapping->own_table ? own_table_address(walker, mapping) : mapping->table;
	tables.u.rti.table_len = mapping->table_entries * TABLE_ENTRY_WORDS;
	return UNW_OBJ(dwarf_search_unwind_table)(space, address, &tables, info, need_unwind_info,
						  context);
}

/* libunwind allocates the info from its own pool and offers no way to free it. */
static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
	(void)space;
	(void)info;
	(void)context;
}

/* libunwind defines the types of these callbacks. */
/* NOLINTBEGIN(readability-non-const-parameter) */
static int no_registered_code(unw_addr_space_t space, unw_word_t *list, void *context)
{
	(void)space;
	(void)list;
	(void)context;
	return -UNW_ENOINFO;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
			 void *context)
{
	const struct fg_stack_walker *walker = context;

	bool done = false;

	(void)space;
	if (write)
		return -UNW_EINVAL;
	done = address >= OWN_TABLES
		       ? read_own_table(walker, address, value)
		       : fg_memory_read(walker->memory, address, value, sizeof(*value));
	return done ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
			   int write, void *context)
{
	const struct fg_stack_walker *walker = context;
	const struct user_regs_struct *from = walker->registers;
	const unsigned long long values[] = {
		[UNW_X86_64_RAX] = from->rax, [UNW_X86_64_RDX] = from->rdx,
		[UNW_X86_64_RCX] = from->rcx, [UNW_X86_64_RBX] = from->rbx,
		[UNW_X86_64_RSI] = from->rsi, [UNW_X86_64_RDI] = from->rdi,
		[UNW_X86_64_RBP] = from->rbp, [UNW_X86_64_RSP] = from->rsp,
		[UNW_X86_64_R8] = from->r8,   [UNW_X86_64_R9] = from->r9,
		[UNW_X86_64_R10] = from->r10, [UNW_X86_64_R11] = from->r11,
		[UNW_X86_64_R12] = from->r12, [UNW_X86_64_R13] = from->r13,
		[UNW_X86_64_R14] = from->r14, [UNW_X86_64_R15] = from->r15,
		[UNW_X86_64_RIP] = from->rip,
	};

	(void)space;
	if (write || number < 0 || (size_t)number >= FG_ARRAY_SIZE(values))
		return -UNW_EBADREG;
	*value = values[number];
	return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *context)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)context;
	return -UNW_EINVAL;
}

static int never_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
	(void)space;
	(void)cursor;
	(void)context;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
		   unw_word_t *offset, void *context)
{
	(void)space;
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	(void)context;
	return -UNW_ENOINFO;
}

/* NOLINTEND(readability-non-const-parameter) */

static unw_accessors_t accessors = {
	.find_proc_info = find_tables,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_registered_code,
	.access_mem = access_memory,
	.access_reg = access_register,
	.access_fpreg = access_float,
	.resume = never_resume,
	.get_proc_name = no_name,
};

struct fg_stack_walker *fg_stack_walker_new(struct fg_memory *memory,
					    const struct fg_mappings *mappings)
{
	struct fg_stack_walker *walker = fg_xcalloc(1, sizeof(*walker));

	walker->memory = memory;
	walker->mappings = mappings;
	walker->space = unw_create_addr_space(&accessors, 0);
	FG_ASSERT(walker->space);
	(void)unw_set_caching_policy(walker->space, UNW_CACHE_GLOBAL);
	(void)unw_set_cache_size(walker->space, CACHE_ENTRIES, 0);
	return walker;
}

void fg_stack_walker_free(struct fg_stack_walker *walker)
{
	if (!walker)
		return;
	unw_destroy_addr_space(walker->space);
	free(walker);
}

void fg_stack_walk(struct fg_stack_walker *walker, const struct user_regs_struct *registers,
		   struct fg_walked_stack *stack)
{
	unw_cursor_t cursor;
	bool exact = true;
	int step = 1;

	walker->registers = registers;
	stack->count = 0;
	stack->truncated = false;
	if (unw_init_remote(&cursor, walker->space, walker) != 0)
		step = 0;
	while (step > 0 && stack->count < FG_STACK_MAX) {
		unw_word_t address = 0;
		unw_word_t begin = 0;

		if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0 ||
		    unw_get_reg(&cursor, UNW_REG_SP, &begin) != 0)
			break;
		/* After a call to a bad address, the caller is still of interest. */
		if (stack->count > 0 && !fg_mappings_is_code(walker->mappings, address - !exact)) {
			stack->truncated = true;
			break;
		}
		stack->frames[stack->count++] =
			(struct fg_stack_frame){.address = address, .stack = begin, .exact = exact};
		exact = unw_is_signal_frame(&cursor) > 0;
		step = unw_step(&cursor);
	}
	if (step < 0 || stack->count == FG_STACK_MAX)
		stack->truncated = true;
	if (stack->count == 0) {
		stack->frames[0] = (struct fg_stack_frame){
			.address = registers->rip, .stack = registers->rsp, .exact = true};
		stack->count = 1;
		stack->truncated = true;
	}
}
