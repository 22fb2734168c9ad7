#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0
#
# Read the KTAP of one or more programs and print one line per test case, "ok 12
# - suite.case", preceded by the diagnostics if it failed; exit with 1 if a case
# failed or there was none. A line "# exit NAME STATUS" ends a program that is
# not KUnit, or that was killed; so does the end of a file.

function result(ok, name)
{
	if (!ok) {
		printf "%s", diag
		failed++
	} else if (ENVIRON["VERBOSE"] != "") {
		printf "%s", diag
	}
	diag = ""
	printf "%s %d - %s\n", ok ? "ok" : "not ok", ++n, name
	fflush()
}

# Text after the number: "ok 3 name" -> "name".
function rest(line)
{
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", line)
	return line
}

# A file is a program, too.
FNR == 1 {
	suite = ""; seen = bad_here = 0; diag = ""
}
/^ *# Subtest: / {
	# A parameterized case opens a subtest, too, but is no suite.
	if ($0 ~ /^    # /)
		suite = $3
	next
}
/^ *(KTAP version|1\.\.)/ { next }
/^# exit / {
	if ($4 != 0 && !(bad_here))
		result(0, $3 (suite == "" ? "" : "." suite) " (ended with status " $4 ")")
	else if (!seen)
		result(0, $3 " (no results)")
	suite = ""; seen = bad_here = 0; diag = ""
	next
}
/^    (not )?ok [0-9]+ / {
	seen = 1
	if ($1 == "not") bad_here = 1
	result($1 == "ok", suite "." rest($0))
	next
}
/^(not )?ok [0-9]+ / {
	# The result line of a suite adds nothing; that of a program without
	# suites does.
	if (suite == "") {
		seen = 1
		if ($1 == "not") bad_here = 1
		result($1 == "ok", rest($0))
	}
	diag = ""
	next
}
{
	sub(/^ */, "")
	diag = diag ($0 ~ /^#/ ? "" : "# ") $0 "\n"
}
END {
	if (!n)
		print "Bail out! no test ran"
	printf "1..%d\n# %d passed, %d failed\n", n, n - failed, failed
	exit failed || !n
}
