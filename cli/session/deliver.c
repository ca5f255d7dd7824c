// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/secrets.h"
#include "cli/session/plan.h"
#include "cli/session/stored.h"
#include "perfdb/client/post.h"
#include "reporters/card.h"

/* ---- server ---- */

static void print_progress(void *context, const char *file, const char *what)
{
	fg_cli_detail(context, "%s: %s", file, what);
}

static const char *server_of_environment(void)
{
	const char *url = getenv("PERFDB_URL");

	return url && *url ? url : NULL;
}

int fg_cli_server_options(struct fg_cli *cli, const struct fg_cli_server *given,
			  const struct fg_perfdb *perfdb, struct fg_push_options *options,
			  struct fg_error *err)
{
	const char *token_env = given->token_env ? given->token_env : perfdb->token_env;
	const char *planned = perfdb->url ? perfdb->url : server_of_environment();

	*options = (struct fg_push_options){
		.url = given->url ? given->url : planned,
		.token = token_env ? fg_secret(token_env) : NULL,
		.ca_file = given->ca_file ? given->ca_file : perfdb->ca_file,
		.attempts = given->attempts,
		.timeout_ns = given->timeout_ns,
		.interrupted = cli->interrupted,
		.on_progress = print_progress,
		.context = cli,
	};
	if (!options->token || given->url || !perfdb->url_from_file ||
	    fg_tokens_allow_url(perfdb->url))
		return FG_OK;
	return fg_error_set(
		err, FG_EINVAL,
		"only fastgate.yml names %s, and $%s is not sent to an address from a checkout: "
		"give the address in PERFDB_URL or with --url",
		perfdb->url, token_env);
}

/* ---- upload ---- */

enum {
	REQUIRED_ATTEMPTS = 5,
	OTHER_ATTEMPTS = 2,
	TIMEOUT_S = 60
};

static int spool_and_push(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *spool,
			  const struct fg_stored_run *run, bool may_send, struct fg_error *err)
{
	const struct fg_cli_server given = {
		.attempts =
			perfdb->upload == FG_UPLOAD_REQUIRED ? REQUIRED_ATTEMPTS : OTHER_ATTEMPTS,
		.timeout_ns = TIMEOUT_S * FG_NS_PER_S,
	};
	struct fg_push_options options = {0};
	struct fg_push_result result = {0};
	int status = fg_cli_spool_run(spool, run, err);

	if (status != FG_OK || !may_send)
		return status;
	FG_TRY(fg_cli_server_options(cli, &given, perfdb, &options, err));
	FG_TRY(fg_push_spool(spool, &options, &result, err));
	fg_cli_say(cli, "sent run %.8s to %s", run->run.id, options.url);
	return status;
}

bool fg_upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		   struct fg_store *store, const char *id, bool may_send)
{
	struct fg_stored_run run = {0};
	struct fg_error err = {0};
	char *spool = NULL;
	int status = FG_OK;

	if (!perfdb->url || perfdb->upload == FG_UPLOAD_NEVER || !store)
		return true;
	spool = fg_fs_join(state_folder, "spool");
	status = fg_store_load(store, id, &run, &err);
	if (status == FG_OK)
		status = spool_and_push(cli, perfdb, spool, &run, may_send, &err);
	if (status != FG_OK)
		fg_cli_warn(cli, "the run was not sent%s: %s (`fastgate push` tries again)",
			    perfdb->upload == FG_UPLOAD_REQUIRED
				    ? ", and perfdb.upload is 'required'"
				    : "",
			    err.message);
	fg_stored_run_release(&run);
	free(spool);
	return status == FG_OK || perfdb->upload != FG_UPLOAD_REQUIRED;
}

/* ---- posts ---- */

enum {
	REPORT_MAX_BYTES = 64 << 20
};

static int render(const struct fg_report *report, const char *format, struct fg_strbuf *text,
		  struct fg_error *err)
{
	const struct fg_report_options options = {0};
	const struct fg_reporter *reporter = fg_reporter_find(format, err);

	if (!reporter)
		return FG_EINVAL;
	reporter->write(report, &options, text);
	return FG_OK;
}

/*
 * Refuses to sign for a webhook whose address only a checkout names. The addresses of GitHub and
 * GitLab come from the job's variables.
 */
static int check_target(const struct fg_post_target *target, struct fg_error *err)
{
	if (strcmp(target->kind, "webhook") != 0 || !target->from_file || !target->token_env ||
	    fg_tokens_allow_url(target->value))
		return FG_OK;
	return fg_error_set(
		err, FG_EINVAL,
		"the webhook's address comes from fastgate.yml, which is not trusted, so nothing is "
		"signed with $%s for it: add the address to FASTGATE_TRUSTED_URLS",
		target->token_env);
}

static bool send_one(const struct fg_cli *cli, const struct fg_post_target *target,
		     const struct fg_post_message *message)
{
	static const char *const done[] = {
		[FG_POST_NOWHERE] =
			("no commit or pull request is known for this run: nothing was posted to"),
		[FG_POST_CREATED] = "wrote a",
		[FG_POST_UPDATED] = "updated the",
		[FG_POST_DELIVERED] = "delivered the report to the",
	};
	const struct fg_post_options options = {.interrupted = cli->interrupted};
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	if (check_target(target, &err) != FG_OK ||
	    fg_post(target, message, &options, &result, &err) != FG_OK) {
		fg_cli_warn(cli, "the report was not posted to %s: %s", target->kind, err.message);
		return false;
	}
	/* A webhook's value is its address, which may be a secret. */
	if (result == FG_POST_CREATED || result == FG_POST_UPDATED)
		fg_cli_detail(cli, "%s %s on %s", done[result], target->value, target->kind);
	else
		fg_cli_detail(cli, "%s %s", done[result], target->kind);
	return true;
}

/* Strings shared by all targets of one result; starts zeroed. */
struct texts {
	struct fg_strbuf marker, comment, name, title;
};

static void release_texts(struct texts *texts)
{
	fg_strbuf_release(&texts->marker);
	fg_strbuf_release(&texts->comment);
	fg_strbuf_release(&texts->name);
	fg_strbuf_release(&texts->title);
}

static int write_texts(const struct fg_report *report, struct texts *texts, struct fg_error *err)
{
	const int status = render(report, "comment", &texts->comment, err);

	fg_report_comment_marker(report->run, &texts->marker);
	fg_report_status_name(report->run, &texts->name);
	fg_card_add_run_sentence(&texts->title, report->verdict, NULL);
	return status;
}

static int write_body(const struct fg_report *report, const char *json, const char *format,
		      struct fg_strbuf *body, struct fg_error *err)
{
	if (!format)
		return FG_OK;
	if (json && strcmp(format, "csv-raw") == 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"csv-raw needs the values of individual repetitions, which a report.json "
			"does not have");
	if (!json || strcmp(format, "json") != 0)
		return render(report, format, body, err);
	fg_strbuf_add_text(body, json);
	return FG_OK;
}

/* Sends the result to one target in its format; if that fails, warns and returns false. */
static bool send_to(const struct fg_cli *cli, const struct fg_post_target *target,
		    const struct fg_report *report, const char *json,
		    struct fg_post_message message)
{
	const struct fg_reporter *reporter =
		target->format ? fg_reporter_find(target->format, NULL) : NULL;
	struct fg_strbuf body = {0};
	struct fg_error err = {0};
	bool is_sent = false;

	if (write_body(report, json, target->format, &body, &err) == FG_OK) {
		message.body = fg_strbuf_text(&body);
		message.media_type = reporter ? reporter->media_type : NULL;
		is_sent = send_one(cli, target, &message);
	} else {
		fg_cli_warn(cli, "the report was not posted to %s: %s", target->kind, err.message);
	}
	fg_strbuf_release(&body);
	return is_sent;
}

bool fg_posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		   const struct fg_report *report, const char *json)
{
	struct texts texts = {0};
	struct fg_error err = {0};
	bool is_well = true;

	if (plan->post_count == 0)
		return true;
	if (write_texts(report, &texts, &err) != FG_OK) {
		fg_cli_warn(cli, "nothing is posted: %s", err.message);
		for (size_t i = 0; i < plan->post_count; i++)
			is_well = is_well && !plan->posts[i].required;
		goto out;
	}
	for (size_t i = 0; i < plan->post_count; i++) {
		const struct fg_post_message message = {
			.marker = fg_strbuf_text(&texts.marker),
			.comment = fg_strbuf_text(&texts.comment),
			.run_id = report->run->id,
			.name = fg_strbuf_text(&texts.name),
			.title = fg_strbuf_text(&texts.title),
			.exit_code = report->verdict->exit_code,
			.is_open = report->verdict->outcome == FG_OUTCOME_INCONCLUSIVE,
		};

		if (!send_to(cli, &plan->posts[i], report, json, message) &&
		    plan->posts[i].required)
			is_well = false;
	}
out:
	release_texts(&texts);
	return is_well;
}

int fg_posts_send_file(const struct fg_cli *cli, const struct fg_plan *plan, const char *path,
		       struct fg_error *err)
{
	struct fg_verdict verdict = {0};
	struct fg_run run;
	const struct fg_report report = {.run = &run, .verdict = &verdict};
	char *json = NULL;
	size_t size = 0;
	int status = FG_OK;

	fg_run_init(&run);
	FG_TRY(fg_fs_read_regular(path, REPORT_MAX_BYTES, &json, &size, err));
	status = fg_report_read(json, size, &verdict, err);
	if (status == FG_OK)
		status = fg_report_read_run(json, size, &run, err);
	if (status != FG_OK) {
		fg_error_prefix(err, "%s", path);
		goto out;
	}
	fg_cli_record_links(plan, &run.sides[FG_ARM_CANDIDATE].build);
	/* A report must not determine which comment is rewritten. */
	free(run.project);
	run.project = fg_xstrdup(plan->project ? plan->project : "");
	if (plan->post_count == 0)
		fg_cli_say(cli, "report.post has no target: nothing is posted");
	status = fg_posts_send(cli, plan, &report, json) ? FG_EXIT_PASS : FG_EXIT_UPLOAD;
out:
	fg_run_release(&run);
	fg_verdict_release(&verdict);
	free(json);
	return status;
}
