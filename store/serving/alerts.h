/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules by which people are told what runs found, and what they are to be told.
 *
 * A run's findings become alerts in the transaction that stores the run, so none is lost or made
 * up.  Change points take a search: the same transaction leaves a note where to look.  Whoever
 * sends an alert claims it first, so that of several servers on one database only one sends it.
 * An alert whose sender died is due again when the claim has run out.
 */
#ifndef FG_STORE_SERVING_ALERTS_H
#define FG_STORE_SERVING_ALERTS_H

#include "base/base.h"
#include "base/error.h"
#include "store/serving/history.h"

struct fg_store;

enum {
	FG_ALERT_REGRESSION = 1 << 0,
	FG_ALERT_ERROR = 1 << 1,
	FG_ALERT_CHANGE = 1 << 2,
	FG_ALERT_EVENTS = 3, /* how many there are */

	FG_ALERT_RULES_MAX = 50,      /* of one project */
	FG_ALERT_WAITING_MAX = 1000,  /* of one rule; further ones are left out */
	FG_ALERT_FINDINGS_MAX = 1000, /* of one run */
	FG_ALERT_SHOWN_MAX = 100,     /* findings that one alert lists; it counts the others */
	FG_ALERT_SILENCE_DAYS = 30,   /* the longest silence */
};

/* The words for the events, lowest bit first. */
extern const char *const fg_alert_event_names[FG_ALERT_EVENTS];

struct fg_alert_rule {
	int64_t id;
	char *project;
	unsigned events;    /* FG_ALERT_... */
	char *benchmark;    /* pattern with * and ? */
	char *metric;       /* likewise */
	int64_t silence_ns; /* no second alert about the same metric of a benchmark within it */
	char *target;       /* a URL */
	char *secret;       /* signs what is sent; NULL: nothing to sign with */
	char *author;
	int64_t created_ns;
};

struct fg_alert_rule_list {
	struct fg_alert_rule *items;
	size_t count;
	size_t capacity;
};

/* Does the text match the pattern?  Takes time in proportion to both lengths at most. */
bool fg_alert_matches(const char *pattern, const char *text);

/* Sets its id and time.  FG_ELIMIT: the project has as many as it may. */
int fg_store_alert_rule_add(struct fg_store *store, struct fg_alert_rule *rule,
			    struct fg_error *err) FG_NODISCARD;
/* By its id: all but who made it, when, and of which project.  FG_ENOENT: no such rule. */
int fg_store_alert_rule_change(struct fg_store *store, const struct fg_alert_rule *rule,
			       struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT: no such rule.  `*project` is to be freed. */
int fg_store_alert_rule_project(struct fg_store *store, int64_t id, char **project,
				struct fg_error *err) FG_NODISCARD;
/* Also what it was about to say. */
int fg_store_alert_rule_remove(struct fg_store *store, int64_t id, struct fg_error *err)
	FG_NODISCARD;
/* `project` NULL: of all. */
int fg_store_alert_rule_list(struct fg_store *store, const char *project,
			     struct fg_alert_rule_list *list, struct fg_error *err) FG_NODISCARD;
void fg_alert_rule_list_release(struct fg_alert_rule_list *list);

/* What a run says of one metric; texts are borrowed. */
struct fg_alert_finding {
	unsigned event;
	const char *benchmark; /* "" where the event is the whole run's */
	const char *metric;    /* "" where it is the whole benchmark's */
	double before;         /* levels; NaN: not known */
	double after;
	double ratio;
	const char *last; /* the run before a change point; NULL: none */
};

struct fg_alert_news {
	const struct fg_alert_rule_list *rules;
	const char *project;
	const char *run;
	const char *url; /* of a page about it */
	const char *commit;
	const char *branch;
	const struct fg_alert_finding *findings;
	size_t count;
	/* Metrics to look for change points in: event FG_ALERT_CHANGE without levels. */
	const struct fg_alert_finding *searches;
	size_t search_count;
};

/* Part of a batch, or a transaction of its own: an alert for each rule that this concerns. */
int fg_store_alerts_put(struct fg_store *store, const struct fg_alert_news *news,
			struct fg_error *err) FG_NODISCARD;

/* An alert about nothing, due now.  FG_EBUSY: as many wait as may. */
int fg_store_alert_test(struct fg_store *store, const struct fg_alert_rule *rule, const char *url,
			int64_t *id, struct fg_error *err) FG_NODISCARD;

enum fg_alert_state {
	FG_ALERT_WAITING,
	FG_ALERT_DELIVERED,
	FG_ALERT_GIVEN_UP,
};

struct fg_alert {
	int64_t id;
	int64_t rule;
	const char *run;
	enum fg_alert_state state;
	int64_t attempts;
	int64_t due_ns; /* of the next attempt */
	int64_t created_ns;
	const char *reason; /* why the last attempt failed; NULL: it did not */
	const char *body;
};

typedef void fg_alert_visit(void *context, const struct fg_alert *alert);

/* The newest first. */
int fg_store_alert_list(struct fg_store *store, const char *project, size_t limit,
			fg_alert_visit *visit, void *context, struct fg_error *err) FG_NODISCARD;

/* One alert on its way. */
struct fg_alert_claim {
	int64_t id;
	int64_t rule;
	int64_t attempts; /* with this one */
	char *body;
	char *target;
	char *secret;
};

/*
 * The next alert that is due, claimed until `until_ns`; FG_ENOENT without a message: none, or
 * another server took it.
 */
int fg_store_alert_claim(struct fg_store *store, int64_t now_ns, int64_t until_ns,
			 struct fg_alert_claim *claim, struct fg_error *err) FG_NODISCARD;
void fg_alert_claim_release(struct fg_alert_claim *claim);
struct fg_alert_outcome {
	enum fg_alert_state state;
	int64_t due_ns;     /* of the next attempt */
	const char *reason; /* NULL: it was delivered */
};

/*
 * What became of it, unless the claim has run out and another server took it.  If it waits, so do
 * the rule's other alerts.
 */
int fg_store_alert_settle(struct fg_store *store, const struct fg_alert_claim *claim,
			  const struct fg_alert_outcome *outcome, struct fg_error *err)
	FG_NODISCARD;
/* When the next attempt is due; 0: nothing waits. */
int fg_store_alert_next(struct fg_store *store, int64_t *due_ns, struct fg_error *err) FG_NODISCARD;
/* Removes what is older than the longest silence. */
int fg_store_alert_forget(struct fg_store *store, int64_t now_ns, struct fg_error *err)
	FG_NODISCARD;

enum {
	FG_ALERT_SEARCH_RUNS = 512 /* taken at once: more than a history has that is searched */
};

/* A metric with new runs. */
struct fg_alert_search {
	char *project;
	char *benchmark;
	char *metric;
	int64_t ids[FG_ALERT_SEARCH_RUNS]; /* of the notes */
	char runs[FG_ALERT_SEARCH_RUNS][37];
	size_t count;
	struct fg_history history;
	bool is_gone; /* the metric, since: there is no history */
};

/*
 * What is to be searched, with its newest `runs` runs.  Notes and history are read in one view of
 * the database: whatever of the history has no note here was searched before.  FG_ENOENT without a
 * message: nothing is to be searched.
 */
int fg_store_alert_search(struct fg_store *store, size_t runs, struct fg_alert_search *search,
			  struct fg_error *err) FG_NODISCARD;
void fg_alert_search_release(struct fg_alert_search *search);
/*
 * Takes the notes away and writes `news` (NULL: nothing was found), in one transaction; nothing if
 * another server was quicker.
 */
int fg_store_alert_search_done(struct fg_store *store, const struct fg_alert_search *search,
			       const struct fg_alert_news *news, struct fg_error *err) FG_NODISCARD;

#endif
