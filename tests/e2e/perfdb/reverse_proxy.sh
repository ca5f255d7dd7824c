#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reverse_proxy.sh FASTGATE PERFDB NGINX_CONF: the example in a real nginx in front of a real server. Only the ports
# and the paths of the certificate are changed.
set -eu
fastgate=$1
perfdb=$2
example=$3
for program in nginx openssl curl python3; do
	PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
PATH=$PATH:/usr/sbin
. "$(cd "$(dirname "$0")" && pwd)/common.sh"
make_certificate
start_server --behind-proxy
inner=${url#http://}
grep -q '#token=fgt_' server.words || fail "the server does not print its first key" server.words

# Takes any free port; another program may take it first, so the caller tries a few times.
start_nginx() {
	port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	{
		echo "daemon off; master_process off; error_log $folder/error.log; pid $folder/nginx.pid; events {}"
		echo "http { access_log off;"
		for kind in client_body proxy fastcgi uwsgi scgi; do
			echo "${kind}_temp_path $folder/$kind;"
		done
		sed -e "s/listen 443 /listen 127.0.0.1:$port /" -e "s/127.0.0.1:8642/$inner/" \
			-e "s|/etc/ssl/perfdb.pem|$folder/cert.pem|" -e "s|/etc/ssl/private/perfdb.key|$folder/key.pem|" "$example"
		echo "}"
	} >nginx.conf
	nginx -p "$folder" -c "$folder/nginx.conf" >nginx.words 2>&1 &
	nginx=$!
	started="$started $nginx"
	until curl -sf --cacert cert.pem "https://127.0.0.1:$port/healthz" >/dev/null 2>&1; do
		kill -0 "$nginx" 2>/dev/null || return 1
	done
}
start_nginx || start_nginx || start_nginx || fail "nginx does not take the example" nginx.words error.log
url="https://127.0.0.1:$port"
ask() { # expected status, arguments of curl...
	expected=$1
	shift
	found=$(curl -s -o answer -w '%{http_code}' --cacert cert.pem "$@") || :
	[ "$found" = "$expected" ] || fail "$*: $found, expected $expected" answer
}

# No request is accepted without a token, whatever host name it uses.
ask 401 -H "Host: 127.0.0.1" "$url/api/v1/projects"
PERFDB_DEMO_SECRET=$("$perfdb" token create --database perfdb.db --scope upload 2>words.token)
export PERFDB_DEMO_SECRET
ask 401 -H "Host: localhost" "$url/api/v1/projects"
ask 200 -H "Authorization: Bearer $PERFDB_DEMO_SECRET" "$url/api/v1/projects"

export PERFDB_URL="$url"
write_config "url: \"$url\", token_env: PERFDB_DEMO_SECRET, upload: required, ca_file: cert.pem"
"$fastgate" run >words.run 2>&1 || fail "a run is not sent through the proxy" words.run
ask 200 -H "Authorization: Bearer $PERFDB_DEMO_SECRET" "$url/api/v1/runs/latest"
ask 200 "$url/"
curl -s --cacert cert.pem -D - -o page "$url/" | grep -qi '^content-security-policy:' || fail "the page's policy does not come through"

# The proxy refuses a body that is too large, so the server never sees it; the metrics are for local clients only.
head -c 70000000 /dev/zero >large
ask 413 -H "Expect:" -H "Authorization: Bearer $PERFDB_DEMO_SECRET" --data-binary @large "$url/api/v1/runs"
rm large
ask 200 "$url/metrics"
ask 403 --interface 127.0.0.2 "$url/metrics"
ask 200 --interface 127.0.0.2 "$url/healthz"
ask 400 "http://127.0.0.1:$port/healthz"

stop_server
ask 502 "$url/healthz"
if "$fastgate" run >words.down 2>&1; then
	fail "nothing is said of a server that is gone"
fi
grep -q 'answered 502' words.down || fail "the message does not say what was answered"
