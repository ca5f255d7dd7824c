// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/framework/command.h"
#include "cli/session/project.h"
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	MAX_BENCHMARKS = 8,
	LIKELY_RANK = 100
};

struct options {
	bool print;
};

/* ---- YAML ---- */

/* Unquoted if it is plain, otherwise in double quotes. */
static void add_yaml(struct fg_strbuf *text, const char *value)
{
	bool is_plain = isalnum((unsigned char)*value) || *value == '.' || *value == '/';

	for (const char *c = value; *c && is_plain; c++)
		is_plain = isalnum((unsigned char)*c) || strchr("_./+=-$&' ", *c);
	if (is_plain) {
		fg_strbuf_add_text(text, value);
		return;
	}
	fg_strbuf_add_char(text, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fg_strbuf_add_char(text, '\\');
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			fg_strbuf_printf(text, "\\x%02x", (unsigned)(unsigned char)*value);
		else
			fg_strbuf_add_char(text, *value);
	}
	fg_strbuf_add_char(text, '"');
}

static void add_command(struct fg_strbuf *text, const struct fg_project_program *program)
{
	char *path = fg_xasprintf("./%s", program->path);
	char *argv[] = {path, NULL};
	struct fg_strbuf command = {0};

	fg_text_quote_words(&command, argv);
	if (program->harness == FG_HARNESS_GOOGLE_BENCHMARK)
		fg_strbuf_add_text(&command, " --benchmark_format=json");
	else if (program->harness == FG_HARNESS_CATCH2)
		fg_strbuf_add_text(&command, " --reporter xml");
	add_yaml(text, fg_strbuf_text(&command));
	fg_strbuf_release(&command);
	free(path);
}

static void add_benchmark(struct fg_strbuf *text, const struct fg_project_program *program,
			  const char *margin)
{
	fg_strbuf_printf(text, "%s  - name: ", margin);
	add_yaml(text, program->name);
	fg_strbuf_printf(text, "\n%s    command: ", margin);
	add_command(text, program);
	fg_strbuf_add_char(text, '\n');
	if (program->harness != FG_HARNESS_NONE)
		fg_strbuf_printf(text,
				 "%s    harness: %s   # each of its cases becomes a benchmark\n",
				 margin, fg_harness_name(program->harness));
}

/* How many are written; the rest become comments. */
static size_t chosen(const struct fg_project *project)
{
	size_t count = 0;

	while (count < project->program_count && count < MAX_BENCHMARKS &&
	       project->programs[count].rank >= LIKELY_RANK)
		count++;
	return count > 0 ? count : fg_min_size(project->program_count, 1);
}

static void add_benchmarks(struct fg_strbuf *text, const struct fg_project *project)
{
	const size_t count = chosen(project);

	fg_strbuf_add_text(text, "\n# What is measured. An execution should take 0.1 to 10 seconds "
				 "and do the same work each time.\n"
				 "benchmarks:\n");
	for (size_t i = 0; i < count; i++)
		add_benchmark(text, &project->programs[i], "");
	if (count == 0)
		fg_strbuf_add_text(
			text,
			"  # No program was found; this one shows the form. Put yours in its "
			"place.\n"
			"  - name: example\n"
			"    command: \"i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done\"\n"
			"    shell: true\n");
	fg_strbuf_add_text(
		text,
		"    # environment: { OMP_NUM_THREADS: \"1\" }\n"
		"    # prepare: ./make-input.sh     # before each execution, unmeasured\n"
		"    # timeout: 60s                 # default 10m\n"
		"    # metrics:                     # numbers of your own, found in the output\n"
		"    #   - { name: events_per_second, regex: \"rate: ([0-9.]+)\", better: higher, "
		"unit: \"1/s\" }\n");
	for (size_t i = count; i < project->program_count && i < count + MAX_BENCHMARKS; i++)
		add_benchmark(text, &project->programs[i], "  #");
}

static void add_build(struct fg_strbuf *text, const struct fg_project *project)
{
	fg_strbuf_add_text(text, "\n# How a side is built, in the root of its tree. `fastgate run "
				 "--against REF` does it for both.\n");
	if (!project->build_command) {
		fg_strbuf_add_text(text, "# build:\n#   command: make\n");
		return;
	}
	if (project->debug_folder)
		fg_strbuf_printf(text,
				 "# '%s' is built without optimisation and was passed over: "
				 "measuring it says little.\n",
				 project->debug_folder);
	fg_strbuf_add_text(text, "build:\n  command: ");
	add_yaml(text, project->build_command);
	fg_strbuf_add_text(text, project->build_needs_shell ? "\n  shell: true\n" : "\n");
	fg_strbuf_add_text(text, "  # record: { boost: { command: \"pkg-config --modversion "
				 "boost\" } }   # facts to keep with each run\n");
}

static void write_file(struct fg_strbuf *text, const struct fg_project *project)
{
	const bool has_baseline = project->build_command && project->has_history;
	const char *margin = has_baseline ? "" : "# ";

	fg_strbuf_add_text(
		text, "# What fastgate measures in this project, and when a difference counts.\n"
		      "# `fastgate config --explain KEY` tells about any key, `fastgate config "
		      "--check` judges this file.\n"
		      "version: 1\n");
	add_build(text, project);
	add_benchmarks(text, project);
	fg_strbuf_printf(text,
			 "\n# What it is compared with: the commit where this branch left the main "
			 "one, built and measured in the\n"
			 "# same session. Others: { branch: main }, { tag: v1.4 }, { run: ID } "
			 "among the stored runs.\n"
			 "%sbaseline: { against: merge-base }\n",
			 margin);
	fg_strbuf_add_text(
		text,
		"\n# Time that one benchmark may take in all.\n"
		"measure:\n"
		"  budget: 5m\n"
		"\n# When a difference counts.\n"
		"gate:\n"
		"  metrics:\n"
		"    cpu_time: { min_effect: 1%, margin: 2% }\n"
		"    max_rss: { min_effect: 5% }\n"
		"  # functions: gate             # a slower function fails the build, even when "
		"the whole is not\n"
		"  # inconclusive: fail          # an open question ends with exit code 3\n"
		"\n# report:\n"
		"#   junit: fastgate.xml\n"
		"#   json: fastgate.json\n"
		"#   html: fastgate.html\n"
		"#   post: [ { github: pull-request-comment } ]\n"
		"\n# perfdb: { url: \"https://perfdb.example.org\", token_env: PERFDB_TOKEN }\n");
}

/* ---- the command ---- */

/* Created exclusively: an existing file is never touched, not even one created a moment ago. */
static int create(const char *path, const struct fg_strbuf *text, struct fg_error *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int status = FG_OK;

	if (fd < 0 && errno == EEXIST)
		return fg_error_set(
			err, FG_ECONFLICT,
			"%s is there already and stays as it is; 'fastgate init --print' shows "
			"what would be written",
			path);
	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot write %s", path);
	status = fg_fs_write_all(fd, fg_strbuf_text(text), text->length, err);
	if (close(fd) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "cannot write %s", path);
	if (status != FG_OK)
		(void)unlink(path);
	return status;
}

static void tell(const struct fg_cli *cli, const struct fg_project *project)
{
	const char *next =
		"fastgate run                  (measures, and keeps the run to compare with)";
	const size_t count = chosen(project);

	fg_cli_say(cli, "Wrote %s.", FG_CONFIG_FILE_NAME);
	if (project->build_command)
		fg_cli_say(cli, "  build: %s (%s)", project->build_command,
			   fg_project_kind_name(project->kind));
	else
		fg_cli_say(
			cli,
			"  build: not known; fill in build.command to compare with another commit");
	for (size_t i = 0; i < count; i++)
		fg_cli_say(cli, "  benchmark: %s%s%s%s", project->programs[i].path,
			   project->programs[i].harness != FG_HARNESS_NONE ? ", " : "",
			   project->programs[i].harness != FG_HARNESS_NONE
				   ? fg_harness_name(project->programs[i].harness)
				   : "",
			   project->programs[i].is_built ? "" : " (not built yet)");
	if (count == 0) {
		fg_cli_say(cli, "  benchmark: no program was found, 'example' in the file shows "
				"the form; when the project is built,");
		fg_cli_say(cli,
			   "             'fastgate init --print' shows what would be found then");
	} else if (project->programs[0].rank < LIKELY_RANK) {
		fg_cli_say(cli, "  That is a guess: give it the arguments of a typical run.");
	}
	if (project->was_cut)
		fg_cli_say(cli, "  Only the first %d files were looked at.", FG_PROJECT_MAX_FILES);
	if (!fg_fs_exists(".gitignore"))
		fg_cli_say(cli, "Runs are kept in .fastgate/: put that into .gitignore.");
	if (project->build_command && project->has_history)
		next = "fastgate run                  (compares the work tree with where its "
		       "branch began)";
	else if (project->build_command && project->has_commit)
		next = "fastgate run --against HEAD   (compares the work tree with the last commit)";
	fg_cli_say(cli, "Next: %s", next);
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_project project = {0};
	struct fg_strbuf text = {0};
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;

	if (!given->print && fg_fs_exists(FG_CONFIG_FILE_NAME)) {
		(void)create(FG_CONFIG_FILE_NAME, &text, &err);
		return fg_cli_fail(cli, &err);
	}
	fg_project_look(".", &cli->arena, &project);
	write_file(&text, &project);
	if (given->print)
		fg_cli_print(cli, &text);
	else if (create(FG_CONFIG_FILE_NAME, &text, &err) != FG_OK)
		code = fg_cli_fail(cli, &err);
	else
		tell(cli, &project);
	fg_strbuf_release(&text);
	return code;
}

static const struct fg_option options[] = {
	FG_ROW_FLAG(struct options, print, "print", 0,
		    "write to standard output instead of fastgate.yml"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate init", "write fastgate.yml for the project in this folder"},
	{"fastgate init --print", "see it first"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_init = {
	.name = "init",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "look at the project and write a commented fastgate.yml that runs",
	.description =
		"Finds out how the project is built (CMake, Meson, Make, configure) and which of "
		"its programs are benchmarks (Google Benchmark and Catch2 programs, programs with "
		"'bench' or 'perf' in their path, else any program), and writes what it found into "
		"fastgate.yml, with comments.\n\n"
		"Nothing is built or run, and a fastgate.yml that is there is never touched.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
