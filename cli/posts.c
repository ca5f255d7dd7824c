// SPDX-License-Identifier: Apache-2.0
#include "cli/posts.h"

#include "perfdb/client/post.h"

static int render(const struct fg_report *report, const char *format, struct fg_strbuf *text,
		  struct fg_error *err)
{
	const struct fg_report_options options = {0};
	const struct fg_reporter *reporter = fg_reporter_find(format, err);

	return reporter ? reporter->write(report, &options, text, err) : FG_EINVAL;
}

static bool send_one(const struct fg_cli *cli, const struct fg_post_target *target,
		     const struct fg_post_message *message)
{
	static const char *const done[] = {
		[FG_POST_NOWHERE] = "this run belongs to no pull request: nothing posted to",
		[FG_POST_CREATED] = "wrote a comment on",
		[FG_POST_UPDATED] = "updated the comment on",
		[FG_POST_DELIVERED] = "delivered the report to the",
	};
	const struct fg_post_options options = {.interrupted = cli->interrupted};
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	if (fg_post(target, message, &options, &result, &err) == FG_OK) {
		fg_cli_detail(cli, "%s %s", done[result], target->kind);
		return true;
	}
	fg_cli_warn(cli, "not posted to %s: %s", target->kind, err.message);
	return false;
}

bool fg__posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		    const struct fg_report *report)
{
	struct fg_strbuf marker = {0};
	struct fg_strbuf comment = {0};
	struct fg_strbuf json = {0};
	struct fg_error err = {0};
	bool is_well = true;

	if (plan->post_count == 0)
		return true;
	fg_report_comment_marker(report->run, &marker);
	if (render(report, "comment", &comment, &err) != FG_OK ||
	    render(report, "json", &json, &err) != FG_OK) {
		fg_cli_warn(cli, "nothing is posted: %s", err.message);
		for (size_t i = 0; i < plan->post_count; i++)
			is_well = is_well && !plan->posts[i].required;
		goto out;
	}
	for (size_t i = 0; i < plan->post_count; i++) {
		const struct fg_post_message message = {fg_strbuf_text(&marker),
							fg_strbuf_text(&comment),
							fg_strbuf_text(&json), report->run->id};

		if (!send_one(cli, &plan->posts[i], &message) && plan->posts[i].required)
			is_well = false;
	}
out:
	fg_strbuf_release(&json);
	fg_strbuf_release(&comment);
	fg_strbuf_release(&marker);
	return is_well;
}
