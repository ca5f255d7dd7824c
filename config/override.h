/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the environment and the command line, which override the file's. */
#ifndef FG_CONFIG_OVERRIDE_H
#define FG_CONFIG_OVERRIDE_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* Overrides the file's values with those of the environment, then those of the command line. */
void fg_override(const struct fg_config_source *source, struct fg_yaml_node *root,
		 struct fg_arena *arena, struct fg_config_report *report);

#endif
