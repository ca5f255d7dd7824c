/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration that was read; the next one releases it. */
#ifndef FG_TESTS_CONFIG_LOADED_H
#define FG_TESTS_CONFIG_LOADED_H

#include "config/config.h"
#include "tests/support/fg_test.h"

static struct {
	int status;
	struct fg_plan plan;
	struct fg_config_report report;
	struct fg_error err;
} loaded;

static void load(const struct fg_config_source *source)
{
	fg_plan_release(&loaded.plan);
	fg_config_report_release(&loaded.report);
	memset(&loaded, 0, sizeof(loaded));
	loaded.status = fg_config_load(source, &loaded.plan, &loaded.report, &loaded.err);
}

static void load_text(const char *text)
{
	const struct fg_config_source source = {
		.path = "f.yml", .text = text, .text_size = strlen(text)};

	load(&source);
}

#endif
