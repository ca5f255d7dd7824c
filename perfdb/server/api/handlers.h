/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of all addresses, by source file. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_API_HANDLERS_H
#define FG_PERFDB_SERVER_API_HANDLERS_H

#include "perfdb/server/request.h"

fg_handler fg_handle_upload;
fg_handler fg_handle_list_runs, fg_handle_get_run, fg_handle_around, fg_handle_search,
	fg_handle_delete_run;
fg_handler fg_handle_verdict, fg_handle_profile;
fg_handler fg_handle_dashboard, fg_handle_feed;
fg_handler fg_handle_trend, fg_handle_function_trend, fg_handle_creep;
fg_handler fg_handle_projects, fg_handle_benchmarks, fg_handle_metric_names, fg_handle_facts,
	fg_handle_usage;
fg_handler fg_handle_capabilities, fg_handle_health, fg_handle_ready, fg_handle_metrics;
fg_handler fg_handle_cards, fg_handle_put_card;
fg_handler fg_handle_annotations, fg_handle_annotate, fg_handle_unannotate;
fg_handler fg_handle_tokens, fg_handle_token_create, fg_handle_token_revoke, fg_handle_audit;
fg_handler fg_handle_webhook, fg_handle_webhook_set, fg_handle_webhook_remove;
fg_handler fg_handle_openapi, fg_handle_asset, fg_handle_icon;

#endif
