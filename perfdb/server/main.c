// SPDX-License-Identifier: Apache-2.0
/* The program perfdb: its commands, over base/options.h. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/number.h"
#include "base/options.h"
#include "base/process.h"
#include "base/text.h"
#include "base/version.h"
#include "perfdb/server/server.h"
#include "store/serving/access.h"
#include "store/serving/copy.h"
#include "store/serving/upkeep.h"
#include "store/store.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	COLUMNS = 80,
	PRIVATE = 0077
};

struct options {
	const char *database;
	const char *listen;
	const char *tls_certificate;
	const char *tls_key;
	const char *project;
	const char *scope;
	const char *note;
	const char *to;
	int64_t expires;
	int64_t older_than;
	unsigned keep;
	unsigned rate;
	unsigned threads;
	uint64_t body_limit;
	int64_t headers_ns;
	int64_t request_ns;
	bool behind_proxy;
	bool read_only;
	bool dry_run;
	bool quiet;
	bool open;
	bool help;
};

#define DATABASE                                                                                       \
 {                                                                                                     \
  .name = "database", .letter = 'd', .kind = FG_OPTION_TEXT,                                           \
  .offset = offsetof(struct options, database), .argument = "DATABASE", .initial = "perfdb.db",        \
  .help = "an SQLite file, or postgresql://USER@HOST/NAME (the password from PGPASSWORD or ~/.pgpass)" \
 }
#define HELP                                                                                       \
 {                                                                                                 \
  .name = "help", .letter = 'h', .kind = FG_OPTION_FLAG, .offset = offsetof(struct options, help), \
  .help = "show this help and exit"                                                                \
 }

static const struct fg_option serve_options[] = {
	DATABASE,
	{.name = "listen",
	 .letter = 'l',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, listen),
	 .argument = "ADDRESS:PORT",
	 .initial = "127.0.0.1:8642",
	 .help = "where to listen; port 0 takes a free one"},
	{.name = "tls-cert",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, tls_certificate),
	 .argument = "FILE",
	 .help = "certificate chain in PEM"},
	{.name = "tls-key",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, tls_key),
	 .argument = "FILE",
	 .help = "its key in PEM"},
	{.name = "behind-proxy",
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, behind_proxy),
	 .help = "a reverse proxy does the TLS"},
	{.name = "read-only",
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, read_only),
	 .help = "only show what is there"},
	{.name = "requests-per-minute",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, rate),
	 .argument = "N",
	 .initial = "6000",
	 .minimum = 1,
	 .maximum = 100000000,
	 .help = "of one token or address"},
	{.name = "body-limit",
	 .kind = FG_OPTION_SIZE,
	 .offset = offsetof(struct options, body_limit),
	 .argument = "SIZE",
	 .initial = "64MiB",
	 .help = "largest upload"},
	{.name = "header-time",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct options, headers_ns),
	 .argument = "TIME",
	 .initial = "60s",
	 .help = "until the headers of a request are there, from its connection or the request before"},
	{.name = "request-time",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct options, request_ns),
	 .argument = "TIME",
	 .initial = "5m",
	 .help = "from there until its answer was read"},
	{.name = "threads",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, threads),
	 .argument = "N",
	 .initial = "16",
	 .minimum = 1,
	 .maximum = 256,
	 .help = "threads that answer"},
	{.name = "quiet",
	 .letter = 'q',
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, quiet),
	 .help = "no line per request on standard output"},
	HELP,
	{.name = NULL},
};

static const struct fg_option token_options[] = {
	DATABASE,
	{.name = "project",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, project),
	 .argument = "NAME",
	 .help = "for this project alone; without it, for all"},
	{.name = "scope",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, scope),
	 .argument = "SCOPE",
	 .initial = "read",
	 .help = "read, upload (and read) or admin (everything)"},
	{.name = "expires",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct options, expires),
	 .argument = "TIME",
	 .initial = "365d",
	 .help = "how long it works"},
	{.name = "note",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, note),
	 .argument = "TEXT",
	 .help = "who it is for"},
	HELP,
	{.name = NULL},
};

static const struct fg_option copy_options[] = {
	DATABASE,
	{.name = "to",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, to),
	 .argument = "DATABASE",
	 .help = "where to: a new file (backup), or any database (migrate)"},
	HELP,
	{.name = NULL},
};

static const struct fg_option gc_options[] = {
	DATABASE,
	{.name = "project",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, project),
	 .argument = "NAME",
	 .help = "only runs of this project"},
	{.name = "older-than",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct options, older_than),
	 .argument = "TIME",
	 .initial = "365d",
	 .help = "remove runs that started longer ago than this"},
	{.name = "keep",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, keep),
	 .argument = "N",
	 .initial = "50",
	 .maximum = 1000000,
	 .help = "keep so many newest runs of each branch whatever their age"},
	{.name = "dry-run",
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, dry_run),
	 .help = "only say what would be removed"},
	HELP,
	{.name = NULL},
};

static int fail(const struct fg_error *err)
{
	(void)fprintf(stderr, "perfdb: %s\n", err->message);
	return err->code == FG_EINVAL || err->code == FG_EPARSE ? EXIT_USAGE : EXIT_FAILED;
}

static bool parse_listen(const char *text, char **address, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	uint64_t number = 0;
	size_t length = 0;

	if (!colon || fg_parse_uint64(colon + 1, &number, NULL) != FG_OK || number > UINT16_MAX)
		return false;
	length = (size_t)(colon - text);
	if (length > 2 && text[0] == '[' && text[length - 1] == ']')
		*address = fg_xstrndup(text + 1, length - 2);
	else
		*address = fg_xstrndup(text, length);
	*port = (uint16_t)number;
	return true;
}

/*
 * Signals are waited for, not handled: everything that happens at the end happens on this thread.
 */
static void wait_for_the_end(void)
{
	sigset_t signals;
	int signal = 0;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGHUP);
	while (sigwait(&signals, &signal) != 0)
		continue;
}

static void block_signals(void)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* A browser that cannot be started is no reason not to serve. */
static void open_browser(const char *address, unsigned port)
{
	char *url = fg_xasprintf("http://%s:%u/", address, port);
	char *argv[] = {(char[]){"xdg-open"}, url, NULL};
	const struct fg_process_options options = {
		.argv = argv, .timeout_ns = 10 * FG_NS_PER_S, .keep_children = true};
	struct fg_process_result result = {0};
	struct fg_error err = {0};

	if (fg_process_run(&options, &result, &err) != FG_OK)
		(void)fprintf(stderr, "perfdb: %s\n", err.message);
	fg_process_result_release(&result);
	free(url);
}

static int serve(const struct options *given, char **words, size_t count)
{
	struct fg_server_options options = {
		.database = given->database,
		.tls_certificate = given->tls_certificate,
		.tls_key = given->tls_key,
		.behind_proxy = given->behind_proxy,
		.read_only = given->read_only,
		.body_limit_bytes = (size_t)given->body_limit,
		.requests_per_minute = given->rate,
		.threads = given->threads,
		.headers_ns = given->headers_ns,
		.request_ns = given->request_ns,
		.log_fd = given->quiet ? -1 : STDOUT_FILENO,
	};
	struct fg_server *server = NULL;
	struct fg_error err = {0};
	char *address = NULL;

	(void)words;
	(void)count;
	if (!parse_listen(given->listen, &address, &options.port)) {
		(void)fg_error_set(&err, FG_EINVAL, "--listen %s: expected ADDRESS:PORT",
				   given->listen);
		return fail(&err);
	}
	options.address = address;
	block_signals();
	/* write() says EPIPE or EFBIG: that is enough. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (fg_server_start(&options, &server, &err) != FG_OK) {
		free(address);
		return fail(&err);
	}
	if (fg_server_needs_token(server))
		(void)fprintf(
			stderr,
			"perfdb: nobody is let in before a token is made: perfdb token create --database %s --scope admin\n",
			strstr(given->database, "://") ? "URL" : given->database);
	(void)fprintf(stderr, "perfdb: serving %s at %s://%s%s%s:%u/\n",
		      strstr(given->database, "://") ? "a PostgreSQL database" : given->database,
		      options.tls_certificate ? "https" : "http", strchr(address, ':') ? "[" : "",
		      address, strchr(address, ':') ? "]" : "", fg_server_port(server));
	if (given->open)
		open_browser(address, fg_server_port(server));
	wait_for_the_end();
	(void)fprintf(stderr, "perfdb: finishing the requests in progress\n");
	fg_server_stop(server);
	free(address);
	return EXIT_OK;
}

static int token_create(struct fg_store *store, const struct options *given, struct fg_error *err)
{
	char text[FG_TOKEN_TEXT_SIZE];
	enum fg_scope scope = FG_SCOPE_NONE;
	int status = FG_OK;

	if (!fg_scope_parse(given->scope, &scope))
		return fg_error_set(err, FG_EINVAL, "'%s' is no scope: read, upload or admin",
				    given->scope);
	status = fg_store_token_create(store, given->project, scope,
				       fg_clock_wall_ns() + given->expires, given->note, text, err);
	if (status == FG_OK) {
		(void)printf("%s\n", text);
		(void)fprintf(stderr, "perfdb: this is the only time that it is shown\n");
	}
	memset(text, 0, sizeof(text));
	return status;
}

static int token_list(struct fg_store *store, struct fg_error *err)
{
	struct fg_token_list list = {0};
	int status = fg_store_token_list(store, &list, err);

	for (size_t i = 0; i < list.count; i++) {
		const struct fg_token *t = &list.items[i];
		char expires[FG_TIME_TEXT_SIZE];
		char used[FG_TIME_TEXT_SIZE] = "never used";

		fg_time_format_utc(t->expires_ns, expires);
		if (t->used_ns)
			fg_time_format_utc(t->used_ns, used);
		(void)printf("%lld  %-6s  %-20s  %s  %s  %s\n", (long long)t->id,
			     fg_scope_name(t->scope), t->project ? t->project : "(all projects)",
			     t->revoked ? "revoked" : expires, used, t->note ? t->note : "");
	}
	fg_token_list_release(&list);
	return status;
}

static int token(const struct options *given, char **words, size_t count)
{
	const char *action = count ? words[0] : "list";
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int64_t id = 0;
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	if (status == FG_OK && strcmp(action, "create") == 0) {
		status = token_create(store, given, &err);
	} else if (status == FG_OK && strcmp(action, "list") == 0) {
		status = token_list(store, &err);
	} else if (status == FG_OK && strcmp(action, "revoke") == 0 && count == 2) {
		status = fg_parse_int64(words[1], &id, &err);
		if (status == FG_OK)
			status = fg_store_token_revoke(store, id, &err);
	} else if (status == FG_OK) {
		status = fg_error_set(&err, FG_EINVAL,
				      "expected: perfdb token create, list, or revoke NUMBER");
	}
	fg_store_close(store);
	return status == FG_OK ? EXIT_OK : fail(&err);
}

/*
 * Runs, baselines and tokens go over one by one; what is there already is written again, so that a
 * second try is fine.
 */
static int copy_runs(struct fg_store *from, struct fg_store *to, size_t *copied,
		     struct fg_error *err)
{
	struct fg_run_filter filter = {.limit = 200};
	struct fg_run_list list = {0};
	char cursor[37] = "";
	int status = FG_OK;

	do {
		fg_run_list_release(&list);
		status = fg_store_list(from, &filter, &list, err);
		for (size_t i = 0; i < list.count && status == FG_OK; i++) {
			status = fg_store_copy(from, to, list.items[i].id, err);
			*copied += status == FG_OK;
		}
		if (list.count) {
			filter.before_ns = list.items[list.count - 1].started_ns;
			memcpy(cursor, list.items[list.count - 1].id, sizeof(cursor));
			filter.before_id = cursor;
		}
	} while (status == FG_OK && list.more);
	fg_run_list_release(&list);
	return status;
}

static int migrate(const struct options *given, char **words, size_t count)
{
	struct fg_store *from = NULL;
	struct fg_store *to = NULL;
	struct fg_error err = {0};
	size_t copied = 0;
	int status = FG_OK;

	(void)words;
	(void)count;
	/* Without --to: bring the database itself to this version, which opening does. */
	status = fg_store_open(given->database, given->to ? FG_STORE_READ_ONLY : FG_STORE_DURABLE,
			       &from, &err);
	if (status == FG_OK && given->to)
		status = fg_store_open(given->to, FG_STORE_DURABLE, &to, &err);
	if (status == FG_OK && given->to)
		status = copy_runs(from, to, &copied, &err);
	if (status == FG_OK && given->to)
		status = fg_store_copy_access(from, to, &err);
	if (status == FG_OK)
		(void)fprintf(stderr, "perfdb: the database is up to date; %zu runs copied\n",
			      copied);
	fg_store_close(to);
	fg_store_close(from);
	return status == FG_OK ? EXIT_OK : fail(&err);
}

static int backup(const struct options *given, char **words, size_t count)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = FG_OK;

	(void)words;
	(void)count;
	if (!given->to)
		status = fg_error_set(&err, FG_EINVAL, "backup needs --to FILE");
	if (status == FG_OK)
		status = fg_store_open(given->database, FG_STORE_READ_ONLY, &store, &err);
	if (status == FG_OK)
		status = fg_store_backup(store, given->to, &err);
	fg_store_close(store);
	return status == FG_OK ? EXIT_OK : fail(&err);
}

static int gc(const struct options *given, char **words, size_t count)
{
	const struct fg_gc_policy policy = {given->project, fg_clock_wall_ns() - given->older_than,
					    given->keep, given->dry_run};
	struct fg_gc_result result = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	(void)words;
	(void)count;
	if (status == FG_OK)
		status = fg_store_gc(store, &policy, &result, &err);
	fg_store_close(store);
	if (status != FG_OK)
		return fail(&err);
	(void)fprintf(stderr, "perfdb: %zu runs %s, %zu old ones stay as baselines\n", result.runs,
		      given->dry_run ? "would be removed" : "removed", result.kept_baselines);
	return EXIT_OK;
}

static int check(const struct options *given, char **words, size_t count)
{
	struct fg_strbuf findings = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	size_t found = 0;
	int status = fg_store_open(given->database, FG_STORE_READ_ONLY, &store, &err);

	(void)words;
	(void)count;
	if (status == FG_OK)
		status = fg_store_check(store, &findings, &found, &err);
	fg_store_close(store);
	if (status != FG_OK)
		return fail(&err);
	(void)fputs(fg_strbuf_text(&findings), stdout);
	(void)fprintf(stderr, "perfdb: %s\n",
		      found ? "the database is damaged" : "everything is in order");
	fg_strbuf_release(&findings);
	return found ? EXIT_FAILED : EXIT_OK;
}

struct command {
	const char *name;
	const char *summary;
	const struct fg_option *options;
	int (*run)(const struct options *given, char **words, size_t count);
};

static const struct command commands[] = {
	{"serve", "serve a database over HTTP", serve_options, serve},
	{"token", "create, list, or revoke NUMBER: who may do what", token_options, token},
	{"migrate", "bring a database to this version, or copy it --to another", copy_options,
	 migrate},
	{"backup", "write a consistent copy --to FILE while the server runs", copy_options, backup},
	{"gc", "remove old runs", gc_options, gc},
	{"check", "look for damage", copy_options, check},
};

static void print_usage(FILE *to)
{
	(void)fprintf(to, "usage: perfdb COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
	(void)fprintf(to, "\n`perfdb COMMAND --help` lists its options.\n");
}

static int run(const struct command *command, char **argv)
{
	struct fg_arena arena = {0};
	struct options given = {0};
	struct fg_error err = {0};
	struct fg_strbuf help = {0};
	struct fg_option_words words = {0};
	const struct fg_option_set set = {command->options, &given};
	const struct fg_option_grammar grammar = {&set, 1, FG_OPTIONS_ANYWHERE};
	int code = EXIT_USAGE;

	if (fg_options_initialise(&set, &err) != FG_OK ||
	    fg_options_parse(&grammar, argv, &arena, &words, &err) != FG_OK) {
		code = fail(&err);
	} else if (given.help) {
		fg_strbuf_printf(&help, "usage: perfdb %s [OPTIONS]\n\n%s\n\n", command->name,
				 command->summary);
		fg_options_help(command->options, COLUMNS, &help);
		(void)fputs(fg_strbuf_text(&help), stdout);
		code = EXIT_OK;
	} else {
		code = command->run(&given, words.items, words.count);
	}
	fg_strbuf_release(&help);
	fg_arena_release(&arena);
	return code;
}

int main(int argc, char **argv)
{
	(void)fg_log_init(getenv("FASTGATE_DEBUG"));
	(void)umask(PRIVATE); /* a database holds tokens' digests and everybody's results */
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("perfdb %s\n", fg_version());
		return EXIT_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return EXIT_OK;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[1]) == 0)
			return run(&commands[i], argv + 2);
	}
	(void)fprintf(stderr, "perfdb: there is no command '%s'\n", argv[1]);
	print_usage(stderr);
	return EXIT_USAGE;
}
