#!/bin/sh
# Builds the stand-in libraries into the folder given: sh build.sh OUT
#
#   OUT/libcudart.so.12, libnccl.so.2     the pair
#   OUT/hip/libamdhip64.so, librccl.so.1  the same with the runtime's other prefix
#   OUT/old/libnccl.so.2                  NCCL 2.7: nothing that came later
#   OUT/older/libnccl.so.2                NCCL 2.4: no send and receive either
#   OUT/broken/libnccl.so.2               without ncclGroupEnd
#   OUT/asan/...                          the pair with AddressSanitizer and UndefinedBehaviorSanitizer
#
# Without a C compiler it writes the reason to OUT/skipped.txt and succeeds. When nothing changed it does nothing. Each
# library appears whole or not at all: it is built aside and renamed.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

# The list of what was built is as old as the sources it was built from.
up_to_date() {
    [ -f "$out/built" ] && [ -z "$(find . -newer "$out/built" -print -quit)" ] || return 1
    while read -r built; do
        [ -f "$out/$built" ] || return 1
    done <"$out/built"
}
if up_to_date; then
    exit 0
fi

compiler=$(command -v gcc || command -v cc || true)
if [ -z "$compiler" ]; then
    echo "no C compiler: neither gcc nor cc is on the path" >"$out/skipped.txt"
    exit 0
fi

aside=$(mktemp -d "$out/building.XXXXXX")
trap 'rm -rf "$aside"' EXIT
touch "$aside/began"

warnings="-Wall -Wextra -Werror"
code="-std=gnu11 -O2 -g -fPIC -fvisibility=hidden"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

# objects FOLDER PARTS [FLAG...]: compiles the sources of these parts into FOLDER, two at a time.
objects() {
    folder=$aside/objects/$1
    parts=$2
    shift 2
    for part in $parts; do
        mkdir -p "$folder/$part"
        for source in "$part"/*.c; do
            # shellcheck disable=SC2086
            "$compiler" $code $warnings "$@" -c "$source" -o "$folder/${source%.c}.o" &
            running=$((${running:-0} + 1))
            if [ $((running % 2)) -eq 0 ]; then wait; fi
        done
    done
    wait
    for part in $parts; do
        for source in "$part"/*.c; do
            [ -f "$folder/${source%.c}.o" ] || exit 1
        done
    done
}

# link LIBRARY OBJECT... [FLAG...]: links one library, with its file name as soname.
link() {
    library=$1
    shift
    mkdir -p "$aside/$(dirname "$library")"
    "$compiler" -shared -Wl,-soname,"$(basename "$library")" -Wl,-Bsymbolic -Wl,--no-undefined "$@" \
        -o "$aside/$library" -lpthread -lm
}

# nccl FOLDER [SOURCE...]: the objects of NCCL without those of the sources named.
nccl() {
    folder=$aside/objects/$1/nccl
    shift
    leave_out=" $* "
    for object in "$folder"/*.o; do
        name=$(basename "$object" .o)
        case $leave_out in *" $name "*) ;; *) echo "$object" ;; esac
    done
}

later="since_2_13 since_2_14 since_2_18 since_2_28 version"
plain=$aside/objects/plain

# shellcheck disable=SC2046,SC2086
{
    objects plain "core cuda nccl"
    link libcudart.so.12 "$plain"/core/*.o "$plain"/cuda/*.o
    runtime="-L$aside -l:libcudart.so.12"
    link libnccl.so.2 $(nccl plain) $runtime -Wl,-rpath,'$ORIGIN'

    "$compiler" $code $warnings -DBUILT_AS=2708 -c nccl/version.c -o "$plain/2.7.o"
    link old/libnccl.so.2 $(nccl plain $later) "$plain/2.7.o" $runtime -Wl,-rpath,'$ORIGIN/..'
    "$compiler" $code $warnings -DBUILT_AS=2408 -c nccl/version.c -o "$plain/2.4.o"
    link older/libnccl.so.2 $(nccl plain since_2_07 $later) "$plain/2.4.o" $runtime -Wl,-rpath,'$ORIGIN/..'
    link broken/libnccl.so.2 $(nccl plain) $runtime -Wl,-rpath,'$ORIGIN/..' -Wl,--version-script=without_group_end.map

    objects hip cuda -DSTANDIN_HIP
    link hip/libamdhip64.so "$plain"/core/*.o "$aside"/objects/hip/cuda/*.o
    link hip/librccl.so.1 $(nccl plain) -L"$aside/hip" -l:libamdhip64.so -Wl,-rpath,'$ORIGIN'

    mkdir -p "$aside/asan"
    if echo 'int main(void) { return 0; }' | "$compiler" $sanitizers -x c - -o "$aside/probe" 2>"$aside/reason"; then
        objects asan "core cuda nccl" $sanitizers
        link asan/libcudart.so.12 "$aside"/objects/asan/core/*.o "$aside"/objects/asan/cuda/*.o $sanitizers
        link asan/libnccl.so.2 $(nccl asan) -L"$aside/asan" -l:libcudart.so.12 -Wl,-rpath,'$ORIGIN' $sanitizers
    else
        echo "the compiler has no sanitizers: $(head -1 "$aside/reason")" >"$aside/asan/skipped.txt"
    fi
}

rm -f "$out/skipped.txt" "$out/asan/skipped.txt"
for folder in . hip old older broken asan; do
    mkdir -p "$out/$folder"
    for built in "$aside/$folder"/*.so* "$aside/$folder"/skipped.txt; do
        if [ -f "$built" ]; then
            mv "$built" "$out/$folder/"
            echo "$folder/$(basename "$built")" >>"$aside/list"
        fi
    done
done
touch -r "$aside/began" "$aside/list"
mv "$aside/list" "$out/built"
