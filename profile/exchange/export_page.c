// SPDX-License-Identifier: Apache-2.0
/* What pages that stand alone have in common. */
#include "profile/exchange/export_formats.h"

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:110em;padding:0 1em;"
	"color:#1b1f27;background:#fff}"
	"table{border-collapse:collapse;margin:.5em 0}"
	"th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #d5d9e0}"
	"td{white-space:nowrap}th.text,td.text{text-align:left;white-space:normal}"
	"summary{cursor:pointer;padding:.15em 0}details details{margin-left:1.2em}"
	".bar{display:inline-block;height:.8em;background:#2f7fc4}td.bars{width:26em;text-align:left}"
	"ol{margin:.3em 0}.quiet{color:#565e6c}"
	"svg.course,svg.flame{width:100%;font:12px system-ui,sans-serif}svg text{fill:currentColor}"
	"svg.flame text{fill:#1b1f27}.scale{stroke:#d5d9e0}.held{fill:none;stroke:#2f7fc4;"
	"stroke-width:1.5;stroke-linejoin:round}svg a circle{fill:#d3462f}"
	"svg a text{text-decoration:underline}"
	"@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14171c}"
	"th,td{border-color:#373d48}.quiet{color:#a4acb9}.scale{stroke:#373d48}}";

void fg_export_page_text(struct fg_xml_writer *w, const char *element, const char *class,
			 const char *text)
{
	fg_xml_begin(w, element);
	if (class)
		fg_xml_attribute(w, "class", class);
	fg_xml_text(w, text);
	fg_xml_end(w);
}

void fg_export_page_begin(struct fg_xml_writer *w, const struct fg_profile *profile,
			  const char *title)
{
	fg_strbuf_add_text(w->text, "<!doctype html>");
	fg_xml_begin(w, "html");
	fg_xml_attribute(w, "lang", "en");
	fg_xml_begin(w, "head");
	fg_xml_begin(w, "meta");
	fg_xml_attribute(w, "charset", "utf-8");
	fg_xml_end(w);
	fg_export_page_text(w, "title", NULL, title);
	fg_export_page_text(w, "style", NULL, style);
	fg_xml_end(w);
	fg_xml_begin(w, "body");
	fg_xml_begin(w, "main");
	fg_export_page_text(w, "h1", NULL, title);
	fg_export_page_text(w, "p", "quiet", profile->title ? profile->title : "");
}
