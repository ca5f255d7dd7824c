/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the environment and the command line, put over those of the file. */
#ifndef FG_CONFIG_OVERRIDE_H
#define FG_CONFIG_OVERRIDE_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* Put the environment's and the command line's values over the file's. */
void fg_override(const struct fg_config_source *source, struct fg_yaml_node *root,
		 struct fg_arena *arena, struct fg_config_report *report);

#endif
