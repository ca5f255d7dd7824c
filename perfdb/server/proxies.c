// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/proxies.h"

#include "perfdb/server/ranges.h"

enum {
	HOPS_MAX = 32
};

struct fg_proxies {
	struct fg_ranges *ranges;
};

int fg_proxies_new(const char *const *ranges, size_t count, struct fg_proxies **proxies,
		   struct fg_error *err)
{
	struct fg_proxies *p = fg_xcalloc(1, sizeof(*p));

	*proxies = p;
	return fg_ranges_new(ranges, count, &p->ranges, err);
}

void fg_proxies_free(struct fg_proxies *proxies)
{
	if (!proxies)
		return;
	fg_ranges_free(proxies->ranges);
	free(proxies);
}

/* Accepts "192.0.2.1", "192.0.2.1:80" and "[2001:db8::1]:80", quoted or not. */
static bool parse_node(const char *text, size_t size, struct fg_address *address)
{
	char node[FG_ADDRESS_TEXT_SIZE + 10];
	char *start = node;
	char *end = NULL;

	if (size >= 2 && text[0] == '"' && text[size - 1] == '"') {
		text++;
		size -= 2;
	}
	if (size >= sizeof(node))
		return false;
	memcpy(node, text, size);
	node[size] = '\0';
	if (*start == '[') {
		end = strchr(++start, ']');
		if (!end)
			return false;
	} else if (strchr(start, ':') && strchr(start, ':') == strrchr(start, ':')) {
		end = strchr(start, ':');
	}
	if (end)
		*end = '\0';
	return fg_address_parse(start, address);
}

/* The node in one hop of a Forwarded header: for=NODE;proto=https;by=... */
static bool parse_forwarded(const char *text, size_t size, struct fg_address *address)
{
	while (size > 0) {
		const char *semicolon = memchr(text, ';', size);
		size_t length = semicolon ? (size_t)(semicolon - text) : size;
		const size_t step = semicolon ? length + 1 : length;
		const char *pair = text;

		while (length > 0 && (*pair == ' ' || *pair == '\t')) {
			pair++;
			length--;
		}
		if (length > 4 && strncasecmp(pair, "for=", 4) == 0)
			return parse_node(pair + 4, length - 4, address);
		text += step;
		size -= step;
	}
	return false;
}

typedef bool parse_hop(const char *text, size_t size, struct fg_address *address);

/*
 * Finds, from the right, the first address that is not a trusted proxy. False if the list ends
 * before one.
 */
static bool read_list(const struct fg_proxies *proxies, const char *list, parse_hop *parse,
		      struct fg_address *client)
{
	const char *end = list + strlen(list);

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const char *start = end;
		size_t size = 0;

		while (start > list && start[-1] != ',')
			start--;
		size = (size_t)(end - start);
		while (size > 0 && (*start == ' ' || *start == '\t')) {
			start++;
			size--;
		}
		while (size > 0 && (start[size - 1] == ' ' || start[size - 1] == '\t'))
			size--;
		if (!parse(start, size, client))
			return false;
		if (!fg_ranges_have(proxies->ranges, client))
			return true;
		while (start > list && start[-1] != ',')
			start--;
		if (start == list)
			return true; /* all are trusted: the leftmost one sent the request */
		end = start - 1;
	}
	return false;
}

bool fg_proxies_trust(const struct fg_proxies *proxies, const char *peer)
{
	struct fg_address address;

	return fg_address_parse(peer, &address) && fg_ranges_have(proxies->ranges, &address);
}

void fg_proxies_client(const struct fg_proxies *proxies, const char *peer, const char *forwarded,
		       const char *x_forwarded_for, char client[FG_ADDRESS_TEXT_SIZE])
{
	struct fg_address address;
	struct fg_address named[2];
	bool is_named[2] = {false, false};

	(void)snprintf(client, FG_ADDRESS_TEXT_SIZE, "%s", peer);
	if (!fg_address_parse(peer, &address))
		return;
	fg_address_format(&address, client);
	if (!fg_ranges_have(proxies->ranges, &address))
		return;
	if (forwarded)
		is_named[0] = read_list(proxies, forwarded, parse_forwarded, &named[0]);
	if (x_forwarded_for)
		is_named[1] = read_list(proxies, x_forwarded_for, parse_node, &named[1]);
	if (forwarded && x_forwarded_for &&
	    (!is_named[0] || !is_named[1] || memcmp(&named[0], &named[1], sizeof(address)) != 0))
		return;
	if (is_named[0] || is_named[1])
		fg_address_format(is_named[0] ? &named[0] : &named[1], client);
}
