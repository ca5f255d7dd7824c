/* SPDX-License-Identifier: Apache-2.0 */
/* The `prepare` and `finish` functions of the schema: rules that span several keys. */
#ifndef FG_CONFIG_HOOKS_H
#define FG_CONFIG_HOOKS_H

#include "config/bind.h"

void fg_prepare_benchmark(struct fg_binder *binder, void *values, const char *name);
void fg_finish_benchmark(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			 void *target);
void fg_finish_build(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		     void *target);
void fg_prepare_metric_policy(struct fg_binder *binder, void *values, const char *name);
void fg_finish_user_metric(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			   void *target);
void fg_finish_measure(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		       void *target);
void fg_prepare_accept(struct fg_binder *binder, void *values, const char *name);
void fg_finish_accept(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target);
void fg_finish_baseline(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			void *target);
void fg_finish_report(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target);
void fg_finish_post(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target);
void fg_finish_plan(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target);

/* Scratch structs: the keys of a section fill its struct before `finish` runs. */
struct fg_benchmark_scratch {
	struct fg_benchmark benchmark;
	bool shell;
};

struct fg_build_scratch {
	struct fg_build build;
	bool shell;
};

struct fg_baseline_scratch {
	const char *against;
	const char *branch;
	const char *tag;
	const char *run;
	const char *file;
	bool required;
};

struct fg_report_scratch {
	const char *junit;
	const char *json;
	const char *markdown;
	const char *html;
	const char *csv;
	const char *csv_raw;
	const char *github;
	const char *gitlab;
	const char *comment;
	struct fg_post_target *posts;
	size_t post_count;
	bool source;
};

struct fg_post_scratch {
	const char *github;
	const char *gitlab;
	const char *webhook;
	const char *format;
	const char *token_env;
	bool required;
};

#endif
