// SPDX-License-Identifier: Apache-2.0
#include "base/secrets.h"

#include "base/base.h"

struct secret {
	struct secret *next;
	char *name;
	char *value;
};

static struct secret *first;

void fg_secret_take(const char *name)
{
	char *found = name ? getenv(name) : NULL;
	struct secret *secret = NULL;

	if (!found)
		return;
	for (secret = first; secret && strcmp(secret->name, name) != 0;)
		secret = secret->next;
	if (!secret) {
		secret = fg_xcalloc(1, sizeof(*secret));
		secret->name = fg_xstrdup(name);
		secret->next = first;
		first = secret;
	}
	free(secret->value);
	secret->value = fg_xstrdup(found);
	explicit_bzero(found, strlen(found));
	(void)unsetenv(name);
}

const char *fg_secret(const char *name)
{
	for (const struct secret *s = first; s && name; s = s->next) {
		if (strcmp(s->name, name) == 0)
			return *s->value ? s->value : NULL;
	}
	return NULL;
}
