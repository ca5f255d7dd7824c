#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# completions.sh FASTGATE: bash and fish offer the right words, and zsh finds its completion.
set -u
fastgate=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch PATH=$scratch/bin:$PATH
mkdir "$scratch/bin" "$scratch/project"
ln -s "$fastgate" "$scratch/bin/fastgate"
cd "$scratch/project" || exit 1
printf 'version: 1\nbenchmarks:\n- {name: parse-small, command: x}\n- {name: parse-large, command: x}\n' >fastgate.yml
failed=0

expect() { # shell, what was typed, wanted word, offered words...
	local shell=$1 typed=$2 wanted=$3
	shift 3
	if [[ " $* " != *" $wanted "* ]]; then
		echo "$shell: '$typed' does not offer '$wanted' but: $*"
		failed=1
	fi
}

try_bash() { # words...; the last one is being typed
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_fastgate
}

"$fastgate" help --completion bash >"$scratch/fastgate.bash"
# shellcheck disable=SC1091
source "$scratch/fastgate.bash"
try_bash fastgate conf
expect bash 'fastgate conf' config "${COMPREPLY[@]}"
try_bash fastgate --quiet config --ch
expect bash 'fastgate --quiet config --ch' --check "${COMPREPLY[@]}"
try_bash fastgate config --color al
expect bash 'fastgate config --color al' always "${COMPREPLY[@]}"
try_bash fastgate config --color = ne
expect bash 'fastgate config --color=ne' never "${COMPREPLY[@]}"
try_bash fastgate config --explain gate.al
expect bash 'fastgate config --explain gate.al' gate.alpha "${COMPREPLY[@]}"
try_bash fastgate config --config fast
expect bash 'fastgate config --config fast' fastgate.yml "${COMPREPLY[@]}"
try_bash fastgate help co
expect bash 'fastgate help co' config "${COMPREPLY[@]}"
[[ $("$fastgate" config --benchmarks | tr '\n' ' ') == 'parse-small parse-large ' ]] || failed=1

if command -v zsh >/dev/null; then
	"$fastgate" help --completion zsh >"$scratch/_fastgate"
	zsh -n "$scratch/_fastgate" || failed=1
	mkdir "$scratch/zsh" && mv "$scratch/_fastgate" "$scratch/zsh/"
	zsh -f -c "fpath=($scratch/zsh \$fpath); autoload -U compinit; compinit -D -u; [[ \$_comps[fastgate] == _fastgate ]]" || {
		echo "zsh: compinit does not find it"
		failed=1
	}
fi
if command -v fish >/dev/null; then
	"$fastgate" help --completion fish >"$scratch/fastgate.fish"
	for pair in 'fastgate conf|config' 'fastgate config --ch|--check' 'fastgate config --color al|always' \
		'fastgate config --explain gate.al|gate.alpha'; do
		typed=${pair%|*}
		mapfile -t offered < <(fish --no-config -c "source $scratch/fastgate.fish; complete -C '$typed'" | cut -f 1)
		expect fish "$typed" "${pair#*|}" "${offered[@]}"
	done
fi
exit $failed
