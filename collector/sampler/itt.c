// SPDX-License-Identifier: Apache-2.0
/*
 * A collector for programs that are marked with the ITT API, as for VTune. Such a program holds a
 * small static part with a table of function pointers. When it first calls one of them, the static
 * part loads the library that INTEL_LIBITTNOTIFY64 (or 32) names, which is this one, and calls
 * __itt_api_init() with its table. We fill in the functions that we implement.
 *
 *	task      region, named by the task         event    region, named by the event
 *	frame     unit of work, numbered from 1     pause / resume, detach
 *
 * The layouts below follow the API's binary interface: newer versions only add members after the
 * members used here.
 */
#include "base/attrs.h"
#include "collector/sampler/region_table.h"
#include "collector/sampler/regions.h"

#include <pthread.h>
#include <string.h>

struct itt_api_info {
	const char *name;
	void **function;
	void *init_function;
	void *null_function;
	int group;
};

struct itt_domain {
	volatile int flags;
	const char *name;
	void *wide_name;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide_text;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long version_major;
	unsigned long version_minor;
	unsigned long version_build;
	volatile long api_initialized;
	volatile long mutex_initialized;
	volatile long atomic_counter;
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **dll_path;
	struct itt_api_info *api_list;
	struct itt_global *next;
};

struct itt_id {
	unsigned long long d1, d2, d3;
};

/* Handles for the program: one per name, never freed. */
enum {
	HANDLES_MAX = FG_NAMES_MAX + 1,
	HANDLE_TEXT = 256
};

static struct itt_domain domains[HANDLES_MAX];
static struct itt_string strings[HANDLES_MAX];
static char domain_texts[HANDLES_MAX][HANDLE_TEXT];
static char string_texts[HANDLES_MAX][HANDLE_TEXT];
static _Atomic uint64_t frames_of[HANDLES_MAX];

/*
 * Every name has a number; NULL, and names beyond the table, get the first handle, which stays
 * empty.
 */
static uint32_t slot_of(const char *name)
{
	const uint32_t number = name ? fg_name_find(name) : 0;

	return number < HANDLES_MAX ? number : 0;
}

static struct itt_domain *domain_create(const char *name)
{
	const uint32_t slot = slot_of(name);
	struct itt_domain *domain = &domains[slot];

	if (slot && !domain->name) {
		strncpy(domain_texts[slot], name, HANDLE_TEXT - 1);
		domain->name = domain_texts[slot];
		domain->flags = 1;
	}
	return domain;
}

static struct itt_string *string_handle_create(const char *name)
{
	const uint32_t slot = slot_of(name);
	struct itt_string *string = &strings[slot];

	if (slot && !string->text) {
		strncpy(string_texts[slot], name, HANDLE_TEXT - 1);
		string->text = string_texts[slot];
	}
	return string;
}

static void task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		       const struct itt_string *name)
{
	(void)task;
	(void)parent;
	if (domain && domain->flags && name && name->text)
		fg_mark_region_begin(fg_name_find(name->text));
	else
		fg_mark_region_begin(0);
}

static void task_end(const struct itt_domain *domain)
{
	(void)domain;
	fg_mark_region_end();
}

static int event_create(const char *name, int size)
{
	(void)size;
	return name ? (int)fg_name_find(name) : 0;
}

static int event_start(int event)
{
	fg_mark_region_begin(event > 0 ? (uint32_t)event : 0);
	return 0;
}

static int event_end(int event)
{
	if (event > 0)
		fg_region_end_name((uint32_t)event);
	return 0;
}

static void frame_begin(const struct itt_domain *domain, struct itt_id *id)
{
	(void)id;
	if (!domain || !domain->name)
		return;
	const uint32_t name = fg_name_find(domain->name);

	fg_mark_unit_begin(name, atomic_fetch_add(&frames_of[slot_of(domain->name)], 1) + 1);
}

static void frame_end(const struct itt_domain *domain, struct itt_id *id)
{
	(void)domain;
	(void)id;
	fg_mark_unit_end();
}

/* Functions of any type, as stored in the table. */
typedef void (*any_function)(void);

static const struct {
	const char *name;
	any_function function;
} functions[] = {
	{.name = "__itt_pause", .function = (any_function)fg_mark_pause},
	{.name = "__itt_resume", .function = (any_function)fg_mark_resume},
	{.name = "__itt_detach", .function = (any_function)fg_mark_pause},
	{.name = "__itt_domain_create", .function = (any_function)domain_create},
	{.name = "__itt_string_handle_create", .function = (any_function)string_handle_create},
	{.name = "__itt_task_begin", .function = (any_function)task_begin},
	{.name = "__itt_task_end", .function = (any_function)task_end},
	{.name = "__itt_event_create", .function = (any_function)event_create},
	{.name = "__itt_event_start", .function = (any_function)event_start},
	{.name = "__itt_event_end", .function = (any_function)event_end},
	{.name = "__itt_frame_begin_v3", .function = (any_function)frame_begin},
	{.name = "__itt_frame_end_v3", .function = (any_function)frame_end},
};

/* The name is the interface's. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
void __itt_api_init(struct itt_global *global, int groups);

FG_EXPORT void __itt_api_init(struct itt_global *global, int groups)
{
	static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

	(void)groups;
	if (!fg_alive() || !global || memcmp(global->magic, magic, sizeof(magic)) != 0)
		return;
	for (struct itt_api_info *api = global->api_list; api && api->name; api++) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(functions); i++)
			if (strcmp(api->name, functions[i].name) == 0)
				*api->function = __extension__(void *) functions[i].function;
	}
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
