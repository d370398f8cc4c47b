#!/bin/sh
# Builds the stand-in libraries into the folder given and checks them from C: sh check.sh OUT
#
# The driver runs three times: as it is, with AddressSanitizer and UndefinedBehaviorSanitizer, and with LeakSanitizer.
# Ends with 1 if anything was wrong. Needs about ten seconds, most of them for compiling.
set -eu

sh "$(dirname "$0")/build.sh" "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

if [ -f "$out/skipped.txt" ]; then
    cat "$out/skipped.txt"
    exit 0
fi
compiler=$(command -v gcc || command -v cc)

# drive NAME FOLDER [FLAG...]: builds the driver on the libraries of FOLDER and runs it.
drive() {
    name=$1
    folder=$2
    shift 2
    "$compiler" -std=gnu11 -O1 -g -Wall -Wextra -Werror "$@" driver/*.c -L"$folder" -l:libnccl.so.2 \
        -l:libcudart.so.12 -Wl,-rpath,"$folder" -lpthread -lm -o "$out/driver-$name"
    printf '%s: ' "$name"
    timeout 60 "$out/driver-$name"
}

drive plain "$out"
if [ -f "$out/asan/skipped.txt" ]; then
    cat "$out/asan/skipped.txt"
    exit 0
fi
drive asan "$out/asan" -fsanitize=address,undefined -fno-sanitize-recover=all
drive leaks "$out" -fsanitize=leak
