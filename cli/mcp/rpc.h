/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0, as the Model Context Protocol restricts it: reads a message from one line, and
 * writes the lines that answer it. Works on text only and performs no I/O. Private to cli/mcp/.
 */
#ifndef FG_CLI_MCP_RPC_H
#define FG_CLI_MCP_RPC_H

#include "base/json.h"
#include "base/json_write.h"

enum {
	FG_RPC_LINE_MAX = 1 << 20, /* maximum size of a message, in bytes */
	FG_RPC_ID_MAX = 256,       /* maximum size of a request's id as JSON, in bytes */

	FG_RPC_NOT_JSON = -32700,
	FG_RPC_BAD_REQUEST = -32600,
	FG_RPC_NO_METHOD = -32601,
	FG_RPC_BAD_PARAMS = -32602,
	FG_RPC_BUSY = -32000,
};

/*
 * A request, a notification or (`method` NULL) a response. Borrows from its JSON, except for `id`.
 */
struct fg_rpc_message {
	const char *method;
	const cJSON *params; /* an object, or NULL */
	char *id;            /* as JSON, owned; NULL for a notification */
};

/*
 * Returns 0, or the error code to answer with; `err` has the reason. On failure at most `id` is
 * set.
 */
int fg_rpc_open(const cJSON *json, struct fg_rpc_message *message, struct fg_error *err)
	FG_NODISCARD;
/*
 * Returns a string or whole number as JSON, which the caller frees; NULL if `value` has another
 * type or is too long.
 */
char *fg_rpc_id(const cJSON *value);

/* Appends one line. `id` may be NULL if unknown. */
void fg_rpc_error(struct fg_strbuf *lines, const char *id, int code, const char *message);
/* Begins a response; the caller fills the object `result`. */
void fg_rpc_begin_result(struct fg_json_writer *w, struct fg_strbuf *lines, const char *id);
/* Begins a notification; the caller fills the object `params`. */
void fg_rpc_begin_notification(struct fg_json_writer *w, struct fg_strbuf *lines,
			       const char *method);
/* Ends a response or a notification. */
void fg_rpc_end(struct fg_json_writer *w);

#endif
