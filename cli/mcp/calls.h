/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool's call: the command of fastgate as a child in a process group of its own.
 *
 * fill → fg_mcp_call_start() → fg_mcp_call_watch() now and then → when it has ended,
 * fg_mcp_call_finish() → fg_mcp_call_release(). A cancelled call ends without an answer. Private to
 * cli/mcp/.
 */
#ifndef FG_CLI_MCP_CALLS_H
#define FG_CLI_MCP_CALLS_H

#include "base/arena.h"
#include "base/process.h"
#include "cli/mcp/tools.h"

struct fg_mcp_call {
	const struct fg_mcp_tool *tool; /* NULL: the slot is free */
	char *id;                       /* of the request, as JSON; owned */
	char *progress_token;           /* as JSON; owned; NULL: no progress is wanted */
	char **argv;                    /* in the arena */
	struct fg_arena arena;
	struct fg_process process;
	bool has_started;
	bool is_cancelled;
	int64_t kill_at_ns;    /* after a cancellation */
	int64_t progress_ns;   /* of the last notification */
	uint64_t progress;     /* notifications sent */
	size_t messages_bytes; /* of its messages already read */
	char message[256];     /* the newest of them */
};

/* `folder`: the working directory. */
int fg_mcp_call_start(struct fg_mcp_call *call, const char *folder, struct fg_error *err)
	FG_NODISCARD;
/* Readable when the command has ended; -1: this kernel has no such descriptor. */
int fg_mcp_call_fd(const struct fg_mcp_call *call);
bool fg_mcp_call_has_ended(const struct fg_mcp_call *call);
/* Appends a notification of progress if one is due, and kills what ignores a cancellation. */
void fg_mcp_call_watch(struct fg_mcp_call *call, struct fg_strbuf *lines);
/* Ends its process group; a call that waits for its turn never starts. */
void fg_mcp_call_cancel(struct fg_mcp_call *call);
/* Waits for the command, and appends the answer unless the call was cancelled. */
void fg_mcp_call_finish(struct fg_mcp_call *call, struct fg_strbuf *lines);
void fg_mcp_call_release(struct fg_mcp_call *call);

/* The answer of a call that could not start: a result that an assistant can act on. */
void fg_mcp_refuse(struct fg_strbuf *lines, const char *id, const char *message);

#endif
