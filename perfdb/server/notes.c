// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/notes.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/writer.h"
#include "store/serving/access.h"
#include "store/serving/audit.h"

enum {
	/* maximum number of notes about unknown clients; low, to keep the audit log small */
	STRANGERS_PER_MINUTE = 16,
	SUBJECT_MAX_BYTES = 200
};

struct note {
	struct fg_job job;
	struct fg_server *server;
	struct fg_arena arena;
	struct fg_audit_entry refusal;
	int64_t token; /* token that was used; 0 for a refusal */
	int64_t now_ns;
};

static int write_note(struct fg_store *store, void *context, struct fg_error *err)
{
	const struct note *note = context;

	if (!note->token)
		return fg_store_audit_add(store, &note->refusal, err);
	return fg_store_token_used(store, note->token, note->now_ns, note->refusal.who, err);
}

static void drop(struct fg_job *job)
{
	struct note *note = (struct note *)job;

	fg_workers_release(note->server->workers);
	fg_arena_release(&note->arena);
	free(note);
}

static void run(struct fg_job *job)
{
	struct note *note = (struct note *)job;
	struct fg_error err = {0};

	if (fg_writer_do(note->server->writer, write_note, note, &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "a token's use or refusal was not recorded: %s",
		       err.message);
	drop(job);
}

/*
 * Returns NULL if a note with this key was written within this minute, or if no note can be
 * written.
 */
static struct note *make(struct fg_request *rq, const char *key, const char *who)
{
	struct fg_server *server = rq->server;
	struct note *note = NULL;

	if (!server->writer || fg_limiter_count(server->noted, key, fg_clock_monotonic_ns()) ||
	    !fg_workers_hold(server->workers))
		return NULL;
	note = fg_xcalloc(1, sizeof(*note));
	note->server = server;
	note->refusal.who = fg_arena_strdup(&note->arena, who);
	note->job = (struct fg_job){.kind = FG_JOB_NOTE, .run = run, .refuse = drop};
	return note;
}

void fg_notes_token_use(struct fg_request *rq, int64_t token, int64_t now_ns)
{
	struct note *note =
		make(rq, fg_arena_printf(&rq->arena, "use %lld", (long long)token), rq->client);

	if (!note)
		return;
	note->token = token;
	note->now_ns = now_ns;
	fg_workers_give(rq->server->workers, &note->job);
}

void fg_notes_refusal(struct fg_request *rq, const char *reason)
{
	const bool is_anonymous = rq->who == rq->client;
	const uint64_t hash = fg_hash64(rq->client, strlen(rq->client), 0);
	struct note *note =
		make(rq,
		     is_anonymous ? fg_arena_printf(&rq->arena, "stranger %u",
						    (unsigned)(hash % STRANGERS_PER_MINUTE))
				  : fg_arena_printf(&rq->arena, "refused %s", rq->who),
		     rq->who);
	struct fg_strbuf subject = {0};

	if (!note)
		return;
	fg_strbuf_printf(&subject, "%s ", rq->method);
	fg_text_add_clean(&subject, rq->path, strlen(rq->path), SUBJECT_MAX_BYTES);
	note->refusal.action = "refused";
	note->refusal.project = rq->project ? fg_arena_strdup(&note->arena, rq->project) : NULL;
	note->refusal.subject = fg_arena_strdup(&note->arena, fg_strbuf_text(&subject));
	note->refusal.detail = fg_arena_strdup(&note->arena, reason);
	fg_strbuf_release(&subject);
	fg_workers_give(rq->server->workers, &note->job);
}
