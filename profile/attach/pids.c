// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/threads.h"

#include <stdlib.h>

void fg_pids_add(struct fg_pids *pids, pid_t pid)
{
	FG_APPEND(pids->items, pids->count, pids->capacity) = pid;
}

bool fg_pids_contain(const struct fg_pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (pids->items[i] == pid)
			return true;
	}
	return false;
}

void fg_pids_release(struct fg_pids *pids)
{
	free(pids->items);
	*pids = (struct fg_pids){0};
}
