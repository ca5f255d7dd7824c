// SPDX-License-Identifier: Apache-2.0
/*
 * Shows the local store in a browser. The server is a separate program (perfdb), so that fastgate,
 * which runs inside measured pipelines, contains no HTTP server; this command finds perfdb and
 * execs it.
 */
#include "base/fs.h"
#include "cli/session/stored.h"

#include <unistd.h>

enum {
	PATH_BYTES = 4096
};

struct options {
	const char *store;
	unsigned port;
	bool open;
};

static const struct fg_option options[] = {
	FG_CLI_STORE_OPTION(struct options, store),
	{.name = "port",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, port),
	 .argument = "PORT",
	 .maximum = 65535,
	 .help = "loopback port to listen on (default: any free one)"},
	FG_ROW_FLAG(struct options, open, "open", 0, "open the pages in the browser (xdg-open)"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate web --open", "look at this project's runs in a browser"},
	{NULL, NULL},
};

/*
 * Places of the server relative to this program's folder: installed next to it, installed as an
 * internal program, in a build folder.
 */
static const char *const places[] = {
	"perfdb",
	"../libexec/fastgate/perfdb",
	"../perfdb/server/perfdb",
};

/* Returns the server's path, which the caller frees; NULL if no place has a program. */
static char *find_in_folder(const char *folder)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(places); i++) {
		char *path = fg_fs_join(folder, places[i]);

		if (access(path, X_OK) == 0 && !fg_fs_is_folder(path))
			return path;
		free(path);
	}
	return NULL;
}

/*
 * Returns $FASTGATE_PERFDB, or else the perfdb installed with this program, or else the perfdb in
 * PATH. The caller frees the path.
 */
static char *find_server(void)
{
	const char *given = getenv("FASTGATE_PERFDB");
	char self[PATH_BYTES] = "";
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL;

	if (given && *given)
		return fg_xstrdup(given);
	if (length > 0) {
		char *folder = fg_fs_parent(self);

		path = find_in_folder(folder);
		free(folder);
	}
	return path ? path : fg_fs_find_program("perfdb");
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	char *store = fg_cli_store_path(given->store);
	char *server = find_server();
	char *listen = fg_xasprintf("127.0.0.1:%u", given->port);
	char *arguments[] = {server,
			     (char[]){"serve"},
			     (char[]){"--read-only"},
			     (char[]){"--secret"},
			     (char[]){"--quiet"},
			     (char[]){"--database"},
			     store,
			     (char[]){"--listen"},
			     listen,
			     given->open ? (char[]){"--open"} : NULL,
			     NULL};
	struct fg_error err = {0};

	if (!fg_fs_exists(store))
		(void)fg_error_set(&err, FG_ENOENT,
				   "there is no store at '%s': `fastgate run` creates one", store);
	else if (!server)
		(void)fg_error_set(&err, FG_EUNSUPPORTED,
				   "the program perfdb, which serves the pages, is not installed; "
				   "FASTGATE_PERFDB can name its path");
	else if (execv(server, arguments) != 0)
		(void)fg_error_errno(&err, FG_EIO, "cannot start '%s'", server);
	free(listen);
	free(server);
	free(store);
	return fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_web = {
	.name = "web",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "show the local store in perfdb's pages",
	.description = "Serves perfdb's pages of the local store on loopback until Ctrl-C, and "
		       "prints their address. The pages show runs, comparisons with flame "
		       "graphs, and trends with their change points. Nothing is changed in the "
		       "store, and no other user can reach the pages.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
