// SPDX-License-Identifier: Apache-2.0
// identity_server.mjs SECRET REDIRECT_URL: an OpenID Connect server on a free port, which it prints.  Whoever signs in as "ann" is
// ann@example.org, with a verified address, in the group "compiler team"; names that begin with "un" have no verified address.
import http from "node:http";
import Provider from "oidc-provider";

const [secret, redirect] = process.argv.slice(2);
const server = http.createServer();

server.listen(0, "127.0.0.1", () => {
	const issuer = `http://127.0.0.1:${server.address().port}`;
	const provider = new Provider(issuer, {
		clients: [{ client_id: "perfdb", client_secret: secret, redirect_uris: [redirect], response_types: ["code"],
			grant_types: ["authorization_code"] }],
		claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
		conformIdTokenClaims: false,
		cookies: { keys: ["of this test"] },
		findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: !id.startsWith("un"),
			groups: ["compiler team"] }) }),
	});
	server.on("request", provider.callback());
	console.log(issuer);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
