# What the script ferro of a checkout and bin/ferro of a distribution have in common. Both set, before they call a function:
#   home      the checkout or the folder of the distribution
#   tool      program of the JDK that is needed: javac in a checkout, which is built with it, java in a distribution
#   lib       folder of the jars
#   archives  folder of the class archives
#   state     folder of the lock
#   log       file for the output of what makes the archives
#   example   program that the launcher compiles and starts while its classes are archived

give_up() {
    printf 'ferro: %s\n' "$@" >&2
    exit 2
}

# Major version of the Java in $1, from the file that every JDK carries; nothing if $1 has no Java.
java_version() {
    [ -x "$1/bin/java" ] || return 0
    if [ -r "$1/release" ]; then
        sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$1/release"
    else
        "$1/bin/java" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'
    fi
}

# The same, but only if $1 has the program that is needed.
jdk_version() {
    [ ! -x "$1/bin/$tool" ] || java_version "$1"
}

# As process 1 of a container this shell gets only signals that it handles. launch_as_init passes them on.
hear_as_init() {
    [ $$ != 1 ] || trap 'exit 143' TERM INT HUP
}

# What this script needs: a checkout is built, which needs a compiler.
kind() {
    case $tool in
        javac) echo JDK ;;
        *) echo Java ;;
    esac
}

# What is needed and found, for a message about $1.
unfit() {
    version=$(java_version "$1")
    found=${version:+Java }${version:-no Java (no bin/java)}
    need="Java 17 or newer"
    if [ "$tool" = javac ]; then
        need="a JDK of version 17 or newer, with which a checkout is built"
        [ -z "$version" ] || [ -x "$1/bin/javac" ] || found="$found without a compiler (no bin/javac)"
    fi
    echo "holds $found, need $need"
}

jdk_candidates() {
    for jdk in /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home "${HOME:-/}"/.sdkman/candidates/java/* \
        "${HOME:-/}"/.jdks/*; do
        [ -d "$jdk" ] && printf '%s\n' "$jdk"
    done
    if [ -x /usr/libexec/java_home ]; then
        /usr/libexec/java_home -v 17+ 2>/dev/null
    fi
    on_path=$(command -v "$tool") && on_path=$(readlink -f "$on_path") && dirname "$(dirname "$on_path")"
}

newest_jdk() {
    jdk_candidates | while IFS= read -r jdk; do
        version=$(jdk_version "$jdk")
        [ "${version:-0}" -ge 17 ] && printf '%s %s\n' "$version" "$jdk"
    done | sort -rn | sed -n '1s/^[0-9]* //p'
}

# Sets path_java to the option by which the launcher says that the path has another Java than the one picked.
compare_with_path() {
    on_path=$(command -v java) && on_path=$(readlink -f "$on_path") || return 0
    on_path=$(dirname "$(dirname "$on_path")")
    [ "$on_path" != "$(readlink -f "$JAVA_HOME")" ] || return 0
    on_path_version=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$on_path/release" 2>/dev/null)
    path_java="-Dferro.path.java=${on_path_version:+$on_path_version }of $on_path"
}

# Sets JAVA_HOME to the newest JDK unless it says otherwise already.
choose_jdk() {
    path_java=
    if [ -z "${JAVA_HOME:-}" ]; then
        JAVA_HOME=$(newest_jdk)
        [ -n "$JAVA_HOME" ] || give_up \
            "found no $(kind) of version 17 or newer under /usr/lib/jvm, on the path or in JAVA_HOME" \
            "install one (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk; or https://adoptium.net)"
        export JAVA_HOME
        compare_with_path
        return
    fi
    version=$(jdk_version "$JAVA_HOME")
    [ "${version:-0}" -ge 17 ] || give_up \
        "JAVA_HOME=$JAVA_HOME $(unfit "$JAVA_HOME")" \
        "set it to such a $(kind), or unset it to use the newest $(kind) of this machine"
}

# Vendor and version of the JDK, such as Debian-17.0.15+6-Debian-1deb12u1-17.0.15: the JVM reads an archive only if the same
# build of the JDK has made it, and two vendors have builds of one version.
jdk_build() (
    set -- $(sed -n -e '/^IMPLEMENTOR=/b use' -e '/^JAVA_RUNTIME_VERSION=/b use' -e '/^JAVA_VERSION=/b use' -e d -e ':use' \
        -e 's/^[A-Z_]*="\(.*\)"/\1/' -e 's/[^A-Za-z0-9.+]/-/g' -e p "$JAVA_HOME/release" 2>/dev/null)
    IFS=-
    printf '%s\n' "$*"
)

# Sets what every start needs: the JDK, its build, which names its archives, and options of the launcher's JVM.
prepare() {
    choose_jdk
    honour_tmpdir
    keep_bytes
    release=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release" 2>/dev/null)
    build=$(jdk_build)
}

# How this command was typed, for what the launcher says to type next: by its name where the path has it, else by the way to it.
typed() {
    if [ "$(command -v ferro)" = "$0" ]; then
        echo ferro
        return
    fi
    case $0 in
        */*) printf '%s\n' "$0" ;;
        *) printf './%s\n' "$0" ;;
    esac
}

# Holds $state/lock; a lock whose owner is gone is taken over. The owner of another host cannot be looked up, and is waited
# for. Returns 1 if no lock can be made.
lock() {
    waited=0
    this_host=$(uname -n)
    until mkdir "$state/lock" 2>/dev/null; do
        [ -d "$state/lock" ] || return 1
        owner=$(cat "$state/lock/owner" 2>/dev/null)
        case $owner in
            "$this_host "*)
                if ! kill -0 "${owner##* }" 2>/dev/null; then
                    # of several that find it, one moves it away
                    mv "$state/lock" "$state/lock.$$" 2>/dev/null && rm -rf "$state/lock.$$"
                    continue
                fi
                ;;
        esac
        [ "$waited" -gt 0 ] || echo "ferro: another ferro command prepares $state; waiting until it has finished" >&2
        waited=$((waited + 1))
        [ "$waited" -le 1800 ] || give_up "waited 15 minutes for $state/lock (held by ${owner:-nobody}): remove it"
        sleep 0.5
    done
    echo "$this_host $$" >"$state/lock/owner"
    trap 'rm -rf "$state/lock"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}

# The jars of $lib, in one order for the launcher and for ranks: a class archive serves one order only.
jars() {
    printf '%s:' "$lib"/*.jar | sed 's/:$//'
}

# Runs the launcher of $lib in place of this shell, with the class archive option $1, which may be empty: a file that is
# missing would turn off the archive of the JDK, too.
launch() {
    archive=$1
    shift
    exec "$JAVA_HOME/bin/java" ${temporary:+"$temporary"} ${locale:+"$locale"} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xshare:auto ${archive:+"$archive"} \
        '-Xlog:cds*=off' --enable-native-access=ALL-UNNAMED -Dferro.home="$home" -Dferro.archive="$archives/ranks-$build.jsa" \
        -Dferro.command="$(typed)" ${path_java:+"$path_java"} \
        -cp "$(jars)" ferro.launcher.FerroCommand "$@"
}

# Makes the JVM of the launcher use the folder of TMPDIR, which a JVM does not read by itself.
honour_tmpdir() {
    temporary=
    case ${JAVA_TOOL_OPTIONS:-}${JDK_JAVA_OPTIONS:-} in
        *java.io.tmpdir*) ;;
        # of a folder that does not exist the JVM would print a line of its own; the launcher refuses it where it needs one
        *) [ ! -d "${TMPDIR:-}" ] || temporary=-Djava.io.tmpdir=$TMPDIR ;;
    esac
}

# Makes the JVM of the launcher keep the bytes of arguments, variables and paths: under the locale C it knows ASCII only. The
# launcher gives LC_ALL back to the ranks; = stands before it, and nothing if it was unset.
keep_bytes() {
    locale=
    case $(locale charmap 2>/dev/null) in
        ANSI_X3.4-1968 | US-ASCII) ;;
        '')
            case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
                C | POSIX) ;;
                *) return ;;
            esac
            ;;
        *) return ;;
    esac
    locale=-Dferro.lc_all=${LC_ALL+=$LC_ALL}
    export LC_ALL=C.UTF-8
}

# Whether a small job may open as many files as it needs.
enough_files() {
    limit=$(ulimit -n)
    set -- "$lib"/*.jar
    [ "$limit" = unlimited ] || [ "$limit" -ge $((2 * $# + 64)) ]
}

# Refuses a limit below which the JVM cannot even open its jars, as the launcher itself would: for each jar one file, and 8 more.
need_files() {
    limit=$(ulimit -n)
    set -- "$lib"/*.jar
    [ "$limit" = unlimited ] || [ "$limit" -ge $(($# + 8)) ] || give_up \
        "the launcher needs about $(($# + 8)) open files per process, but may have only $limit: raise the limit (ulimit -n 1024)"
}

# The flag by which the launcher gives ranks the Vector API: an archive serves only those that start as it was made.
vectors() {
    case $(jdk_version "$JAVA_HOME") in
        19 | 20 | 21) ;;
        *) "$JAVA_HOME/bin/java" --list-modules | sed -n 's/^\(jdk\.incubator\.vector\)@.*/--add-modules=\1/p' ;;
    esac
}

# Keeps what the JVM makes of the classes of a small job, first those of a rank that hears of another's death and then its
# launcher's, for later starts: half of the work of a start, and of telling a failure, is reading classes. Each JDK has its
# own; a JVM that one does not fit ignores it, as we do if none can be made.
archive_classes() {
    echo "archiving classes once, which takes some seconds, so that ferro starts faster on JDK $release" >&2
    launcher=$archives/launcher-$build.jsa
    ranks=$archives/ranks-$build.jsa
    rank='[ "$RANK" = 1 ] && set -- "-XX:ArchiveClassesAtExit=$0" "$@"; exec "$JAVA_HOME/bin/java" "$@"'
    (launch "" run -n 3 --no-bind -- sh -c "$rank" "$ranks" \
        -XX:-UsePerfData $(vectors) -cp "$(jars)" ferro.launcher.ArchiveProgram) </dev/null >>"$log" 2>&1 || rm -f "$ranks"
    (launch "-XX:ArchiveClassesAtExit=$launcher" run -n 2 --no-bind "$example") \
        </dev/null >>"$log" 2>&1 || rm -f "$launcher"
    : >"$archives/archived-$build"
}

# Archives the classes for this JDK if nobody has, then runs the launcher in place of this shell.
start() {
    need_files
    if [ ! -e "$archives/archived-$build" ] && [ -w "$archives" ] && enough_files && lock; then
        [ -e "$archives/archived-$build" ] || archive_classes
        unlock
    fi
    archive=$archives/launcher-$build.jsa
    [ -r "$archive" ] && archive=-XX:SharedArchiveFile=$archive || archive=
    if [ $$ = 1 ]; then
        launch_as_init "$archive" "$@"
    fi
    launch "$archive" "$@"
}

# Passes signal $1 on to the launcher, once it runs.
pass_on() {
    heard=yes
    if [ -n "$child" ]; then kill "-$1" "$child" 2>/dev/null; else early="$early $1"; fi
}

# Runs the launcher of $lib as process 1 of a container must: passes signals on, and stays in order to take in the processes
# that ranks have left behind, which a JVM does not. The launcher ignores INT, as each process does that a shell starts with &.
launch_as_init() {
    child=
    early=
    for signal in TERM HUP QUIT USR1 ALRM VTALRM XCPU URG CONT; do
        trap "pass_on $signal" "$signal"
    done
    trap 'pass_on TERM' INT
    exec 3<&0
    launch "$@" <&3 3<&- &
    child=$!
    exec 3<&-
    for signal in $early; do
        pass_on "$signal"
    done
    code=127
    while :; do
        heard=
        # a signal that is heard ends it early, and after the end of the launcher it says 127
        wait "$child"
        waited=$?
        [ "$waited" = 127 ] || code=$waited
        [ "$waited" != 127 ] && [ -n "$heard" ] || exit "$code"
    done
}

unlock() {
    rm -rf "$state/lock"
    trap - EXIT INT TERM HUP
    hear_as_init
}

