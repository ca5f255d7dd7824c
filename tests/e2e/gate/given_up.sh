#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A duet that `auto` chose, and whose programs no longer run together in mid-run, is given up: the verdict comes from ABBA, what was
# measured before is kept and set aside, and a run that is killed after that is taken up where it was.
. "$(dirname "$0")/common.sh"

# An installation of its own, with a launcher that counts what it starts.  From some start on it starts nothing before the program
# before it has ended (each writes its number as a process), and at a later one it kills fastgate.  With a margin that wide the trial is
# over after 14 starts, and less than ten pairs fit in before the 30th; twelve pairs in vain and what runs alone between them take less than 45 more.
build=$(cd "$(dirname "$FASTGATE")/.." && pwd)
launcher=$(find "$build" -maxdepth 4 -path '*/fastgate/fastgate-launch' | head -n 1)
folder=$(dirname "${launcher#"$build"/}")
mkdir -p "$work/tree/bin" "$work/tree/$folder"
cp "$FASTGATE" "$work/tree/bin/fastgate"
cp "$build/$folder"/* "$work/tree/$folder"
cat >"$work/tree/$folder/fastgate-launch" <<END
#!/bin/sh
read -r starts <"$work/starts"
starts=\$((starts + 1))
echo \$starts >"$work/starts"
if [ \$starts -gt 30 ]; then
	until [ -s "$work/pid" ]; do /bin/sleep 0.01; done
	read -r pid <"$work/pid"
	while [ -e /proc/\$pid ]; do /bin/sleep 0.01; done
fi
[ \$starts -ne 75 ] || { kill -KILL \$PPID; exit 1; }
: >"$work/pid"
exec "$launcher" "\$@"
END
chmod +x "$work/tree/$folder/fastgate-launch"
FASTGATE=$work/tree/bin/fastgate

mkdir "$work/project" && cd "$work/project" || exit 1
cat >main.c <<END
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	FILE *file = fopen("$work/pid", "w");
	if (!file || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0)
		return 1;
	for (volatile long i = 0; i < 150000000; i++) {}
	return 0;
}
END
printf 'loop: main.c\n\t$(CC) -O1 -g -o loop main.c\n' >Makefile
# A wide margin, so that the duet is the quicker one whatever else runs, which shows at once.
cat >fastgate.yml <<END
version: 1
project: loop
build: { command: make }
benchmarks:
  - { name: loop, command: ./loop }
measure: { pairs: { min: 10, max: 80 } }
gate: { metrics: { cpu_time: { margin: 50% } } }
END
printf 'loop\n.fastgate/\n' >.gitignore
git init -q . && git add . && git commit -q -m loop
sed -i 's/150000000/225000000/' main.c

echo 0 >"$work/starts"
expect_code 6 "killed" "$FASTGATE" run --against HEAD
expect_text 'loop: one after the other: in 1[2-6] of the last 1[2-6] pairs' "$work/err" "what is said while it runs"
expect_code 1 "resumed" "$FASTGATE" run --against HEAD --resume
expect_text 'going on with run' "$work/err" "resuming"

"$FASTGATE" report --format json >"$work/report.json" || fail "no report"
"$FASTGATE" report --format csv-raw >"$work/values.csv" || fail "no values"
python3 - "$work/report.json" "$work/values.csv" <<'END' || fail "the report"
import csv, json, sys
benchmark, = json.load(open(sys.argv[1]))["benchmarks"]
rows = [row for row in csv.DictReader(open(sys.argv[2])) if row["metric"] == "cpu_time"]
reasons = {}
for row in rows:
    reasons.setdefault(row["set_aside"], set()).add(row["pair"])
found = {reason: len(pairs) for reason, pairs in reasons.items()}
print(benchmark["schedule"], benchmark["verdict"], benchmark["pairs"], benchmark["set_aside"], found, file=sys.stderr)
assert (benchmark["schedule"], benchmark["verdict"]) == ("abba", "regression")
assert any("what was measured as one is set aside" in note for note in benchmark["notes"])
assert found["overlap+given_up"] >= 12 and found["given_up"] >= 1
assert found["given_up"] + found["overlap+given_up"] <= benchmark["set_aside"]
assert benchmark["pairs"] == found[""] >= 10
assert all(sum(row["pair"] == pair for row in rows) == 4 for pair in reasons[""])
END
