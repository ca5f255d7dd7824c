// SPDX-License-Identifier: Apache-2.0
/* Cards of `fastgate prove`, one per runner. */
#include "store/proofs.h"

#include "base/clock.h"
#include "base/json.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

enum {
	CARD_MAX_BYTES = 32 << 10,
	FINGERPRINT_LENGTH = 16,
};

int fg_handle_cards(struct fg_request *rq, struct fg_error *err)
{
	struct fg_stored_proofs list = {0};
	const char *project = NULL;
	struct fg_json_writer w;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_store_cards(rq->store, project, &list, err));
	fg_request_json_list(rq, &w, "cards");
	for (size_t i = 0; i < list.count; i++) {
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "host_fingerprint", list.items[i].fingerprint);
		fg_json_time(&w, "received_at", list.items[i].at_ns);
		fg_json_raw(&w, "card", list.items[i].data);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_stored_proofs_release(&list);
	return FG_OK;
}

static bool is_fingerprint(const char *text)
{
	return strlen(text) == FINGERPRINT_LENGTH &&
	       strspn(text, "0123456789abcdef") == FINGERPRINT_LENGTH;
}

/* Reads the card without its member `runs`, which the server does not keep. */
static int read_card(struct fg_request *rq, const cJSON *json, struct fg_stored_proof *card,
		     struct fg_error *err)
{
	cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "card");
	char *text = NULL;

	card->fingerprint =
		fg_arena_strdup(&rq->arena, fg_json_text_or(given, "host_fingerprint", ""));
	if (strcmp(fg_json_text_or(given, "schema", ""), "fastgate-prove/1") != 0 ||
	    !is_fingerprint(card->fingerprint))
		return fg_error_set(err, FG_EPARSE,
				    "expected 'card', an object of schema fastgate-prove/1");
	cJSON_DeleteItemFromObjectCaseSensitive(given, "runs");
	text = cJSON_PrintUnformatted(given);
	if (!text)
		return fg_error_set(err, FG_EPARSE, "the card cannot be written as JSON");
	card->data = fg_arena_strdup(&rq->arena, text);
	cJSON_free(text);
	return strlen(card->data) <= CARD_MAX_BYTES
		       ? FG_OK
		       : fg_error_set(err, FG_ELIMIT,
				      "a card may have at most %d KiB without its runs",
				      CARD_MAX_BYTES >> 10);
}

int fg_handle_put_card(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"card", NULL};
	struct fg_stored_proof card = {.at_ns = fg_clock_wall_ns()};
	const char *project = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, names, &json, &project, err);

	if (status == FG_OK && !project)
		status = fg_error_set(err, FG_EPARSE, "expected a member 'project'");
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(read_card(rq, json, &card, err));
	FG_TRY_OUT(fg_store_put_card(rq->store, project, &card, err));
	rq->answer.status = FG_HTTP_CREATED;
	fg_decision_answer(rq, "host_fingerprint", card.fingerprint, 0);
out:
	cJSON_Delete(json);
	return status;
}
