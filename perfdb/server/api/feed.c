// SPDX-License-Identifier: Apache-2.0
/* A project's changes as an Atom feed. */
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "base/xml_write.h"
#include "perfdb/server/api/card.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/api/links.h"
#include "perfdb/server/watcher.h"
#include "store/serving/overview.h"
#include "store/store.h"

enum {
	FEED_RUNS = 200,   /* maximum number of runs searched */
	FEED_REPORTS = 50, /* maximum number of entries for runs */
};

/* The feed being written; its addresses are relative to the server. */
struct feed {
	struct fg_request *rq;
	const char *project;
	const char *links[FG_WEB_LINK_COUNT];
	const struct fg_run_list *runs; /* the newest runs */
	size_t reports;                 /* number of entries for runs so far */
	struct fg_xml_writer w;
};

static void write_element(struct fg_xml_writer *w, const char *name, const char *text)
{
	fg_xml_begin(w, name);
	fg_xml_text(w, text);
	fg_xml_end(w);
}

static void write_link(struct fg_xml_writer *w, const char *href)
{
	fg_xml_begin(w, "link");
	fg_xml_attribute(w, "href", href);
	fg_xml_end(w);
}

/* Links to the commit's page on the server that hosts the source. */
static void write_related(struct feed *f, const char *commit)
{
	const struct fg_web_link_values values = {.project = f->project, .commit = commit};
	struct fg_strbuf url = {0};

	if (fg_web_link_expand(f->links[FG_WEB_LINK_COMMIT], &values, &url)) {
		fg_xml_begin(&f->w, "link");
		fg_xml_attribute(&f->w, "rel", "related");
		fg_xml_attribute(&f->w, "href", fg_strbuf_text(&url));
		fg_xml_end(&f->w);
	}
	fg_strbuf_release(&url);
}

struct entry {
	const char *id;
	int64_t at_ns;
	const char *title;
	const char *href;
	const char *commit; /* NULL: unknown */
};

static void write_entry(struct feed *f, const struct entry *entry)
{
	char time[FG_TIME_TEXT_SIZE];

	fg_time_format_utc(entry->at_ns, time);
	fg_xml_begin(&f->w, "entry");
	write_element(&f->w, "id", entry->id);
	write_element(&f->w, "title", entry->title);
	write_element(&f->w, "updated", time);
	write_link(&f->w, entry->href);
	write_related(f, entry->commit);
	fg_xml_end(&f->w);
}

static void write_run(struct feed *f, const struct fg_run_summary *run)
{
	static const char *const news[] = {"regression", "improvement", "creep", "error"};
	struct fg_arena *arena = &f->rq->arena;
	struct fg_strbuf sentence = {0};

	if (!run->outcome || f->reports == FEED_REPORTS || !FG_TEXT_IS_AMONG(run->outcome, news))
		return;
	f->reports++;
	if (!fg_cards_add_sentence(f->rq->store, run->id, &sentence))
		fg_strbuf_add_text(&sentence, run->outcome);
	write_entry(f, &(struct entry){
			       .id = fg_arena_printf(arena, "urn:uuid:%s", run->id),
			       .at_ns = run->started_ns,
			       .title = fg_arena_printf(arena, "%s: %s", f->project,
							fg_strbuf_text(&sentence)),
			       .href = fg_arena_printf(arena, "/?view=run&run=%s", run->id),
			       .commit = run->commit,
		       });
	fg_strbuf_release(&sentence);
}

static const char *commit_of(const struct feed *f, const char *id)
{
	for (size_t i = 0; i < f->runs->count; i++) {
		if (strcmp(f->runs->items[i].id, id) == 0)
			return f->runs->items[i].commit;
	}
	return NULL;
}

static void write_changes(struct feed *f, const struct fg_overview_row *row)
{
	const struct fg_watch_place place = {.project = f->project,
					     .benchmark = row->name,
					     .metric = row->metric,
					     .series = row->series};
	struct fg_arena *arena = &f->rq->arena;
	struct fg_watched watched = {0};
	char change[FG_NUMBER_TEXT_SIZE];

	(void)fg_watcher_look(f->rq->server->watcher, &place, &watched);
	for (size_t i = 0; i < watched.count; i++) {
		const struct fg_watched_change *c = &watched.changes[i];

		/* the failed run has an entry already */
		if (c->from_gate)
			continue;
		write_entry(f, &(struct entry){
				       .id = fg_arena_printf(arena, "urn:perfdb:change:%s:%lld:%s",
							     c->run, (long long)row->benchmark,
							     row->metric),
				       .at_ns = c->started_ns,
				       .title = fg_arena_printf(
					       arena, "%s: %s of %s changed by %s", f->project,
					       row->label, row->name,
					       fg_format_change(c->after / c->before - 1, change)),
				       .href = fg_arena_printf(arena, "/?view=compare&a=%s&b=%s",
							       c->last, c->run),
				       .commit = commit_of(f, c->run),
			       });
	}
}

static void write_feed(struct feed *f, const struct fg_overview *overview)
{
	const struct fg_run_list *runs = f->runs;
	char time[FG_TIME_TEXT_SIZE];
	int64_t updated = 0;

	for (size_t i = 0; i < runs->count; i++)
		updated = runs->items[i].started_ns > updated ? runs->items[i].started_ns : updated;
	fg_time_format_utc(updated, time);
	f->rq->answer.type = "application/atom+xml";
	fg_xml_writer_init(&f->w, &f->rq->answer.text);
	fg_xml_begin(&f->w, "feed");
	fg_xml_attribute(&f->w, "xmlns", "http://www.w3.org/2005/Atom");
	write_element(&f->w, "id",
		      fg_arena_printf(&f->rq->arena, "urn:perfdb:project:%s", f->project));
	write_element(&f->w, "title", fg_arena_printf(&f->rq->arena, "%s: changes", f->project));
	write_element(&f->w, "updated", time);
	fg_xml_begin(&f->w, "author");
	write_element(&f->w, "name", "perfdb");
	fg_xml_end(&f->w);
	for (size_t i = 0; i < overview->count; i++) {
		if (overview->items[i].metric && overview->items[i].history.count)
			write_changes(f, &overview->items[i]);
	}
	for (size_t i = 0; i < runs->count; i++)
		write_run(f, &runs->items[i]);
	fg_xml_end(&f->w);
}

int fg_handle_feed(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_list runs = {0};
	struct feed f = {.rq = rq, .runs = &runs};
	struct fg_overview overview = {0};
	int status = FG_OK;

	FG_TRY(fg_request_project(rq, &f.project, err));
	FG_TRY(fg_store_overview(rq->store, f.project, 1, &overview, err));
	FG_TRY_OUT(fg_store_list(rq->store,
				 &(struct fg_run_filter){.project = f.project, .limit = FEED_RUNS},
				 &runs, err));
	FG_TRY_OUT(fg_links_read(rq, fg_overview_newest(&overview), f.links, err));
	write_feed(&f, &overview);
out:
	fg_run_list_release(&runs);
	fg_overview_release(&overview);
	return status;
}
