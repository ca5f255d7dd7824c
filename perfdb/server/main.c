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

static const struct fg_perfdb_command *const commands[] = {
	&fg_perfdb_serve,   &fg_perfdb_token,  &fg_perfdb_role, &fg_perfdb_limit, &fg_perfdb_audit,
	&fg_perfdb_migrate, &fg_perfdb_backup, &fg_perfdb_gc,   &fg_perfdb_check,
};

static void print_usage(FILE *to)
{
	(void)fprintf(to, "usage: perfdb COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	(void)fprintf(to, "\n`perfdb COMMAND --help` lists its options.\n");
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
		const struct fg_perfdb_words words = {.items = found.items, .count = found.count};

		code = command->run(&given, &words);
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
		return FG_PERFDB_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("perfdb %s\n", fg_version());
		return FG_PERFDB_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return FG_PERFDB_OK;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i]->name, argv[1]) == 0)
			return run(commands[i], argv + 2);
	}
	(void)fprintf(stderr, "perfdb: there is no command '%s'\n", argv[1]);
	print_usage(stderr);
	return FG_PERFDB_USAGE;
}
