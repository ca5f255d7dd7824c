/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the server's addresses. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_ROUTES_H
#define FG_PERFDB_SERVER_ROUTES_H

#include "perfdb/server/request.h"

struct fg_route {
	const char *method;
	const char *path; /* a path that ends with '/' includes everything below it */
	enum fg_scope scope;
	fg_handler *handler;
	bool takes_run; /* the body is a run, which may be large */
	bool is_public; /* open to everybody, without a limit on requests */
};

extern const struct fg_route fg_routes[];
extern const size_t fg_route_count;

/* Returns the content type that a body must have. */
const char *fg_route_body_type(const struct fg_route *route);
/* Does the route change anything? */
bool fg_route_writes(const struct fg_route *route);

struct fg_route_query {
	const char *method;
	const char *path;
	bool read_only; /* routes that write do not exist */
};

/*
 * Returns NULL if there is no such method or (*is_path_known false) no such path. *tail: the text
 * after a route's '/'.
 */
const struct fg_route *fg_route_find(const struct fg_route_query *query, const char **tail,
				     bool *is_path_known);
/* Returns the methods of this address, as listed in the Allow header. */
const char *fg_route_methods(const struct fg_route_query *query, struct fg_arena *arena);

#endif
