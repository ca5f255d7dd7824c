/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that is in effect, as YAML: what was given, and the defaults of the rest. */
#ifndef FG_CONFIG_SHOW_H
#define FG_CONFIG_SHOW_H

#include "config/yaml_tree.h"

/* `root` has the overrides.  Each default is marked as one; what was overridden says by what. */
void fg_config_write(const struct fg_yaml_node *root, struct fg_strbuf *text);

#endif
