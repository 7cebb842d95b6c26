# The results of one client as a table: a line for each test, and the sums.
#
# Fields: test, then result, executions and CPU seconds on ours, then the same on loom ("-" if it was not run).

BEGIN {
    printf "\n%s %s\n\n", name, version
    print "| test | ours | executions | CPU s | loom | iterations | CPU s |"
    print "|---|---|---|---|---|---|---|"
}

{
    printf "| `%s` | %s | %d | %.3f | %s | %d | %.3f |\n", $1, $2, $3, $4, $5, $6, $7
    ours[$2]++
    loom[$5]++
    if ($2 == "pass" && $5 == "pass") {
        both++
        executions += $3
        seconds += $4
        iterations += $6
        loom_seconds += $7
        if ($3 > $6)
            more = more " `" $1 "`"
    }
}

END {
    printf "\n%d tests. Ours: %d pass, %d fail, %d time out. ", NR, ours["pass"], ours["FAIL"], ours["timeout"]
    if (!loom["-"])
        printf "loom: %d pass, %d fail, %d time out. ", loom["pass"], loom["FAIL"], loom["timeout"]
    printf "\n"
    if (both) {
        printf "On both %d: %d executions in %.2f CPU s; loom %d in %.2f CPU s (%.1fx).\n", both, executions, seconds, \
            iterations, loom_seconds, seconds ? loom_seconds / seconds : 0
        if (more)
            print "More executions than loom has iterations:" more "."
    }
}
