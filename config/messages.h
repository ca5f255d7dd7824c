/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and warnings about a configuration, each with its position. */
#ifndef FG_CONFIG_MESSAGES_H
#define FG_CONFIG_MESSAGES_H

#include "config/config.h"
#include "config/yaml_tree.h"

void fg_config_error(struct fg_config_report *report, const struct fg_yaml_place *place,
		     const char *format, ...) FG_PRINTF(3, 4);
void fg_config_warning(struct fg_config_report *report, const struct fg_yaml_place *place,
		       const char *format, ...) FG_PRINTF(3, 4);
void fg_config_report_sort(struct fg_config_report *report);

#endif
