# Reads lines of ferro and of Gloo with their rounds; prints a Markdown table and writes the same as CSV to the file named by
# the variable csv. Times are medians over the rounds, ratios are taken within a round, and only where the probes of both
# agree, for a machine may change its state in between; "best" is the fastest block of any such round.
function field(name,    at, rest) {
    at = index($0, "\"" name "\":")
    rest = substr($0, at + length(name) + 3)
    sub(/[,}].*/, "", rest)
    gsub(/"/, "", rest)
    return rest
}

# Fills sorted[1..n] with the numbers in values[1..n].
function sort(values, n, sorted,    i, j, v) {
    for (i = 1; i <= n; i++) {
        v = values[i]
        for (j = i - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = v
    }
}

function middle(sorted, n) {
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

# Whether both ran on a machine in the same state: probes within a quarter of each other.
function comparable(size, round,    a, b) {
    if (!((("ferro", size, round) in median) && (("gloo", size, round) in median))) return 0
    a = probe["ferro", size, round]
    b = probe["gloo", size, round]
    return a < 1.25 * b && b < 1.25 * a
}

function least(values, n,    i, found) {
    found = values[1]
    for (i = 2; i <= n; i++) if (values[i] < found) found = values[i]
    return found
}

function label(bytes) {
    if (bytes >= 1048576) return bytes / 1048576 " MiB"
    return bytes >= 1024 ? bytes / 1024 " KiB" : bytes " B"
}

{
    who = field("backend") == "gloo" ? "gloo" : "ferro"
    size = field("bytes") + 0
    round = field("round") + 0
    if (!(size in seen)) {
        seen[size] = 1
        sizes[++count] = size
    }
    median[who, size, round] = field("us_median") + 0
    fastest[who, size, round] = field("us_min") + 0
    probe[who, size, round] = field("probe_us") + 0
    if (round > rounds) rounds = round
    wrong[who] += field("wrong")
}

END {
    print "| size | ferro, us | Gloo, us | ratio | least to most | ferro best, us | Gloo best, us | ratio of bests | rounds |"
    print "|---|---|---|---|---|---|---|---|---|"
    print "bytes,ferro_us,gloo_us,ratio,ratio_min,ratio_max,ferro_best_us,gloo_best_us,best_ratio,rounds" > csv
    for (s = 1; s <= count; s++) {
        size = sizes[s]
        n = 0
        for (round = 1; round <= rounds; round++) {
            if (!comparable(size, round)) continue
            n++
            ferro_best[n] = fastest["ferro", size, round]
            gloo_best[n] = fastest["gloo", size, round]
            ferro[n] = median["ferro", size, round]
            gloo[n] = median["gloo", size, round]
            ratio[n] = ferro[n] / gloo[n]
        }
        if (n == 0) {
            print "| " label(size) " | - | - | - | no round with equal probes | - | - | - | 0 of " rounds " |"
            continue
        }
        sort(ferro, n, f)
        sort(gloo, n, g)
        sort(ratio, n, r)
        fb = least(ferro_best, n)
        gb = least(gloo_best, n)
        printf "| %s | %.1f | %.1f | %.2f | %.2f to %.2f | %.1f | %.1f | %.2f | %d of %d |\n", label(size), \
            middle(f, n), middle(g, n), middle(r, n), r[1], r[n], fb, gb, fb / gb, n, rounds
        printf "%d,%.3f,%.3f,%.4f,%.4f,%.4f,%.3f,%.3f,%.4f,%d\n", size, \
            middle(f, n), middle(g, n), middle(r, n), r[1], r[n], fb, gb, fb / gb, n > csv
    }
    if (wrong["ferro"] + wrong["gloo"] > 0) {
        print "wrong elements: ferro " wrong["ferro"] + 0 ", Gloo " wrong["gloo"] + 0 > "/dev/stderr"
        exit 1
    }
}
