#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-diff.py, on files whose comparison can be worked out by hand, random ones and
# wrong ones.
#
#   perf-diff.sh [SEED]

set -u

DIFF=$(dirname "$0")/perf-diff.py
SEED=${1:-$RANDOM}
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
NUMBER=0
FAILED=0

# ok NAME: the result of the last command.
ok()
{
	local rc=$? not=

	NUMBER=$((NUMBER + 1))
	[ $rc = 0 ] || { not='not '; FAILED=$((FAILED + 1)); }
	echo "${not}ok $NUMBER - $1"
	[ $rc = 0 ] || sed 's/^/# /' "$DIR/out" "$DIR/err"
}

# run STATUS ARGS...: that exit status is expected.
run()
{
	local want=$1

	shift
	"$DIFF" "$@" >"$DIR/out" 2>"$DIR/err"
	[ $? = "$want" ]
}

# doc COLLECTIVE PMTU SIZE:SAMPLE,SAMPLE...: a run's file.
doc()
{
	local coll=$1 pmtu=$2 r sep=

	shift 2
	printf '{"collective":"%s","dtype":"fp32","op":"sum","ranks":4,' "$coll"
	printf '"pmtu":%d,"slots":256,"msg_size":65536,"results":[' "$pmtu"
	for r in "$@"; do
		printf '%s{"size":%s,"samples_us":[%s]}' "$sep" "${r%%:*}" "${r#*:}"
		sep=,
	done
	printf ']}\n'
}

doc allreduce 1024 4:10,11,12 8:20,21,22 16:30,31,32 32:5 >"$DIR/old"
doc allreduce 1024 4:8,9,9.5 8:23,24,26 16:31,33,34 32:5 64:1 >"$DIR/new"

run 0 "$DIR/old" "$DIR/new" &&
	grep -q '^allreduce .* 4 *11.00 .* 9.00 .* -18.2  faster$' "$DIR/out" &&
	grep -q '^allreduce .* 8 *21.00 .* 24.00 .* +14.3  slower$' "$DIR/out" &&
	grep -q '^allreduce .* 16 *31.00 .* 33.00 .* +6.5  same$' "$DIR/out" &&
	grep -q '^allreduce .* 32 *5.00 .* 5.00 .* +0.0  -$' "$DIR/out" &&
	grep -q '^# 1 faster, 1 slower, 1 same, 1 without a verdict.*; 0 only in OLD, 1 only in NEW$' "$DIR/out"
ok "faster, slower, same, one repetition, only in one file"

run 1 --max-slowdown 14 "$DIR/old" "$DIR/new" &&
	grep -q '1 of 4 results are slower by more than 14 %' "$DIR/err" &&
	run 0 --max-slowdown 15 "$DIR/old" "$DIR/new"
ok "--max-slowdown"

run 0 -j "$DIR/old" "$DIR/new" && python3 - "$DIR/out" <<-'END'
	import json, sys
	out = json.load(open(sys.argv[1]))
	assert [r.get("verdict") for r in out["results"]] == ["faster", "slower", "same", None]
	assert out["results"][0]["old_us"] == 11 and out["results"][0]["new_us"] == 9
	assert (out["faster"], out["slower"], out["same"], out["unknown"]) == (1, 1, 1, 1)
	assert (out["only_old"], out["only_new"]) == (0, 1)
END
ok "--json"

{ cat "$DIR/old"; doc barrier 1024 0:7,8,9; } >"$DIR/two"
{ doc barrier 4096 0:1,2,3; cat "$DIR/new"; } >"$DIR/owt"
run 0 "$DIR/two" "$DIR/owt" && grep -q '^barrier .* faster$' "$DIR/out" &&
	grep -q 'pmtu is 1024 in OLD and 4096 in NEW' "$DIR/err" &&
	[ "$(grep -c '^allreduce' "$DIR/out")" = 4 ]
ok "several runs in a file, and settings that differ"

doc gather 1024 4:1 >"$DIR/other"
run 1 "$DIR/old" "$DIR/other" && grep -q 'no result in common' "$DIR/err"
ok "nothing in common"

run 1 "$DIR/nowhere" "$DIR/old" && grep -q 'No such file' "$DIR/err"
ok "no such file"
run 1 "$DIR" "$DIR/old" && grep -q 'directory' "$DIR/err"
ok "a directory"

n=0
for text in '' '{' '[]' '7' '{"results":7}' '{"results":[7]}' \
	'{"results":[{"samples_us":[]}]}' '{"results":[{"samples_us":["x"]}]}' \
	'{"results":[{"samples_us":[-1]}]}' '{"results":[{"samples_us":[NaN]}]}' \
	'{"results":[{"samples_us":[1e999]}]}' '{"results":[]}' \
	'{"results":[{"size":4,"samples_us":{"0":1}}]}' \
	'{"results":[{"size":4,"samples_us":[1]}]} x'; do
	printf '%s' "$text" >"$DIR/bad"
	if ! run 1 "$DIR/bad" "$DIR/old" ||
	   ! grep -qE 'inc-perf --json|nothing was timed' "$DIR/err"; then
		n=$((n + 1))
		echo "# accepted: $text"
	fi
done
[ $n = 0 ]
ok "files of another kind are refused"

n=0
for args in "" "a" "a b c" "--max-slowdown x a b" "--max-slowdown -1 a b" \
	"--max-slowdown nan a b" "--none a b"; do
	# shellcheck disable=SC2086	# words
	if ! run 2 $args || [ ! -s "$DIR/err" ]; then
		n=$((n + 1))
		echo "# not refused: $args"
	fi
done
[ $n = 0 ]
ok "wrong command lines end with status 2"
run 0 --help && grep -q '^usage: .*OLD NEW' "$DIR/out"
ok "--help"

# Random files: the verdicts of another implementation.
python3 - "$DIFF" "$DIR" "$SEED" <<-'END' >"$DIR/out" 2>"$DIR/err"
	import json, random, statistics, subprocess, sys
	diff, where, seed = sys.argv[1:]
	print("seed", seed)
	rng = random.Random(int(seed))
	def samples(base):
	    return sorted(base * rng.uniform(0.9, 1.1) for _ in range(rng.choice((3, 5, 7))))
	for n in range(30):
	    files = []
	    sizes = rng.sample(range(1, 1000), 40)
	    base = {s: rng.uniform(1, 1e6) for s in sizes}
	    for name in "old", "new":
	        some = rng.sample(sizes, 30)
	        run = {s: samples(base[s] * rng.choice((0.7, 1, 1, 1.4))) for s in some}
	        doc = {"collective": "allreduce", "dtype": "fp32", "op": "sum", "ranks": 3,
	               "results": [{"size": s, "samples_us": v} for s, v in run.items()]}
	        json.dump(doc, open("%s/r-%s" % (where, name), "w"))
	        files.append(run)
	    out = json.loads(subprocess.run([diff, "-j", where + "/r-old", where + "/r-new"],
	                                    check=True, capture_output=True).stdout)
	    got = {r["size"]: r["verdict"] for r in out["results"]}
	    want = {}
	    for s in files[0].keys() & files[1].keys():
	        a, b = files[0][s], files[1][s]
	        want[s] = "faster" if max(b) < min(a) else "slower" if min(b) > max(a) else "same"
	    assert got == want, (n, got, want)
	    for r in out["results"]:
	        m = [statistics.median(f[r["size"]]) for f in files]
	        assert abs(r["change_pct"] - 100 * (m[1] / m[0] - 1)) < 1e-6 * abs(m[1] / m[0] * 100)
END
ok "30 pairs of random files, against another implementation, seed $SEED"

echo "1..$NUMBER"
[ $FAILED = 0 ]
