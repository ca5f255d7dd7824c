// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/body.h"

static void forget(struct fg_body *body)
{
	if (body->total)
		atomic_fetch_sub(body->total, body->counted);
	body->counted = 0;
	fg_strbuf_release(&body->bytes);
}

void fg_body_add(struct fg_body *body, const void *data, size_t size)
{
	if (body->state != FG_BODY_COMPLETE)
		return;
	body->counted += size;
	if (atomic_fetch_add(body->total, size) + size > body->total_limit)
		body->state = FG_BODY_NO_ROOM;
	if (body->bytes.length + size > body->limit)
		body->state = FG_BODY_TOO_LARGE;
	if (body->state == FG_BODY_COMPLETE)
		fg_strbuf_add(&body->bytes, data, size);
	else
		forget(body);
}

void fg_body_release(struct fg_body *body)
{
	forget(body);
}
