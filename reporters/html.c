// SPDX-License-Identifier: Apache-2.0
/*
 * Writes one self-contained page with inline style, script and data. Its Content-Security-Policy
 * allows exactly this style and this script, identified by their digests, and no connections. The
 * data is JSON in an element that browsers do not execute; names reach the page only as text nodes
 * (web/dom.js). Without scripts the page shows the verdicts as plain text.
 */
#include "base/hash.h"
#include "base/text.h"
#include "reporters/card.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/web/assets.h"

enum {
	PADDING = 64
};

static void add_base64(struct fg_strbuf *text, const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t bits = (uint32_t)data[i] << 16 |
				      (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				      (left > 2 ? data[i + 2] : 0);

		fg_strbuf_add_char(text, digits[bits >> 18]);
		fg_strbuf_add_char(text, digits[bits >> 12 & 63]);
		fg_strbuf_add_char(text, digits[left > 1 ? bits >> 6 & 63 : PADDING]);
		fg_strbuf_add_char(text, digits[left > 2 ? bits & 63 : PADDING]);
	}
}

static void add_digest(struct fg_strbuf *text, const struct fg_web_asset *asset)
{
	struct fg_sha256 sha = {0};
	uint8_t digest[FG_SHA256_SIZE] = {0};

	fg_sha256_init(&sha);
	fg_sha256_add(&sha, asset->data, asset->size);
	fg_sha256_finish(&sha, digest);
	fg_strbuf_add_text(text, "'sha256-");
	add_base64(text, digest, sizeof(digest));
	fg_strbuf_add_char(text, '\'');
}

static const char special[] = "<>&\"'";

static void add_title(struct fg_strbuf *text, const struct fg_report *report)
{
	struct fg_strbuf sentence = {0};
	struct fg_strbuf project = {0};

	fg_card_add_run_sentence(&sentence, report->verdict, NULL);
	fg_report_add_name(&project, report->run->project ? report->run->project : "fastgate", 80);
	fg_strbuf_add_text(text, "<title>");
	fg_text_add_references(text, fg_strbuf_text(&sentence), sentence.length, special);
	fg_strbuf_add_text(text, " · ");
	fg_text_add_references(text, fg_strbuf_text(&project), project.length, special);
	fg_strbuf_add_text(text, "</title>\n");
	fg_strbuf_release(&project);
	fg_strbuf_release(&sentence);
}

static void add_plain_text(struct fg_strbuf *text, const struct fg_report *report)
{
	const struct fg_report_options options = {0};
	struct fg_strbuf plain = {0};

	fg_report_terminal(report, &options, &plain);
	fg_strbuf_add_text(text, "<noscript><pre>");
	fg_text_add_references(text, fg_strbuf_text(&plain), plain.length, special);
	fg_strbuf_add_text(text, "</pre></noscript>\n");
	fg_strbuf_release(&plain);
}

void fg_report_html(const struct fg_report *report, const struct fg_report_options *options,
		    struct fg_strbuf *text)
{
	const struct fg_web_asset *style = fg_web_asset_find("style.css");
	const struct fg_web_asset *script = fg_web_asset_find("bundle.js");

	(void)options;
	FG_ASSERT(style && script);
	fg_strbuf_add_text(
		text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "script-src ");
	add_digest(text, script);
	fg_strbuf_add_text(text, "; style-src ");
	add_digest(text, style);
	fg_strbuf_add_text(
		text, "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" "
		      "href=\"data:,\">\n");
	add_title(text, report);
	fg_strbuf_add_text(text, "<style>");
	fg_strbuf_add(text, style->data, style->size);
	fg_strbuf_add_text(text, "</style>\n</head>\n<body>\n<div id=\"page\">");
	add_plain_text(text, report);
	fg_strbuf_add_text(text, "</div>\n<script type=\"application/json\" id=\"data\">");
	fg_report_page_json(report, true, text);
	fg_strbuf_add_text(text, "</script>\n<script type=\"module\">");
	fg_strbuf_add(text, script->data, script->size);
	fg_strbuf_add_text(text, "</script>\n</body>\n</html>\n");
}
