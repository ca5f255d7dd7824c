// SPDX-License-Identifier: Apache-2.0
/*
 * Every address of the server.  perfdb/web/openapi.json describes those below /api; a test holds
 * the two together.
 */
#include "base/base.h"
#include "perfdb/protocol.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"

const struct fg_route fg_routes[] = {
	{"POST", FG_WIRE_RUNS, FG_SCOPE_UPLOAD, fg_handle_upload, true},
	{"GET", FG_WIRE_RUNS, FG_SCOPE_READ, fg_handle_list_runs, false},
	{"GET", FG_WIRE_RUNS "/", FG_SCOPE_READ, fg_handle_get_run, false},
	{"DELETE", FG_WIRE_RUNS "/", FG_SCOPE_ADMIN, fg_handle_delete_run, false},
	{"GET", FG_WIRE_DICTIONARY, FG_SCOPE_UPLOAD, fg_handle_has_dictionary, false},
	{"GET", "/api/v1/capabilities", FG_SCOPE_READ, fg_handle_capabilities, false},
	{"GET", "/api/v1/projects", FG_SCOPE_READ, fg_handle_projects, false},
	{"GET", "/api/v1/benchmarks", FG_SCOPE_READ, fg_handle_benchmarks, false},
	{"GET", "/api/v1/metrics", FG_SCOPE_READ, fg_handle_metric_names, false},
	{"GET", "/api/v1/facts", FG_SCOPE_READ, fg_handle_facts, false},
	{"GET", "/api/v1/baselines", FG_SCOPE_READ, fg_handle_baselines, false},
	{"GET", "/api/v1/compare", FG_SCOPE_READ, fg_handle_compare, false},
	{"GET", "/api/v1/verdict", FG_SCOPE_READ, fg_handle_verdict, false},
	{"GET", "/api/v1/functions", FG_SCOPE_READ, fg_handle_functions, false},
	{"GET", "/api/v1/paths", FG_SCOPE_READ, fg_handle_paths, false},
	{"GET", "/api/v1/profile", FG_SCOPE_READ, fg_handle_profile, false},
	{"GET", "/api/v1/environment", FG_SCOPE_READ, fg_handle_environment, false},
	{"GET", "/api/v1/trend", FG_SCOPE_READ, fg_handle_trend, false},
	{"GET", "/api/v1/function-trend", FG_SCOPE_READ, fg_handle_function_trend, false},
	{"GET", "/api/v1/annotations", FG_SCOPE_READ, fg_handle_annotations, false},
	{"POST", "/api/v1/annotations", FG_SCOPE_UPLOAD, fg_handle_annotate, false},
	{"DELETE", "/api/v1/annotations/", FG_SCOPE_UPLOAD, fg_handle_unannotate, false},
	{"GET", "/api/v1/triage", FG_SCOPE_READ, fg_handle_triage_list, false},
	{"POST", "/api/v1/triage", FG_SCOPE_UPLOAD, fg_handle_triage_set, false},
	{"GET", "/api/v1/openapi.json", FG_SCOPE_NONE, fg_handle_openapi, false},
	{"GET", "/healthz", FG_SCOPE_NONE, fg_handle_health, false},
	{"GET", "/metrics", FG_SCOPE_NONE, fg_handle_metrics, false},
	{"GET", "/assets/", FG_SCOPE_NONE, fg_handle_asset, false},
	{"GET", "/", FG_SCOPE_NONE, fg_handle_asset, false},
};
const size_t fg_route_count = FG_ARRAY_SIZE(fg_routes);

_Static_assert(FG_ARRAY_SIZE(fg_routes) <= FG_ROUTE_MAX, "counters have room for every route");

const struct fg_page *fg_page_find(const char *name)
{
	for (size_t i = 0; i < fg_page_count; i++) {
		if (strcmp(fg_pages[i].name, name) == 0)
			return &fg_pages[i];
	}
	return NULL;
}
