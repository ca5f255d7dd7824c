// SPDX-License-Identifier: Apache-2.0
/*
 * A perfdb server under uploads and questions, over real connections, in this process:
 *
 *	bench_perfdb DATABASE RUNS CLIENTS
 *
 * Each run has 5,000 functions, 16,000 call paths and 60,000 samples; one function in twenty has a new name in every
 * run, as code that lives.  First all runs are sent with their dictionaries, then as many again that refer to one the server
 * has.  Then two runs are compared and functions followed.  `noop` is the cost of a request that asks for nothing: what is
 * above it is ours.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "perfdb/client/http.h"
#include "perfdb/protocol.h"
#include "perfdb/server/server.h"
#include "store/bundle.h"
#include "tests/unit/store/samples.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	ASKS = 200,
	CHURN_FROM = 4750
};

static const struct fg_sample_shape living = {5000, 16000, 80, 60000, CHURN_FROM};
static const struct fg_sample_shape steady = {
	.functions = 5000, .paths = 16000, .pairs = 80, .samples = 60000};

struct load {
	char url[64];
	struct fg_strbuf *parcels;
	unsigned count;
	atomic_uint next;
	double *times;
};

static void die(const char *what, const struct fg_error *err)
{
	(void)fprintf(stderr, "bench_perfdb: %s: %s\n", what, err->message);
	exit(1);
}

static int compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double part(double *values, size_t count, double share)
{
	qsort(values, count, sizeof(*values), compare_double);
	return values[(size_t)((double)(count - 1) * share)];
}

static void make_parcel(unsigned seed, const struct fg_sample_shape *shape, bool with_dictionary,
			struct fg_strbuf *text)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	struct fg_error err = {0};
	struct fg_wire wire;

	fg_sample_run(&run, seed, shape);
	if (fg_bundle_from_run(&run, &bundle, &err) != FG_OK)
		die("bundle", &err);
	wire = (struct fg_wire){
		bundle.envelope.data,   bundle.envelope.length,
		bundle.dictionary.data, with_dictionary ? bundle.dictionary.size : 0,
		bundle.values.data,     bundle.values.size};
	if (fg_wire_write(&wire, text, &err) != FG_OK)
		die("wire", &err);
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
}

static void *send_all(void *context)
{
	static const char *const headers[] = {"Content-Type: " FG_WIRE_MEDIA_TYPE, NULL};
	struct load *load = context;
	const struct fg_http_options options = {.url = load->url};
	struct fg_http *http = NULL;
	struct fg_error err = {0};

	if (fg__http_open(&options, &http, &err) != FG_OK)
		die("open", &err);
	for (unsigned i = atomic_fetch_add(&load->next, 1); i < load->count;
	     i = atomic_fetch_add(&load->next, 1)) {
		const struct fg_http_request request = {"POST", FG_WIRE_RUNS, headers,
							load->parcels[i].data,
							load->parcels[i].length};
		struct fg_http_reply reply = {0};
		const int64_t start = fg_clock_monotonic_ns();

		if (fg__http_send(http, &request, &reply, &err) != FG_OK)
			die("send", &err);
		if (reply.status != FG_HTTP_CREATED) {
			(void)fg_error_set(&err, FG_ENET, "%ld %s", reply.status,
					   fg_strbuf_text(&reply.body));
			die("upload", &err);
		}
		load->times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
		fg_strbuf_release(&reply.body);
	}
	fg__http_close(http);
	return NULL;
}

static void upload(const char *what, struct load *load, unsigned clients)
{
	pthread_t *threads = fg_xcalloc(clients, sizeof(*threads));
	const int64_t start = fg_clock_monotonic_ns();
	const int64_t cpu = fg_clock_process_cpu_ns();
	double bytes = 0;
	double seconds = 0;

	atomic_store(&load->next, 0);
	for (unsigned i = 0; i < clients; i++)
		(void)pthread_create(&threads[i], NULL, send_all, load);
	for (unsigned i = 0; i < clients; i++)
		(void)pthread_join(threads[i], NULL);
	seconds = (double)(fg_clock_monotonic_ns() - start) / 1e9;
	for (unsigned i = 0; i < load->count; i++)
		bytes += (double)load->parcels[i].length;
	(void)printf(
		"%-28s %7.1f runs/s   median %7.1f ms   99 %%: %7.1f ms   %6.1f ms of CPU a run   %6.1f KB a run\n",
		what, load->count / seconds, part(load->times, load->count, 0.5),
		part(load->times, load->count, 0.99),
		(double)(fg_clock_process_cpu_ns() - cpu) / 1e6 / load->count,
		bytes / 1e3 / load->count);
	free(threads);
}

static void ask(const char *what, const char *url, const char *path)
{
	const struct fg_http_options options = {.url = url};
	double times[ASKS];
	struct fg_http *http = NULL;
	struct fg_error err = {0};
	int64_t cpu = 0;

	if (fg__http_open(&options, &http, &err) != FG_OK)
		die("open", &err);
	cpu = fg_clock_process_cpu_ns();
	for (int i = 0; i < ASKS; i++) {
		struct fg_http_reply reply = {0};
		const int64_t start = fg_clock_monotonic_ns();

		if (fg__http_send(http, &(struct fg_http_request){.method = "GET", .path = path},
				  &reply, &err) != FG_OK)
			die(path, &err);
		if (reply.status != FG_HTTP_OK)
			(void)fprintf(stderr, "%s: %ld %s\n", path, reply.status,
				      fg_strbuf_text(&reply.body));
		times[i] = (double)(fg_clock_monotonic_ns() - start) / 1e6;
		fg_strbuf_release(&reply.body);
	}
	(void)printf("%-28s %33s median %7.2f ms   99 %%: %7.2f ms   %6.2f ms of CPU\n", what, "",
		     part(times, ASKS, 0.5), part(times, ASKS, 0.99),
		     (double)(fg_clock_process_cpu_ns() - cpu) / 1e6 / ASKS);
	fg__http_close(http);
}

static void questions(const char *url)
{
	ask("noop", url, "/healthz");
	ask("list of 50 runs", url, "/api/v1/runs");
	ask("compare metrics, conditions", url, "/api/v1/compare?a=latest~1&b=latest");
	ask("compare by function", url, "/api/v1/functions?a=latest~1&b=latest&benchmark=parse");
	ask("compare by call path", url,
	    "/api/v1/paths?a=latest~1&b=latest&benchmark=parse&limit=2000");
	ask("trend of a metric", url,
	    "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time&changes=0");
}

int main(int argc, char **argv)
{
	const unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 200;
	const unsigned clients = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 8;
	const struct fg_server_options options = {.database = argc > 1 ? argv[1] : "",
						  .log_fd = -1,
						  .requests_per_minute = 100000000,
						  .threads = clients};
	struct fg_server *server = NULL;
	struct load load = {.count = runs};
	struct fg_error err = {0};

	if (argc < 2 || runs < 3) {
		(void)fprintf(stderr, "usage: bench_perfdb DATABASE [RUNS [CLIENTS]]\n");
		return 2;
	}
	if (fg_server_start(&options, &server, &err) != FG_OK)
		die("start", &err);
	(void)snprintf(load.url, sizeof(load.url), "http://127.0.0.1:%u", fg_server_port(server));
	load.parcels = fg_xcalloc(runs, sizeof(*load.parcels));
	load.times = fg_xcalloc(runs, sizeof(*load.times));
	for (unsigned i = 0; i < runs; i++)
		make_parcel(i + 1, &living, true, &load.parcels[i]);
	upload("store, whole", &load, clients);
	for (unsigned i = 0; i < runs; i++) {
		fg_strbuf_clear(&load.parcels[i]);
		make_parcel(runs + i + 1, &steady, i == 0, &load.parcels[i]);
	}
	load.count = 1;
	load.times[0] = 0;
	atomic_store(&load.next, 0);
	(void)send_all(&load);
	load.parcels++;
	load.count = runs - 1;
	upload("store, dictionary known", &load, clients);
	questions(load.url);
	fg_server_stop(server);
	return 0;
}
