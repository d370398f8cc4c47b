package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job that saves in a folder. Owners are ordered by number, then by generation. If two owners of the same generation
 * have taken the same number at the same time, the nonce determines their order.
 *
 * @param number the attempt to own and the generation
 * @param nonce  eight hexadecimal digits; empty if the attempt is 0
 * @param host   the host of rank 0
 * @param pid    the process ID of rank 0
 * @param job    the name of the job; empty if the name is not known
 * @param since  the time at which the job became the owner, in UTC; empty if the time is not known
 */
record StateFolderOwner(OwnerNumber number, String nonce, String host, long pid, String job, String since)
        implements Comparable<StateFolderOwner> {
    private static final String GENERATION = "generation";
    /** The owner of folders and files whose names contain no owner. */
    static final StateFolderOwner NONE = named(new OwnerNumber(0, 0), "");

    /** The pattern of the name of an owner, with groups for attempt, generation and nonce. */
    static final String NAME = "([1-9][0-9]{0,17})(?:[.]([1-9][0-9]{0,8}))?-([0-9a-f]{8})";

    private static final Pattern PUBLISHED = Pattern.compile("latest-" + NAME + "[.](json|txt)([.].*)?");
    private static final Pattern FOLDER = Pattern.compile("step-[0-9]+-" + NAME + "/.*");

    /**
     * The number of an owner. Attempts are compared before generations, because a job that a user starts again has
     * generation 0.
     *
     * @param attempt    one more than the attempt of the previous owner; 0 for jobs of builds without owners
     * @param generation how often the job had been started again
     */
    record OwnerNumber(long attempt, int generation) implements Comparable<OwnerNumber> {
        @Override
        public int compareTo(OwnerNumber other) {
            return attempt == other.attempt
                    ? Integer.compare(generation, other.generation)
                    : Long.compare(attempt, other.attempt);
        }

        /**
         * Returns the attempt, followed by the generation unless the generation is 0. Examples are {@code 4} and
         * {@code 4.1}.
         */
        @Override
        public String toString() {
            return generation == 0 ? "" + attempt : attempt + "." + generation;
        }
    }

    private static StateFolderOwner named(OwnerNumber number, String nonce) {
        return new StateFolderOwner(number, nonce, "", 0, "", "");
    }

    /**
     * Returns the owner of a published file, or of a temporary file for a published file, from the name of the file.
     * Returns an empty result for any other file.
     */
    static Optional<StateFolderOwner> ofPublished(String object) {
        return of(PUBLISHED.matcher(object));
    }

    /** Returns the owner of an object in a step folder. */
    static StateFolderOwner ofState(String object) {
        return of(FOLDER.matcher(object)).orElse(NONE);
    }

    private static Optional<StateFolderOwner> of(Matcher name) {
        if (!name.matches()) {
            return Optional.empty();
        }
        int generation = name.group(2) == null ? 0 : Integer.parseInt(name.group(2));
        return Optional.of(named(new OwnerNumber(Long.parseLong(name.group(1)), generation), name.group(3)));
    }

    static StateFolderOwner of(JsonObjectFields fields) {
        int generation = fields.fields().containsKey(GENERATION) ? fields.small(GENERATION) : 0;
        return new StateFolderOwner(
                new OwnerNumber(fields.count("number"), generation),
                fields.string("nonce"),
                fields.string("host"),
                fields.count("pid"),
                fields.string("job"),
                fields.string("since"));
    }

    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("number", number.attempt);
        if (number.generation > 0) {
            fields.put(GENERATION, number.generation);
        }
        fields.put("nonce", nonce);
        fields.put("host", host);
        fields.put("pid", pid);
        fields.put("job", job);
        fields.put("since", since);
        return fields;
    }

    @Override
    public int compareTo(StateFolderOwner other) {
        int order = number.compareTo(other.number);
        return order == 0 ? nonce.compareTo(other.nonce) : order;
    }

    boolean isBefore(StateFolderOwner other) {
        return compareTo(other) < 0;
    }

    /**
     * Returns the name of this owner, which the names of the owner's objects contain, such as {@code 4-9f3a12cd} or
     * {@code 4.1-9f3a12cd}.
     */
    String name() {
        return number + "-" + nonce;
    }

    /** Returns a description of the owner for messages. */
    @Override
    public String toString() {
        String who = since.isEmpty()
                ? ""
                : " (host " + MessageFormatter.shortened(host) + ", pid " + pid
                        + (job.isEmpty() ? "" : ", job \"" + MessageFormatter.shortened(job) + "\"") + ", since "
                        + MessageFormatter.shortened(since) + ")";
        return "owner " + name() + who;
    }
}
