#!/usr/bin/env bash
# Draws the pictures of docs/images again from the data that is committed beside them: pictures of calls and of ferro, charts,
# and, with Chromium, the timeline.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
images=$home/docs/images
cd "$home"
./ferro --version >/dev/null
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" config/pictures/Pictures.java
"$java" -Djava.awt.headless=true -cp "$(cat .ferro/stamp)/*" ferro.benchmarks.compare.DocsPictures docs
browser=$(command -v chromium chromium-browser google-chrome | head -n 1) ||
    { echo "pictures: no timeline: found no Chromium in PATH" >&2 && exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
./ferro analyze "$images/recordings" --html "$folder/timeline.html" >/dev/null
"$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$folder/profile" \
    --window-size=1200,830 --screenshot="$images/timeline.png" "file://$folder/timeline.html" >/dev/null 2>&1
cp "$images/timeline.png" "$folder"
(cd "$folder" && sha256sum timeline.html timeline.png) >"$images/timeline.sha256"
