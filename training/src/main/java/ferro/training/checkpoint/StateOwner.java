package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job that saves in a folder. Owners are ordered by number. If two owners have taken the same number at the same time,
 * the nonce determines their order.
 *
 * @param number one more than the number of the previous owner; 0 for jobs of builds without owners
 * @param nonce  eight hexadecimal digits; empty if the number is 0
 * @param host   the host of rank 0
 * @param pid    the process ID of rank 0
 * @param job    the name of the job; empty if the name is not known
 * @param since  the time at which the job became the owner, in UTC; empty if the time is not known
 */
record StateOwner(long number, String nonce, String host, long pid, String job, String since)
        implements Comparable<StateOwner> {
    /** The owner of folders and files whose names contain no owner. */
    static final StateOwner NONE = named(0, "");

    private static final Pattern PUBLISHED =
            Pattern.compile("latest-([1-9][0-9]{0,17})-([0-9a-f]{8})[.](json|txt)([.].*)?");
    private static final Pattern FOLDER = Pattern.compile("step-[0-9]+-([1-9][0-9]{0,17})-([0-9a-f]{8})/.*");

    private static StateOwner named(long number, String nonce) {
        return new StateOwner(number, nonce, "", 0, "", "");
    }

    /**
     * Returns the owner of a published file, or of the temporary file for it, from the name of the file. Returns an
     * empty result for any other file.
     */
    static Optional<StateOwner> ofPublished(String object) {
        return of(PUBLISHED.matcher(object));
    }

    /** Returns the owner of an object in a step folder. */
    static StateOwner ofState(String object) {
        return of(FOLDER.matcher(object)).orElse(NONE);
    }

    private static Optional<StateOwner> of(Matcher name) {
        return name.matches() ? Optional.of(named(Long.parseLong(name.group(1)), name.group(2))) : Optional.empty();
    }

    static StateOwner of(JsonValues fields) {
        return new StateOwner(
                fields.count("number"),
                fields.string("nonce"),
                fields.string("host"),
                fields.count("pid"),
                fields.string("job"),
                fields.string("since"));
    }

    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("number", number);
        fields.put("nonce", nonce);
        fields.put("host", host);
        fields.put("pid", pid);
        fields.put("job", job);
        fields.put("since", since);
        return fields;
    }

    @Override
    public int compareTo(StateOwner other) {
        return number == other.number ? nonce.compareTo(other.nonce) : Long.compare(number, other.number);
    }

    boolean isBefore(StateOwner other) {
        return compareTo(other) < 0;
    }

    /** Returns the name of the owner that the names of its objects contain, such as {@code 4-9f3a12cd}. */
    String name() {
        return number + "-" + nonce;
    }

    /** Returns a description of the owner for messages. */
    @Override
    public String toString() {
        String who = since.isEmpty()
                ? ""
                : " (host " + Text.shortened(host) + ", pid " + pid
                        + (job.isEmpty() ? "" : ", job \"" + Text.shortened(job) + "\"") + ", since "
                        + Text.shortened(since) + ")";
        return "owner " + name() + who;
    }
}
