/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command is one file, cli/commands/cmd_<name>.c, that defines one `const struct fg_cli_command
 * fg_cmd_<name>`, and one row in commands.def. Its tables drive argument parsing, `--help`, the man
 * page and the shell completions. docs/adding.md lists the steps to add one.
 *
 * run() gets the parsed options and positional arguments, prints through the functions below, and
 * returns an exit code (enum fg_exit, docs/exit-codes.md). Data goes to stdout, messages for people
 * to stderr.
 */
#ifndef FG_CLI_FRAMEWORK_COMMAND_H
#define FG_CLI_FRAMEWORK_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include "base/option_rows.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "model/verdict.h"

#include <signal.h>

enum fg_cli_color {
	FG_CLI_COLOR_AUTO,
	FG_CLI_COLOR_ALWAYS,
	FG_CLI_COLOR_NEVER,
};

/* One invocation of a command. */
struct fg_cli {
	const struct fg_cli_command *command;
	/* positional, NULL-terminated, checked against the command's table */
	char **arguments;
	size_t argument_count;
	bool quiet;     /* print only errors on stderr */
	bool verbose;   /* print more detail */
	bool json;      /* the result as JSON on stdout (commands with `has_json`) */
	bool color_out; /* colours on stdout */
	bool color_err;
	bool out_is_terminal;
	bool err_is_terminal;
	unsigned columns; /* $COLUMNS, else the terminal's width, else 80 */
	unsigned rows;    /* height of the terminal, else 24 */
	/*
	 * In commands with `stops_cleanly`, and once fg_cli_catch_stops() was called: true after
	 * SIGINT, SIGTERM or SIGHUP. In all other cases, these signals end the process.
	 */
	const volatile sig_atomic_t *interrupted;
	struct fg_arena arena; /* lives as long as the command runs */
};

/* A positional argument. */
struct fg_cli_argument {
	const char *name; /* "BENCH"; NULL ends the table */
	const char *help;
	unsigned min;
	unsigned max;               /* 0: any number; allowed only for the last argument */
	const char *const *choices; /* allowed words; NULL: any text */
	enum fg_complete complete;
};

struct fg_cli_example {
	const char *line; /* NULL ends the table */
	const char *what;
};

/* The heading under which `fastgate help` lists a command. */
enum fg_cli_group {
	FG_CLI_GROUP_GATE,
	FG_CLI_GROUP_PROFILE,
	FG_CLI_GROUP_RUNS,
	FG_CLI_GROUP_SETUP,
	FG_CLI_GROUP_COUNT,
};

/* Exit codes of a command, as bits; success, usage and internal errors are implied. */
#define FG_CLI_EXIT(code) (1u << (code))
#define FG_CLI_EXITS_OF_A_GATE                                          \
 (FG_CLI_EXIT(FG_EXIT_REGRESSION) | FG_CLI_EXIT(FG_EXIT_INCONCLUSIVE) | \
  FG_CLI_EXIT(FG_EXIT_NOT_MEASURED) | FG_CLI_EXIT(FG_EXIT_UPLOAD))

struct fg_cli_command {
	const char *name;
	enum fg_cli_group group;
	const char *summary; /* one line, lower case, no full stop */
	/* paragraphs, separated by empty lines; a line that begins with a blank is not wrapped */
	const char *description;
	const struct fg_option *options;         /* may be NULL */
	size_t options_size;                     /* size of the options struct */
	const struct fg_cli_argument *arguments; /* NULL: takes no arguments */
	const struct fg_cli_example *examples;   /* at least one */
	unsigned exits;                          /* FG_CLI_EXIT bits */
	bool has_json;                           /* supports --json */
	bool takes_command; /* the first argument ends the options: "record CMD -x" */
	bool stops_cleanly; /* checks cli->interrupted */
	int (*run)(struct fg_cli *cli, const void *options);
};

/*
 * Installs a signal handler. To ignore a signal, use an empty handler: programs started later would
 * inherit SIG_IGN.
 */
void fg_cli_handle(int number, void (*handler)(int));
/*
 * Makes SIGINT, SIGTERM and SIGHUP set `interrupted`, in a command that stops cleanly only in some
 * of its modes.
 */
void fg_cli_catch_stops(void);
extern const volatile sig_atomic_t *const fg_cli_interrupted;

/*
 * Initialises the tables of a command, whose names are the same in every cmd_<name>.c: `struct
 * options`, and the arrays `options`, `arguments` and `examples`.
 */
#define FG_CLI_TABLES                                                                \
 .options = options, .options_size = sizeof(struct options), .arguments = arguments, \
 .examples = examples

/* All commands in the order of the help text; NULL at the end. */
extern const struct fg_cli_command *const fg_cli_commands[];
/* Options of every command, and --json for commands with `has_json`. main() handles them. */
extern const struct fg_option fg_cli_global_options[];
extern const struct fg_option fg_cli_json_option[];

const struct fg_cli_command *fg_cli_find_command(const char *name); /* NULL if unknown */
/* Sets the error "unknown command 'rnu'; did you mean 'run'?". */
int fg_cli_unknown_command(const char *name, struct fg_error *err);

/*
 * Messages for people, one line each on stderr: say() prints unless --quiet, detail() only with
 * --verbose.
 */
void fg_cli_say(const struct fg_cli *cli, const char *format, ...) FG_PRINTF(2, 3);
void fg_cli_detail(const struct fg_cli *cli, const char *format, ...) FG_PRINTF(2, 3);
void fg_cli_warn(const struct fg_cli *cli, const char *format, ...)
	FG_PRINTF(2, 3); /* "fastgate: warning: ..." */
/* Prints "fastgate: <message>" and returns the exit code for err->code. */
int fg_cli_fail(const struct fg_cli *cli, const struct fg_error *err);
/* For a wrong command line: prints the message and the usage line, returns FG_EXIT_USAGE. */
int fg_cli_usage(const struct fg_cli *cli, const char *format, ...) FG_PRINTF(2, 3);
enum fg_exit fg_cli_exit_code(enum fg_status status);

/* Prints data on stdout. The stream remembers failed writes, and main() reports them at the end. */
void fg_cli_print(const struct fg_cli *cli, const struct fg_strbuf *text);
/*
 * Prints text for people. Names in it are escaped, because a program that reads the log may act on
 * commands in it.
 */
void fg_cli_print_escaped(const struct fg_cli *cli, const struct fg_strbuf *text);
/*
 * Prints text through a pager if stdout is a terminal and the text exceeds the screen. Without a
 * pager, text other than JSON is escaped.
 */
void fg_cli_page(const struct fg_cli *cli, const struct fg_strbuf *text);
/* Writes to a file like fg_fs_write_result(), or to stdout if `path` is NULL or "-". */
int fg_cli_write(const struct fg_cli *cli, const char *path, const struct fg_strbuf *text,
		 struct fg_error *err) FG_NODISCARD;

#endif
