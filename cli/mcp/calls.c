// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/calls.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/framework/help.h"
#include "cli/mcp/rpc.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RESULT_MAX = 32 << 10, /* maximum number of bytes of text in a result */
	/* maximum number of bytes of messages; in JSON, a control character becomes three bytes */
	MESSAGES_MAX = 4 << 10,
	CAPTURE_MAX = 1 << 20,
	GRACE_S = 5, /* seconds between SIGTERM and SIGKILL */
	/* maximum number of seconds between two notifications, so that a client does not give up */
	PROGRESS_EVERY_S = 5,
	PROGRESS_MIN = 1, /* minimum number of seconds between two notifications */
};

int fg_mcp_call_start(struct fg_mcp_call *call, const char *folder, struct fg_error *err)
{
	const struct fg_process_options options = {
		.argv = call->argv,
		.working_directory = folder,
		.stdout_to = FG_STREAM_FILE,
		.stderr_to = FG_STREAM_FILE,
		.capture_limit_bytes = CAPTURE_MAX,
	};
	const int status = fg_process_start(&options, &call->process, err);

	call->has_started = status == FG_OK;
	call->progress_ns = fg_clock_monotonic_ns();
	return status;
}

int fg_mcp_call_fd(const struct fg_mcp_call *call)
{
	return call->process.pidfd;
}

bool fg_mcp_call_has_ended(const struct fg_mcp_call *call)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)call->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid != 0;
}

/* Reads the newest complete line of the messages, from a file that only grows. */
static bool read_message(struct fg_mcp_call *call)
{
	char data[4096];
	const int fd = call->process.captures[1].fd;
	const char *end = NULL;
	const char *start = NULL;
	struct fg_strbuf line = {0};
	ssize_t got = pread(fd, data, sizeof(data), (off_t)call->messages_bytes);

	while (got == (ssize_t)sizeof(data)) {
		call->messages_bytes += sizeof(data) / 2;
		got = pread(fd, data, sizeof(data), (off_t)call->messages_bytes);
	}
	end = got > 0 ? memrchr(data, '\n', (size_t)got) : NULL;
	if (!end || end == data)
		return false;
	start = memrchr(data, '\n', (size_t)(end - data));
	start = start ? start + 1 : data;
	call->messages_bytes += (size_t)(end - data) + 1;
	fg_text_add_clean(&line, start, (size_t)(end - start), sizeof(call->message) - 1);
	(void)snprintf(call->message, sizeof(call->message), "%s", fg_strbuf_text(&line));
	fg_strbuf_release(&line);
	return true;
}

static void send_progress(struct fg_mcp_call *call, struct fg_strbuf *lines)
{
	struct fg_json_writer w;

	fg_rpc_begin_notification(&w, lines, "notifications/progress");
	fg_json_raw(&w, "progressToken", call->progress_token);
	fg_json_int(&w, "progress", (int64_t)++call->progress);
	if (call->message[0])
		fg_json_text(&w, "message", call->message);
	fg_rpc_end(&w);
}

void fg_mcp_call_watch(struct fg_mcp_call *call, struct fg_strbuf *lines)
{
	const int64_t now = fg_clock_monotonic_ns();
	const int64_t quiet_ns = now - call->progress_ns;

	if (call->kill_at_ns && now >= call->kill_at_ns)
		(void)kill(-call->process.pid, SIGKILL);
	if (!call->progress_token || call->is_cancelled || quiet_ns < PROGRESS_MIN * FG_NS_PER_S)
		return;
	if (read_message(call) || quiet_ns >= PROGRESS_EVERY_S * FG_NS_PER_S) {
		send_progress(call, lines);
		call->progress_ns = now;
	}
}

void fg_mcp_call_cancel(struct fg_mcp_call *call)
{
	call->is_cancelled = true;
	if (!call->has_started || call->kill_at_ns)
		return;
	call->kill_at_ns = fg_clock_monotonic_ns() + GRACE_S * FG_NS_PER_S;
	(void)kill(-call->process.pid, SIGTERM);
}

/* ---- the result ---- */

/* Adds the JSON without blanks that only help readability. */
static void add_compact(struct fg_strbuf *text, const char *json, size_t size)
{
	bool in_string = false;

	for (size_t i = 0; i < size; i++) {
		const char c = json[i];

		if (c == '"')
			in_string = !in_string;
		if (!in_string && (c == ' ' || c == '\n'))
			continue;
		fg_strbuf_add_char(text, c);
		if (in_string && c == '\\' && i + 1 < size)
			fg_strbuf_add_char(text, json[++i]);
	}
}

/*
 * Returns the length of the longest prefix of at most `limit` bytes that ends with a whole
 * character.
 */
static size_t whole_part(const char *text, size_t length, size_t limit)
{
	if (length <= limit)
		return length;
	while (limit > 0 && ((unsigned char)text[limit] & 0xc0) == 0x80)
		limit--;
	return limit;
}

static void begin_text(struct fg_json_writer *w)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "type", "text");
}

/* Adds the end of the command's messages. */
static void add_messages(struct fg_json_writer *w, const struct fg_process_result *result)
{
	size_t from = result->stderr_size > MESSAGES_MAX ? result->stderr_size - MESSAGES_MAX : 0;

	while (from > 0 && from < result->stderr_size &&
	       ((unsigned char)result->stderr_text[from] & 0xc0) == 0x80)
		from++;
	fg_json_text_sized(w, "messages", result->stderr_text + from, result->stderr_size - from);
}

static const char *meaning_of(const struct fg_process_result *result)
{
	const char *meaning =
		result->exited ? fg_cli_exit_meaning((enum fg_exit)result->exit_code) : NULL;

	return meaning ? meaning : "the command was killed by a signal";
}

/* Writes the facts about a call that a program can rely on. */
static void write_facts(struct fg_strbuf *facts, const struct fg_process_result *result,
			bool is_cut)
{
	struct fg_json_writer w;

	fg_strbuf_release(facts);
	fg_json_writer_init(&w, facts, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "exit_code", result->exited ? result->exit_code : -1);
	fg_json_text(&w, "meaning", meaning_of(result));
	fg_json_double(&w, "seconds", round((double)result->wall_ns / FG_NS_PER_MS) / 1e3);
	fg_json_bool(&w, "cut", is_cut);
	add_messages(&w, result);
	fg_json_end(&w);
}

static bool is_failure(const struct fg_process_result *result)
{
	return !result->exited ||
	       (result->exit_code != FG_EXIT_PASS && result->exit_code != FG_EXIT_REGRESSION &&
		result->exit_code != FG_EXIT_INCONCLUSIVE);
}

static void add_result(const struct fg_mcp_call *call, const struct fg_process_result *result,
		       struct fg_strbuf *lines)
{
	struct fg_json_writer w;
	struct fg_strbuf output = {0};
	struct fg_strbuf facts = {0};
	size_t shown = 0;

	if (call->tool->is_json)
		add_compact(&output, result->stdout_text, result->stdout_size);
	else
		fg_strbuf_add(&output, result->stdout_text, result->stdout_size);
	write_facts(&facts, result, result->output_cut);
	shown = whole_part(fg_strbuf_text(&output), output.length, RESULT_MAX - facts.length);
	if (shown < output.length)
		write_facts(&facts, result, true);
	fg_rpc_begin_result(&w, lines, call->id);
	fg_json_begin_array(&w, "content");
	if (shown > 0) {
		begin_text(&w);
		fg_json_text_sized(&w, "text", fg_strbuf_text(&output), shown);
		fg_json_end(&w);
	}
	begin_text(&w);
	fg_json_text(&w, "text", fg_strbuf_text(&facts));
	fg_json_end(&w);
	fg_json_end(&w);
	fg_json_raw(&w, "structuredContent", fg_strbuf_text(&facts));
	fg_json_bool(&w, "isError", is_failure(result));
	fg_rpc_end(&w);
	fg_strbuf_release(&output);
	fg_strbuf_release(&facts);
}

void fg_mcp_refuse(struct fg_strbuf *lines, const char *id, const char *message)
{
	struct fg_json_writer w;

	fg_rpc_begin_result(&w, lines, id);
	fg_json_begin_array(&w, "content");
	begin_text(&w);
	fg_json_text(&w, "text", message);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_json_bool(&w, "isError", true);
	fg_rpc_end(&w);
}

void fg_mcp_call_finish(struct fg_mcp_call *call, struct fg_strbuf *lines)
{
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	const int status = fg_process_wait(&call->process, 1, &result, &err);

	if (!call->is_cancelled && status == FG_OK)
		add_result(call, &result, lines);
	else if (!call->is_cancelled)
		fg_mcp_refuse(lines, call->id, err.message);
	fg_process_result_release(&result);
}

void fg_mcp_call_release(struct fg_mcp_call *call)
{
	if (call->has_started)
		fg_process_release(&call->process);
	fg_arena_release(&call->arena);
	free(call->id);
	free(call->progress_token);
	*call = (struct fg_mcp_call){0};
}
