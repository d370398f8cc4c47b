#!/usr/bin/env bash
# Draws the charts of docs/images again from the data that is committed beside the pages.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$home/ferro" --version >/dev/null
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Djava.awt.headless=true -cp "$(cat "$home/.ferro/stamp")/*" \
    ferro.benchmarks.compare.DocsPictures "$home/docs"
