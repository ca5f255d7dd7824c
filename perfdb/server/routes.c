// SPDX-License-Identifier: Apache-2.0
/* Every address of the server.  perfdb/web/openapi.json describes those below /api; a test holds the two together. */
#include "base/base.h"
#include "perfdb/protocol.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"

const struct fg_route fg__routes[] = {
	{"POST",   FG_WIRE_RUNS,             FG_SCOPE_UPLOAD, fg__upload,         true },
	{"GET",    FG_WIRE_RUNS,             FG_SCOPE_READ,   fg__list_runs,      false},
	{"GET",    FG_WIRE_RUNS "/",         FG_SCOPE_READ,   fg__get_run,        false},
	{"DELETE", FG_WIRE_RUNS "/",         FG_SCOPE_ADMIN,  fg__delete_run,     false},
	{"GET",    FG_WIRE_DICTIONARY,       FG_SCOPE_UPLOAD, fg__has_dictionary, false},
	{"GET",    "/api/v1/capabilities",   FG_SCOPE_READ,   fg__capabilities,   false},
	{"GET",    "/api/v1/projects",       FG_SCOPE_READ,   fg__projects,       false},
	{"GET",    "/api/v1/benchmarks",     FG_SCOPE_READ,   fg__benchmarks,     false},
	{"GET",    "/api/v1/metrics",        FG_SCOPE_READ,   fg__metric_names,   false},
	{"GET",    "/api/v1/facts",          FG_SCOPE_READ,   fg__facts,          false},
	{"GET",    "/api/v1/baselines",      FG_SCOPE_READ,   fg__baselines,      false},
	{"GET",    "/api/v1/compare",        FG_SCOPE_READ,   fg__compare,        false},
	{"GET",    "/api/v1/verdict",        FG_SCOPE_READ,   fg__verdict,        false},
	{"GET",    "/api/v1/functions",      FG_SCOPE_READ,   fg__functions,      false},
	{"GET",    "/api/v1/paths",          FG_SCOPE_READ,   fg__paths,          false},
	{"GET",    "/api/v1/profile",        FG_SCOPE_READ,   fg__profile,        false},
	{"GET",    "/api/v1/environment",    FG_SCOPE_READ,   fg__environment,    false},
	{"GET",    "/api/v1/trend",          FG_SCOPE_READ,   fg__trend,          false},
	{"GET",    "/api/v1/function-trend", FG_SCOPE_READ,   fg__function_trend, false},
	{"GET",    "/api/v1/annotations",    FG_SCOPE_READ,   fg__annotations,    false},
	{"POST",   "/api/v1/annotations",    FG_SCOPE_UPLOAD, fg__annotate,       false},
	{"DELETE", "/api/v1/annotations/",   FG_SCOPE_UPLOAD, fg__unannotate,     false},
	{"GET",    "/api/v1/triage",         FG_SCOPE_READ,   fg__triage_list,    false},
	{"POST",   "/api/v1/triage",         FG_SCOPE_UPLOAD, fg__triage_set,     false},
	{"GET",    "/api/v1/openapi.json",   FG_SCOPE_NONE,   fg__openapi,        false},
	{"GET",    "/healthz",               FG_SCOPE_NONE,   fg__health,         false},
	{"GET",    "/metrics",               FG_SCOPE_NONE,   fg__metrics,        false},
	{"GET",    "/assets/",               FG_SCOPE_NONE,   fg__asset,          false},
	{"GET",    "/",		      FG_SCOPE_NONE,   fg__asset,          false},
};
const size_t fg__route_count = FG_ARRAY_SIZE(fg__routes);

_Static_assert(FG_ARRAY_SIZE(fg__routes) <= FG_ROUTE_MAX, "counters have room for every route");

const struct fg_page *fg__page_find(const char *name)
{
	for (size_t i = 0; i < fg__page_count; i++) {
		if (strcmp(fg__pages[i].name, name) == 0)
			return &fg__pages[i];
	}
	return NULL;
}
