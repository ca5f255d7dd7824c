// SPDX-License-Identifier: Apache-2.0
/*
 * From argv to an exit code: global options, the command's name, its own options and arguments,
 * run(), and a final check of standard output. A failed write fails a command that succeeded, and
 * leaves any other exit code unchanged.
 */
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/framework/help.h"
#include "cli/framework/output.h"
#include "cli/session/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Ignores a closed pipe or a file at its size limit: write() reports EPIPE or EFBIG. */
static void on_failed_write(int number)
{
	(void)number;
}

/*
 * If a standard stream was closed when we started, the next file opened would get the stream's
 * number. Opens /dev/null under that number, in the wrong direction, so that using the stream still
 * fails.
 */
static void open_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int opened = fd;

		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		if (opened < 0)
			return;
	}
}

static int show(const struct fg_cli *cli, struct fg_strbuf *text)
{
	fg_cli_page(cli, text);
	fg_strbuf_release(text);
	return FG_EXIT_PASS;
}

static int show_version(const struct fg_cli *cli)
{
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "fastgate %s\n", fg_version());
	return show(cli, &text);
}

static int show_overview(const struct fg_cli *cli)
{
	struct fg_strbuf text = {0};

	fg_cli_overview(&text, cli->columns);
	return show(cli, &text);
}

static int check_choice(const struct fg_cli_argument *argument, const char *word,
			struct fg_error *err)
{
	struct fg_strbuf known = {0};
	const char *nearest = NULL;

	for (size_t i = 0; argument->choices[i]; i++) {
		if (strcmp(argument->choices[i], word) == 0)
			return FG_OK;
	}
	for (size_t i = 0; argument->choices[i]; i++) {
		fg_strbuf_printf(&known, "%s%s", i == 0 ? "" : ", ", argument->choices[i]);
	}
	nearest = fg_text_nearest(word, argument->choices);
	(void)fg_error_set(err, FG_EINVAL, "%s cannot be '%s'%s%s%s: expected one of %s",
			   argument->name, word, nearest ? "; did you mean '" : "",
			   nearest ? nearest : "", nearest ? "'?" : "", fg_strbuf_text(&known));
	fg_strbuf_release(&known);
	return FG_EINVAL;
}

/* Checks the number of arguments and the words against the table. */
static int check_arguments(const struct fg_cli_command *command,
			   const struct fg_option_words *words, struct fg_error *err)
{
	size_t used = 0;

	for (const struct fg_cli_argument *a = command->arguments; a && a->name; a++) {
		const size_t room = a->max ? a->max : SIZE_MAX;
		const size_t here = fg_min_size(words->count - used, room);

		if (here < a->min)
			return fg_error_set(err, FG_EINVAL, "%s is missing", a->name);
		for (size_t i = 0; a->choices && i < here; i++) {
			FG_TRY(check_choice(a, words->items[used + i], err));
		}
		used += here;
	}
	if (used < words->count)
		return fg_error_set(err, FG_EINVAL, "unexpected argument '%s'", words->items[used]);
	return FG_OK;
}

static int run_command(struct fg_cli *cli, struct fg_cli_globals *globals, char *const *argv)
{
	const struct fg_cli_command *command = cli->command;
	void *values =
		fg_arena_alloc(&cli->arena, command->options_size ? command->options_size : 1);
	const struct fg_option_set sets[] = {
		{command->options, values},
		{command->has_json ? fg_cli_json_option : NULL, globals},
		{fg_cli_global_options, globals},
	};
	const struct fg_option_grammar grammar = {
		.sets = sets,
		.set_count = FG_ARRAY_SIZE(sets),
		.style = command->takes_command ? FG_OPTIONS_BEFORE_WORD : FG_OPTIONS_ANYWHERE,
	};
	struct fg_option_words words = {0};
	struct fg_strbuf help = {0};
	struct fg_error err = {0};

	if (fg_options_initialise(&sets[0], &err) != FG_OK ||
	    fg_options_parse(&grammar, argv, &cli->arena, &words, &err) != FG_OK)
		return fg_cli_usage(cli, "%s", err.message);
	fg_cli_init_output(cli, globals);
	if (globals->help) {
		fg_cli_command_help(command, &help, cli->columns);
		return show(cli, &help);
	}
	if (globals->version)
		return show_version(cli);
	if (check_arguments(command, &words, &err) != FG_OK)
		return fg_cli_usage(cli, "%s", err.message);
	cli->arguments = words.items;
	cli->argument_count = words.count;
	if (command->stops_cleanly)
		fg_cli_catch_stops();
	return command->run(cli, values);
}

static int start(struct fg_cli *cli, char *const *argv)
{
	struct fg_cli_globals globals = {0};
	const struct fg_option_set set = {fg_cli_global_options, &globals};
	const struct fg_option_grammar grammar = {&set, 1, FG_OPTIONS_BEFORE_WORD};
	struct fg_option_words words = {0};
	struct fg_error err = {0};

	if (fg_options_initialise(&set, &err) != FG_OK)
		return fg_cli_fail(cli, &err);
	fg_cli_init_output(cli, &globals);
	if (fg_options_parse(&grammar, argv, &cli->arena, &words, &err) != FG_OK)
		return fg_cli_usage(cli, "%s", err.message);
	fg_cli_init_output(cli, &globals);
	if (globals.version)
		return show_version(cli);
	if (words.count == 0 && globals.help)
		return show_overview(cli);
	if (words.count == 0)
		return fg_cli_usage(
			cli, "no command was given: 'fastgate help' lists the commands; start with "
			     "'fastgate init'");
	cli->command = fg_cli_find_command(words.items[0]);
	if (!cli->command) {
		(void)fg_cli_unknown_command(words.items[0], &err);
		return fg_cli_fail(cli, &err);
	}
	return run_command(cli, &globals, words.items + 1);
}

int main(int argc, char **argv)
{
	struct fg_cli cli = {.columns = 80, .rows = 24, .interrupted = fg_cli_interrupted};
	struct fg_error err = {0};
	const char *unknown = NULL;
	int code = 0;

	open_standard_streams();
	fg_cli_handle(SIGPIPE, on_failed_write);
	fg_cli_handle(SIGXFSZ, on_failed_write);
	unknown = fg_log_init(getenv("FASTGATE_DEBUG"));
	if (unknown)
		fg_cli_warn(&cli, "FASTGATE_DEBUG: unknown domain '%s'", unknown);
	fg_tokens_take();
	code = start(&cli, argc > 0 ? argv + 1 : argv);
	if (fg_cli_close_output(&err) != FG_OK) {
		const int failed =
			fg_cli_reader_left() ? FG_EXIT_INTERNAL : fg_cli_fail(&cli, &err);

		code = code == FG_EXIT_PASS ? failed : code;
	}
	fg_arena_release(&cli.arena);
	return code;
}
