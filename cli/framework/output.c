// SPDX-License-Identifier: Apache-2.0
/* Output streams, colours and messages. */
#include "cli/framework/output.h"

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/framework/help.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEFAULT_COLUMNS = 80,
	DEFAULT_ROWS = 24,
	MIN_COLUMNS = 40,
	MAX_COLUMNS = 500
};

/* ---- terminal and environment ---- */

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool is_forced(void)
{
	const char *value = getenv("CLICOLOR_FORCE");

	return value && *value && strcmp(value, "0") != 0;
}

static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");

	return !terminal || strcmp(terminal, "dumb") == 0;
}

/*
 * In order of precedence: the command line, NO_COLOR (https://no-color.org), CLICOLOR_FORCE, and
 * whether the output is a terminal other than "dumb".
 */
static bool wants_color(enum fg_cli_color wish, bool is_terminal)
{
	if (wish != FG_CLI_COLOR_AUTO)
		return wish == FG_CLI_COLOR_ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_forced())
		return true;
	return is_terminal && !is_dumb();
}

static unsigned size_from(const char *variable, unsigned otherwise)
{
	const char *value = getenv(variable);
	uint64_t number = 0;

	if (!value || fg_parse_uint64(value, &number, NULL) != FG_OK || number == 0 ||
	    number > MAX_COLUMNS)
		return otherwise;
	return (unsigned)number;
}

void fg_cli_init_output(struct fg_cli *cli, const struct fg_cli_globals *globals)
{
	struct winsize size = {0};

	cli->quiet = globals->quiet;
	cli->verbose = globals->verbose && !globals->quiet;
	cli->json = globals->json;
	cli->out_is_terminal = isatty(STDOUT_FILENO) == 1;
	cli->err_is_terminal = isatty(STDERR_FILENO) == 1;
	cli->color_out = wants_color((enum fg_cli_color)globals->color, cli->out_is_terminal);
	cli->color_err = wants_color((enum fg_cli_color)globals->color, cli->err_is_terminal);
	cli->columns = DEFAULT_COLUMNS;
	cli->rows = DEFAULT_ROWS;
	if ((cli->out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) ||
	    (cli->err_is_terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)) {
		if (size.ws_col >= MIN_COLUMNS)
			cli->columns = size.ws_col;
		if (size.ws_row > 0)
			cli->rows = size.ws_row;
	}
	cli->columns = size_from("COLUMNS", cli->columns);
}

/* ---- messages ---- */

/*
 * Messages may quote untrusted text, which must not control the terminal or a program that reads
 * the log.
 */
FG_PRINTF(2, 0)
static void print_line(const char *start, const char *format, va_list ap)
{
	struct fg_strbuf words = {0};
	struct fg_strbuf clean = {0};
	struct fg_strbuf line = {0};

	fg_strbuf_vprintf(&words, format, ap);
	fg_text_add_escaped(&clean, fg_strbuf_text(&words), words.length);
	fg_strbuf_add_text(&line, start);
	fg_text_add_for_log(&line, fg_strbuf_text(&clean), clean.length);
	fg_strbuf_add_char(&line, '\n');
	/* One write per line, so that lines of several processes do not mix. */
	(void)fwrite(fg_strbuf_text(&line), 1, line.length, stderr);
	fg_strbuf_release(&line);
	fg_strbuf_release(&clean);
	fg_strbuf_release(&words);
}

void fg_cli_say(const struct fg_cli *cli, const char *format, ...)
{
	va_list ap;

	if (cli->quiet)
		return;
	va_start(ap, format);
	print_line("", format, ap);
	va_end(ap);
}

void fg_cli_detail(const struct fg_cli *cli, const char *format, ...)
{
	va_list ap;

	if (!cli->verbose)
		return;
	va_start(ap, format);
	print_line("", format, ap);
	va_end(ap);
}

static const char *start_of(const struct fg_cli *cli, bool is_error)
{
	if (!cli->color_err)
		return is_error ? "fastgate: " : "fastgate: warning: ";
	return is_error ? "\033[1;31mfastgate:\033[0m " : "\033[1;33mfastgate: warning:\033[0m ";
}

void fg_cli_warn(const struct fg_cli *cli, const char *format, ...)
{
	va_list ap;

	if (cli->quiet)
		return;
	va_start(ap, format);
	print_line(start_of(cli, false), format, ap);
	va_end(ap);
}

FG_PRINTF(2, 3)
static void print_error(const struct fg_cli *cli, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(start_of(cli, true), format, ap);
	va_end(ap);
}

/* The kind of error determines the exit code, unless a command overrides it. */
enum fg_exit fg_cli_exit_code(enum fg_status status)
{
	switch (status) {
	case FG_OK:
		return FG_EXIT_PASS;
	case FG_EINVAL:
	case FG_ENOENT:
	case FG_EPARSE:
	case FG_ELIMIT:
	case FG_EUNSUPPORTED:
	case FG_ECONFLICT:
		return FG_EXIT_USAGE;
	case FG_ETIMEOUT:
	case FG_ECHILD:
		return FG_EXIT_NOT_MEASURED;
	case FG_ENET:
		return FG_EXIT_UPLOAD;
	case FG_EINTERRUPTED:
		return FG_EXIT_INTERRUPTED;
	case FG_EIO:
	case FG_EDB:
	case FG_EBUSY:
		break;
	}
	return FG_EXIT_INTERNAL;
}

int fg_cli_fail(const struct fg_cli *cli, const struct fg_error *err)
{
	print_error(cli, "%s", err->message);
	return (int)fg_cli_exit_code(err->code);
}

int fg_cli_usage(const struct fg_cli *cli, const char *format, ...)
{
	struct fg_strbuf usage = {0};
	va_list ap;

	va_start(ap, format);
	print_line(start_of(cli, true), format, ap);
	va_end(ap);
	if (cli->command) {
		fg_cli_usage_line(cli->command, &usage);
		(void)fprintf(stderr, "usage: %s\nSee 'fastgate %s --help'.\n",
			      fg_strbuf_text(&usage), cli->command->name);
	} else {
		(void)fprintf(stderr, "See 'fastgate help'.\n");
	}
	fg_strbuf_release(&usage);
	return FG_EXIT_USAGE;
}

/* ---- data ---- */

/* errno of the first failed write, because the stream records only that a write failed */
static int output_errno;

void fg_cli_print(const struct fg_cli *cli, const struct fg_strbuf *text)
{
	(void)cli;
	errno = 0;
	if (fwrite(fg_strbuf_text(text), 1, text->length, stdout) < text->length &&
	    output_errno == 0)
		output_errno = errno;
}

void fg_cli_print_escaped(const struct fg_cli *cli, const struct fg_strbuf *text)
{
	struct fg_strbuf escaped = {0};

	fg_text_add_for_log(&escaped, fg_strbuf_text(text), text->length);
	fg_cli_print(cli, &escaped);
	fg_strbuf_release(&escaped);
}

int fg_cli_write(const struct fg_cli *cli, const char *path, const struct fg_strbuf *text,
		 struct fg_error *err)
{
	if (path && strcmp(path, "-") != 0)
		return fg_fs_write_result(path, fg_strbuf_text(text), text->length, err);
	fg_cli_print(cli, text);
	return FG_OK;
}

int fg_cli_close_output(struct fg_error *err)
{
	const bool had_failed = ferror(stdout) != 0;
	const bool closed = fflush(stdout) == 0 && fclose(stdout) == 0;

	if (closed && !had_failed)
		return FG_OK;
	if (output_errno != 0)
		errno = output_errno;
	output_errno = errno;
	return fg_error_errno(err, FG_EIO, "cannot write to standard output");
}

bool fg_cli_reader_left(void)
{
	return output_errno == EPIPE;
}

/* ---- pager ---- */

static bool fits(const struct fg_cli *cli, const struct fg_strbuf *text)
{
	unsigned lines = 0;

	for (size_t i = 0; i < text->length && lines < cli->rows; i++)
		lines += text->data[i] == '\n';
	return lines < cli->rows;
}

static const char *pager_setting(void)
{
	const char *pager = getenv("FASTGATE_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	return pager ? pager : "less";
}

/* Starts the pager with one end of a pipe as its standard input. */
static int spawn_pager(char **argv, int read_fd, int write_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int status = posix_spawn_file_actions_init(&actions);

	if (status != 0)
		return status;
	status = posix_spawn_file_actions_adddup2(&actions, read_fd, STDIN_FILENO);
	if (status == 0)
		status = posix_spawn_file_actions_addclose(&actions, write_fd);
	if (status == 0)
		status = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return status;
}

/* Returns false, with nothing written, if the pager could not be started. */
static bool run_pager(char **argv, const struct fg_strbuf *text)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction kept = {0};
	int ends[2] = {-1, -1};
	pid_t pid = 0;
	bool started = false;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	(void)fflush(stdout);
	started = spawn_pager(argv, ends[0], ends[1], &pid) == 0;
	(void)close(ends[0]);
	if (started) {
		/*
		 * Ctrl-C belongs to the pager now. A reader who quits early closes the pipe, which
		 * is not an error.
		 */
		(void)sigaction(SIGINT, &ignore, &kept);
		if (fg_fs_write_all(ends[1], fg_strbuf_text(text), text->length, NULL) != FG_OK)
			errno = 0;
	}
	(void)close(ends[1]);
	if (started) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		(void)sigaction(SIGINT, &kept, NULL);
	}
	return started;
}

void fg_cli_page(const struct fg_cli *cli, const struct fg_strbuf *text)
{
	const char *pager = pager_setting();
	struct fg_arena arena = {0};
	char **argv = NULL;
	size_t argc = 0;
	bool shown = false;

	if (cli->out_is_terminal && !fits(cli, text) && *pager && strcmp(pager, "cat") != 0 &&
	    fg_text_split_words(pager, &arena, &argv, &argc, NULL) == FG_OK && argc > 0) {
		(void)setenv("LESS", "FRX", 0);
		shown = run_pager(argv, text);
	}
	if (!shown && cli->json)
		fg_cli_print(cli, text);
	else if (!shown)
		fg_cli_print_escaped(cli, text);
	fg_arena_release(&arena);
}
