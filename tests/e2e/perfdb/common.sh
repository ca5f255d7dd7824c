# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder, which set $perfdb first: changes to a scratch folder; at the end, removes the
# folder and ends all processes started here.
# shellcheck shell=sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-test-XXXXXX")
started=
# shellcheck disable=SC2329
clean() {
	for process in $started; do
		kill "$process" 2>/dev/null || :
	done
	rm -rf "$folder"
}
trap clean EXIT
cd "$folder"
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY || :
fail() { # message, files to show...
	echo "$1"
	shift
	for file in "$@"; do
		tail -n 20 "$file"
	done
	exit 1
}
make_certificate() { # key.pem and cert.pem for 127.0.0.1
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=perfdb-test -addext subjectAltName=IP:127.0.0.1 \
		-keyout key.pem -out cert.pem 2>openssl.words || fail "no certificate" openssl.words
	chmod 600 key.pem
}
start_server() { # options...; sets server and url
	: >server.words # the address of an earlier server is not that of the new one
	"$perfdb" serve --database perfdb.db --listen 127.0.0.1:0 "$@" >server.log 2>server.words &
	server=$!
	started="$started $server"
	until url=$(sed -n 's/.* at \(http[^ ]*\).*/\1/p' server.words) && [ -n "$url" ]; do
		kill -0 "$server" || fail "the server did not start" server.words
	done
	url=${url%/}
}
stop_server() {
	kill "$server"
	wait "$server" || fail "the server did not stop in order" server.words
}
write_config() { # keys of perfdb
	cat >fastgate.yml <<END
version: 1
project: demo
benchmarks:
  - name: nothing
    command: /bin/true
measure:
  pairs: { min: 3, max: 3 }
perfdb: { $1 }
END
}
