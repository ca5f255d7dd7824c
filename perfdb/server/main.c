// SPDX-License-Identifier: Apache-2.0
/* The program perfdb. */
#include "base/log.h"
#include "base/version.h"
#include "perfdb/server/options.h"

#include <sys/stat.h>

enum {
	COLUMNS = 80,
	PRIVATE = 0077
};

static void print_usage(FILE *to)
{
	(void)fprintf(to, "usage: perfdb COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; fg_perfdb_commands[i]; i++)
		(void)fprintf(to, "  %-8s %s\n", fg_perfdb_commands[i]->name,
			      fg_perfdb_commands[i]->summary);
	(void)fprintf(to, "\n`perfdb COMMAND --help` lists the options of a command.\n");
}

static int run(const struct fg_perfdb_command *command, char **argv)
{
	struct fg_arena arena = {0};
	struct fg_perfdb_options given = {0};
	struct fg_error err = {0};
	struct fg_strbuf help = {0};
	struct fg_option_words found = {0};
	const struct fg_option_set set = {command->options, &given};
	const struct fg_option_grammar grammar = {&set, 1, FG_OPTIONS_ANYWHERE};
	int code = FG_PERFDB_OK;

	if (fg_options_initialise(&set, &err) != FG_OK ||
	    fg_options_parse(&grammar, argv, &arena, &found, &err) != FG_OK) {
		code = fg_perfdb_fail(&err);
	} else if (given.help) {
		fg_strbuf_printf(&help, "usage: perfdb %s [OPTIONS]\n\n%s\n\n", command->name,
				 command->summary);
		fg_options_help(command->options, COLUMNS, &help);
		(void)fputs(fg_strbuf_text(&help), stdout);
	} else {
		code = command->actions ? fg_perfdb_act(&given, &found, command)
					: command->run(&given);
	}
	fg_strbuf_release(&help);
	fg_arena_release(&arena);
	return code;
}

/* Runs `perfdb help` and `perfdb help --man`. */
static int help(char **argv)
{
	struct fg_strbuf text = {0};
	int code = FG_PERFDB_OK;

	if (!argv[0]) {
		print_usage(stdout);
	} else if (strcmp(argv[0], "--man") == 0) {
		fg_perfdb_manual(&text);
	} else {
		(void)fprintf(stderr, "usage: perfdb help [--man]\n");
		code = FG_PERFDB_USAGE;
	}
	(void)fputs(fg_strbuf_text(&text), stdout);
	fg_strbuf_release(&text);
	return code;
}

int main(int argc, char **argv)
{
	struct fg_error err = {0};

	(void)fg_log_init(getenv("FASTGATE_DEBUG"));
	(void)umask(PRIVATE); /* the database holds digests of tokens and everybody's results */
	if (argc < 2) {
		print_usage(stderr);
		return FG_PERFDB_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("perfdb %s\n", fg_version());
		return FG_PERFDB_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(argv + argc);
	if (strcmp(argv[1], "help") == 0)
		return help(argv + 2);
	for (size_t i = 0; fg_perfdb_commands[i]; i++) {
		if (strcmp(fg_perfdb_commands[i]->name, argv[1]) == 0)
			return run(fg_perfdb_commands[i], argv + 2);
	}
	(void)fg_error_set(&err, FG_EINVAL, "unknown command '%s'", argv[1]);
	(void)fg_perfdb_fail(&err);
	print_usage(stderr);
	return FG_PERFDB_USAGE;
}
