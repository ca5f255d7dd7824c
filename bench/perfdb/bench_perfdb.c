// SPDX-License-Identifier: Apache-2.0
/*
 * A perfdb server under uploads and queries, over real connections, in this process:
 *
 *	bench_perfdb load DATABASE RUNS CLIENTS
 *		uploads of code that changes, and of the same code, to an empty or a filled database
 *	bench_perfdb fill DATABASE RUNS
 *		writes RUNS runs into the database, without a server
 *	bench_perfdb ask DATABASE
 *		queries to the store, and to a server on that database
 *	bench_perfdb dashboard DATABASE [RUNS]
 *		fills an empty database with RUNS runs of 200 benchmarks, without profiles, and asks
 *		for the dashboard
 *
 * A run has 5,000 functions, 16,000 call paths and 60,000 samples in 20 pairs.  `fill` makes 400
 * builds; in each new build, five functions are renamed and twenty paths appear.  Four runs of
 * each build are generated in full; all other runs are copies with a different id, time and commit.
 * This makes 100,000 runs in minutes, and no query used here depends on the difference.
 *
 * CPU time per upload is measured separately for the server (with its database, when that is a
 * file) and for the clients. Each query runs against the store alone, which the goals refer to, and
 * over HTTP, which adds creating, packing, sending and reading the answer; `noop` is the cost of an
 * empty request.  `cold`: a new session after the file was dropped from the page cache.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "bench/perfdb/generator.h"
#include "bench/perfdb/sender.h"
#include "gate/statistics/sample.h"
#include "perfdb/client/http.h"
#include "perfdb/protocol.h"
#include "perfdb/server/server.h"
#include "store/db.h"
#include "store/serving/history.h"
#include "store/serving/overview.h"
#include "store/serving/sums.h"
#include "store/serving/trend.h"
#include "store/serving/uploads.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/unit/store/samples.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
	ASKS = 300,
	COLD_ASKS = 5,
	DASHBOARD_ASKS = 30,
	RENAMED = 5, /* functions renamed per build */
	GROWN = 20,  /* paths added per build */
	BUILDS = 400,
	VARIANTS = 4,
	BATCH = 64,
	DASHBOARD_BENCHMARKS = 200,
	DASHBOARD_RUNS = 1000,
	FIRST_LOADED = 1 << 20 /* run numbers in the past, which no filled database has */
};

struct load {
	char url[64];
	uint16_t port;
	struct fg_strbuf *parcels;
	unsigned count;
	atomic_uint next;
	atomic_llong client_ns; /* CPU time of the senders */
	double *times;
};

static void die(const char *what, const struct fg_error *err)
{
	(void)fprintf(stderr, "bench_perfdb: %s: %s\n", what, err->message);
	exit(1);
}

static void make_parcel(const struct fg_bench_program *program, unsigned number,
			struct fg_strbuf *text)
{
	struct fg_bundle bundle = {0};
	struct fg_error err = {0};
	struct fg_wire wire;

	fg_bench_program_run(program, number, &bundle);
	wire = (struct fg_wire){bundle.envelope.data,   bundle.envelope.length,
				bundle.dictionary.data, bundle.dictionary.size,
				bundle.values.data,     bundle.values.size};
	if (fg_wire_write(&wire, text, &err) != FG_OK)
		die("wire", &err);
	fg_bundle_release(&bundle);
}

static int64_t thread_cpu_ns(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *send_all(void *context)
{
	struct load *load = context;
	struct fg_bench_sender sender = {0};
	struct fg_error err = {0};
	int status = 0;

	if (fg_bench_sender_open(&sender, load->port, &err) != FG_OK)
		die("open", &err);
	for (unsigned i = atomic_fetch_add(&load->next, 1); i < load->count;
	     i = atomic_fetch_add(&load->next, 1)) {
		const int64_t start = fg_clock_monotonic_ns();

		if (fg_bench_sender_upload(&sender, &load->parcels[i], &status, &err) != FG_OK)
			die("send", &err);
		if (status != FG_HTTP_CREATED) {
			(void)fg_error_set(&err, FG_ENET, "%.300s", sender.answer);
			die("upload", &err);
		}
		load->times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
	}
	fg_bench_sender_close(&sender);
	atomic_fetch_add(&load->client_ns, thread_cpu_ns());
	return NULL;
}

static void send_with(struct load *load, unsigned clients)
{
	pthread_t *threads = fg_xcalloc(clients, sizeof(*threads));

	atomic_store(&load->next, 0);
	atomic_store(&load->client_ns, 0);
	for (unsigned i = 0; i < clients; i++)
		(void)pthread_create(&threads[i], NULL, send_all, load);
	for (unsigned i = 0; i < clients; i++)
		(void)pthread_join(threads[i], NULL);
	free(threads);
}

static void upload(const char *what, struct load *load, unsigned clients)
{
	const int64_t start = fg_clock_monotonic_ns();
	const int64_t cpu = fg_clock_process_cpu_ns();
	const double ns_to_ms = 1e-6 / load->count;
	double client_ms = 0;
	double server_ms = 0;
	double wall_ms = 0;
	double bytes = 0;

	send_with(load, clients);
	wall_ms = (double)(fg_clock_monotonic_ns() - start) * ns_to_ms;
	client_ms = (double)atomic_load(&load->client_ns) * ns_to_ms;
	server_ms = (double)(fg_clock_process_cpu_ns() - cpu) * ns_to_ms - client_ms;
	for (unsigned i = 0; i < load->count; i++)
		bytes += (double)load->parcels[i].length;
	(void)printf("%-28s %7.1f runs/s   median %7.1f ms   99 %%: %7.1f ms   %6.1f KB a run\n",
		     what, 1e3 / wall_ms, fg_quantile(load->times, load->count, 0.5),
		     fg_quantile(load->times, load->count, 0.99), bytes / 1e3 / load->count);
	(void)printf(
		"    CPU a run: server %5.2f ms, client %5.2f ms; two CPUs without the client: "
		"%5.0f runs/s\n",
		server_ms, client_ms, 2e3 / server_ms);
	(void)fflush(stdout);
}

static void print_times(const char *where, const char *what, double *times, size_t count,
			double cpu_ms)
{
	(void)printf("%-10s %-28s median %7.2f ms   99 %%: %7.2f ms   %6.2f ms of CPU\n", where,
		     what, fg_quantile(times, count, 0.5), fg_quantile(times, count, 0.99), cpu_ms);
}

static void ask_times(const char *what, const char *url, const char *path, unsigned count)
{
	const struct fg_http_options options = {.url = url, .token = FG_BENCH_SECRET};
	double times[ASKS];
	struct fg_http *http = NULL;
	struct fg_error err = {0};
	int64_t cpu = 0;

	if (fg_http_open(&options, &http, &err) != FG_OK)
		die("open", &err);
	cpu = fg_clock_process_cpu_ns();
	for (unsigned i = 0; i < count; i++) {
		struct fg_http_reply reply = {0};
		const int64_t start = fg_clock_monotonic_ns();

		if (fg_http_send(http, &(struct fg_http_request){.method = "GET", .path = path},
				 &reply, &err) != FG_OK)
			die(path, &err);
		if (reply.status != FG_HTTP_OK)
			(void)fprintf(stderr, "%s: %ld %s\n", path, reply.status,
				      fg_strbuf_text(&reply.body));
		times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
		fg_strbuf_release(&reply.body);
	}
	cpu = fg_clock_process_cpu_ns() - cpu;
	print_times("over HTTP", what, times, count, (double)cpu / 1e6 / count);
	fg_http_close(http);
}

static void ask(const char *what, const char *url, const char *path)
{
	ask_times(what, url, path, ASKS);
}

static int64_t memory_kib(void)
{
	char *text = NULL;
	size_t size = 0;
	long long kib = 0;
	const char *at = NULL;

	if (fg_fs_read("/proc/self/status", 1 << 16, &text, &size, NULL) == FG_OK)
		at = strstr(text, "VmRSS:");
	if (at)
		kib = strtoll(at + strlen("VmRSS:"), NULL, 10);
	free(text);
	return kib;
}

static struct fg_server *serve(const char *database, unsigned threads, char url[64])
{
	const struct fg_server_options options = {.database = database,
						  .secret = FG_BENCH_SECRET,
						  .log_fd = -1,
						  .requests_per_minute = 100000000,
						  .threads = threads};
	struct fg_server *server = NULL;
	struct fg_error err = {0};

	if (fg_server_start(&options, &server, &err) != FG_OK)
		die("start", &err);
	(void)snprintf(url, 64, "http://127.0.0.1:%u", fg_server_port(server));
	return server;
}

/* Uploads of one kind. */
struct phase {
	const char *what;
	bool changing; /* a new build for each run */
};

static void measure(const struct phase *phase, struct load *load, unsigned clients,
		    struct fg_bench_program *program, unsigned first)
{
	for (unsigned i = 0; i < load->count; i++) {
		if (phase->changing)
			fg_bench_program_change(program, RENAMED, GROWN);
		fg_strbuf_clear(&load->parcels[i]);
		make_parcel(program, first + i, &load->parcels[i]);
	}
	upload(phase->what, load, clients);
}

static int load_test(const char *database, unsigned runs, unsigned clients)
{
	static const struct phase phases[] = {
		{.what = "first of all"},
		{.what = "code that changes", .changing = true},
		{.what = "same code"},
	};
	struct fg_bench_program program;
	struct load load = {0};
	struct fg_server *server = serve(database, clients, load.url);
	unsigned next = FIRST_LOADED;

	load.port = fg_server_port(server);
	load.parcels = fg_xcalloc(runs, sizeof(*load.parcels));
	load.times = fg_xcalloc(runs, sizeof(*load.times));
	fg_bench_program_init(&program);
	for (size_t i = 0; i < FG_ARRAY_SIZE(phases); i++) {
		load.count = i ? runs : 1;
		measure(&phases[i], &load, clients, &program, next);
		next += load.count;
	}
	(void)printf("memory after that: %lld MB with the bench's own parcels\n",
		     (long long)memory_kib() / 1024);
	fg_server_stop(server);
	for (unsigned i = 0; i < runs; i++)
		fg_strbuf_release(&load.parcels[i]);
	free(load.parcels);
	free(load.times);
	fg_bench_program_release(&program);
	return 0;
}

static void take_apart(const struct fg_bench_program *program, unsigned number,
		       struct fg_stored_run *stored)
{
	struct fg_bundle bundle = {0};
	struct fg_error err = {0};

	fg_bench_program_run(program, number, &bundle);
	if (fg_bundle_to_run(&bundle, &fg_bundle_limits_default, stored, &err) != FG_OK)
		die("bundle", &err);
	fg_bundle_release(&bundle);
}

static void fill_build(struct fg_store *store, struct fg_stored_run variants[VARIANTS],
		       unsigned first, unsigned count)
{
	enum fg_upload_outcome outcome = FG_UPLOAD_STORED;
	struct fg_error err = {0};

	if (fg_store_batch_begin(store, &err) != FG_OK)
		die("begin", &err);
	for (unsigned i = 0; i < count; i++) {
		struct fg_run *run = &variants[i % VARIANTS].run;
		const unsigned number = first + i;

		fg_bench_run_id(number, run->id);
		run->started_ns =
			INT64_C(1700000000000000000) + (int64_t)number * INT64_C(60000000000);
		(void)snprintf(run->sides[FG_ARM_CANDIDATE].commit, 9, "%08x",
			       number * 2654435761U);
		run->sides[FG_ARM_CANDIDATE].commit[8] = '0';
		if (fg_store_put_upload(store, &variants[i % VARIANTS], "", &outcome, &err) !=
		    FG_OK)
			die("put", &err);
	}
	if (fg_store_batch_end(store, &err) != FG_OK)
		die("commit", &err);
}

static int fill(const char *database, unsigned runs)
{
	const unsigned builds = runs < BUILDS ? runs : BUILDS;
	const int64_t start = fg_clock_monotonic_ns();
	struct fg_bench_program program;
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	unsigned made = 0;

	if (fg_store_open(database, FG_STORE_DURABLE, &store, &err) != FG_OK)
		die("open", &err);
	fg_bench_program_init(&program);
	for (unsigned b = 0; b < builds; b++) {
		struct fg_stored_run variants[VARIANTS] = {0};
		const unsigned until = (unsigned)((uint64_t)runs * (b + 1) / builds);

		for (unsigned v = 0; v < VARIANTS; v++)
			take_apart(&program, made + v, &variants[v]);
		fill_build(store, variants, made, until - made);
		made = until;
		for (unsigned v = 0; v < VARIANTS; v++)
			fg_stored_run_release(&variants[v]);
		fg_bench_program_change(&program, RENAMED, GROWN);
	}
	(void)printf("filled with %u runs of %u builds in %.0f s\n", runs, builds,
		     (double)(fg_clock_monotonic_ns() - start) / 1e9);
	fg_bench_program_release(&program);
	fg_store_close(store);
	return 0;
}

/* Questions to the store. */
struct asker {
	struct fg_store *store;
	struct fg_run_list newest;
	struct fg_stored_run run; /* newest run */
	const char *function;     /* name of a function */
	const char *library;
	int64_t series; /* of the newest run; the previous run's series is one less */
};

typedef void question(const struct asker *asker);

static void ask_trend(const struct asker *asker)
{
	struct fg_function_trend trend = {0};
	struct fg_error err = {0};

	if (fg_store_function_trend(asker->store,
				    &(struct fg_trend_query){.project = "tracker",
							     .benchmark = "parse",
							     .name = asker->function,
							     .library = asker->library},
				    &trend, &err) != FG_OK)
		die("function trend", &err);
	fg_function_trend_release(&trend);
}

static void ask_metric(const struct asker *asker)
{
	const struct fg_history_query query = {
		.project = "tracker", .benchmark = "parse", .metric = "cpu_time", .limit = 10000};
	struct fg_history history = {0};
	struct fg_error err = {0};

	if (fg_store_history(asker->store, &query, &history, &err) != FG_OK)
		die("history", &err);
	fg_history_release(&history);
}

/* Which functions take longer in the newest run than in the one before it? */
static void ask_comparison(const struct asker *asker)
{
	struct fg_totals runs[2] = {{0}, {0}};
	struct fg_error err = {0};
	size_t grown = 0;
	size_t at = 0;

	for (int i = 0; i < 2; i++) {
		if (fg_store_totals(asker->store, asker->series - i, &runs[i], &err) != FG_OK)
			die("totals", &err);
	}
	for (size_t i = 0; i < runs[0].count; i++) {
		const struct fg_function_total *now = &runs[0].items[i];

		while (at < runs[1].count && runs[1].items[at].id < now->id)
			at++;
		grown += at < runs[1].count && runs[1].items[at].id == now->id &&
			 now->self[1] > runs[1].items[at].self[1];
	}
	if (grown == 0 || runs[1].count == 0) {
		(void)fprintf(stderr, "bench_perfdb: two runs share no function that grew\n");
		exit(1);
	}
	fg_totals_release(&runs[0]);
	fg_totals_release(&runs[1]);
}

static const struct {
	const char *what;
	question *ask;
} questions_to_store[] = {
	{"trend of one function", ask_trend},
	{"trend of a metric", ask_metric},
	{"two runs by function", ask_comparison},
};

static int64_t newest_series(struct fg_store *store)
{
	struct fg_overview overview = {0};
	struct fg_error err = {0};
	int64_t series = 0;

	if (fg_store_overview(store, "tracker", 1, &overview, &err) != FG_OK)
		die("overview", &err);
	series = overview.count ? overview.items[0].series : 0;
	fg_overview_release(&overview);
	return series;
}

static void open_asker(const char *database, struct asker *asker)
{
	const struct fg_run_filter newest = {.project = "tracker", .limit = 1};
	struct fg_error err = {0};

	*asker = (struct asker){0};
	if (fg_store_open(database, FG_STORE_DURABLE, &asker->store, &err) != FG_OK ||
	    fg_store_list(asker->store, &newest, &asker->newest, &err) != FG_OK)
		die("open", &err);
	if (asker->newest.count == 0) {
		(void)fprintf(stderr, "bench_perfdb: no run was stored\n");
		exit(1);
	}
	if (fg_store_load(asker->store, asker->newest.items[0].id, &asker->run, &err) != FG_OK)
		die("load", &err);
	asker->function = asker->run.profiles[0]->functions[1].name;
	asker->library = asker->run.profiles[0]->functions[1].library;
	asker->series = newest_series(asker->store);
}

static void close_asker(struct asker *asker)
{
	fg_run_list_release(&asker->newest);
	fg_stored_run_release(&asker->run);
	fg_store_close(asker->store);
}

static void ask_store(const struct asker *asker, const char *what, question *ask_it)
{
	double times[ASKS];
	int64_t cpu = fg_clock_process_cpu_ns();

	for (size_t i = 0; i < ASKS; i++) {
		const int64_t start = fg_clock_monotonic_ns();

		ask_it(asker);
		times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
	}
	cpu = fg_clock_process_cpu_ns() - cpu;
	print_times("store", what, times, ASKS, (double)cpu / 1e6 / ASKS);
}

/* Runs the queries after dropping the database, which must be a local file, from the page cache. */
static void ask_cold(const char *database, const struct asker *warm)
{
	double times[COLD_ASKS];
	int64_t cpu = 0;

	for (int i = 0; i < COLD_ASKS; i++) {
		const int fd = open(database, O_RDONLY | O_CLOEXEC);
		struct asker asker = {0};
		struct fg_error err = {0};
		int64_t start = 0;

		if (fd < 0 || fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
		    fg_store_open(database, FG_STORE_READ_ONLY, &asker.store, &err) != FG_OK)
			die("cold", &err);
		(void)close(fd);
		asker.function = warm->function;
		asker.library = warm->library;
		cpu -= fg_clock_process_cpu_ns();
		start = fg_clock_monotonic_ns();
		ask_trend(&asker);
		times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
		cpu += fg_clock_process_cpu_ns();
		fg_store_close(asker.store);
	}
	print_times("store", "trend of one function, cold", times, COLD_ASKS,
		    (double)cpu / 1e6 / COLD_ASKS);
}

static int questions(const char *database)
{
	struct asker asker = {0};
	struct fg_server *server = NULL;
	char url[64];
	struct fg_strbuf path = {0};

	open_asker(database, &asker);
	for (size_t i = 0; i < FG_ARRAY_SIZE(questions_to_store); i++)
		ask_store(&asker, questions_to_store[i].what, questions_to_store[i].ask);
	if (!fg_db_is_url(database))
		ask_cold(database, &asker);
	fg_strbuf_printf(&path,
			 "/api/v1/function-trend?project=tracker&benchmark=parse&library=%s&name=",
			 asker.library);
	for (const char *c = asker.function; *c; c++)
		fg_strbuf_printf(&path, "%%%02X", (unsigned char)*c);
	close_asker(&asker);
	server = serve(database, 2, url);
	ask("noop", url, "/healthz");
	ask("list of 50 runs", url, "/api/v1/runs?project=tracker");
	ask("trend of a metric", url,
	    "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time&changes=0");
	ask("trend of one function", url, fg_strbuf_text(&path));
	ask_times("page that compares two runs", url, "/api/v1/verdict?a=latest~1&b=latest",
		  DASHBOARD_ASKS);
	fg_strbuf_release(&path);
	(void)printf("memory of this process: %lld MB\n", (long long)memory_kib() / 1024);
	fg_server_stop(server);
	return 0;
}

static void add_benchmark(struct fg_run *run, unsigned b, struct fg_random *random)
{
	char name[32];
	struct fg_series *series = NULL;

	(void)snprintf(name, sizeof(name), "benchmark-%03u", b);
	series = fg_run_add_series(run, name);
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_sample_repetition(series, (uint8_t)arm, 0)->values[FG_METRIC_CPU_TIME] =
			2e8 + 1e6 * fg_random_normal(random);
}

static void fill_dashboard(const char *database, unsigned runs)
{
	struct fg_store *store = NULL;
	struct fg_random random;
	struct fg_error err = {0};

	fg_random_seed(&random, 1);
	if (fg_store_open(database, FG_STORE_DURABLE, &store, &err) != FG_OK)
		die("open", &err);
	for (unsigned n = 0; n < runs; n++) {
		struct fg_stored_run stored = {0};

		fg_sample_run(&stored, n + 1, &fg_sample_small);
		fg_profile_set_release(stored.profiles[0]);
		free(stored.profiles[0]);
		free(stored.profiles);
		stored.profiles = NULL;
		for (unsigned b = 1; b < DASHBOARD_BENCHMARKS; b++)
			add_benchmark(&stored.run, b, &random);
		if (n % BATCH == 0 && fg_store_batch_begin(store, &err) != FG_OK)
			die("begin", &err);
		if (fg_store_save(store, &stored.run, NULL, NULL, &err) != FG_OK)
			die("save", &err);
		if ((n % BATCH == BATCH - 1 || n == runs - 1) &&
		    fg_store_batch_end(store, &err) != FG_OK)
			die("commit", &err);
		fg_stored_run_release(&stored);
	}
	fg_store_close(store);
}

static int dashboard(const char *database, unsigned runs)
{
	const int64_t start = fg_clock_monotonic_ns();
	struct fg_server *server = NULL;
	char url[64];

	fill_dashboard(database, runs);
	(void)printf("filled with %u runs in %.0f s\n", runs,
		     (double)(fg_clock_monotonic_ns() - start) / 1e9);
	(void)fflush(stdout);
	server = serve(database, 2, url);
	ask_times("dashboard of 200 benchmarks", url, "/api/v1/dashboard?project=tracker",
		  DASHBOARD_ASKS);
	ask("trend of one of them", url,
	    "/api/v1/trend?project=tracker&benchmark=benchmark-007&metric=cpu_time&changes=0");
	fg_server_stop(server);
	return 0;
}

static unsigned number(int argc, char **argv, int place, unsigned otherwise)
{
	return argc > place ? (unsigned)strtoul(argv[place], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "load") == 0)
		return load_test(argv[2], number(argc, argv, 3, 200), number(argc, argv, 4, 8));
	if (argc > 3 && strcmp(argv[1], "fill") == 0)
		return fill(argv[2], number(argc, argv, 3, 10000));
	if (argc > 2 && strcmp(argv[1], "ask") == 0)
		return questions(argv[2]);
	if (argc > 2 && strcmp(argv[1], "dashboard") == 0)
		return dashboard(argv[2], number(argc, argv, 3, DASHBOARD_RUNS));
	(void)fprintf(stderr,
		      "usage: bench_perfdb load DATABASE [RUNS [CLIENTS]] | fill DATABASE RUNS | "
		      "ask DATABASE | dashboard DATABASE [RUNS]\n");
	return 2;
}
