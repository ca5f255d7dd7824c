/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0, as the Model Context Protocol restricts it: the message on one line, and the lines
 * that answer it. Pure text; nothing here reads or writes a descriptor. Private to cli/mcp/.
 */
#ifndef FG_CLI_MCP_RPC_H
#define FG_CLI_MCP_RPC_H

#include "base/json.h"
#include "base/json_write.h"

enum {
	FG_RPC_LINE_MAX = 1 << 20, /* bytes of one message */
	FG_RPC_ID_MAX = 256,       /* bytes of a request's id, as JSON */

	FG_RPC_NOT_JSON = -32700,
	FG_RPC_BAD_REQUEST = -32600,
	FG_RPC_NO_METHOD = -32601,
	FG_RPC_BAD_PARAMS = -32602,
	FG_RPC_BUSY = -32000,
};

/* A request, a notification or (method NULL) a response. Borrows from its JSON, except for `id`. */
struct fg_rpc_message {
	const char *method;
	const cJSON *params; /* an object, or NULL */
	char *id;            /* as JSON, to be freed; NULL: a notification */
};

/* Returns 0, or the code to refuse it with; `err` says why. On failure only `id` may be set. */
int fg_rpc_open(const cJSON *json, struct fg_rpc_message *message, struct fg_error *err)
	FG_NODISCARD;
/* A string or whole number as JSON, to be freed; NULL: neither, or too long. */
char *fg_rpc_id(const cJSON *value);

/* Each appends one line. `id` NULL: unknown. */
void fg_rpc_error(struct fg_strbuf *lines, const char *id, int code, const char *message);
/* Begins a response; the caller fills the object `result`. */
void fg_rpc_begin_result(struct fg_json_writer *w, struct fg_strbuf *lines, const char *id);
/* Begins a notification; the caller fills the object `params`. */
void fg_rpc_begin_notification(struct fg_json_writer *w, struct fg_strbuf *lines,
			       const char *method);
/* Ends either. */
void fg_rpc_end(struct fg_json_writer *w);

#endif
