// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts __cxa_throw, which C++ calls to throw, and counts throws by type. A rethrow (`throw;`)
 * is not counted again. Built only into the counting library.
 *
 * The types are found while the program runs: each gets its own number, up to TYPES_MAX.
 *
 * A C program may load the C++ runtime outside the loader's search order. The real function is then
 * searched for in the object that holds the virtual table of the type's std::type_info: the runtime
 * that throws.
 */
#include "collector/counting/count_probe.h"
#include "collector/process/real.h"
#include "collector/sampler/introduce.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
	THROWS,
};

enum {
	TYPES_MAX = FG_COUNT_TYPE_GROUPS * FG_COUNT_KINDS,
	TYPE_SIZE = 256,
	TYPE_NONE = TYPES_MAX,
};

enum type_state {
	TYPE_FREE,
	TYPE_BEING_NAMED,
	TYPE_NAMED,
};

/* Measures are named by the type's linkage name: _ZTS and the mangled name. */
#define TYPE_PREFIX "throws._ZTS"

/* The beginning of a std::type_info. */
struct type_info {
	const void *functions;
	const char *name; /* a leading '*' only affects comparisons */
};

typedef void throw_function(void *, struct type_info *, void (*)(void *));

static void begin(void);

static struct fg_counted counted = {
	.names = {[THROWS] = "throws"},
	.begin = begin,
};
static struct fg_counted groups[FG_COUNT_TYPE_GROUPS];
static char names[TYPES_MAX][TYPE_SIZE];
static _Atomic uint8_t states[TYPES_MAX];
static throw_function *known; /* the real function, if it was loaded with the program */
static struct {
	/* the virtual table of a std::type_info; &runtimes: `real` is not set yet */
	_Atomic(const void *) functions;
	throw_function *_Atomic real;
} runtimes[8];

/* ---- types ---- */

static enum fg_counter group_of(uint32_t type)
{
	return FG_COUNT_TYPES + type / FG_COUNT_KINDS;
}

static uint32_t name_type(struct fg_thread *thread, uint32_t type, const char *mangled)
{
	const unsigned kind = type % FG_COUNT_KINDS;

	memcpy(names[type], TYPE_PREFIX, sizeof(TYPE_PREFIX));
	memcpy(names[type] + strlen(TYPE_PREFIX), mangled, strlen(mangled) + 1);
	groups[type / FG_COUNT_KINDS].names[kind] = names[type];
	atomic_store_explicit(&states[type], TYPE_NAMED, memory_order_release);
	fg_counts_introduce(thread, group_of(type), kind);
	return type;
}

/*
 * Returns the type's number, assigned at its first throw. Two threads may each enter the same type,
 * so readers compare names.
 */
static uint32_t number_of(struct fg_thread *thread, const struct type_info *info)
{
	const char *mangled = info->name + (info->name[0] == '*');

	if (strlen(TYPE_PREFIX) + strlen(mangled) >= TYPE_SIZE)
		return TYPE_NONE;
	for (uint32_t i = 0; i < TYPES_MAX; i++) {
		uint8_t state = TYPE_FREE;

		if (atomic_compare_exchange_strong(&states[i], &state, TYPE_BEING_NAMED))
			return name_type(thread, i, mangled);
		if (state == TYPE_NAMED && strcmp(names[i] + strlen(TYPE_PREFIX), mangled) == 0)
			return i;
	}
	return TYPE_NONE;
}

/* ---- counting ---- */

static void count_on(struct fg_thread *thread, const ucontext_t *context,
		     const struct type_info *info)
{
	const struct fg_counts one = {.values = {[THROWS] = 1}};
	struct fg_counts of_type = {.values = {0}};
	uint32_t path = 0;
	uint32_t type = TYPE_NONE;

	if (!fg_ensure_file(thread))
		return;
	path = fg_counts_path(thread, context);
	fg_counts_add(thread, FG_COUNTER_THROWS, path, &one);
	type = info ? number_of(thread, info) : TYPE_NONE;
	if (type == TYPE_NONE)
		return;
	of_type.values[type % FG_COUNT_KINDS] = 1;
	fg_counts_add(thread, group_of(type), path, &of_type);
}

static void count(const ucontext_t *context, const struct type_info *info)
{
	const struct fg_counts one = {.values = {[THROWS] = 1}};
	struct fg_thread *thread = fg_self;

	if (!fg_is_counting(FG_COUNTER_THROWS))
		return;
	if (!thread || !fg_thread_enter(thread)) {
		fg_counts_add_unplaced(FG_COUNTER_THROWS, &one);
		return;
	}
	count_on(thread, context, info);
	fg_thread_leave(thread);
}

/* ---- the real functions ---- */

static throw_function *look_up(enum fg_symbol_scope scope, const void *functions)
{
	return __extension__(throw_function *) fg_symbol_find(scope, functions, "__cxa_throw");
}

/*
 * Looks for the function in the library that holds this table, and pins the library: it stays
 * loaded.
 */
static throw_function *look_up_in_runtime(const void *functions)
{
	FG_REAL(dlopen);
	const char *library = fg_symbol_object(functions);

	if (library)
		(void)real_dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	return library ? look_up(FG_SYMBOL_SAME_OBJECT, functions) : NULL;
}

/* Like look_up_in_runtime(), cached: a runtime has few kinds of types. */
static throw_function *find_in_runtime(const void *functions)
{
	throw_function *found = NULL;

	for (unsigned i = 0; i < FG_ARRAY_SIZE(runtimes); i++) {
		const void *at = atomic_load_explicit(&runtimes[i].functions, memory_order_acquire);

		if (at == functions)
			return atomic_load(&runtimes[i].real);
		if (at)
			continue;
		found = found ? found : look_up_in_runtime(functions);
		if (!found ||
		    !atomic_compare_exchange_strong(&runtimes[i].functions, &at, &runtimes))
			continue;
		atomic_store(&runtimes[i].real, found);
		atomic_store_explicit(&runtimes[i].functions, functions, memory_order_release);
		return found;
	}
	return found ? found : look_up_in_runtime(functions);
}

static throw_function *real_throw(const struct type_info *info)
{
	if (FG_LIKELY(known != NULL))
		return known;
	return info ? find_in_runtime(info->functions) : NULL;
}

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C++ ABI */
/* No C header declares this function. */
_Noreturn void __cxa_throw(void *object, struct type_info *info, void (*destroy)(void *));

FG_EXPORT _Noreturn void __cxa_throw(void *object, struct type_info *info, void (*destroy)(void *))
{
	throw_function *real = real_throw(info);

	if (real) {
		FG_HERE(context);
		count(&context, info);
		real(object, info, destroy);
	}
	/* without the real function nothing is thrown, but this function must not return */
	abort();
}

/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* ---- registration ---- */

static void begin(void)
{
	fg_g.options.counters |= ((1u << FG_COUNT_TYPE_GROUPS) - 1) << FG_COUNT_TYPES;
}

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	known = look_up(FG_SYMBOL_NEXT, NULL);
	fg_counted[FG_COUNTER_THROWS] = &counted;
	for (unsigned i = 0; i < FG_COUNT_TYPE_GROUPS; i++)
		fg_counted[FG_COUNT_TYPES + i] = &groups[i];
}
