// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/proxies.h"

#include "perfdb/server/ranges.h"

enum {
	HOPS_MAX = 32
};

/* Accepts "192.0.2.1", "192.0.2.1:80" and "[2001:db8::1]:80". */
static bool parse_node(const char *text, size_t size, struct fg_address *address)
{
	char node[FG_ADDRESS_TEXT_SIZE + 10];
	char *start = node;
	char *end = NULL;

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

/*
 * Finds, from the right, the first address that is not a trusted proxy, or the leftmost address if
 * all are proxies. False if an entry is not an address, or if the list is too long.
 */
static bool read_list(const struct fg_ranges *proxies, const char *list, struct fg_address *client)
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
		if (!parse_node(start, size, client))
			return false;
		if (!fg_ranges_have(proxies, client))
			return true;
		while (start > list && start[-1] != ',')
			start--;
		if (start == list)
			return true; /* the leftmost proxy sent the request itself */
		end = start - 1;
	}
	return false;
}

bool fg_proxies_trust(const struct fg_ranges *proxies, const char *peer)
{
	struct fg_address address;

	return fg_address_parse(peer, &address) && fg_ranges_have(proxies, &address);
}

void fg_proxies_client(const struct fg_ranges *proxies, const char *peer, const char *forwarded_for,
		       char client[FG_ADDRESS_TEXT_SIZE])
{
	struct fg_address address;
	struct fg_address named;

	(void)snprintf(client, FG_ADDRESS_TEXT_SIZE, "%s", peer);
	if (!fg_address_parse(peer, &address))
		return;
	if (forwarded_for && fg_ranges_have(proxies, &address) &&
	    read_list(proxies, forwarded_for, &named))
		address = named;
	fg_address_format(&address, client);
}
