// SPDX-License-Identifier: Apache-2.0
/*
 * Searches projects, benchmarks and functions by part of a name, and runs by id, tag, branch,
 * subject or commit.
 */
#include "store/serving/search.h"

#include "perfdb/server/api/handlers.h"
#include "store/serving/history.h"
#include "store/store.h"

#include <ctype.h>

enum {
	FOUND_MAX = 50, /* maximum number of results per kind */
	SHORTEST_COMMIT = 4,
};

struct search {
	struct fg_request *rq;
	const char *words;
	const char *project; /* NULL: every project that may be seen */
	struct fg_json_writer w;
	char seen[FOUND_MAX][37]; /* ids of the runs found so far */
	size_t seen_count;
};

static bool has_words(const char *name, const char *words)
{
	for (; *name; name++) {
		size_t i = 0;

		while (words[i] &&
		       tolower((unsigned char)name[i]) == tolower((unsigned char)words[i]))
			i++;
		if (!words[i])
			return true;
	}
	return false;
}

/* Lists the projects to search: the requested project, or all that the client may see. */
static int list_projects(const struct search *s, struct fg_name_list *seen, struct fg_error *err)
{
	struct fg_name_list all = {0};

	FG_TRY(fg_store_projects(s->rq->store, &all, err));
	seen->items = fg_arena_array(&s->rq->arena, all.count + 1, sizeof(char *));
	for (size_t i = 0; i < all.count; i++) {
		if (fg_request_may_see(s->rq, all.items[i], NULL) == FG_OK &&
		    (!s->project || strcmp(s->project, all.items[i]) == 0))
			seen->items[seen->count++] = fg_arena_strdup(&s->rq->arena, all.items[i]);
	}
	fg_name_list_release(&all);
	return FG_OK;
}

static void write_projects(struct search *s, const struct fg_name_list *projects)
{
	size_t count = 0;

	fg_json_begin_array(&s->w, "projects");
	for (size_t i = 0; i < projects->count && count < FOUND_MAX; i++) {
		if (!has_words(projects->items[i], s->words))
			continue;
		fg_json_text(&s->w, NULL, projects->items[i]);
		count++;
	}
	fg_json_end(&s->w);
}

static int write_benchmarks(struct search *s, const struct fg_name_list *projects,
			    struct fg_error *err)
{
	size_t count = 0;
	int status = FG_OK;

	fg_json_begin_array(&s->w, "benchmarks");
	for (size_t i = 0; i < projects->count && status == FG_OK; i++) {
		struct fg_name_list names = {0};

		status = fg_store_benchmarks(s->rq->store, projects->items[i], &names, err);
		for (size_t b = 0; b < names.count && count < FOUND_MAX; b++) {
			if (!has_words(names.items[b], s->words))
				continue;
			fg_json_begin_object(&s->w, NULL);
			fg_json_text(&s->w, "project", projects->items[i]);
			fg_json_text(&s->w, "name", names.items[b]);
			fg_json_end(&s->w);
			count++;
		}
		fg_name_list_release(&names);
	}
	fg_json_end(&s->w);
	return status;
}

/* Finds functions only in projects that this client may see. */
static int write_functions(struct search *s, const struct fg_name_list *projects,
			   struct fg_error *err)
{
	struct fg_function_search *found = fg_arena_alloc(&s->rq->arena, sizeof(*found));
	size_t count = 0;
	int status = fg_store_search_functions(s->rq->store, s->words, found, err);

	fg_json_begin_array(&s->w, "functions");
	for (size_t i = 0; i < projects->count && count < FOUND_MAX && status == FG_OK; i++) {
		status = fg_store_search_in(s->rq->store, projects->items[i], found, err);
		for (size_t f = 0; f < found->count && count < FOUND_MAX; f++) {
			if (!found->items[f].benchmark)
				continue;
			fg_json_begin_object(&s->w, NULL);
			fg_json_text(&s->w, "project", projects->items[i]);
			fg_json_text(&s->w, "benchmark", found->items[f].benchmark);
			fg_json_text(&s->w, "name", found->items[f].name);
			fg_json_text(&s->w, "library", found->items[f].library);
			fg_json_end(&s->w);
			count++;
		}
	}
	fg_json_end(&s->w);
	fg_function_search_release(found);
	return status;
}

/* Adds a run to the list of runs found; false if the list already has the run or is full. */
static bool is_new(struct search *s, const char *id)
{
	for (size_t i = 0; i < s->seen_count; i++) {
		if (strcmp(s->seen[i], id) == 0)
			return false;
	}
	if (s->seen_count == FOUND_MAX)
		return false;
	(void)snprintf(s->seen[s->seen_count++], sizeof(s->seen[0]), "%s", id);
	return true;
}

static void write_run_list(struct search *s, const struct fg_run_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct fg_run_summary *run = &list->items[i];

		if (fg_request_may_see(s->rq, run->project, NULL) == FG_OK && is_new(s, run->id))
			fg_run_summary_write(&s->w, NULL, run);
	}
}

/* Finds a run by the first of its names that matches, usually the beginning of its id. */
static int write_run_by_id(struct search *s, struct fg_error *err)
{
	struct fg_run_around around = {0};
	struct fg_error nothing = {0};
	const char *id = NULL;

	if (fg_request_find_run(s->rq, s->words, &id, &nothing) != FG_OK)
		return FG_OK;
	FG_TRY(fg_store_run_around(s->rq->store, id, &around, err));
	if (!s->project || strcmp(s->project, around.run.items[0].project) == 0)
		write_run_list(s, &around.run);
	fg_run_around_release(&around);
	return FG_OK;
}

static int write_runs(struct search *s, struct fg_error *err)
{
	const char *project = s->rq->project ? s->rq->project : s->project;
	const struct fg_run_filter filters[] = {
		{.project = project, .tag = s->words, .limit = FOUND_MAX},
		{.project = project, .branch = s->words, .limit = FOUND_MAX},
		{.project = project, .subject = s->words, .limit = FOUND_MAX},
		{.project = project, .commit = s->words, .limit = FOUND_MAX},
	};
	const size_t count = FG_ARRAY_SIZE(filters) - (strlen(s->words) < SHORTEST_COMMIT);
	int status = FG_OK;

	fg_json_begin_array(&s->w, "runs");
	status = write_run_by_id(s, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		struct fg_run_list list = {0};

		status = fg_store_list(s->rq->store, &filters[i], &list, err);
		write_run_list(s, &list);
		fg_run_list_release(&list);
	}
	fg_json_end(&s->w);
	return status;
}

int fg_handle_search(struct fg_request *rq, struct fg_error *err)
{
	struct search s = {.rq = rq, .project = fg_request_parameter(rq, "project")};
	struct fg_name_list projects = {0};

	FG_TRY(fg_request_need(rq, "q", &s.words, err));
	if (s.project)
		FG_TRY(fg_request_may_see(rq, s.project, err));
	FG_TRY(list_projects(&s, &projects, err));
	fg_request_json(rq, &s.w);
	fg_json_begin_object(&s.w, NULL);
	write_projects(&s, &projects);
	FG_TRY(write_benchmarks(&s, &projects, err));
	FG_TRY(write_functions(&s, &projects, err));
	FG_TRY(write_runs(&s, err));
	fg_json_end(&s.w);
	return FG_OK;
}
