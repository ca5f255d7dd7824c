// SPDX-License-Identifier: Apache-2.0
/*
 * A single thread: poll() waits for standard input and for the ends of running commands. At most
 * RUNNING_MAX calls run at a time, and at most one of these calls measures.
 */
#include "base/fs.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/mcp/calls.h"
#include "cli/mcp/rpc.h"
#include "cli/mcp/tools.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum {
	CALLS_MAX = 16, /* maximum running and waiting calls */
	RUNNING_MAX = 4,
	TICK_MS = 250,
	READ_BYTES = 1 << 16,
};

/*
 * Supported versions, newest first. A client that asks for another version is offered the newest.
 * 2025-03-26 is left out: it is the only version that allows several messages in an array.
 */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2024-11-05", "2024-10-07"};

static const char instructions[] =
	"fastgate finds out whether a change made a C or C++ program slower or faster, and which "
	"function is the cause. Commit or save the change, then call `run` with `against` = "
	"`merge-base` (a branch) or `HEAD` (uncommitted changes); `explain` gives the evidence, "
	"and `profile` shows where time goes. Only the verdict counts: if the interval includes "
	"zero, the estimate may be noise. A `run` takes minutes, so ask for progress and wait.";

struct server {
	const struct fg_mcp_rights *rights;
	struct fg_mcp_call calls[CALLS_MAX];
	struct fg_strbuf input;  /* beginning of an incomplete line */
	bool is_too_long;        /* the line exceeds the limit and is skipped */
	struct fg_strbuf output; /* lines still to be written */
};

/* ---- methods ---- */

static void initialize(struct server *server, const struct fg_rpc_message *message)
{
	const char *wanted = fg_json_text_or(message->params, "protocolVersion", "");
	const char *version = versions[0];
	struct fg_json_writer w;

	for (size_t i = 0; i < FG_ARRAY_SIZE(versions); i++) {
		if (strcmp(versions[i], wanted) == 0)
			version = versions[i];
	}
	fg_rpc_begin_result(&w, &server->output, message->id);
	fg_json_text(&w, "protocolVersion", version);
	fg_json_begin_object(&w, "capabilities");
	fg_json_begin_object(&w, "tools");
	fg_json_end(&w);
	fg_json_end(&w);
	fg_json_begin_object(&w, "serverInfo");
	fg_json_text(&w, "name", "fastgate");
	fg_json_text(&w, "version", fg_version());
	fg_json_end(&w);
	fg_json_text(&w, "instructions", instructions);
	fg_rpc_end(&w);
}

static void ping(struct server *server, const struct fg_rpc_message *message)
{
	struct fg_json_writer w;

	fg_rpc_begin_result(&w, &server->output, message->id);
	fg_rpc_end(&w);
}

static void list_tools(struct server *server, const struct fg_rpc_message *message)
{
	struct fg_json_writer w;

	if (cJSON_HasObjectItem(message->params, "cursor")) {
		fg_rpc_error(&server->output, message->id, FG_RPC_BAD_PARAMS,
			     "unknown cursor: the list has only one page");
		return;
	}
	fg_rpc_begin_result(&w, &server->output, message->id);
	fg_mcp_list_tools(&w, server->rights);
	fg_rpc_end(&w);
}

static struct fg_mcp_call *find_call(struct server *server, const char *id)
{
	for (size_t i = 0; id && i < CALLS_MAX; i++) {
		if (server->calls[i].tool && strcmp(server->calls[i].id, id) == 0)
			return &server->calls[i];
	}
	return NULL;
}

static struct fg_mcp_call *free_slot(struct server *server)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (!server->calls[i].tool)
			return &server->calls[i];
	}
	return NULL;
}

static void call_tool(struct server *server, const struct fg_rpc_message *message)
{
	const char *name = fg_json_text_or(message->params, "name", NULL);
	const struct fg_mcp_tool *tool = name ? fg_mcp_find_tool(name, server->rights) : NULL;
	const cJSON *arguments = fg_json_find(message->params, "arguments");
	struct fg_mcp_call *call = free_slot(server);
	struct fg_error err = {0};

	if (!tool)
		(void)fg_error_set(&err, FG_EINVAL, "unknown tool '%.100s'", name ? name : "");
	else if (arguments && !cJSON_IsObject(arguments))
		(void)fg_error_set(&err, FG_EINVAL, "'arguments' must be an object");
	if (err.message[0]) {
		fg_rpc_error(&server->output, message->id, FG_RPC_BAD_PARAMS, err.message);
		return;
	}
	if (!call) {
		fg_rpc_error(&server->output, message->id, FG_RPC_BUSY,
			     "too many calls at once: wait for one to finish, or cancel one");
		return;
	}
	if (fg_mcp_command_line(tool, arguments, server->rights, &call->arena, &call->argv, &err) !=
	    FG_OK) {
		fg_mcp_refuse(&server->output, message->id, err.message);
		fg_mcp_call_release(call);
		return;
	}
	call->tool = tool;
	call->id = fg_xstrdup(message->id);
	call->progress_token = fg_rpc_id(fg_json_find(message->params, "_meta/progressToken"));
}

static void cancel(struct server *server, const struct fg_rpc_message *message)
{
	char *id = fg_rpc_id(fg_json_find(message->params, "requestId"));
	struct fg_mcp_call *call = find_call(server, id);

	if (call)
		fg_mcp_call_cancel(call);
	free(id);
}

static const struct {
	const char *name;
	bool is_notification;
	void (*handle)(struct server *server, const struct fg_rpc_message *message);
} methods[] = {
	{"initialize", false, initialize},         {"ping", false, ping},
	{"tools/list", false, list_tools},         {"tools/call", false, call_tool},
	{"notifications/cancelled", true, cancel},
};

/* ---- messages ---- */

static void answer(struct server *server, const struct fg_rpc_message *message)
{
	char unknown[160];

	if (find_call(server, message->id)) {
		fg_rpc_error(&server->output, message->id, FG_RPC_BAD_REQUEST,
			     "a request with this id is already running");
		return;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(methods); i++) {
		if (methods[i].is_notification == !message->id &&
		    strcmp(methods[i].name, message->method) == 0) {
			methods[i].handle(server, message);
			return;
		}
	}
	if (!message->id)
		return;
	(void)snprintf(unknown, sizeof(unknown), "unknown method '%.100s'", message->method);
	fg_rpc_error(&server->output, message->id, FG_RPC_NO_METHOD, unknown);
}

static void take_message(struct server *server, const cJSON *json)
{
	struct fg_rpc_message message = {0};
	struct fg_error err = {0};
	const int code = fg_rpc_open(json, &message, &err);

	if (code != 0)
		fg_rpc_error(&server->output, message.id, code, err.message);
	else if (message.method)
		answer(server, &message);
	free(message.id);
}

static void take_line(struct server *server, const char *line, size_t length)
{
	struct fg_error err = {0};
	cJSON *json = NULL;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return;
	if (!fg_text_is_utf8(line, length))
		(void)fg_error_set(&err, FG_EPARSE, "the message is not valid UTF-8");
	else if (fg_json_parse(line, length, FG_RPC_LINE_MAX, &json, &err) == FG_OK)
		take_message(server, json);
	if (err.message[0])
		fg_rpc_error(&server->output, NULL, FG_RPC_NOT_JSON, err.message);
	cJSON_Delete(json);
}

/* ---- the loop ---- */

static void take_bytes(struct server *server, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		const size_t part = end ? (size_t)(end - bytes) : size;

		if (server->input.length + part > FG_RPC_LINE_MAX)
			server->is_too_long = true;
		if (!server->is_too_long)
			fg_strbuf_add(&server->input, bytes, part);
		if (!end)
			return;
		if (server->is_too_long)
			fg_rpc_error(&server->output, NULL, FG_RPC_BAD_REQUEST,
				     "a message may be at most 1 MiB long");
		else
			take_line(server, fg_strbuf_text(&server->input), server->input.length);
		fg_strbuf_clear(&server->input);
		server->is_too_long = false;
		bytes += part + 1;
		size -= part + 1;
	}
}

/* Returns false at the end of input. */
static bool read_input(struct server *server, struct fg_error *err)
{
	char bytes[READ_BYTES];
	const ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (got > 0)
		take_bytes(server, bytes, (size_t)got);
	else if (got < 0 && errno != EINTR && errno != EAGAIN)
		(void)fg_error_errno(err, FG_EIO, "cannot read standard input");
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static bool may_start(const struct server *server, const struct fg_mcp_call *call)
{
	size_t running = 0;

	for (size_t i = 0; i < CALLS_MAX; i++) {
		const struct fg_mcp_call *other = &server->calls[i];

		if (!other->tool || !other->has_started)
			continue;
		running++;
		if (other->tool->measures && call->tool->measures)
			return false;
	}
	return running < RUNNING_MAX;
}

/* Starts waiting calls, and drops calls that were cancelled before they could start. */
static void start_calls(struct server *server)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		struct fg_mcp_call *call = &server->calls[i];
		struct fg_error err = {0};

		if (!call->tool || call->has_started)
			continue;
		if (call->is_cancelled) {
			fg_mcp_call_release(call);
		} else if (may_start(server, call) &&
			   fg_mcp_call_start(call, server->rights->folder, &err) != FG_OK) {
			fg_mcp_refuse(&server->output, call->id, err.message);
			fg_mcp_call_release(call);
		}
	}
}

/*
 * Sleeps until input arrives, a command ends or, while commands run, TICK_MS pass. Then watches the
 * running calls and answers the calls that have ended.
 */
static void wait_for_events(struct server *server, bool has_input, bool *is_readable)
{
	struct pollfd fds[CALLS_MAX + 1];
	struct fg_mcp_call *calls[CALLS_MAX + 1] = {NULL};
	nfds_t count = 0;

	fds[count++] = (struct pollfd){.fd = has_input ? STDIN_FILENO : -1, .events = POLLIN};
	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (!server->calls[i].has_started)
			continue;
		calls[count] = &server->calls[i];
		fds[count++] =
			(struct pollfd){.fd = fg_mcp_call_fd(&server->calls[i]), .events = POLLIN};
	}
	(void)poll(fds, count, count > 1 ? TICK_MS : -1);
	*is_readable = fds[0].revents != 0;
	for (nfds_t i = 1; i < count; i++) {
		if (!fg_mcp_call_has_ended(calls[i])) {
			fg_mcp_call_watch(calls[i], &server->output);
			continue;
		}
		fg_mcp_call_finish(calls[i], &server->output);
		fg_mcp_call_release(calls[i]);
	}
}

static bool is_idle(const struct server *server)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (server->calls[i].tool)
			return false;
	}
	return true;
}

static int flush(struct server *server, struct fg_error *err)
{
	const int status = fg_fs_write_all(STDOUT_FILENO, fg_strbuf_text(&server->output),
					   server->output.length, err);

	fg_strbuf_clear(&server->output);
	return status;
}

static void cancel_all(struct server *server)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (server->calls[i].tool && !server->calls[i].is_cancelled)
			fg_mcp_call_cancel(&server->calls[i]);
	}
}

int fg_mcp_serve(const struct fg_mcp_rights *rights, struct fg_error *err)
{
	struct server server = {.rights = rights};
	const volatile sig_atomic_t *stop = rights->cli->interrupted;
	bool is_open = true;
	int status = FG_OK;

	while (is_open || !is_idle(&server)) {
		bool is_readable = false;

		wait_for_events(&server, is_open, &is_readable);
		if (is_open && is_readable)
			is_open = read_input(&server, err);
		status = err->code != FG_OK ? err->code : status;
		if (*stop || status != FG_OK)
			is_open = false;
		if (!is_open)
			cancel_all(&server);
		start_calls(&server);
		if (status == FG_OK)
			status = flush(&server, err);
	}
	fg_strbuf_release(&server.input);
	fg_strbuf_release(&server.output);
	return status;
}
