// SPDX-License-Identifier: Apache-2.0
#include "perfdb/identity/oidc.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "perfdb/client/http.h"
#include "perfdb/client/libcurl.h"
#include "perfdb/identity/id_token.h"

#include <pthread.h>

enum {
	REPLY_MAX_BYTES = 256 << 10,
	WAIT_SECONDS = 10,
	DESCRIPTION_SECONDS = 3600, /* until it is read again */
	KEYS_SECONDS = 60,          /* before unknown keys are asked for again */
	RANDOM_BYTES = (FG_OIDC_RANDOM_SIZE - 1) / 2,
	CODE_MAX_BYTES = 4096
};

struct fg_oidc {
	struct fg_oidc_options options;
	char *strings[8]; /* that `options` points to */
	size_t string_count;
	pthread_mutex_t lock; /* for what follows */
	cJSON *description;
	int64_t described_ns;
	cJSON *keys;
	int64_t keys_ns;
};

static const char *keep(struct fg_oidc *oidc, const char *text, const char *otherwise)
{
	const char *value = text && *text ? text : otherwise;

	if (!value)
		return NULL;
	oidc->strings[oidc->string_count] = fg_xstrdup(value);
	return oidc->strings[oidc->string_count++];
}

int fg_oidc_new(const struct fg_oidc_options *options, struct fg_oidc **oidc, struct fg_error *err)
{
	struct fg_oidc *made = NULL;
	const int status = fg_http_start(err);

	if (status != FG_OK)
		return status;
	if (!fg_http_is_private(options->issuer))
		return fg_error_set(
			err, FG_EINVAL,
			"the identity server '%.200s' is neither https:// nor on this machine",
			options->issuer);
	made = fg_xcalloc(1, sizeof(*made));
	made->options = (struct fg_oidc_options){
		.issuer = keep(made, options->issuer, ""),
		.client = keep(made, options->client, ""),
		.secret = keep(made, options->secret, NULL),
		.redirect_url = keep(made, options->redirect_url, ""),
		.scopes = keep(made, options->scopes, "openid profile email"),
		.name_claim = keep(made, options->name_claim, "email"),
		.groups_claim = keep(made, options->groups_claim, "groups"),
		.ca_file = keep(made, options->ca_file, NULL),
	};
	(void)pthread_mutex_init(&made->lock, NULL);
	*oidc = made;
	return FG_OK;
}

void fg_oidc_free(struct fg_oidc *oidc)
{
	if (!oidc)
		return;
	for (size_t i = 0; i < oidc->string_count; i++) {
		explicit_bzero(oidc->strings[i], strlen(oidc->strings[i]));
		free(oidc->strings[i]);
	}
	cJSON_Delete(oidc->description);
	cJSON_Delete(oidc->keys);
	(void)pthread_mutex_destroy(&oidc->lock);
	free(oidc);
}

/* What the identity server answers: an object of JSON. */
static int ask(const struct fg_oidc *oidc, const char *url, const struct fg_http_request *request,
	       cJSON **json, struct fg_error *err)
{
	const struct fg_http_options options = {
		.url = url,
		.ca_file = oidc->options.ca_file,
		.timeout_ns = WAIT_SECONDS * FG_NS_PER_S,
		.reply_max_bytes = REPLY_MAX_BYTES,
	};
	struct fg_http_reply reply = {0};
	struct fg_http *http = NULL;
	int status = FG_OK;

	*json = NULL;
	if (!fg_http_is_private(url))
		return fg_error_set(err, FG_EPARSE,
				    "the identity server names '%.200s', which is not https://",
				    url);
	status = fg_http_open(&options, &http, err);
	if (status != FG_OK)
		return status;
	status = fg_http_send(http, request, &reply, err);
	if (status != FG_OK)
		goto out;
	if (reply.status >= 500) {
		status = fg_error_set(err, FG_ENET, "the identity server failed (%ld)",
				      reply.status);
	} else if (fg_json_parse(fg_strbuf_text(&reply.body), reply.body.length, REPLY_MAX_BYTES,
				 json, NULL) != FG_OK ||
		   !cJSON_IsObject(*json)) {
		cJSON_Delete(*json);
		*json = NULL;
		status = fg_error_set(err, FG_EPARSE, "the identity server answers no JSON (%ld)",
				      reply.status);
	}
out:
	fg_strbuf_release(&reply.body);
	fg_http_close(http);
	return status;
}

static int get(const struct fg_oidc *oidc, const char *url, cJSON **json, struct fg_error *err)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	const struct fg_http_request request = {.method = "GET", .path = "", .headers = headers};

	return ask(oidc, url, &request, json, err);
}

static int read_description(struct fg_oidc *oidc, struct fg_error *err)
{
	static const char *const needed[] = {"authorization_endpoint", "token_endpoint",
					     "jwks_uri"};
	const size_t length = strlen(oidc->options.issuer);
	const bool has_slash = length > 0 && oidc->options.issuer[length - 1] == '/';
	char *url = fg_xasprintf("%.*s/.well-known/openid-configuration",
				 (int)(has_slash ? length - 1 : length), oidc->options.issuer);
	cJSON *json = NULL;
	int status = get(oidc, url, &json, err);

	free(url);
	if (status != FG_OK)
		return status;
	if (strcmp(fg_json_text_or(json, "issuer", ""), oidc->options.issuer) != 0)
		status = fg_error_set(err, FG_EPARSE,
				      "the identity server calls itself '%.200s', not '%.200s'",
				      fg_json_text_or(json, "issuer", ""), oidc->options.issuer);
	for (size_t i = 0; status == FG_OK && i < FG_ARRAY_SIZE(needed); i++) {
		if (!fg_http_is_private(fg_json_text_or(json, needed[i], "")))
			status = fg_error_set(err, FG_EPARSE,
					      "the identity server has no usable %s", needed[i]);
	}
	if (status != FG_OK) {
		cJSON_Delete(json);
		return status;
	}
	cJSON_Delete(oidc->description);
	oidc->description = json;
	oidc->described_ns = fg_clock_monotonic_ns();
	return FG_OK;
}

/* A copy of one of its addresses, to be freed. */
static int address_of(struct fg_oidc *oidc, const char *name, char **url, struct fg_error *err)
{
	int64_t age_ns = 0;
	int status = FG_OK;

	*url = NULL;
	(void)pthread_mutex_lock(&oidc->lock);
	age_ns = fg_clock_monotonic_ns() - oidc->described_ns;
	if (!oidc->description || age_ns > DESCRIPTION_SECONDS * FG_NS_PER_S)
		status = read_description(oidc, err);
	if (status == FG_OK)
		*url = fg_xstrdup(fg_json_text_or(oidc->description, name, ""));
	(void)pthread_mutex_unlock(&oidc->lock);
	return status;
}

static bool takes_secret_in_form(struct fg_oidc *oidc)
{
	const cJSON *methods = NULL;
	const cJSON *method = NULL;
	bool has_basic = true;
	bool has_form = false;

	(void)pthread_mutex_lock(&oidc->lock);
	methods = cJSON_GetObjectItemCaseSensitive(oidc->description,
						   "token_endpoint_auth_methods_supported");
	if (cJSON_IsArray(methods))
		has_basic = false;
	cJSON_ArrayForEach(method, methods)
	{
		const char *name = cJSON_IsString(method) ? method->valuestring : "";

		has_basic = has_basic || strcmp(name, "client_secret_basic") == 0;
		has_form = has_form || strcmp(name, "client_secret_post") == 0;
	}
	(void)pthread_mutex_unlock(&oidc->lock);
	return has_form && !has_basic;
}

/* ---- the first step ---- */

static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_base64(struct fg_strbuf *text, const uint8_t *data, size_t size,
		       const char *alphabet)
{
	for (size_t i = 0; i < size; i += 3) {
		const uint32_t b = i + 1 < size ? data[i + 1] : 0;
		const uint32_t c = i + 2 < size ? data[i + 2] : 0;
		const uint32_t bits = (uint32_t)data[i] << 16 | b << 8 | c;
		const size_t digits = size - i >= 3 ? 4 : size - i + 1;

		for (size_t d = 0; d < digits; d++)
			fg_strbuf_add_char(text, alphabet[bits >> (18 - 6 * d) & 63]);
		if (alphabet == standard)
			fg_strbuf_add_repeated(text, '=', 4 - digits);
	}
}

static void add_parameter(struct fg_strbuf *text, char before, const char *name, const char *value)
{
	char *escaped = fg_curl.easy_escape(NULL, value, 0);

	fg_strbuf_printf(text, "%.1s%s=%s", before ? &before : "", name, escaped ? escaped : "");
	fg_curl.free(escaped);
}

static int draw(char text[FG_OIDC_RANDOM_SIZE], struct fg_error *err)
{
	uint8_t bytes[RANDOM_BYTES];
	const int status = fg_random_bytes(bytes, sizeof(bytes), err);

	if (status != FG_OK)
		return status;
	fg_hex(bytes, sizeof(bytes), text);
	return FG_OK;
}

static char *challenge_of(const char *verifier)
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;
	struct fg_strbuf text = {0};

	fg_sha256_init(&sha);
	fg_sha256_add(&sha, verifier, strlen(verifier));
	fg_sha256_finish(&sha, digest);
	add_base64(&text, digest, sizeof(digest), url_safe);
	return fg_strbuf_detach(&text);
}

int fg_oidc_begin(struct fg_oidc *oidc, struct fg_oidc_attempt *attempt, char **url,
		  struct fg_error *err)
{
	struct fg_strbuf text = {0};
	char *address = NULL;
	char *challenge = NULL;
	int status = draw(attempt->state, err);

	*url = NULL;
	if (status != FG_OK)
		return status;
	status = draw(attempt->nonce, err);
	if (status != FG_OK)
		return status;
	status = draw(attempt->verifier, err);
	if (status != FG_OK)
		return status;
	status = address_of(oidc, "authorization_endpoint", &address, err);
	if (status != FG_OK)
		return status;
	challenge = challenge_of(attempt->verifier);
	fg_strbuf_add_text(&text, address);
	add_parameter(&text, strchr(address, '?') ? '&' : '?', "response_type", "code");
	add_parameter(&text, '&', "client_id", oidc->options.client);
	add_parameter(&text, '&', "redirect_uri", oidc->options.redirect_url);
	add_parameter(&text, '&', "scope", oidc->options.scopes);
	add_parameter(&text, '&', "state", attempt->state);
	add_parameter(&text, '&', "nonce", attempt->nonce);
	add_parameter(&text, '&', "code_challenge", challenge);
	add_parameter(&text, '&', "code_challenge_method", "S256");
	*url = fg_strbuf_detach(&text);
	free(challenge);
	free(address);
	return FG_OK;
}

/* ---- the second step ---- */

static char *basic_header(const struct fg_oidc_options *options)
{
	struct fg_strbuf pair = {0};
	struct fg_strbuf line = {0};
	char *client = fg_curl.easy_escape(NULL, options->client, 0);
	char *secret = fg_curl.easy_escape(NULL, options->secret, 0);

	fg_strbuf_printf(&pair, "%s:%s", client ? client : "", secret ? secret : "");
	fg_strbuf_add_text(&line, "Authorization: Basic ");
	add_base64(&line, (const uint8_t *)pair.data, pair.length, standard);
	explicit_bzero(pair.data, pair.length);
	fg_strbuf_release(&pair);
	fg_curl.free(client);
	fg_curl.free(secret);
	return fg_strbuf_detach(&line);
}

/* What the code is worth: the answer of the token endpoint. */
static int exchange(struct fg_oidc *oidc, const struct fg_oidc_attempt *attempt, const char *code,
		    cJSON **json, struct fg_error *err)
{
	const struct fg_oidc_options *options = &oidc->options;
	const char *headers[4] = {"Accept: application/json",
				  "Content-Type: application/x-www-form-urlencoded", NULL, NULL};
	struct fg_http_request request = {.method = "POST", .path = "", .headers = headers};
	struct fg_strbuf form = {0};
	char *basic = NULL;
	char *url = NULL;
	int status = address_of(oidc, "token_endpoint", &url, err);

	if (status != FG_OK)
		return status;
	add_parameter(&form, 0, "grant_type", "authorization_code");
	add_parameter(&form, '&', "code", code);
	add_parameter(&form, '&', "redirect_uri", options->redirect_url);
	add_parameter(&form, '&', "code_verifier", attempt->verifier);
	if (options->secret && !takes_secret_in_form(oidc)) {
		basic = basic_header(options);
		headers[2] = basic;
	} else {
		add_parameter(&form, '&', "client_id", options->client);
		if (options->secret)
			add_parameter(&form, '&', "client_secret", options->secret);
	}
	request.body = form.data;
	request.body_size = form.length;
	status = ask(oidc, url, &request, json, err);
	explicit_bzero(form.data, form.length);
	fg_strbuf_release(&form);
	if (basic)
		explicit_bzero(basic, strlen(basic));
	free(basic);
	free(url);
	return status;
}

static int read_keys(struct fg_oidc *oidc, struct fg_error *err)
{
	char *url = NULL;
	cJSON *json = NULL;
	int status = address_of(oidc, "jwks_uri", &url, err);

	if (status != FG_OK)
		return status;
	status = get(oidc, url, &json, err);
	free(url);
	if (status != FG_OK)
		return status;
	(void)pthread_mutex_lock(&oidc->lock);
	cJSON_Delete(oidc->keys);
	oidc->keys = json;
	oidc->keys_ns = fg_clock_monotonic_ns();
	(void)pthread_mutex_unlock(&oidc->lock);
	return FG_OK;
}

static int check_with_keys(struct fg_oidc *oidc, const char *text,
			   const struct fg_id_token_expected *expected, cJSON **claims,
			   int64_t *age_ns, struct fg_error *err)
{
	int status = FG_OK;

	(void)pthread_mutex_lock(&oidc->lock);
	*age_ns = oidc->keys ? fg_clock_monotonic_ns() - oidc->keys_ns : INT64_MAX;
	status = fg_id_token_check(text, oidc->keys, expected, claims, err);
	(void)pthread_mutex_unlock(&oidc->lock);
	return status;
}

/* Keys change from time to time: an unknown one is looked for again, once a minute. */
static int check_token(struct fg_oidc *oidc, const char *text,
		       const struct fg_id_token_expected *expected, cJSON **claims,
		       struct fg_error *err)
{
	int64_t age_ns = 0;
	int status = check_with_keys(oidc, text, expected, claims, &age_ns, err);

	if (status != FG_ENOENT || age_ns < KEYS_SECONDS * FG_NS_PER_S)
		return status;
	status = read_keys(oidc, err);
	if (status != FG_OK)
		return status;
	return check_with_keys(oidc, text, expected, claims, &age_ns, err);
}

/* An address that nobody has verified can be anybody's. */
static int read_name(const struct fg_oidc *oidc, const cJSON *claims, const char **name,
		     struct fg_error *err)
{
	const char *claim = oidc->options.name_claim;

	*name = fg_json_text_or(claims, claim, "");
	if (!**name)
		return fg_error_set(err, FG_EPARSE,
				    "the identity server does not say the person's '%s'", claim);
	if (strcmp(claim, "email") == 0 &&
	    !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(claims, "email_verified")))
		return fg_error_set(err, FG_EPARSE,
				    "the identity server has not verified the address '%.100s'",
				    *name);
	return FG_OK;
}

static void tell_groups(const cJSON *groups, fg_oidc_visit *visit, void *context)
{
	const cJSON *group = NULL;

	cJSON_ArrayForEach(group, groups)
	{
		if (cJSON_IsString(group))
			visit(context, group->valuestring, true);
	}
}

int fg_oidc_finish(struct fg_oidc *oidc, const struct fg_oidc_attempt *attempt, const char *code,
		   fg_oidc_visit *visit, void *context, struct fg_error *err)
{
	const struct fg_id_token_expected expected = {
		.issuer = oidc->options.issuer,
		.client = oidc->options.client,
		.nonce = attempt->nonce,
		.now_s = fg_clock_wall_ns() / FG_NS_PER_S,
	};
	cJSON *answer = NULL;
	cJSON *claims = NULL;
	const char *token = NULL;
	const char *name = NULL;
	int status = FG_OK;

	if (strlen(code) > CODE_MAX_BYTES)
		return fg_error_set(err, FG_EPARSE, "the code is too long");
	status = exchange(oidc, attempt, code, &answer, err);
	if (status != FG_OK)
		return status;
	token = fg_json_text_or(answer, "id_token", NULL);
	if (token)
		status = check_token(oidc, token, &expected, &claims, err);
	else
		status =
			fg_error_set(err, FG_EPARSE, "the identity server refused the code: %.100s",
				     fg_json_text_or(answer, "error", "no ID token"));
	if (status != FG_OK)
		goto out;
	status = read_name(oidc, claims, &name, err);
	if (status != FG_OK)
		goto out;
	visit(context, name, false);
	tell_groups(cJSON_GetObjectItemCaseSensitive(claims, oidc->options.groups_claim), visit,
		    context);
out:
	cJSON_Delete(answer);
	cJSON_Delete(claims);
	return status;
}
