#!/bin/sh
# How the costs of a group grow with the number of ranks: messages, CPU time and memory of simulated ranks, and the plans of
# all algorithms. Prints a table. Each row runs in a JVM of its own, with a limit of time and memory.
#   benchmarks/scale/run.sh [--ranks N] [--json FILE] [ROW...]
# ROW is threads, simulation, failure, leaving, straggler, pause, exit or plans; without a row, all rows.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd -P)
classpath=$(mktemp)
trap 'rm -f "$classpath"' EXIT
(cd "$home" && mvn -B -q test-compile dependency:build-classpath -Dferro.quick -pl benchmarks -am \
    -Dmdep.includeScope=test -Dmdep.outputFile="$classpath") >&2
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$home/benchmarks/target/test-classes:$(cat "$classpath")" ferro.benchmarks.scale.ScaleBench "$@"
