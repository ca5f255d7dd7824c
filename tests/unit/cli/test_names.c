// SPDX-License-Identifier: Apache-2.0
/*
 * Words that two rooms have in their tables must be equal: config/ may not depend on the rooms that
 * own them.
 */
#include "cli/framework/command.h"
#include "cli/mcp/tools.h"
#include "config/schema.h"
#include "model/plan.h"
#include "reporters/reporter.h"
#include "tests/support/fg_test.h"

static const struct fg_key *key_of(const char *path)
{
	struct fg_strbuf where = {0};
	const struct fg_key *key = fg_schema_find(&fg_config_schema, path, &where);

	fg_strbuf_release(&where);
	if (!key)
		fail_msg("there is no key %s", path);
	return key;
}

static void report_keys_are_the_names_of_reporters(void **state)
{
	const struct fg_key *keys = key_of("report")->section->keys;
	size_t reporters = 0;
	size_t count = 0;

	(void)state;
	for (; keys[count].kind == FG_KEY_PATH; count++) {
		struct fg_error err = {0};

		if (!fg_reporter_find(keys[count].name, &err))
			fail_msg("report.%s: %s", keys[count].name, err.message);
	}
	(void)fg_reporter_table(&reporters);
	/* Every reporter but the terminal's has a key. */
	assert_int_equal(count, reporters - 1);
}

static void words_of_the_configuration_are_those_of_the_model(void **state)
{
	const char *const *schedules = key_of("measure.schedule")->words;
	const char *const *harnesses = key_of("benchmarks.harness")->words;

	(void)state;
	for (int i = 0; i <= FG_SCHEDULE_STORED; i++)
		assert_string_equal(schedules[i], fg_schedule_name((enum fg_schedule)i));
	for (int i = 0; i < FG_HARNESS_COUNT; i++)
		assert_string_equal(harnesses[i], fg_harness_name((enum fg_harness)i));
	assert_null(schedules[FG_SCHEDULE_STORED + 1]);
	assert_null(harnesses[FG_HARNESS_COUNT]);
}

static void tools_of_assistants_have_options_that_exist(void **state)
{
	(void)state;
	for (const struct fg_mcp_tool *tool = fg_mcp_tools; tool->name; tool++) {
		assert_non_null(fg_cli_find_command(tool->command));
		for (size_t i = 0; tool->options[i]; i++) {
			if (!fg_mcp_option(tool, tool->options[i]))
				fail_msg("%s: %s has no --%s", tool->name, tool->command,
					 tool->options[i]);
		}
	}
}

/* Defaults must parse, and letters and names must be unique, or a user's call would fail. */
static void tables_of_commands_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; fg_cli_commands[i]; i++) {
		const struct fg_cli_command *command = fg_cli_commands[i];
		struct fg_arena arena = {0};
		const struct fg_option_set set = {
			command->options,
			fg_arena_alloc(&arena, command->options_size ? command->options_size : 1)};
		struct fg_error err = {0};

		if (fg_options_initialise(&set, &err) != FG_OK)
			fail_msg("%s: %s", command->name, err.message);
		if (!command->summary || !command->description || !command->examples ||
		    !command->run)
			fail_msg("%s: a summary, a description, examples and run are needed",
				 command->name);
		for (const struct fg_option *o = command->options; o && o->name; o++) {
			if ((o->kind == FG_OPTION_FLAG) != (o->argument == NULL))
				fail_msg("%s --%s: flags take no argument, everything else names "
					 "one",
					 command->name, o->name);
			if (o->offset >= command->options_size)
				fail_msg("%s --%s: the value lies outside the struct",
					 command->name, o->name);
		}
		fg_arena_release(&arena);
	}
}

static void errors_have_their_exit_codes(void **state)
{
	static const struct {
		enum fg_status status;
		enum fg_exit code;
	} rows[] = {
		{FG_OK, FG_EXIT_PASS},
		{FG_EINVAL, FG_EXIT_USAGE},
		{FG_ENOENT, FG_EXIT_USAGE},
		{FG_EPARSE, FG_EXIT_USAGE},
		{FG_ELIMIT, FG_EXIT_USAGE},
		{FG_EUNSUPPORTED, FG_EXIT_USAGE},
		{FG_ECONFLICT, FG_EXIT_USAGE},
		{FG_EBUSY, FG_EXIT_INTERNAL},
		{FG_ECHILD, FG_EXIT_NOT_MEASURED},
		{FG_ETIMEOUT, FG_EXIT_NOT_MEASURED},
		{FG_ENET, FG_EXIT_UPLOAD},
		{FG_EINTERRUPTED, FG_EXIT_INTERRUPTED},
		{FG_EIO, FG_EXIT_INTERNAL},
		{FG_EDB, FG_EXIT_INTERNAL},
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_int_equal(fg_cli_exit_code(rows[i].status), rows[i].code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_keys_are_the_names_of_reporters),
		cmocka_unit_test(words_of_the_configuration_are_those_of_the_model),
		cmocka_unit_test(tools_of_assistants_have_options_that_exist),
		cmocka_unit_test(tables_of_commands_are_sound),
		cmocka_unit_test(errors_have_their_exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
