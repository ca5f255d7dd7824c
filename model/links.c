// SPDX-License-Identifier: Apache-2.0
#include "model/links.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define FACT_PREFIX "link."

enum {
	MAX_PATTERN = 2000,
	LINE_TEXT_SIZE = 16,
};

static const char *const facts[] = {
	[FG_WEB_LINK_COMMIT] = FACT_PREFIX "commit",
	[FG_WEB_LINK_FILE] = FACT_PREFIX "file",
	[FG_WEB_LINK_LINE] = FACT_PREFIX "line",
};

const char *fg_web_link_fact(enum fg_web_link link)
{
	return facts[link];
}

const char *fg_web_link_name(enum fg_web_link link)
{
	return facts[link] + strlen(FACT_PREFIX);
}

static bool is_plain(const char *pattern)
{
	const char *host = NULL;

	if (fg_text_starts_with(pattern, "https://"))
		host = pattern + strlen("https://");
	else if (fg_text_starts_with(pattern, "http://"))
		host = pattern + strlen("http://");
	if (!host || (!isalnum((unsigned char)*host) && *host != '[') ||
	    strlen(pattern) > MAX_PATTERN)
		return false;
	for (const char *at = pattern; *at; at++) {
		if (*at <= ' ' || *at > '~' || strchr("\"'<>`\\|", *at))
			return false;
	}
	return true;
}

/* Escapes a value so that it stays within the path: it cannot begin a query or a fragment. */
static void add_value(struct fg_strbuf *url, const char *value)
{
	for (const char *at = value; *at; at++) {
		if (isascii((unsigned char)*at) &&
		    (isalnum((unsigned char)*at) || strchr("-._~/", *at)))
			fg_strbuf_add_char(url, *at);
		else
			fg_strbuf_printf(url, "%%%02X", (unsigned)(unsigned char)*at);
	}
}

/* Returns the path of a file relative to the tree's root; NULL if the file lies outside. */
static const char *in_tree(const char *file)
{
	if (!file || !*file || *file == '/' || fg_text_starts_with(file, "../") ||
	    strstr(file, "/../"))
		return NULL;
	return fg_text_starts_with(file, "./") ? file + 2 : file;
}

bool fg_web_link_expand(const char *pattern, const struct fg_web_link_values *values,
			struct fg_strbuf *url)
{
	char line[LINE_TEXT_SIZE] = "";
	const struct {
		const char *mark;
		const char *value;
	} places[] = {
		{.mark = "{project}", .value = values->project},
		{.mark = "{commit}", .value = values->commit},
		{.mark = "{run}", .value = values->run},
		{.mark = "{file}", .value = in_tree(values->file)},
		{.mark = "{line}", .value = values->line ? line : NULL},
	};

	fg_strbuf_clear(url);
	if (!pattern || !is_plain(pattern))
		return false;
	(void)snprintf(line, sizeof(line), "%u", values->line);
	while (*pattern) {
		size_t p = 0;

		while (p < FG_ARRAY_SIZE(places) && !fg_text_starts_with(pattern, places[p].mark))
			p++;
		if (p == FG_ARRAY_SIZE(places)) {
			fg_strbuf_add_char(url, *pattern++);
			continue;
		}
		if (!places[p].value || !*places[p].value) {
			fg_strbuf_clear(url);
			return false;
		}
		add_value(url, places[p].value);
		pattern += strlen(places[p].mark);
	}
	return true;
}

static const char *pattern_of(const struct fg_run *run, enum fg_web_link link)
{
	return fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, fg_web_link_fact(link));
}

bool fg_web_link_commit(const struct fg_run *run, enum fg_arm arm, struct fg_strbuf *url)
{
	const struct fg_web_link_values values = {.project = run->project,
						  .commit = run->sides[arm].commit};

	return fg_web_link_expand(pattern_of(run, FG_WEB_LINK_COMMIT), &values, url);
}

bool fg_web_link_place(const struct fg_run *run, const char *file, unsigned line,
		       struct fg_strbuf *url)
{
	const struct fg_web_link_values values = {.project = run->project,
						  .commit = run->sides[FG_ARM_CANDIDATE].commit,
						  .file = file,
						  .line = line};

	/* The server does not have uncommitted lines. */
	fg_strbuf_clear(url);
	if (run->sides[FG_ARM_CANDIDATE].dirty)
		return false;
	return fg_web_link_expand(pattern_of(run, FG_WEB_LINK_LINE), &values, url) ||
	       fg_web_link_expand(pattern_of(run, FG_WEB_LINK_FILE), &values, url);
}

bool fg_web_link_run(const struct fg_run *run, struct fg_strbuf *url)
{
	const struct fg_web_link_values values = {.run = run->id};

	return fg_web_link_expand(
		fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, FG_WEB_LINK_RUN), &values,
		url);
}

/* Splits "https://[user@]host/path" or "[user@]host:path" into host and path. */
static bool split_remote(const char *remote, struct fg_strbuf *host, const char **path)
{
	const char *scheme = strstr(remote, "://");
	const char *from = scheme ? scheme + strlen("://") : remote;
	const size_t length = strcspn(from, scheme ? "/" : ":");
	const char *at = memchr(from, '@', length);

	if (!from[length] || (!scheme && memchr(from, '/', length)))
		return false;
	*path = from + length + 1;
	from = at && at < from + length ? at + 1 : from;
	fg_strbuf_add(host, from, (size_t)(*path - 1 - from));
	return true;
}

/* True for the service's host in any domain: "gitlab.com", "gitlab.example.org". */
static bool is_host_of(const char *host, const char *service)
{
	const size_t length = strlen(service);

	return strncmp(host, service, length) == 0 && host[length] == '.' &&
	       !strpbrk(host, ":{}\"'<>") && strlen(host) < MAX_PATTERN;
}

bool fg_web_link_guess(const char *remote, struct fg_strbuf patterns[FG_WEB_LINK_COUNT])
{
	struct fg_strbuf host = {0};
	const char *path = NULL;
	bool github = false;
	bool known = split_remote(remote, &host, &path);

	github = known && is_host_of(fg_strbuf_text(&host), "github");
	known = github || (known && is_host_of(fg_strbuf_text(&host), "gitlab"));
	if (known) {
		const size_t length = strlen(path) - (fg_text_ends_with(path, ".git") ? 4 : 0);
		char *base = fg_xasprintf("https://%s/%.*s%s", fg_strbuf_text(&host), (int)length,
					  path, github ? "" : "/-");

		fg_strbuf_printf(&patterns[FG_WEB_LINK_COMMIT], "%s/commit/{commit}", base);
		fg_strbuf_printf(&patterns[FG_WEB_LINK_FILE], "%s/blob/{commit}/{file}", base);
		fg_strbuf_printf(&patterns[FG_WEB_LINK_LINE], "%s/blob/{commit}/{file}#L{line}",
				 base);
		free(base);
	}
	fg_strbuf_release(&host);
	return known;
}
