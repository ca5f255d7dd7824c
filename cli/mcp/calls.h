/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a tool: the fastgate command runs as a child in its own process group. Private to
 * cli/mcp/.
 *
 * fill the call → fg_mcp_call_start() → fg_mcp_call_watch() repeatedly → when it has ended,
 * fg_mcp_call_finish() → fg_mcp_call_release(). A cancelled call ends without an answer.
 */
#ifndef FG_CLI_MCP_CALLS_H
#define FG_CLI_MCP_CALLS_H

#include "base/arena.h"
#include "base/process.h"
#include "cli/mcp/tools.h"

struct fg_mcp_call {
	const struct fg_mcp_tool *tool; /* NULL: the slot is free */
	char *id;                       /* id of the request, as JSON; owned */
	char *progress_token;           /* as JSON, owned; NULL: the client wants no progress */
	char **argv;                    /* in the arena */
	struct fg_arena arena;
	struct fg_process process;
	bool has_started;
	bool is_cancelled;
	int64_t kill_at_ns;    /* when to kill the command after a cancellation */
	int64_t progress_ns;   /* time of the last notification */
	uint64_t progress;     /* notifications sent */
	size_t messages_bytes; /* bytes of the command's messages read so far */
	char message[256];     /* the newest message */
};

/* Starts the command in `folder`. */
int fg_mcp_call_start(struct fg_mcp_call *call, const char *folder, struct fg_error *err)
	FG_NODISCARD;
/*
 * Returns a descriptor that becomes readable when the command has ended; -1 if this kernel has no
 * such descriptors.
 */
int fg_mcp_call_fd(const struct fg_mcp_call *call);
bool fg_mcp_call_has_ended(const struct fg_mcp_call *call);
/*
 * Appends a progress notification if one is due, and kills a command that ignores its cancellation.
 */
void fg_mcp_call_watch(struct fg_mcp_call *call, struct fg_strbuf *lines);
/* Ends the command's process group; a waiting call will never start. */
void fg_mcp_call_cancel(struct fg_mcp_call *call);
/* Waits for the command's end, and appends the answer unless the call was cancelled. */
void fg_mcp_call_finish(struct fg_mcp_call *call, struct fg_strbuf *lines);
void fg_mcp_call_release(struct fg_mcp_call *call);

/* Answers a call that could not start, with a result that an assistant can act on. */
void fg_mcp_refuse(struct fg_strbuf *lines, const char *id, const char *message);

#endif
