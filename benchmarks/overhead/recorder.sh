#!/bin/sh
# What one operation costs in the flight recorder, in nanoseconds and bytes allocated: JMH in JVMs of its own.
# BENCHMARK=SimulatedOverheadBenchmark: one all-reduce of two simulated ranks instead, with the recorder and without.
#   benchmarks/overhead/recorder.sh [JMH OPTIONS]
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd -P)
classpath=$(mktemp)
trap 'rm -f "$classpath"' EXIT
cd "$home"
mvn -B -q test-compile dependency:build-classpath -Dferro.quick -pl benchmarks -am \
    -Dmdep.includeScope=test -Dmdep.outputFile="$classpath" >&2
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
result=$classpath.json
trap 'rm -f "$classpath" "$result"' EXIT
"$java" -cp "benchmarks/target/test-classes:$(cat "$classpath")" org.openjdk.jmh.Main "${BENCHMARK:-RecorderBenchmark}" \
    -prof gc -rf json -rff "$result" "$@" | grep -E '^(Benchmark|Recorder|Simulated)'
# the rounds one by one, as a busy machine leaves few alone
awk '/"entries"/ { gsub(/[^0-9]/, ""); entries = $0 }
    /"primaryMetric"/ { rounds = 1 }
    /"secondaryMetrics"/ { rounds = raw = 0 }
    /"rawData"/ { raw = rounds }
    raw && /^ *[0-9.E-]+,?$/ { gsub(/[ ,]/, ""); print entries, $0 }' "$result" | sort -k1,1n -k2,2g |
    awk '{ n[$1]++; ns[$1, n[$1]] = $2 }
    END { for (e in n) printf "entries=%s: %d rounds, fastest %.1f ns, a quarter below %.1f, half below %.1f\n",
        e, n[e], ns[e, 1], ns[e, int(n[e] / 4) + 1], ns[e, int(n[e] / 2) + 1] }'
