// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/rpc.h"

char *fg_rpc_id(const cJSON *value)
{
	char *text = NULL;

	if (!cJSON_IsString(value) &&
	    !(cJSON_IsNumber(value) && fg_json_is_whole(value->valuedouble)))
		return NULL;
	text = cJSON_PrintUnformatted(value);
	if (text && strlen(text) > FG_RPC_ID_MAX) {
		free(text);
		text = NULL;
	}
	return text;
}

int fg_rpc_open(const cJSON *json, struct fg_rpc_message *message, struct fg_error *err)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(json, "id");
	const cJSON *method = cJSON_GetObjectItemCaseSensitive(json, "method");
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "params");
	const char *wrong = NULL;

	*message = (struct fg_rpc_message){.id = fg_rpc_id(id)};
	if (!cJSON_IsObject(json))
		wrong = "a message must be a JSON object";
	else if (strcmp(fg_json_text_or(json, "jsonrpc", ""), "2.0") != 0)
		wrong = "'jsonrpc' must be \"2.0\"";
	else if (id && !message->id)
		wrong = "'id' must be a short string or a whole number";
	else if (!method &&
		 (cJSON_HasObjectItem(json, "result") || cJSON_HasObjectItem(json, "error")))
		return 0;
	else if (!cJSON_IsString(method))
		wrong = "'method' must be a string";
	if (wrong) {
		(void)fg_error_set(err, FG_EINVAL, "%s", wrong);
		return FG_RPC_BAD_REQUEST;
	}
	if (params && !cJSON_IsObject(params)) {
		(void)fg_error_set(err, FG_EINVAL, "'params' must be an object");
		return FG_RPC_BAD_PARAMS;
	}
	message->method = cJSON_GetStringValue(method);
	message->params = params;
	return 0;
}

static void begin(struct fg_json_writer *w, struct fg_strbuf *lines)
{
	fg_json_writer_init(w, lines, 0);
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "jsonrpc", "2.0");
}

void fg_rpc_error(struct fg_strbuf *lines, const char *id, int code, const char *message)
{
	struct fg_json_writer w;

	begin(&w, lines);
	fg_json_raw(&w, "id", id ? id : "null");
	fg_json_begin_object(&w, "error");
	fg_json_int(&w, "code", code);
	fg_json_text(&w, "message", message);
	fg_rpc_end(&w);
}

void fg_rpc_begin_result(struct fg_json_writer *w, struct fg_strbuf *lines, const char *id)
{
	begin(w, lines);
	fg_json_raw(w, "id", id);
	fg_json_begin_object(w, "result");
}

void fg_rpc_begin_notification(struct fg_json_writer *w, struct fg_strbuf *lines,
			       const char *method)
{
	begin(w, lines);
	fg_json_text(w, "method", method);
	fg_json_begin_object(w, "params");
}

void fg_rpc_end(struct fg_json_writer *w)
{
	fg_json_end(w);
	fg_json_end(w);
	fg_strbuf_add_char(w->text, '\n');
}
