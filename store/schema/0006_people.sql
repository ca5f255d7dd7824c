-- What people may do, and who is signed in to the pages.  A name is what the identity server calls a person, or "group:NAME".
CREATE TABLE role (
	id @ID@,
	who @TEXT@ NOT NULL,
	project @TEXT@,
	scope @TEXT@ NOT NULL,
	created_ns BIGINT NOT NULL
);
CREATE INDEX role_by_who ON role (who);
CREATE TABLE sign_in (
	id @ID@,
	digest @TEXT@ NOT NULL UNIQUE,
	who @TEXT@ NOT NULL,
	created_ns BIGINT NOT NULL,
	expires_ns BIGINT NOT NULL
);
CREATE TABLE sign_in_name (
	sign_in BIGINT NOT NULL,
	name @TEXT@ NOT NULL
);
CREATE INDEX sign_in_name_by_sign_in ON sign_in_name (sign_in);
