#!/bin/sh
# Nanoseconds per run of the reduction kernels, beside a copy of the same run and, where there is a gcc, its plain loop over
# arrays (-O3 -march=native): JMH in a JVM per row. Prints a Markdown table.
#   benchmarks/kernels/run.sh [JVM OPTIONS]
# ROWS="f32:sum:heap+direct:16384 ..." chooses others, VECTORS= leaves the Vector API out, JMH="-f 3" and the like go to
# JMH, FERRO_KERNELS_CLASS_PATH saves the build.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$home"
classes=${FERRO_KERNELS_CLASS_PATH:-}
if [ -z "$classes" ]; then
    mvn -B -q test-compile dependency:build-classpath -Dferro.quick -DoutputFolder=.ferro/kernels -pl benchmarks -am \
        -Dmdep.includeScope=test -Dmdep.outputFile="$work/classpath" >&2
    classes=benchmarks/.ferro/kernels/test-classes:$(cat "$work/classpath")
fi
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
rows=${ROWS:-f32:sum:heap+direct:1 f32:sum:heap+direct:16384 f32:sum:heap+heap:16384 f32:sum:direct+heap:16384 \
f32:sum:direct+direct:16384 f32:sum:heap+direct:262144 f32:max:heap+direct:16384 f64:sum:heap+direct:16384 \
i32:sum:heap+direct:16384 i64:sum:heap+direct:16384 i8:sum:heap+direct:16384 i16:sum:heap+direct:16384 \
bf16:sum:heap+direct:16384 f16:sum:heap+direct:16384}
flag=${VECTORS---add-modules=jdk.incubator.vector}

: >"$work/bound"
if command -v gcc >/dev/null && gcc -O3 -march=native benchmarks/kernels/bound.c -o "$work/bound.run" 2>/dev/null; then
    lengths=$(for row in $rows; do echo "${row##*:}"; done | sort -nu)
    # shellcheck disable=SC2086
    "$work/bound.run" $lengths >"$work/bound"
else
    echo "no gcc here (Debian: gcc libc6-dev): its column stays empty" >&2
fi

echo "| run | combine, ns | both, ns | copy, ns | gcc, ns | combine/copy | combine/gcc |"
echo "|---|---|---|---|---|---|---|"
for row in $rows; do
    IFS=: read -r type op memories elements <<END
$row
END
    # shellcheck disable=SC2086
    "$java" $flag "$@" -cp "$classes" org.openjdk.jmh.Main \
        KernelBenchmark -p type="$type" -p op="$op" -p memories="$memories" -p elements="$elements" \
        -jvmArgs "$flag $*" ${JMH:-} 2>&1 | awk -v name="$type $op $memories $elements" -v key="$type $op $elements" '
        FILENAME == ARGV[1] { bound[$1 " " $2 " " $3] = $4; next }
        /^KernelBenchmark\.combine / { combine = score() }
        /^KernelBenchmark\.combineBoth / { both = score() }
        /^KernelBenchmark\.copy / { copy = score() }
        function score(  i) { for (i = 1; i <= NF; i++) if ($i == "avgt") return $(i + 2) ~ /^[0-9.]+$/ ? $(i + 2) : $(i + 1) }
        END {
            gcc = bound[key]
            printf "| %s | %.0f | %.0f | %.0f | %s | %.2f | %s |\n", name, combine, both, copy, gcc == "" ? "" : gcc,
                combine / copy, gcc == "" ? "" : sprintf("%.2f", combine / gcc)
        }' "$work/bound" -
done
