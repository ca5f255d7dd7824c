// SPDX-License-Identifier: Apache-2.0
/*
 * A year of many projects in one PostgreSQL, served by two servers.
 *
 * Four runs of each project are uploaded to a server.  Their rows are then copied under other ids,
 * times and commits, month by month and all projects in turn, as they would lie on the disk; tiles
 * are sealed by the store's own functions.  At the end one of the four is removed and uploaded
 * again: its rows must equal those of its copies.
 *
 * One project has a tenth of all runs.  Another has one run of 200 benchmarks without profiles per
 * thousand other runs, at most a thousand.  A quarter of the projects keep runs for 90 days, the
 * rest as long as the policy says.
 */
#include "base/clock.h"
#include "base/json.h"
#include "bench/perfdb/bench_perfdb.h"
#include "bench/perfdb/generator.h"
#include "perfdb/client/http.h"
#include "perfdb/protocol.h"
#include "perfdb/server/server.h"
#include "store/db.h"
#include "store/serving/compare.h"
#include "store/serving/tiles.h"
#include "store/session.h"
#include "store/store.h"

enum {
	TEMPLATES = 4,         /* uploaded runs per project */
	FIRST_UPLOADED = 1000, /* their numbers: after those of the dashboard */
	MONTHS = 12,
	MONTH_DAYS = 30,
	PARTS = 4, /* parts of a month, each copied in one statement */
	BIG_SHARE = 10,
	DASHBOARD_SHARE = 1000,
	DASHBOARD_MOST = 1000,
	ASKS = 300,
	DASHBOARD_ASKS = 30,
	PAIRS = 16, /* queries of a kind, one after the other */
	RENAMED = 1,
	GROWN = 4,
	SERVERS = 2,
	THREADS = 2
};

/* MONTH_DAYS / PARTS */
#define PART_NS "648000000000000"

/* Typical of a small program of 10,000 lines in ten pairs of a fifth of a second. */
static const struct fg_bench_shape small = {
	.functions = 400, .paths = 1000, .pairs = 10, .samples = 4000};

struct simulation {
	const char *database;
	const char *only; /* queries whose names contain it; NULL: all */
	struct fg_store *store;
	unsigned runs;
	unsigned projects;
	int64_t end_ns;
	struct fg_server *servers[SERVERS];
	char urls[SERVERS][64];
};

static void run_sql(const struct simulation *s, const char *what, const char *sql)
{
	struct fg_error err = {0};

	if (fg_db_script(s->store->db, sql, &err) != FG_OK)
		fg_bench_die(what, &err);
}

/* Replaces each @ in the text by the next word. The caller frees it. */
static char *fill_in(const char *text, const char *const *words)
{
	struct fg_strbuf made = {0};

	for (; *text; text++) {
		if (*text == '@')
			fg_strbuf_add_text(&made, *words++);
		else
			fg_strbuf_add_char(&made, *text);
	}
	return fg_strbuf_detach(&made);
}

static long send(const char *url, const char *method, const char *path,
		 const struct fg_strbuf *body, struct fg_strbuf *answer)
{
	static const char *const headers[] = {"Content-Type: " FG_WIRE_MEDIA_TYPE, NULL};
	const struct fg_http_options options = {.url = url};
	const struct fg_http_request request = {.method = method,
						.path = path,
						.headers = body ? headers : NULL,
						.body = body ? body->data : NULL,
						.body_size = body ? body->length : 0};
	struct fg_http_reply reply = {0};
	struct fg_http *http = NULL;
	struct fg_error err = {0};

	if (fg_http_open(&options, &http, &err) != FG_OK ||
	    fg_http_send(http, &request, &reply, &err) != FG_OK)
		fg_bench_die(path, &err);
	if (answer)
		fg_strbuf_add(answer, reply.body.data, reply.body.length);
	fg_strbuf_release(&reply.body);
	fg_http_close(http);
	return reply.status;
}

static void project_name(unsigned project, char name[8])
{
	(void)snprintf(name, 8, "proj%03u", project % 1000);
}

/* The generator's project has a name of the same length. */
static void rename_project(struct fg_strbuf *envelope, unsigned project)
{
	static const char old[] = "\"tracker\"";
	char name[8];

	project_name(project, name);
	for (char *at = strstr(envelope->data, old); at; at = strstr(at + 1, old))
		memcpy(at + 1, name, sizeof(name) - 1);
}

static void upload(const struct simulation *s, const struct fg_bench_program *program,
		   unsigned project, unsigned v)
{
	struct fg_bundle bundle = {0};
	struct fg_strbuf parcel = {0};
	struct fg_error err = {0};
	struct fg_wire wire;

	fg_bench_program_run(program, FIRST_UPLOADED + project * TEMPLATES + v, &bundle);
	rename_project(&bundle.envelope, project);
	wire = (struct fg_wire){bundle.envelope.data,   bundle.envelope.length,
				bundle.dictionary.data, bundle.dictionary.size,
				bundle.values.data,     bundle.values.size};
	if (fg_wire_write(&wire, &parcel, &err) != FG_OK)
		fg_bench_die("wire", &err);
	if (send(s->urls[v % SERVERS], "POST", FG_WIRE_RUNS, &parcel, NULL) != FG_HTTP_CREATED) {
		(void)fg_error_set(&err, FG_ENET, "refused");
		fg_bench_die("upload", &err);
	}
	fg_strbuf_release(&parcel);
	fg_bundle_release(&bundle);
}

static void start_servers(struct simulation *s)
{
	for (unsigned i = 0; i < SERVERS; i++)
		s->servers[i] = fg_bench_serve(s->database, THREADS, s->urls[i]);
}

static void stop_servers(struct simulation *s)
{
	for (unsigned i = 0; i < SERVERS; i++)
		fg_server_stop(s->servers[i]);
}

static const char *const keep_templates =
	"INSERT INTO project_limit SELECT name, 0, 0, 90, 0, 0, 'bench' FROM project "
	"WHERE id % 4 = 3; "
	"CREATE TEMP SEQUENCE copies; "
	"CREATE TEMP TABLE t_run AS SELECT r.*, p.name AS its_project, row_number() OVER "
	"(PARTITION BY r.project ORDER BY r.id) - 1 AS place FROM run r "
	"JOIN project p ON p.id = r.project ; "
	"CREATE TEMP TABLE t_series AS SELECT s.* FROM series s JOIN t_run t ON t.id = s.run; "
	"CREATE TEMP TABLE t_chunk AS SELECT c.* FROM chunk c JOIN t_series t ON t.id = c.series; "
	"CREATE TEMP TABLE t_level AS SELECT l.* FROM level l JOIN t_series t ON t.id = l.series; "
	"CREATE TEMP TABLE t_report AS SELECT x.* FROM report x JOIN t_run t ON t.id = x.run; "
	"CREATE TEMP TABLE t_fact AS SELECT x.* FROM run_fact x JOIN t_run t ON t.id = x.run; "
	"CREATE TEMP TABLE t_set AS SELECT x.* FROM run_set x JOIN t_run t ON t.id = x.run; "
	"ANALYZE t_run, t_series, t_chunk, t_level, t_report, t_fact, t_set";

/* @: start time; copies of each run of the large project, of the dashboard, of the others. */
static const char *const copy_runs =
	"BEGIN; SELECT pg_advisory_xact_lock_shared(1718038577); "
	"CREATE TEMP TABLE plan ON COMMIT DROP AS SELECT 'c0000000-0000-7000-8000-' || "
	"lpad(to_hex(nextval('copies')), 12, '0') AS uuid, t.id AS old, "
	"@ + (n * 4 + t.place) * (" PART_NS " / t.copies / 4) AS started FROM (SELECT *, "
	"CASE its_project WHEN 'proj000' THEN @ WHEN 'tracker' THEN @ ELSE @ END AS copies "
	"FROM t_run) t, LATERAL generate_series(0, t.copies - 1) n; "
	"INSERT INTO run (uuid, project, started_ns, ended_ns, complete, has_baseline, seed, "
	"tool_version, outcome, fingerprint, commit_id, branch, described, dirty, base_commit, "
	"base_branch, base_described, base_dirty, tag, digest, bytes) SELECT p.uuid, t.project, "
	"p.started, p.started + t.ended_ns - t.started_ns, t.complete, t.has_baseline, t.seed, "
	"t.tool_version, t.outcome, t.fingerprint, md5(p.uuid) || left(md5(p.uuid), 8), t.branch, "
	"t.described, t.dirty, t.base_commit, t.base_branch, t.base_described, t.base_dirty, "
	"t.tag, t.digest, t.bytes FROM plan p JOIN t_run t ON t.id = p.old ORDER BY p.started; "
	"CREATE TEMP TABLE runs ON COMMIT DROP AS SELECT r.id AS new, p.old FROM plan p "
	"JOIN run r ON r.uuid = p.uuid; ANALYZE runs; "
	"INSERT INTO series (run, position, benchmark, command, metrics, details) SELECT m.new, "
	"s.position, s.benchmark, s.command, s.metrics, s.details FROM runs m "
	"JOIN t_series s ON s.run = m.old ORDER BY m.new; "
	"CREATE TEMP TABLE places ON COMMIT DROP AS SELECT s.id AS new, t.id AS old FROM runs m "
	"JOIN series s ON s.run = m.new JOIN t_series t ON t.run = m.old "
	"AND t.position = s.position; ANALYZE places; "
	"INSERT INTO chunk SELECT p.new, c.kind, c.first, c.data FROM places p "
	"JOIN t_chunk c ON c.series = p.old ORDER BY p.new; "
	"INSERT INTO level SELECT l.benchmark, l.metric, p.new, l.pairs, l.baseline, l.candidate, "
	"l.ratio, l.low, l.high, l.outcome FROM places p JOIN t_level l ON l.series = p.old "
	"ORDER BY p.new; "
	"INSERT INTO report SELECT m.new, x.format, x.data FROM runs m "
	"JOIN t_report x ON x.run = m.old ORDER BY m.new; "
	"INSERT INTO run_fact SELECT m.new, x.scope, x.fact FROM runs m "
	"JOIN t_fact x ON x.run = m.old ORDER BY m.new; "
	"INSERT INTO run_set SELECT m.new, x.scope, x.fact_set FROM runs m "
	"JOIN t_set x ON x.run = m.old ORDER BY m.new; COMMIT";

/* @: the re-uploaded run. */
static const char *const same_rows =
	"DO $$ DECLARE fresh run%ROWTYPE; copied run%ROWTYPE; BEGIN "
	"SELECT r.* INTO fresh FROM run r WHERE r.uuid = '@'; "
	"SELECT r.* INTO copied FROM run r WHERE r.project = fresh.project "
	"AND r.digest = fresh.digest AND r.uuid LIKE 'c0000000%' ORDER BY r.id DESC LIMIT 1; "
	"ASSERT copied.id IS NOT NULL, 'no copy'; "
	"ASSERT fresh.bytes = copied.bytes AND fresh.fingerprint = copied.fingerprint, 'run'; "
	"ASSERT (SELECT array_agg((c.kind, c.first, md5(c.data)) ORDER BY c.kind, c.first) "
	"FROM chunk c JOIN series s ON s.id = c.series WHERE s.run = fresh.id "
	"AND c.kind NOT IN (4, 6)) = (SELECT array_agg((c.kind, c.first, md5(c.data)) "
	"ORDER BY c.kind, c.first) FROM chunk c JOIN series s ON s.id = c.series "
	"WHERE s.run = copied.id AND c.kind NOT IN (4, 6)), 'chunk'; "
	"ASSERT (SELECT array_agg((l.benchmark, l.metric, l.pairs, l.baseline, l.candidate, "
	"l.ratio) ORDER BY l.metric) FROM level l JOIN series s ON s.id = l.series "
	"WHERE s.run = fresh.id) = (SELECT array_agg((l.benchmark, l.metric, l.pairs, l.baseline, "
	"l.candidate, l.ratio) ORDER BY l.metric) FROM level l JOIN series s ON s.id = l.series "
	"WHERE s.run = copied.id), 'level'; "
	"ASSERT (SELECT count(*) FROM report WHERE run = fresh.id) = (SELECT count(*) FROM report "
	"WHERE run = copied.id), 'report'; "
	"ASSERT (SELECT array_agg((scope, fact_set) ORDER BY scope) FROM run_set "
	"WHERE run = fresh.id) = (SELECT array_agg((scope, fact_set) ORDER BY scope) FROM run_set "
	"WHERE run = copied.id), 'conditions'; END $$";

/* Number of runs of 200 benchmarks. */
static unsigned dashboards(const struct simulation *s)
{
	const unsigned many = s->runs / DASHBOARD_SHARE;

	return many < DASHBOARD_MOST ? many : DASHBOARD_MOST;
}

static void seal_all(const struct simulation *s)
{
	struct fg_error err = {0};
	size_t sealed = 0;

	do {
		if (fg_store_seal(s->store, &sealed, &err) != FG_OK)
			fg_bench_die("seal", &err);
	} while (sealed);
}

/* One part of a month for all projects; a project's runs are evenly spaced. */
static void copy_part(const struct simulation *s, unsigned part)
{
	const unsigned parts = MONTHS * PARTS;
	const unsigned big = s->runs / BIG_SHARE / parts / TEMPLATES;
	const unsigned others =
		(s->runs - s->runs / BIG_SHARE) / (s->projects - 1) / parts / TEMPLATES;
	const int64_t length_ns = MONTH_DAYS * FG_NS_PER_DAY / PARTS; /* PART_NS */
	const int64_t start_ns = s->end_ns - (int64_t)(parts - part) * length_ns;
	const unsigned few = dashboards(s) / parts / TEMPLATES;
	char numbers[4][24];
	const char *const words[] = {numbers[0], numbers[1], numbers[2], numbers[3]};
	char *sql = NULL;

	(void)snprintf(numbers[0], sizeof(numbers[0]), "%lld", (long long)start_ns);
	(void)snprintf(numbers[1], sizeof(numbers[1]), "%u", big);
	(void)snprintf(numbers[2], sizeof(numbers[2]), "%u", few ? few : 1);
	(void)snprintf(numbers[3], sizeof(numbers[3]), "%u", others);
	sql = fill_in(copy_runs, words);
	run_sql(s, "copy", sql);
	free(sql);
	seal_all(s);
}

static void fill(struct simulation *s)
{
	const int64_t start = fg_clock_monotonic_ns();
	struct fg_bench_program program;

	fg_bench_program_init(&program, &small);
	fg_bench_fill_dashboard(s->database, TEMPLATES);
	start_servers(s);
	for (unsigned p = 0; p < s->projects; p++) {
		for (unsigned v = 0; v < TEMPLATES; v++)
			upload(s, &program, p, v);
		fg_bench_program_change(&program, RENAMED, GROWN);
	}
	stop_servers(s);
	run_sql(s, "templates", keep_templates);
	for (unsigned m = 0; m < MONTHS; m++) {
		for (unsigned part = 0; part < PARTS; part++)
			copy_part(s, m * PARTS + part);
		(void)printf("month %u: %.0f s\n", m + 1,
			     (double)(fg_clock_monotonic_ns() - start) / 1e9);
		(void)fflush(stdout);
	}
	run_sql(s, "vacuum", "VACUUM (ANALYZE)");
	fg_bench_program_release(&program);
}

/* Re-uploads the first run of the fourth project. */
static void compare_with_copy(struct simulation *s)
{
	enum {
		PROJECT = 3
	};
	struct fg_bench_program program;
	struct fg_error err = {0};
	char *sql = NULL;
	char id[37];

	fg_bench_program_init(&program, &small);
	for (unsigned p = 0; p < PROJECT; p++)
		fg_bench_program_change(&program, RENAMED, GROWN);
	fg_bench_run_id(FIRST_UPLOADED + PROJECT * TEMPLATES, id);
	if (fg_store_delete(s->store, id, &err) != FG_OK)
		fg_bench_die("delete", &err);
	upload(s, &program, PROJECT, 0);
	sql = fill_in(same_rows, (const char *const[]){id});
	run_sql(s, "a copied run differs from an uploaded one", sql);
	(void)printf("a run that was uploaded has the same rows as its copies\n");
	free(sql);
	fg_bench_program_release(&program);
}

/* Queries both servers in turn, one path after the other. */
static void ask(const struct simulation *s, const char *what, char *const *paths, size_t count,
		unsigned asks)
{
	struct fg_http *https[SERVERS] = {NULL};
	double times[ASKS];
	struct fg_error err = {0};
	int64_t cpu = 0;

	if (s->only && !strstr(what, s->only))
		return;
	for (unsigned i = 0; i < SERVERS; i++) {
		if (fg_http_open(&(struct fg_http_options){.url = s->urls[i]}, &https[i], &err) !=
		    FG_OK)
			fg_bench_die("open", &err);
	}
	cpu = fg_clock_process_cpu_ns();
	for (unsigned i = 0; i < asks; i++) {
		const char *path = paths[i % count];
		struct fg_http_reply reply = {0};
		const int64_t start = fg_clock_monotonic_ns();

		if (fg_http_send(https[i % SERVERS],
				 &(struct fg_http_request){.method = "GET", .path = path}, &reply,
				 &err) != FG_OK)
			fg_bench_die(path, &err);
		if (reply.status != FG_HTTP_OK)
			(void)fprintf(stderr, "%s: %ld %s\n", path, reply.status,
				      fg_strbuf_text(&reply.body));
		times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
		fg_strbuf_release(&reply.body);
	}
	cpu = fg_clock_process_cpu_ns() - cpu;
	fg_bench_print_times("over HTTP", what, times, asks, (double)cpu / 1e6 / asks);
	for (unsigned i = 0; i < SERVERS; i++)
		fg_http_close(https[i]);
}

/* Two of the newest runs of a project. */
static void newest_runs(const struct simulation *s, const char *project, char ids[2][37])
{
	struct fg_strbuf body = {0};
	char *path = fg_xasprintf("/api/v1/runs?project=%s&limit=2", project);
	struct fg_error err = {0};
	cJSON *json = NULL;

	if (send(s->urls[0], "GET", path, NULL, &body) != FG_HTTP_OK ||
	    fg_json_parse(fg_strbuf_text(&body), body.length, 1 << 20, &json, &err) != FG_OK)
		fg_bench_die(path, &err);
	for (int i = 0; i < 2; i++)
		(void)snprintf(ids[i], 37, "%s",
			       fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "runs"), i),
					       "id", ""));
	cJSON_Delete(json);
	fg_strbuf_release(&body);
	free(path);
}

static void middle_project(const struct simulation *s, unsigned i, char name[8])
{
	project_name(1 + i * (s->projects - 2) / PAIRS, name);
}

static void ask_pairs(const struct simulation *s, const char *what, const char *format)
{
	char *paths[PAIRS];

	for (unsigned i = 0; i < PAIRS; i++) {
		char name[8];
		char ids[2][37];

		middle_project(s, i, name);
		newest_runs(s, name, ids);
		paths[i] = fill_in(format, (const char *const[]){ids[1], ids[0]});
	}
	ask(s, what, paths, PAIRS, ASKS);
	for (unsigned i = 0; i < PAIRS; i++)
		free(paths[i]);
}

static void ask_projects(const struct simulation *s, const char *what, const char *format,
			 const char *function)
{
	char *paths[PAIRS];

	for (unsigned i = 0; i < PAIRS; i++) {
		char name[8];

		middle_project(s, i, name);
		paths[i] = fill_in(format, (const char *const[]){name, function});
	}
	ask(s, what, paths, PAIRS, ASKS);
	for (unsigned i = 0; i < PAIRS; i++)
		free(paths[i]);
}

static void ask_one(const struct simulation *s, const char *what, const char *format,
		    const char *function, unsigned asks)
{
	char *path = fill_in(format, (const char *const[]){"proj000", function});

	ask(s, what, &path, 1, asks);
	free(path);
}

static void ask_all(struct simulation *s)
{
	static const char trend[] = "/api/v1/function-trend?project=@&benchmark=parse&function=@";
	static const char metric[] =
		"/api/v1/trend?project=@&benchmark=parse&metric=cpu_time&changes=0";
	static const char newest[] =
		"/api/v1/trend?project=@&benchmark=parse&metric=cpu_time&changes=0&limit=5000";
	struct fg_bench_program program;
	char function[FG_FUNCTION_ID_SIZE];
	char *name = NULL;

	fg_bench_program_init(&program, &small);
	name = fg_bench_function_name(&program, 0);
	fg_store_function_id(name, "reco", function);
	ask_pairs(s, "compare metrics, conditions", "/api/v1/compare?a=@&b=@");
	ask_pairs(s, "compare by function", "/api/v1/functions?a=@&b=@&benchmark=parse");
	ask_pairs(s, "compare by call path", "/api/v1/paths?a=@&b=@&benchmark=parse&limit=2000");
	ask_projects(s, "list of 50 runs", "/api/v1/runs?project=@", NULL);
	ask_projects(s, "trend of one function", trend, function);
	ask_one(s, "trend of one function, a tenth", trend, function, ASKS);
	ask_projects(s, "trend of a metric", metric, NULL);
	ask_one(s, "trend of a metric, a tenth", metric, NULL, ASKS);
	ask_one(s, "its newest 5,000", newest, NULL, ASKS);
	ask_one(s, "dashboard of 200 benchmarks", "/api/v1/dashboard?project=tracker", NULL,
		DASHBOARD_ASKS);
	free(name);
	fg_bench_program_release(&program);
}

static int usage(void)
{
	(void)fprintf(stderr,
		      "bench_perfdb: simulate needs a PostgreSQL, 20 to 1000 projects and "
		      "400 runs for each, or `ask` for a database that was filled before\n");
	return 2;
}

int fg_bench_simulate(const char *database, unsigned runs, unsigned projects)
{
	struct simulation s = {.database = database,
			       .runs = runs,
			       .projects = projects,
			       .end_ns = fg_clock_wall_ns()};
	struct fg_error err = {0};

	if (!fg_db_is_url(database) || projects < 20 || projects > 1000 ||
	    runs / projects < MONTHS * PARTS * TEMPLATES * 2)
		return usage();
	if (fg_store_open(database, FG_STORE_DURABLE, &s.store, &err) != FG_OK)
		fg_bench_die("open", &err);
	fill(&s);
	start_servers(&s);
	compare_with_copy(&s);
	ask_all(&s);
	stop_servers(&s);
	fg_store_close(s.store);
	return 0;
}

int fg_bench_simulate_ask(const char *database, unsigned projects, const char *only)
{
	struct simulation s = {.database = database, .only = only, .projects = projects};
	const int64_t start = fg_clock_monotonic_ns();
	struct fg_error err = {0};

	if (!fg_db_is_url(database) || projects < 20 || projects > 1000)
		return usage();
	if (fg_store_open(database, FG_STORE_DURABLE, &s.store, &err) != FG_OK)
		fg_bench_die("open", &err);
	seal_all(&s); /* also tiles sealed by an earlier version */
	(void)printf("brought up to date in %.1f s\n",
		     (double)(fg_clock_monotonic_ns() - start) / 1e9);
	fg_store_close(s.store);
	start_servers(&s);
	ask_all(&s);
	stop_servers(&s);
	return 0;
}
