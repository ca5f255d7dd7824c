// SPDX-License-Identifier: Apache-2.0
#include "cli/session/plan.h"

#include "base/beneath.h"
#include "cli/session/state_folder.h"
#include "cli/session/tokens.h"

#include <unistd.h>

static void print_messages(const struct fg_cli *cli, const struct fg_config_report *report)
{
	const char *key = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct fg_config_message *message = &report->items[i];
		struct fg_error err = {.code = FG_EPARSE};

		if (message->is_warning) {
			fg_cli_warn(cli, "%s", message->text);
			continue;
		}
		(void)snprintf(err.message, sizeof(err.message), "%s", message->text);
		(void)fg_cli_fail(cli, &err);
		shown++;
		key = key ? key : message->key;
	}
	if (report->error_count > shown)
		fg_cli_say(cli, "… and %zu more", report->error_count - shown);
	if (key)
		fg_cli_say(cli, "'fastgate config --explain %s' explains the key", key);
}

/* fastgate keeps its files in the checkout, which can come from anybody. */
static int check_places(const struct fg_plan *plan, struct fg_error *err)
{
	int status = fg_state_folder_check(plan->root, err);

	if (status != FG_OK || !plan->store_from_file)
		return status;
	status = fg_beneath_check(plan->root, plan->store_path, err);
	if (status != FG_OK)
		fg_error_prefix(err, "store.path of fastgate.yml");
	return status;
}

int fg_cli_load_plan(const struct fg_cli *cli, const struct fg_cli_config *config, bool optional,
		     struct fg_plan *plan)
{
	const struct fg_config_source source = {
		.path = config->path,
		.optional = optional,
		.settings = config->settings.items,
		.setting_count = config->settings.count,
		.options = config->short_forms,
		.option_count = config->short_form_count,
		.environment = environ,
	};
	struct fg_config_report report = {0};
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;

	if (fg_config_load(&source, plan, &report, &err) != FG_OK) {
		code = (int)fg_cli_exit_code(err.code);
		if (report.error_count == 0)
			code = fg_cli_fail(cli, &err);
	} else if (fg_tokens_take_planned(plan, &err) != FG_OK ||
		   check_places(plan, &err) != FG_OK) {
		code = fg_cli_fail(cli, &err);
		fg_plan_release(plan);
	}
	print_messages(cli, &report);
	fg_config_report_release(&report);
	return code;
}

void fg_cli_set(struct fg_cli *cli, struct fg_cli_config *config, const char *key,
		const char *value, const char *option, const char *argument)
{
	if (!argument)
		return;
	FG_ASSERT(config->short_form_count < FG_CLI_SHORT_FORMS_MAX);
	config->short_forms[config->short_form_count++] = (struct fg_config_option){
		.setting = fg_arena_printf(&cli->arena, "%s=%s", key, value),
		.written = fg_arena_printf(&cli->arena, "%s %s", option, argument)};
}
