// SPDX-License-Identifier: Apache-2.0
/* The rows of the schema: their promises to readers must be true. */
#include "base/text.h"
#include "config/config.h"
#include "config/schema.h"
#include "tests/support/fg_test.h"

static void add_indented(struct fg_strbuf *text, const char *lines, size_t indent)
{
	while (*lines) {
		const size_t length = strcspn(lines, "\n");

		fg_strbuf_add_repeated(text, ' ', indent);
		fg_strbuf_add(text, lines, length);
		fg_strbuf_add_char(text, '\n');
		lines += length + (lines[length] == '\n');
	}
}

/* Writes a file with the example in place of its key, inside the sections of its path. */
static void write_file_around(const struct fg_schema_visit *visit, struct fg_strbuf *text)
{
	static const char in_benchmark[] = "benchmarks.BENCH.";
	const char *path = visit->path;
	size_t indent = 0;

	fg_strbuf_add_text(text, "version: 1\nbenchmarks:\n  - name: reconstruct\n");
	if (strcmp(path, "benchmarks.BENCH.command") != 0)
		fg_strbuf_add_text(text, "    command: ./a\n");
	if (fg_text_starts_with(path, in_benchmark)) {
		path += strlen(in_benchmark);
		indent = 4;
	}
	for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
		fg_strbuf_add_repeated(text, ' ', indent);
		fg_strbuf_printf(text, "%.*s:\n", (int)(dot - path), path);
		indent += 2;
	}
	add_indented(text, visit->key->example, indent);
}

/* Does the file around an example already contain this key? */
static bool is_written_by_the_file(const struct fg_schema_visit *visit)
{
	return strcmp(visit->path, "benchmarks") == 0 || strcmp(visit->path, "version") == 0 ||
	       strcmp(visit->path, "benchmarks.BENCH.name") == 0;
}

static void load_example(const struct fg_schema_visit *visit, void *ctx)
{
	size_t *count = ctx;
	struct fg_strbuf text = {0};
	struct fg_config_source source = {.path = "example.yml"};
	struct fg_config_report report = {0};
	struct fg_plan plan = {0};
	struct fg_error err = {0};

	if (!visit->key->example || is_written_by_the_file(visit))
		return;
	(*count)++;
	write_file_around(visit, &text);
	source.text = fg_strbuf_text(&text);
	source.text_size = text.length;
	if (fg_config_load(&source, &plan, &report, &err) != FG_OK)
		fail_msg("%s: %s\n%s", visit->path, err.message, source.text);
	fg_plan_release(&plan);
	fg_config_report_release(&report);
	fg_strbuf_release(&text);
}

FG_TEST(every_example_works_where_its_key_belongs)
{
	size_t count = 0;

	fg_schema_walk(load_example, &count);
	assert_true(count >= 25);
}

/* A default counts as an example, and so does a line in the section's example. */
static void look_for_example(const struct fg_schema_visit *visit, void *ctx)
{
	const char **section_example = ctx;
	const struct fg_key *key = visit->key;
	struct fg_strbuf line = {0};

	if (key->section) {
		*section_example = key->example;
		return;
	}
	fg_strbuf_printf(&line, "%s: ", key->name);
	if (!key->example && !key->initial &&
	    !(*section_example && strstr(*section_example, fg_strbuf_text(&line))))
		fail_msg("%s: neither an example nor a default", visit->path);
	fg_strbuf_release(&line);
}

FG_TEST(every_key_has_an_example)
{
	const char *section_example = NULL;

	fg_schema_walk(look_for_example, &section_example);
}

static void check_row(const struct fg_schema_visit *visit, void *ctx)
{
	const struct fg_key *key = visit->key;

	(void)ctx;
	if (!key->help || key->help[strlen(key->help) - 1] == '.')
		fail_msg("%s: help is a phrase without a full stop", visit->path);
	if (key->minimum > key->maximum)
		fail_msg("%s: its bounds are turned round", visit->path);
	if ((key->kind == FG_KEY_WORD || key->kind == FG_KEY_VERSION) !=
	    (key->words && key->kind != FG_KEY_BOOL && key->kind != FG_KEY_NAME &&
	     key->kind != FG_KEY_TEXTS))
		fail_msg("%s: words belong to words", visit->path);
	if ((key->kind >= FG_KEY_SECTION) != (key->section != NULL))
		fail_msg("%s: a section belongs to a section", visit->path);
	if (key->initial && key->required)
		fail_msg("%s: what has a default cannot be required", visit->path);
}

FG_TEST(rows_are_sound)
{
	fg_schema_walk(check_row, NULL);
}

FG_TEST(a_variable_leads_back_to_its_key)
{
	struct fg_strbuf name = {0};

	assert_true(fg_schema_variable("measure.sampler.follow_children", &name));
	assert_string_equal(fg_strbuf_text(&name), "FASTGATE_MEASURE_SAMPLER_FOLLOW_CHILDREN");
	fg_strbuf_clear(&name);
	assert_false(fg_schema_variable("benchmarks.BENCH.timeout", &name));
	assert_false(fg_schema_variable("version", &name));
	fg_strbuf_release(&name);
}
