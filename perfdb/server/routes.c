// SPDX-License-Identifier: Apache-2.0
/*
 * perfdb/web/openapi.json describes the addresses below /api; a test compares the file with this
 * table.
 */
#include "perfdb/server/routes.h"

#include "perfdb/protocol.h"
#include "perfdb/server/api/handlers.h"

#define ROUTE(method_, path_, scope_, handler_) \
 .method = (method_), .path = (path_), .scope = FG_SCOPE_##scope_, .handler = (handler_)

const struct fg_route fg_routes[] = {
	{ROUTE("POST", FG_WIRE_RUNS, UPLOAD, fg_handle_upload), .takes_run = true},
	{ROUTE("GET", FG_WIRE_RUNS, READ, fg_handle_list_runs)},
	{ROUTE("GET", FG_WIRE_RUNS "/", READ, fg_handle_get_run)},
	{ROUTE("DELETE", FG_WIRE_RUNS "/", ADMIN, fg_handle_delete_run)},
	{ROUTE("GET", "/api/v1/capabilities", READ, fg_handle_capabilities)},
	{ROUTE("GET", "/api/v1/dashboard", READ, fg_handle_dashboard)},
	{ROUTE("GET", "/api/v1/feed", READ, fg_handle_feed)},
	{ROUTE("GET", "/api/v1/around", READ, fg_handle_around)},
	{ROUTE("GET", "/api/v1/search", READ, fg_handle_search)},
	{ROUTE("GET", "/api/v1/projects", READ, fg_handle_projects)},
	{ROUTE("GET", "/api/v1/benchmarks", READ, fg_handle_benchmarks)},
	{ROUTE("GET", "/api/v1/metrics", READ, fg_handle_metric_names)},
	{ROUTE("GET", "/api/v1/facts", READ, fg_handle_facts)},
	{ROUTE("GET", "/api/v1/verdict", READ, fg_handle_verdict)},
	{ROUTE("GET", "/api/v1/profile", READ, fg_handle_profile)},
	{ROUTE("GET", "/api/v1/trend", READ, fg_handle_trend)},
	{ROUTE("GET", "/api/v1/function-trend", READ, fg_handle_function_trend)},
	{ROUTE("GET", FG_WIRE_CARDS, READ, fg_handle_cards)},
	{ROUTE("POST", FG_WIRE_CARDS, UPLOAD, fg_handle_put_card)},
	{ROUTE("GET", "/api/v1/creep", READ, fg_handle_creep)},
	{ROUTE("GET", "/api/v1/annotations", READ, fg_handle_annotations)},
	{ROUTE("POST", "/api/v1/annotations", TRIAGE, fg_handle_annotate)},
	{ROUTE("DELETE", "/api/v1/annotations/", TRIAGE, fg_handle_unannotate)},
	{ROUTE("GET", "/api/v1/tokens", ADMIN, fg_handle_tokens)},
	{ROUTE("POST", "/api/v1/tokens", ADMIN, fg_handle_token_create)},
	{ROUTE("DELETE", "/api/v1/tokens/", ADMIN, fg_handle_token_revoke)},
	{ROUTE("GET", "/api/v1/usage", READ, fg_handle_usage)},
	{ROUTE("GET", "/api/v1/webhook", ADMIN, fg_handle_webhook)},
	{ROUTE("POST", "/api/v1/webhook", ADMIN, fg_handle_webhook_set)},
	{ROUTE("DELETE", "/api/v1/webhook", ADMIN, fg_handle_webhook_remove)},
	{ROUTE("GET", "/api/v1/audit", ADMIN, fg_handle_audit)},
	{ROUTE("GET", "/api/v1/openapi.json", NONE, fg_handle_openapi)},
	{ROUTE("GET", "/healthz", NONE, fg_handle_health), .is_public = true},
	{ROUTE("GET", "/readyz", NONE, fg_handle_ready), .is_public = true},
	{ROUTE("GET", "/metrics", NONE, fg_handle_metrics), .is_public = true},
	{ROUTE("GET", "/favicon.ico", NONE, fg_handle_icon), .is_public = true},
	{ROUTE("GET", "/assets/", NONE, fg_handle_asset)},
	{ROUTE("GET", "/", NONE, fg_handle_asset)},
};
const size_t fg_route_count = FG_ARRAY_SIZE(fg_routes);

_Static_assert(FG_ARRAY_SIZE(fg_routes) <= FG_ROUTE_MAX, "more routes than FG_ROUTE_MAX");

const char *fg_route_body_type(const struct fg_route *route)
{
	if (route->takes_run)
		return FG_WIRE_MEDIA_TYPE;
	return "application/json";
}

bool fg_route_writes(const struct fg_route *route)
{
	return strcmp(route->method, "GET") != 0;
}

static bool leads_to(const struct fg_route *route, const struct fg_route_query *query)
{
	const char *path = query->path;
	const size_t length = strlen(route->path);
	const bool is_prefix = length > 1 && route->path[length - 1] == '/';

	if (query->read_only && fg_route_writes(route))
		return false;
	return is_prefix ? strncmp(path, route->path, length) == 0 && path[length]
			 : strcmp(path, route->path) == 0;
}

const struct fg_route *fg_route_find(const struct fg_route_query *query, const char **tail,
				     bool *is_path_known)
{
	*is_path_known = false;
	for (size_t i = 0; i < fg_route_count; i++) {
		const struct fg_route *route = &fg_routes[i];

		if (!leads_to(route, query))
			continue;
		*is_path_known = true;
		if (strcmp(route->method, query->method) == 0 ||
		    (strcmp(query->method, "HEAD") == 0 && strcmp(route->method, "GET") == 0)) {
			*tail = query->path + strlen(route->path);
			return route;
		}
	}
	return NULL;
}

const char *fg_route_methods(const struct fg_route_query *query, struct fg_arena *arena)
{
	const char *list = "";

	for (size_t i = 0; i < fg_route_count; i++) {
		const char *method = fg_routes[i].method;

		if (leads_to(&fg_routes[i], query))
			list = fg_arena_printf(arena, "%s%s%s%s", list, *list ? ", " : "", method,
					       strcmp(method, "GET") == 0 ? ", HEAD" : "");
	}
	return list;
}
