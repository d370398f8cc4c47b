# Reads lines of ferro and of Gloo with their rounds; prints a Markdown table and writes the same as CSV to the file named by
# the variable csv. Times are medians over the rounds, ratios are taken within a round; "best" is the fastest block of any
# round, which other load on the machine touches least.
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
    least = field("us_min") + 0
    if (!((who, size) in best) || least < best[who, size]) best[who, size] = least
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
            if (!((("ferro", size, round) in median) && (("gloo", size, round) in median))) continue
            n++
            ferro[n] = median["ferro", size, round]
            gloo[n] = median["gloo", size, round]
            ratio[n] = ferro[n] / gloo[n]
        }
        if (n == 0) continue
        sort(ferro, n, f)
        sort(gloo, n, g)
        sort(ratio, n, r)
        bests = best["ferro", size] / best["gloo", size]
        printf "| %s | %.1f | %.1f | %.2f | %.2f to %.2f | %.1f | %.1f | %.2f | %d |\n", label(size), \
            middle(f, n), middle(g, n), middle(r, n), r[1], r[n], best["ferro", size], best["gloo", size], bests, n
        printf "%d,%.3f,%.3f,%.4f,%.4f,%.4f,%.3f,%.3f,%.4f,%d\n", size, \
            middle(f, n), middle(g, n), middle(r, n), r[1], r[n], best["ferro", size], best["gloo", size], bests, n > csv
    }
    if (wrong["ferro"] + wrong["gloo"] > 0) {
        print "wrong elements: ferro " wrong["ferro"] + 0 ", Gloo " wrong["gloo"] + 0 > "/dev/stderr"
        exit 1
    }
}
