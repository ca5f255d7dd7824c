// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/quotas.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "store/serving/limits.h"

#include <pthread.h>

enum {
	SLOTS = 512, /* projects that are remembered; two in one slot take turns */
};

#define COUNT_AFTER_NS  (10 * FG_NS_PER_S)
#define REFUSE_AFTER_NS FG_NS_PER_S

struct quota {
	char *project;
	int64_t counted_ns; /* 0: never */
	int64_t most_runs;
	int64_t most_bytes;
	struct fg_usage usage;
};

struct fg_quotas {
	pthread_mutex_t lock;
	struct quota slots[SLOTS];
};

struct fg_quotas *fg_quotas_new(void)
{
	struct fg_quotas *quotas = fg_xcalloc(1, sizeof(*quotas));

	(void)pthread_mutex_init(&quotas->lock, NULL);
	return quotas;
}

void fg_quotas_free(struct fg_quotas *quotas)
{
	if (!quotas)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(quotas->slots[i].project);
	(void)pthread_mutex_destroy(&quotas->lock);
	free(quotas);
}

static struct quota *slot_of(struct fg_quotas *quotas, const char *project)
{
	return &quotas->slots[fg_hash64(project, strlen(project), 0) % SLOTS];
}

static bool is_full_of_runs(const struct quota *quota, const struct fg_usage *more)
{
	return quota->most_runs && more->runs && quota->usage.runs >= quota->most_runs;
}

static bool is_reached(const struct quota *quota, const struct fg_usage *more)
{
	return is_full_of_runs(quota, more) ||
	       (quota->most_bytes && (quota->usage.bytes >= quota->most_bytes ||
				      more->bytes > quota->most_bytes - quota->usage.bytes));
}

/* What is remembered of the project, if that is new enough for what it would lead to. */
static bool recall(struct fg_quotas *quotas, const char *project, const struct fg_usage *more,
		   struct quota *quota)
{
	const struct quota *slot = slot_of(quotas, project);
	int64_t age_ns = 0;
	bool is_known = false;

	(void)pthread_mutex_lock(&quotas->lock);
	is_known = slot->counted_ns && strcmp(slot->project, project) == 0;
	if (is_known)
		*quota = *slot;
	(void)pthread_mutex_unlock(&quotas->lock);
	quota->project = NULL;
	if (!is_known)
		return false;
	age_ns = fg_clock_monotonic_ns() - quota->counted_ns;
	return age_ns < (is_reached(quota, more) ? REFUSE_AFTER_NS : COUNT_AFTER_NS);
}

static void remember(struct fg_quotas *quotas, const char *project, const struct quota *quota)
{
	struct quota *slot = slot_of(quotas, project);

	(void)pthread_mutex_lock(&quotas->lock);
	free(slot->project);
	*slot = *quota;
	slot->project = fg_xstrdup(project);
	(void)pthread_mutex_unlock(&quotas->lock);
}

static int count(struct fg_store *store, const char *project, struct quota *quota,
		 struct fg_error *err)
{
	struct fg_limits limits = {0};
	int status = fg_store_limits_of(store, project, &limits, err);

	if (status != FG_OK)
		return status;
	*quota = (struct quota){
		.counted_ns = fg_clock_monotonic_ns(),
		.most_runs = limits.most_runs,
		.most_bytes = limits.most_bytes,
	};
	fg_limits_release(&limits);
	if (!quota->most_runs && !quota->most_bytes)
		return FG_OK;
	return fg_store_usage(store, project, &quota->usage, err);
}

static int refuse(const char *project, const struct quota *quota, const struct fg_usage *more,
		  struct fg_error *err)
{
	static const char *const advice = "remove some, or have the quota raised";
	char held[FG_NUMBER_TEXT_SIZE];
	char most[FG_NUMBER_TEXT_SIZE];

	if (is_full_of_runs(quota, more))
		return fg_error_set(
			err, FG_ELIMIT, "project '%.100s' holds %lld runs and may hold %lld: %s",
			project, (long long)quota->usage.runs, (long long)quota->most_runs, advice);
	return fg_error_set(err, FG_ELIMIT,
			    "the runs of project '%.100s' take %s and may take %s: %s", project,
			    fg_format_size((double)quota->usage.bytes, held),
			    fg_format_size((double)quota->most_bytes, most), advice);
}

int fg_quotas_check(struct fg_quotas *quotas, struct fg_store *store, const char *project,
		    const struct fg_usage *more, struct fg_error *err)
{
	struct quota quota = {0};
	int status = FG_OK;

	if (!recall(quotas, project, more, &quota)) {
		status = count(store, project, &quota, err);
		if (status != FG_OK)
			return status;
		remember(quotas, project, &quota);
	}
	return is_reached(&quota, more) ? refuse(project, &quota, more, err) : FG_OK;
}

void fg_quotas_add(struct fg_quotas *quotas, const char *project, const struct fg_usage *more)
{
	struct quota *slot = slot_of(quotas, project);

	(void)pthread_mutex_lock(&quotas->lock);
	if (slot->counted_ns && strcmp(slot->project, project) == 0) {
		slot->usage.runs += more->runs;
		slot->usage.bytes += more->bytes;
	}
	(void)pthread_mutex_unlock(&quotas->lock);
}

void fg_quotas_forget(struct fg_quotas *quotas)
{
	(void)pthread_mutex_lock(&quotas->lock);
	for (size_t i = 0; i < SLOTS; i++)
		quotas->slots[i].counted_ns = 0;
	(void)pthread_mutex_unlock(&quotas->lock);
}
