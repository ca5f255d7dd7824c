// SPDX-License-Identifier: Apache-2.0
/* perfdb/web/openapi.json describes the addresses below /api; a test compares the two. */
#include "perfdb/server/routes.h"

#include "perfdb/protocol.h"
#include "perfdb/server/api/handlers.h"

const struct fg_route fg_routes[] = {
	{.method = "POST",
	 .path = FG_WIRE_RUNS,
	 .scope = FG_SCOPE_UPLOAD,
	 .handler = fg_handle_upload,
	 .takes_run = true},
	{.method = "GET",
	 .path = FG_WIRE_RUNS,
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_list_runs},
	{.method = "GET",
	 .path = FG_WIRE_RUNS "/",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_get_run},
	{.method = "DELETE",
	 .path = FG_WIRE_RUNS "/",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_delete_run},
	{.method = "GET",
	 .path = "/api/v1/capabilities",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_capabilities},
	{.method = "GET",
	 .path = "/api/v1/dashboard",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_dashboard},
	{.method = "GET",
	 .path = "/api/v1/feed",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_feed},
	{.method = "GET",
	 .path = "/api/v1/around",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_around},
	{.method = "GET",
	 .path = "/api/v1/search",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_search},
	{.method = "GET",
	 .path = "/api/v1/projects",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_projects},
	{.method = "GET",
	 .path = "/api/v1/benchmarks",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_benchmarks},
	{.method = "GET",
	 .path = "/api/v1/metrics",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_metric_names},
	{.method = "GET",
	 .path = "/api/v1/facts",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_facts},
	{.method = "GET",
	 .path = "/api/v1/verdict",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_verdict},
	{.method = "GET",
	 .path = "/api/v1/profile",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_profile},
	{.method = "GET",
	 .path = "/api/v1/trend",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_trend},
	{.method = "GET",
	 .path = "/api/v1/function-trend",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_function_trend},
	{.method = "GET",
	 .path = FG_WIRE_CARDS,
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_cards},
	{.method = "POST",
	 .path = FG_WIRE_CARDS,
	 .scope = FG_SCOPE_UPLOAD,
	 .handler = fg_handle_put_card},
	{.method = "GET",
	 .path = "/api/v1/creep",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_creep},
	{.method = "GET",
	 .path = "/api/v1/annotations",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_annotations},
	{.method = "POST",
	 .path = "/api/v1/annotations",
	 .scope = FG_SCOPE_TRIAGE,
	 .handler = fg_handle_annotate},
	{.method = "DELETE",
	 .path = "/api/v1/annotations/",
	 .scope = FG_SCOPE_TRIAGE,
	 .handler = fg_handle_unannotate},
	{.method = "GET",
	 .path = "/api/v1/tokens",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_tokens},
	{.method = "POST",
	 .path = "/api/v1/tokens",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_token_create},
	{.method = "DELETE",
	 .path = "/api/v1/tokens/",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_token_revoke},
	{.method = "GET",
	 .path = "/api/v1/usage",
	 .scope = FG_SCOPE_READ,
	 .handler = fg_handle_usage},
	{.method = "GET",
	 .path = "/api/v1/webhook",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_webhook},
	{.method = "POST",
	 .path = "/api/v1/webhook",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_webhook_set},
	{.method = "DELETE",
	 .path = "/api/v1/webhook",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_webhook_remove},
	{.method = "GET",
	 .path = "/api/v1/audit",
	 .scope = FG_SCOPE_ADMIN,
	 .handler = fg_handle_audit},
	{.method = "GET",
	 .path = "/api/v1/openapi.json",
	 .scope = FG_SCOPE_NONE,
	 .handler = fg_handle_openapi},
	{.method = "GET",
	 .path = "/healthz",
	 .scope = FG_SCOPE_NONE,
	 .handler = fg_handle_health,
	 .is_public = true},
	{.method = "GET",
	 .path = "/readyz",
	 .scope = FG_SCOPE_NONE,
	 .handler = fg_handle_ready,
	 .is_public = true},
	{.method = "GET",
	 .path = "/metrics",
	 .scope = FG_SCOPE_NONE,
	 .handler = fg_handle_metrics,
	 .is_public = true},
	{.method = "GET",
	 .path = "/favicon.ico",
	 .scope = FG_SCOPE_NONE,
	 .handler = fg_handle_icon,
	 .is_public = true},
	{.method = "GET", .path = "/assets/", .scope = FG_SCOPE_NONE, .handler = fg_handle_asset},
	{.method = "GET", .path = "/", .scope = FG_SCOPE_NONE, .handler = fg_handle_asset},
};
const size_t fg_route_count = FG_ARRAY_SIZE(fg_routes);

_Static_assert(FG_ARRAY_SIZE(fg_routes) <= FG_ROUTE_MAX, "counters have room for every route");

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

static bool leads_to(const struct fg_route *route, const struct fg_asked *asked)
{
	const char *path = asked->path;
	const size_t length = strlen(route->path);
	const bool is_prefix = length > 1 && route->path[length - 1] == '/';

	if (asked->read_only && fg_route_writes(route))
		return false;
	return is_prefix ? strncmp(path, route->path, length) == 0 && path[length]
			 : strcmp(path, route->path) == 0;
}

const struct fg_route *fg_route_find(const struct fg_asked *asked, const char **tail,
				     bool *is_path_known)
{
	*is_path_known = false;
	for (size_t i = 0; i < fg_route_count; i++) {
		const struct fg_route *route = &fg_routes[i];

		if (!leads_to(route, asked))
			continue;
		*is_path_known = true;
		if (strcmp(route->method, asked->method) == 0 ||
		    (strcmp(asked->method, "HEAD") == 0 && strcmp(route->method, "GET") == 0)) {
			*tail = asked->path + strlen(route->path);
			return route;
		}
	}
	return NULL;
}

const char *fg_route_methods(const struct fg_asked *asked, struct fg_arena *arena)
{
	const char *list = "";

	for (size_t i = 0; i < fg_route_count; i++) {
		const char *method = fg_routes[i].method;

		if (leads_to(&fg_routes[i], asked))
			list = fg_arena_printf(arena, "%s%s%s%s", list, *list ? ", " : "", method,
					       strcmp(method, "GET") == 0 ? ", HEAD" : "");
	}
	return list;
}
