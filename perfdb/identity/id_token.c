// SPDX-License-Identifier: Apache-2.0
#include "perfdb/identity/id_token.h"

#include <cjose/cjose.h>

enum {
	CLAIMS_MAX_BYTES = 64 << 10,
	CLOCK_SKEW_SECONDS = 60,
	AGE_MAX_SECONDS = 600 /* since it was issued: it comes straight from the issuer */
};

static int refuse(struct fg_error *err, const char *why)
{
	return fg_error_set(err, FG_EPARSE, "the identity server's token: %s", why);
}

/* Signatures with a public key.  "none" and keyed hashes prove nothing here. */
static bool is_signature(const char *algorithm)
{
	static const char *const known[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
					    "PS512", "ES256", "ES384", "ES512"};

	for (size_t i = 0; algorithm && i < FG_ARRAY_SIZE(known); i++) {
		if (strcmp(algorithm, known[i]) == 0)
			return true;
	}
	return false;
}

static bool is_usable(const cJSON *key, const char *id, const char *algorithm)
{
	const char *own_id = fg_json_text_or(key, "kid", NULL);
	const char *use = fg_json_text_or(key, "use", "sig");
	const char *own_algorithm = fg_json_text_or(key, "alg", algorithm);

	return strcmp(use, "sig") == 0 && strcmp(own_algorithm, algorithm) == 0 &&
	       (!id || (own_id && strcmp(own_id, id) == 0));
}

/* The only key that can be meant; NULL: none, or several. */
static const cJSON *find_key(const cJSON *keys, const char *id, const char *algorithm)
{
	const cJSON *found = NULL;
	const cJSON *key = NULL;

	cJSON_ArrayForEach(key, cJSON_GetObjectItemCaseSensitive(keys, "keys"))
	{
		if (!is_usable(key, id, algorithm))
			continue;
		if (found)
			return NULL;
		found = key;
	}
	return found;
}

static int verify_with(cjose_jws_t *token, const cJSON *json, struct fg_error *err)
{
	char *text = cJSON_PrintUnformatted(json);
	cjose_jwk_t *key = text ? cjose_jwk_import(text, strlen(text), NULL) : NULL;
	bool is_valid = key && cjose_jws_verify(token, key, NULL);

	cJSON_free(text);
	if (key)
		(void)cjose_jwk_release(key);
	return is_valid ? FG_OK : refuse(err, "its signature is wrong");
}

static int verify(cjose_jws_t *token, const cJSON *keys, struct fg_error *err)
{
	cjose_header_t *header = cjose_jws_get_protected(token);
	const char *algorithm = cjose_header_get(header, CJOSE_HDR_ALG, NULL);
	const char *id = cjose_header_get(header, CJOSE_HDR_KID, NULL);
	char *critical = cjose_header_get_raw(header, "crit", NULL);
	const bool has_critical = critical != NULL;
	const cJSON *key = NULL;

	free(critical);
	if (!is_signature(algorithm))
		return refuse(err, "it is not signed with a public key");
	if (has_critical)
		return refuse(err, "it has critical extensions");
	key = find_key(keys, id, algorithm);
	if (!key)
		return fg_error_set(err, FG_ENOENT,
				    "the identity server's token is signed with an unknown key");
	return verify_with(token, key, err);
}

static bool is_for(const cJSON *claims, const char *client)
{
	const cJSON *audience = cJSON_GetObjectItemCaseSensitive(claims, "aud");
	const char *party = fg_json_text_or(claims, "azp", NULL);
	const cJSON *one = NULL;
	bool is_named = false;

	if (cJSON_IsString(audience))
		return strcmp(audience->valuestring, client) == 0 &&
		       (!party || strcmp(party, client) == 0);
	cJSON_ArrayForEach(one, audience)
	{
		is_named =
			is_named || (cJSON_IsString(one) && strcmp(one->valuestring, client) == 0);
	}
	if (!is_named)
		return false;
	/* Where others may read it too, it must have been made for us. */
	return party ? strcmp(party, client) == 0 : cJSON_GetArraySize(audience) == 1;
}

static bool is_equal(const cJSON *claims, const char *name, const char *value)
{
	return strcmp(fg_json_text_or(claims, name, ""), value) == 0;
}

static int check_claims(const cJSON *claims, const struct fg_id_token_expected *expected,
			struct fg_error *err)
{
	const double now = (double)expected->now_s;
	const double expires = fg_json_double_or(claims, "exp", 0);
	const double issued = fg_json_double_or(claims, "iat", 0);

	if (!is_equal(claims, "iss", expected->issuer))
		return refuse(err, "it is of another issuer");
	if (!is_for(claims, expected->client))
		return refuse(err, "it is for another client");
	if (!is_equal(claims, "nonce", expected->nonce))
		return refuse(err, "it answers another sign-in");
	if (expires + CLOCK_SKEW_SECONDS <= now)
		return refuse(err, "it has expired");
	if (issued - CLOCK_SKEW_SECONDS > now || issued + AGE_MAX_SECONDS < now)
		return refuse(err, "it was not issued just now: is a clock wrong?");
	if (!*fg_json_text_or(claims, "sub", ""))
		return refuse(err, "it names nobody");
	return FG_OK;
}

static int read_claims(const cjose_jws_t *token, cJSON **claims, struct fg_error *err)
{
	uint8_t *text = NULL;
	size_t size = 0;

	if (!cjose_jws_get_plaintext(token, &text, &size, NULL) ||
	    fg_json_parse((const char *)text, size, CLAIMS_MAX_BYTES, claims, NULL) != FG_OK)
		return refuse(err, "it is not JSON");
	return FG_OK;
}

int fg_id_token_check(const char *text, const cJSON *keys,
		      const struct fg_id_token_expected *expected, cJSON **claims,
		      struct fg_error *err)
{
	cjose_jws_t *token = cjose_jws_import(text, strlen(text), NULL);
	cJSON *found = NULL;
	int status = FG_OK;

	*claims = NULL;
	if (!token)
		return refuse(err, "it is not a signed token");
	status = verify(token, keys, err);
	if (status != FG_OK)
		goto out;
	status = read_claims(token, &found, err);
	if (status != FG_OK)
		goto out;
	status = check_claims(found, expected, err);
	if (status != FG_OK)
		goto out;
	*claims = found;
	found = NULL;
out:
	cJSON_Delete(found);
	cjose_jws_release(token);
	return status;
}
