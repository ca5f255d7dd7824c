/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol between perfdb's client and server. docs/formats/upload.md has the details.
 *
 * On the wire, in the spool and in an exported file, a run is one container:
 *
 *	8 bytes   "FGRUN/1\n"
 *	4 × 4     little endian: sizes of envelope, dictionary and values, then the CRC-32C of
 *	          everything after these 24 bytes
 *	...       envelope (JSON), dictionary, values (blocks of store/bytes.h)
 */
#ifndef FG_PERFDB_PROTOCOL_H
#define FG_PERFDB_PROTOCOL_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"

#define FG_WIRE_MAGIC       "FGRUN/1\n"
#define FG_WIRE_CARDS       "/api/v1/cards" /* cards of `fastgate prove` */
#define FG_WIRE_MEDIA_TYPE  "application/vnd.fastgate.run"
#define FG_WIRE_RUNS        "/api/v1/runs"
#define FG_WIRE_KEY_HEADER  "Idempotency-Key" /* the run's id */
#define FG_WIRE_HASH_HEADER "Content-SHA256"  /* SHA-256 of the body, in hexadecimal */
#define FG_WIRE_FILE_ENDING ".fgrun"

enum {
	FG_WIRE_HEADER_SIZE = 24,
	FG_WIRE_MAX_BYTES = 64 << 20, /* maximum size of a container */
};

/* HTTP statuses with a specific meaning here. */
enum {
	FG_HTTP_OK = 200,        /* already stored, with the same content */
	FG_HTTP_CREATED = 201,   /* stored durably */
	FG_HTTP_DIFFERENT = 422, /* the id belongs to a run with other content */
};

struct fg_wire {
	const char *envelope;
	size_t envelope_size;
	const uint8_t *dictionary;
	size_t dictionary_size;
	const uint8_t *values;
	size_t values_size;
};

/* Appends the container to `text`. FG_ELIMIT: the container is larger than a server accepts. */
int fg_wire_write(const struct fg_wire *wire, struct fg_strbuf *text, struct fg_error *err)
	FG_NODISCARD;
/* The parts are borrowed from `data`. */
int fg_wire_read(const void *data, size_t size, struct fg_wire *wire, struct fg_error *err)
	FG_NODISCARD;
/*
 * Computes the SHA-256 of the three parts, in hexadecimal. A server confirms a run by repeating
 * this digest.
 */
void fg_wire_digest(const struct fg_wire *wire, char hex[FG_SHA256_HEX_SIZE]);

#endif
