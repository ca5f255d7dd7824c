/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks the parts of your program's work, so that a profile can be split by them: regions (nested,
 * per thread) and units of work (an event, an image, a request, each with its number). Header only,
 * C and C++, nothing to link.
 *
 *	FG_REGION_BEGIN("fit");
 *	...
 *	fg_region_end();
 *
 *	for (i = 0; i < events; i++) {
 *		fg_unit_begin("event", i);
 *		...
 *		fg_unit_end();
 *	}
 *
 * Without the collector each call is a load and a predictable branch. With it, the calls may be
 * made from any thread, but not from a signal handler. After the first call, which looks the
 * collector up, only fg_dump() may take a lock or wait for another thread. A region must end in the
 * thread that began it.
 */
#ifndef FASTGATE_REGION_H
#define FASTGATE_REGION_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FG_REGION_API_VERSION 1
#define FG_REGION_API_SYMBOL  "fastgate_region_api_1"

/* The collector's functions. Later versions append members and never change existing members. */
struct fg_region_api {
	uint32_t version;
	uint32_t size;
	/* a name's number, always the same; 0: too many names */
	uint32_t (*name)(const char *text);
	void (*region_begin)(uint32_t name);
	void (*region_end)(void);
	void (*unit_begin)(uint32_t name, uint64_t number);
	void (*unit_end)(void);
	void (*pause)(void);
	void (*resume)(void);
	void (*dump)(void); /* missing in collectors of older versions: see `size` */
};

/* Returns NULL without the collector. */
static inline const struct fg_region_api *fg_region_api(void)
{
	static const struct fg_region_api *api;
	static int state; /* 0: not looked up yet, 1: found, -1: not found */
	int seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (__builtin_expect(seen < 0, 1))
		return (const struct fg_region_api *)0;
	if (seen == 0) {
		api = (const struct fg_region_api *)dlsym((void *)0, FG_REGION_API_SYMBOL);
		__atomic_store_n(&state, api ? 1 : -1, __ATOMIC_RELEASE);
	}
	return api;
}

static inline void fg_region_begin(const char *name)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->region_begin(api->name(name));
}

/* Like fg_region_begin(), for a constant name, which is looked up once. */
#define FG_REGION_BEGIN(text)                                        \
 do {                                                                \
  static uint32_t fg_name_;                                          \
  const struct fg_region_api *fg_api_ = fg_region_api();             \
                                                                     \
  if (fg_api_) {                                                     \
   uint32_t fg_seen_ = __atomic_load_n(&fg_name_, __ATOMIC_RELAXED); \
                                                                     \
   if (!fg_seen_) {                                                  \
    fg_seen_ = fg_api_->name(text);                                  \
    __atomic_store_n(&fg_name_, fg_seen_, __ATOMIC_RELAXED);         \
   }                                                                 \
   fg_api_->region_begin(fg_seen_);                                  \
  }                                                                  \
 } while (0)

static inline void fg_region_end(void)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->region_end();
}

/* Begins a unit of work, and ends the thread's previous unit if it is still open. */
static inline void fg_unit_begin(const char *kind, uint64_t number)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->unit_begin(api->name(kind), number);
}

static inline void fg_unit_end(void)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->unit_end();
}

/* fg_pause() stops sampling and counting in the whole process; fg_resume() resumes both. */
static inline void fg_pause(void)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->pause();
}

static inline void fg_resume(void)
{
	const struct fg_region_api *api = fg_region_api();

	if (api)
		api->resume();
}

/*
 * Records the memory or descriptors held now, by call path, if they are counted (fastgate record
 * --measure heap or fd). Dumps are numbered from 1; fastgate view -V growth compares two dumps.
 */
static inline void fg_dump(void)
{
	const struct fg_region_api *api = fg_region_api();

	if (api && api->size > offsetof(struct fg_region_api, dump))
		api->dump();
}

#ifdef __cplusplus
}
#endif

#endif
