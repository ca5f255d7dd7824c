// SPDX-License-Identifier: Apache-2.0
/* Writes a commented fastgate.yml for a project. */
#include "base/text.h"
#include "cli/init/inputs.h"
#include "cli/init/project.h"

#include <ctype.h>

/* Adds a plain value unquoted, and any other value in double quotes. */
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

/* ---- benchmarks ---- */

static const char hint_short[] =
	"too short to time well: make the program repeat its work for at least 0.1 s";

static void add_remarks(struct fg_strbuf *text, const struct fg_project_program *program,
			const char *margin)
{
	const char *what = program->input_is_argument ? "is given" : "reads";

	if (program->rank < FG_PROJECT_SURE_RANK && program->trial == FG_PROJECT_GOOD)
		fg_strbuf_printf(text, "%s  # A guess: %s. Is this what matters?\n", margin,
				 program->reason);
	if (program->input)
		fg_strbuf_printf(
			text,
			"%s  # A guess: the program %s a file %s%s. Give it the input of a "
			"typical run.\n",
			margin, what, program->input_made ? "made by fastgate" : "of this project",
			program->input_is_repeated  ? ", many times"
			: program->input_copies > 1 ? ", many copies in a row"
						    : "");
	if (program->loops)
		fg_strbuf_printf(
			text,
			"%s  # One execution is too short to time well, so %u run in a row.\n",
			margin, program->loops);
	if (program->trial == FG_PROJECT_SHORT)
		fg_strbuf_printf(text, "%s  # This program is %s.\n", margin,
				 program->is_idle ? "idle: " FG_PROJECT_IDLE : hint_short);
	if (program->trial == FG_PROJECT_FAILED && program->why)
		fg_strbuf_printf(text, "%s  # This program %s.\n", margin, program->why);
}

static void add_input(struct fg_strbuf *text, const struct fg_project_program *program,
		      struct fg_arena *arena, const char *margin)
{
	const char *setup = fg_project_input_setup(program, arena);

	if (setup) {
		fg_strbuf_printf(text, "%s  setup: ", margin);
		add_yaml(text, setup);
		fg_strbuf_add_text(text, "   # once for each side, unmeasured\n");
	}
	if (!fg_project_stdin(program, arena))
		return;
	fg_strbuf_printf(text, "%s  stdin: ", margin);
	add_yaml(text, fg_project_stdin(program, arena));
	fg_strbuf_add_char(text, '\n');
}

static void add_place(struct fg_strbuf *text, const struct fg_project_program *program,
		      const char *margin)
{
	if (program->working_directory) {
		fg_strbuf_printf(text, "%s  working_directory: ", margin);
		add_yaml(text, program->working_directory);
		fg_strbuf_add_char(text, '\n');
	}
	if (program->library_path) {
		fg_strbuf_printf(text, "%s  environment: { LD_LIBRARY_PATH: ", margin);
		add_yaml(text, program->library_path);
		fg_strbuf_add_text(text, " }   # this project's libraries, not installed ones\n");
	}
}

static void add_benchmark(struct fg_strbuf *text, const struct fg_project_program *program,
			  struct fg_arena *arena, const char *margin)
{
	fg_strbuf_printf(text, "%s- name: ", margin);
	add_yaml(text, program->name);
	fg_strbuf_add_char(text, '\n');
	add_remarks(text, program, margin);
	fg_strbuf_printf(text, "%s  command: ", margin);
	add_yaml(text, fg_project_command(program, arena));
	fg_strbuf_add_char(text, '\n');
	add_input(text, program, arena, margin);
	add_place(text, program, margin);
	if (program->harness != FG_HARNESS_NONE)
		fg_strbuf_printf(text,
				 "%s  harness: %s   # each of its cases becomes a benchmark\n",
				 margin, fg_harness_name(program->harness));
}

/* Adds further keys of a benchmark as comments; `program` is NULL for the example benchmark. */
static void add_choices(struct fg_strbuf *text, const struct fg_project_program *program,
			const char *margin)
{
	static const char environment[] = "environment: { OMP_NUM_THREADS: \"1\" }";
	static const char *const lines[] = {
		"prepare: ./make-input.sh     # before each execution, unmeasured",
		"timeout: 60s                 # default 10m",
		"metrics:                     # your own numbers, found in the output",
		"  - { name: rate, regex: \"rate: ([0-9.]+)\", better: higher, unit: \"1/s\" }",
	};

	if (!program || !program->library_path)
		fg_strbuf_printf(text, "%s  # %s\n", margin, environment);
	for (size_t i = 0; i < FG_ARRAY_SIZE(lines); i++)
		fg_strbuf_printf(text, "%s  # %s\n", margin, lines[i]);
}

static void add_benchmarks(struct fg_strbuf *text, const struct fg_project *project,
			   struct fg_arena *arena)
{
	const size_t count = fg_project_chosen(project);
	const size_t shown =
		count + fg_min_size(project->program_count - count, FG_PROJECT_MAX_CANDIDATES);

	fg_strbuf_add_text(
		text,
		"\n"
		"# The benchmarks. An execution should take 0.1 to 10 seconds and do the same "
		"work each time.\n");
	if (count == 0)
		fg_strbuf_add_text(
			text,
			"# Nothing was found that can be measured without changes. Add a command "
			"that does the work that\n"
			"# matters in this project, on input of a typical size, and that ends by "
			"itself.\n");
	fg_strbuf_add_text(text, "benchmarks:\n");
	for (size_t i = 0; i < shown; i++) {
		const char *margin = i < count ? "  " : "  # ";

		if (i == count)
			fg_strbuf_add_text(text, "  # Other programs that the build makes:\n");
		add_benchmark(text, &project->programs[i], arena, margin);
		if (i == (count ? count - 1 : 0))
			add_choices(text, &project->programs[i], margin);
	}
	if (shown == 0) {
		fg_strbuf_add_text(text, "  # - name: parse\n"
					 "  #   command: ./parse data/typical.json\n");
		add_choices(text, NULL, "  # ");
	}
}

/* ---- other sections ---- */

static void add_build(struct fg_strbuf *text, const struct fg_project *project)
{
	fg_strbuf_add_text(
		text, "\n"
		      "# The command that builds a side, in the root of its tree. `fastgate run "
		      "--against REF` builds both sides.\n");
	if (!project->build_command) {
		fg_strbuf_add_text(text, "# build:\n#   command: make\n");
		return;
	}
	if (project->debug_folder)
		fg_strbuf_printf(
			text, "# '%s' was not chosen, because it is built without optimisation.\n",
			project->debug_folder);
	if (project->line_hint)
		fg_strbuf_printf(
			text,
			"# Reports name functions; with debug information they name source "
			"lines too: %s\n",
			project->line_hint);
	fg_strbuf_add_text(text, "build:\n  command: ");
	add_yaml(text, project->build_command);
	fg_strbuf_add_text(text, project->build_needs_shell ? "\n  shell: true\n" : "\n");
	fg_strbuf_add_text(text, "  # record: { boost: { command: \"pkg-config --modversion "
				 "boost\" } }   # facts to keep with each run\n");
}

void fg_project_write_file(const struct fg_project *project, struct fg_arena *arena,
			   struct fg_strbuf *text)
{
	const bool has_baseline = project->build_command && project->has_history;
	const char *margin = has_baseline ? "" : "# ";

	fg_strbuf_add_text(text,
			   "# The benchmarks of this project, and the rules of their verdict.\n"
			   "# `fastgate config --explain KEY` explains any key, `fastgate config "
			   "--check` checks this file.\n"
			   "version: 1\n");
	add_build(text, project);
	add_benchmarks(text, project, arena);
	fg_strbuf_printf(
		text,
		"\n"
		"# The baseline: the commit at which this branch left the main branch, built and "
		"measured in the same\n"
		"# session. A stored run can serve instead: { branch: main }, { tag: v1.4 } or { "
		"run: ID }.\n"
		"%sbaseline: { against: merge-base }\n",
		margin);
	fg_strbuf_add_text(
		text,
		"\n"
		"# Time limit for the pairs of one benchmark. To confirm a slowdown, the "
		"benchmark is\n"
		"# measured again, for up to the same time.\n"
		"measure:\n"
		"  budget: 5m\n"
		"\n"
		"# The differences that count.\n"
		"gate:\n"
		"  metrics:\n"
		"    cpu_time: { min_effect: 1%, margin: 2% }\n"
		"    max_rss: { min_effect: 5% }\n"
		"  # functions: gate             # a slower function fails the build, even if "
		"its benchmark is not slower\n"
		"  # inconclusive: fail          # an undecided benchmark ends the run with exit "
		"code 3\n"
		"\n"
		"# report:\n"
		"#   junit: fastgate.xml\n"
		"#   json: fastgate.json\n"
		"#   html: fastgate.html\n"
		"#   post: [ { github: pull-request-comment } ]\n"
		"\n"
		"# perfdb: { url: \"https://perfdb.example.org\", token_env: PERFDB_TOKEN }\n");
}
