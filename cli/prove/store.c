// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "cli/prove/prove.h"
#include "cli/session/stored.h"
#include "gate/prove_json.h"
#include "perfdb/client/http.h"
#include "perfdb/protocol.h"
#include "runner/facts/host.h"

static const char *project_of(const struct fg_plan *plan)
{
	return plan->project ? plan->project : "";
}

size_t fg_prove_read(const struct fg_stored_proofs *list, struct fg_arena *arena,
		     struct fg_proof **proofs)
{
	size_t count = 0;

	*proofs = fg_xcalloc(list->count + 1, sizeof((*proofs)[0]));
	for (size_t i = 0; i < list->count; i++) {
		const char *data = list->items[i].data;
		struct fg_proof *proof = &(*proofs)[count];

		/* skip a damaged row */
		if (!data || fg_proof_read(data, strlen(data), arena, proof, NULL) != FG_OK)
			continue;
		proof->at_ns = list->items[i].at_ns;
		count++;
	}
	return count;
}

static void runner_fingerprint(char text[17])
{
	struct fg_environment host = {0};

	fg_host_capture("", &host);
	fg_environment_fingerprint(&host, text);
	fg_environment_release(&host);
}

int fg_prove_load(const struct fg_plan *plan, struct fg_stored_proofs *list, struct fg_error *err)
{
	char *path = fg_fs_join(plan->root, plan->store_path);
	struct fg_store *store = NULL;
	char fingerprint[17] = "";
	int status = FG_OK;

	if (fg_fs_exists(path))
		status = fg_store_open(path, FG_STORE_READ_ONLY, &store, err);
	free(path);
	if (status != FG_OK || !store)
		return status;
	runner_fingerprint(fingerprint);
	status = fg_store_proofs(store, project_of(plan), fingerprint, list, err);
	fg_store_close(store);
	return status;
}

static int take_newest(struct fg_prove *prove, struct fg_error *err)
{
	struct fg_stored_proofs list = {0};

	FG_TRY(fg_store_proofs(prove->store, project_of(prove->plan), prove->fingerprint, &list,
			       err));
	if (list.count > 0 && list.items[0].card)
		(void)snprintf(prove->card_id, sizeof(prove->card_id), "%s", list.items[0].card);
	prove->proof_count = fg_prove_read(&list, &prove->plan->arena, &prove->proofs);
	prove->proof_capacity = list.count + 1;
	fg_stored_proofs_release(&list);
	return FG_OK;
}

static int open_store(struct fg_prove *prove, struct fg_error *err)
{
	char *path = fg_fs_join(prove->plan->root, prove->plan->store_path);
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status == FG_OK)
		status = fg_store_open(path, 0, &prove->store, err);
	free(folder);
	free(path);
	return status;
}

int fg_prove_open(struct fg_prove *prove, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(fg_random_uuid(prove->card_id, err));
	runner_fingerprint(prove->fingerprint);
	status = open_store(prove, err);
	if (status != FG_OK || !prove->request.nightly)
		return status;
	return take_newest(prove, err);
}

int fg_prove_keep(struct fg_prove *prove, struct fg_error *err)
{
	const struct fg_proof *proof = &prove->proofs[prove->proof_count - 1];
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status;

	fg_json_writer_init(&w, &text, 0);
	fg_proof_write(&w, NULL, proof);
	status = fg_store_add_proof(prove->store, project_of(prove->plan),
				    &(struct fg_stored_proof){.card = prove->card_id,
							      .fingerprint = prove->fingerprint,
							      .at_ns = proof->at_ns,
							      .data = fg_strbuf_text(&text)},
				    err);
	fg_strbuf_release(&text);
	return status;
}

void fg_prove_card(struct fg_plan *plan, const struct fg_proof *proofs, size_t count,
		   struct fg_proof_card *card)
{
	struct fg_proof_card_plan *plans =
		fg_arena_array(&plan->arena, plan->benchmark_count + 1, sizeof(plans[0]));

	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = &plan->benchmarks[i];

		plans[i] = (struct fg_proof_card_plan){
			.benchmark = benchmark->name,
			.max_pairs = benchmark->measure.max_pairs,
			.budget_s = (double)benchmark->measure.budget_ns / FG_NS_PER_S,
		};
	}
	fg_proof_card_make(proofs, count, plans, plan->benchmark_count, card);
}

/* ---- upload ---- */

static int post(const struct fg_push_options *to, const struct fg_strbuf *body,
		struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	const struct fg_http_options options = {.url = to->url,
						.token = to->token,
						.ca_file = to->ca_file,
						.timeout_ns = to->timeout_ns,
						.interrupted = to->interrupted};
	struct fg_http_reply reply = {0};
	struct fg_http *http = NULL;
	int status = FG_OK;

	FG_TRY(fg_http_open(&options, &http, err));
	status = fg_http_send(http,
			      &(struct fg_http_request){.method = "POST",
							.path = FG_WIRE_CARDS,
							.headers = headers,
							.body = body->data,
							.body_size = body->length},
			      &reply, err);
	if (status == FG_OK && reply.status != FG_HTTP_CREATED)
		status = fg_http_describe(http, &reply, err);
	fg_strbuf_release(&reply.body);
	fg_http_close(http);
	return status;
}

static int send(const struct fg_prove *prove, struct fg_error *err)
{
	const struct fg_cli_server given = {0};
	struct fg_push_options options = {0};
	struct fg_strbuf body = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	FG_TRY(fg_cli_server_options(prove->cli, &given, &prove->plan->perfdb, &options, err));
	fg_json_writer_init(&w, &body, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "project", project_of(prove->plan));
	fg_prove_json_into(prove, "card", false, &w);
	fg_json_end(&w);
	status = post(&options, &body, err);
	fg_strbuf_release(&body);
	return status;
}

static int put_card(const struct fg_prove *prove, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status;

	fg_json_writer_init(&w, &text, 0);
	fg_prove_json_into(prove, NULL, false, &w);
	status = fg_store_put_card(prove->store, project_of(prove->plan),
				   &(struct fg_stored_proof){.fingerprint = prove->fingerprint,
							     .at_ns = fg_clock_wall_ns(),
							     .data = fg_strbuf_text(&text)},
				   err);
	fg_strbuf_release(&text);
	return status;
}

void fg_prove_publish(const struct fg_prove *prove)
{
	const struct fg_perfdb *perfdb = &prove->plan->perfdb;
	struct fg_error err = {0};

	if (prove->card.runs == 0)
		return;
	if (put_card(prove, &err) != FG_OK)
		fg_cli_warn(prove->cli, "the card was not stored: %s", err.message);
	if (perfdb->url && perfdb->upload != FG_UPLOAD_NEVER && send(prove, &err) != FG_OK)
		fg_cli_warn(prove->cli, "the card was not sent: %s", err.message);
}
