/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's functions, available once fg_curl_open() has opened the library. */
#ifndef FG_PERFDB_CLIENT_LIBCURL_H
#define FG_PERFDB_CLIENT_LIBCURL_H

#include "base/error.h"

#include <curl/curl.h>

#define FG_CURL_CALLS(CALL) \
 CALL(easy_cleanup)         \
 CALL(easy_escape)          \
 CALL(easy_getinfo)         \
 CALL(easy_header)          \
 CALL(easy_init)            \
 CALL(easy_perform)         \
 CALL(easy_setopt)          \
 CALL(easy_strerror)        \
 CALL(free)                 \
 CALL(global_init)          \
 CALL(mime_addpart)         \
 CALL(mime_data)            \
 CALL(mime_encoder)         \
 CALL(mime_free)            \
 CALL(mime_init)            \
 CALL(mime_type)            \
 CALL(slist_append)         \
 CALL(slist_free_all)       \
 CALL(url)                  \
 CALL(url_cleanup)          \
 CALL(url_get)              \
 CALL(url_set)
#define FG_CURL_MEMBER(name) __typeof__(curl_##name) *(name);

struct fg_curl {
	FG_CURL_CALLS(FG_CURL_MEMBER)
};

extern struct fg_curl fg_curl;

/* Opens libcurl. http.c initialises the library. */
int fg_curl_open(struct fg_error *err) FG_NODISCARD;

/*
 * Sets an option, whose number determines the type of its value: a `long` or a pointer. An int,
 * past whose end libcurl would read, does not compile. (The check in curl.h only sees calls of
 * curl_easy_setopt() by that name.)
 */
#define FG_CURL_TAKES_NUMBER(option)    \
 ((option) < CURLOPTTYPE_OBJECTPOINT || \
  ((option) >= CURLOPTTYPE_OFF_T && (option) < CURLOPTTYPE_BLOB))
#define FG_CURL_FITS(option, value)               \
 _Generic((value), int : 0, unsigned : 0, long    \
	  : FG_CURL_TAKES_NUMBER(option), default \
	  : !FG_CURL_TAKES_NUMBER(option))
#define fg_curl_set(curl, option, value)                    \
 ((void)sizeof(char[FG_CURL_FITS(option, value) ? 1 : -1]), \
  (void)fg_curl.easy_setopt(curl, option, value))

#endif
