# Reads lines of the bench with their variant and round; prints a Markdown table. A ratio is base by variant of the same round,
# of the fastest blocks: above 1 is what the thing that the variant lacks costs. Rounds whose probes differ by more than a
# quarter are left out, for the machine may have changed its state in between.
function field(name,    at, rest) {
    at = index($0, "\"" name "\":")
    rest = substr($0, at + length(name) + 3)
    sub(/[,}].*/, "", rest)
    gsub(/"/, "", rest)
    return rest
}

function sort(values, n,    i, j, v) {
    for (i = 2; i <= n; i++) {
        v = values[i]
        for (j = i - 1; j >= 1 && values[j] > v; j--) values[j + 1] = values[j]
        values[j + 1] = v
    }
}

function middle(values, n) {
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function label(bytes) {
    if (bytes >= 1048576) return bytes / 1048576 " MiB"
    if (bytes >= 1024) return bytes / 1024 " KiB"
    return bytes " B"
}

{
    variant = field("variant"); round = field("round"); size = field("bytes") + 0
    fastest[variant, size, round] = field("us_min") + 0
    median[variant, size, round] = field("us_median") + 0
    probe[variant, size, round] = field("probe_us") + 0
    if (round + 0 > rounds) rounds = round + 0
    if (!(size in seen)) { seen[size] = 1; sizes[++sizeCount] = size }
    if (variant != "base" && !(variant in known)) { known[variant] = 1; variants[++variantCount] = variant }
}

END {
    print "| variant | size | base, us | variant, us | ratio of fastest | least to most | ratio of medians | rounds |"
    print "|---|---|---|---|---|---|---|---|"
    for (v = 1; v <= variantCount; v++) for (s = 1; s <= sizeCount; s++) {
        variant = variants[v]; size = sizes[s]; n = 0
        for (r = 1; r <= rounds; r++) {
            if (!(("base", size, r) in fastest) || !((variant, size, r) in fastest)) continue
            a = probe["base", size, r]; b = probe[variant, size, r]
            if (a >= 1.25 * b || b >= 1.25 * a) continue
            n++
            base[n] = fastest["base", size, r]; without[n] = fastest[variant, size, r]
            ratio[n] = base[n] / without[n]
            mid[n] = median["base", size, r] / median[variant, size, r]
        }
        if (n == 0) { printf "| %s | %s | | | | | | 0 of %d |\n", variant, label(size), rounds; continue }
        sort(base, n); sort(without, n); sort(ratio, n); sort(mid, n)
        printf "| %s | %s | %.1f | %.1f | %.3f | %.3f to %.3f | %.3f | %d of %d |\n", variant, label(size), middle(base, n),
            middle(without, n), middle(ratio, n), ratio[1], ratio[n], middle(mid, n), n, rounds
    }
}
