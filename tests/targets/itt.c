// SPDX-License-Identifier: Apache-2.0
/*
 * Stands in for the static part of the ITT API, which initialises itself when the marked program
 * first calls it.
 */
#include "work.h"

#include <dlfcn.h>
#include <pthread.h>

struct api_info {
	const char *name;
	void **function;
	void *init_function;
	void *null_function;
	int group;
};

struct global {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **dll_path;
	struct api_info *api_list;
	struct global *next;
};

struct id {
	unsigned long long d1, d2, d3;
};

static void *domain_create;
static void *string_create;
static void *task_begin;
static void *task_end;
static void *event_create;
static void *event_start;
static void *event_end;
static void *not_served = &domain_create;

static struct api_info list[] = {
	{"__itt_domain_create", &domain_create, NULL, NULL, 0},
	{"__itt_string_handle_create", &string_create, NULL, NULL, 0},
	{"__itt_task_begin", &task_begin, NULL, NULL, 0},
	{"__itt_task_end", &task_end, NULL, NULL, 0},
	{"__itt_event_create", &event_create, NULL, NULL, 0},
	{"__itt_event_start", &event_start, NULL, NULL, 0},
	{"__itt_event_end", &event_end, NULL, NULL, 0},
	{"__itt_no_such_function", &not_served, NULL, NULL, 0},
	{NULL, NULL, NULL, NULL, 0},
};

NOINLINE static void work(uint64_t us)
{
	spin_us(us);
}

int main(void)
{
	static struct global global = {.magic = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
				       .api_list = list};
	const struct id none = {0, 0, 0};
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void *init = library ? dlsym(library, "__itt_api_init") : NULL;

	check(init != NULL, "no collector");
	(__extension__(void (*)(struct global *, int)) init)(&global, 0);
	check(domain_create && task_begin && event_start, "functions were not filled in");
	check(not_served == &domain_create, "a function that nobody knows was filled in");
	void *domain = (__extension__(void *(*)(const char *)) domain_create)("reconstruction");
	void *name = (__extension__(void *(*)(const char *)) string_create)("tracking");
	const int event = (__extension__(int (*)(const char *, int)) event_create)("fitting", 7);

	(__extension__(void (*)(void *, struct id, struct id, void *)) task_begin)(domain, none,
										   none, name);
	work(100000);
	(__extension__(int (*)(int)) event_start)(event);
	work(300000);
	(__extension__(int (*)(int)) event_end)(event);
	(__extension__(void (*)(void *)) task_end)(domain);
	return 0;
}
