#!/usr/bin/env bash
# Measures ferro of two clones in turns, and says whether the second one is slower.
set -euo pipefail

usage() {
    cat <<EOF
usage: compare-clones.sh BEFORE AFTER NEW-FOLDER [OPTIONS OF compare.sh]     five rounds, in each one clone after the other
Prints for each row (ranks, kind, medium and JDK) the geometric mean, over all sizes, of the medians of AFTER/BEFORE.
It is at most 1.02. A cell whose ratios are all above 1.05 is measured again in ten rounds. The exit code is 1 if a row is
above 1.02, or if a cell is above 1.05 in all ten rounds too. A clone without "ferro bench scan" needs --collectives without scan.
EOF
}

report() {
    awk -F, '
        /^run,/ { next }
        { cell = $2 "," $3 "," $5 "," $4; side = FILENAME == ARGV[1]; micros[side, cell, ++count[side, cell]] = $8; cells[cell] }
        END {
            for (cell in cells) {
                if (count[0, cell] != count[1, cell]) {
                    print "compare-clones: " cell " has " count[1, cell] + 0 " rounds before and " count[0, cell] + 0 " after"
                    exit 2
                }
                n = count[0, cell]
                for (i = 1; i <= n; i++) {
                    ratio = micros[0, cell, i] / micros[1, cell, i]
                    for (j = i; j > 1 && sorted[j - 1] > ratio; j--) sorted[j] = sorted[j - 1]
                    sorted[j] = ratio
                }
                row = cell; sub(/,[^,]*$/, "", row)
                sum[row] += log((sorted[int((n + 1) / 2)] + sorted[int(n / 2) + 1]) / 2); sizes[row]++
                if (sorted[1] > 1.05) print "again," cell
            }
            for (row in sum) {
                mean = exp(sum[row] / sizes[row])
                printf "%s: %.3f of %d sizes%s\n", row, mean, sizes[row], (mean > 1.02 ? ", ABOVE 1.02" : "")
                above += mean > 1.02
            }
            exit (above > 0)
        }' "$@" | sort
}

# Measures in $1 rounds and adds the results to the folder $2.
measure() {
    local rounds=$1 out=$2 round
    shift 2
    for round in $(seq "$rounds"); do
        for clone in before after; do
            "${!clone}/benchmarks/compare.sh" --rounds 1 --peers none --out "$out/$clone" "$@" >/dev/null || return 2
        done
    done
    report "$out/before/raw.csv" "$out/after/raw.csv"
}

if [ ! -x "${1:-}/benchmarks/compare.sh" ] || [ ! -x "${2:-}/benchmarks/compare.sh" ] || ! mkdir "${3:-}"; then
    usage >&2
    exit 2
fi
before=$1 after=$2 out=$3 code=0
shift 3
kinds=allreduce,broadcast,reduce,allgather,reducescatter,gather,scatter,alltoall,scan,barrier,pingpong
measure 5 "$out" --collectives $kinds "$@" | tee "$out/report" || code=$?
while IFS=, read -r _ ranks kind contestant bytes; do
    jdk=${contestant#*@}
    medium=${contestant%@*}
    cell=$out/$kind-$bytes-$contestant
    # the mean of one cell says nothing; a measurement that fails counts
    measure 10 "$cell" --ranks "$ranks" --collectives "$kind" --sizes "$bytes" --jdks "$jdk" \
        --ferro "${medium#ferro-}" >"$cell.txt" || [ $? = 1 ] || code=2
    if grep ^again "$cell.txt"; then code=1; fi
done < <(grep ^again "$out/report")
exit $code
