// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

FG_PRINTF(3, 0)
static void set(struct fg_error *err, enum fg_status code, const char *format, va_list ap)
{
	if (err) {
		err->code = code;
		(void)vsnprintf(err->message, sizeof(err->message), format, ap);
	}
}

int fg_error_set(struct fg_error *err, enum fg_status code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set(err, code, format, ap);
	va_end(ap);
	return (int)code;
}

int fg_error_errno(struct fg_error *err, enum fg_status code, const char *format, ...)
{
	const int saved = errno;
	char text[128] = "";
	va_list ap;

	va_start(ap, format);
	set(err, code, format, ap);
	va_end(ap);
	if (err) {
		const size_t used = strlen(err->message);

		(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
			       strerror_r(saved, text, sizeof(text)));
	}
	errno = saved;
	return (int)code;
}

void fg_error_prefix(struct fg_error *err, const char *format, ...)
{
	const size_t last = FG_ERROR_MESSAGE_SIZE - 1;
	char text[FG_ERROR_MESSAGE_SIZE] = "";
	size_t used = 0;
	size_t kept = 0;
	va_list ap;

	if (!err)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text) - 2, format, ap);
	va_end(ap);
	used = strlen(text);
	text[used++] = ':';
	text[used++] = ' ';
	kept = strnlen(err->message, last - used);
	memmove(err->message + used, err->message, kept);
	memcpy(err->message, text, used);
	err->message[used + kept] = '\0';
}
