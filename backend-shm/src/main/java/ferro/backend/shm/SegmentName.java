package ferro.backend.shm;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of the file of a segment. The name identifies the process that has created the segment, so that files of
 * dead processes can be recognised. Other processes cannot guess the name.
 *
 * @param namespace  namespace of process numbers
 * @param pid        process number of the creator
 * @param startTicks start time of the creator, because process numbers are reused
 * @param random     128 random bits
 */
record SegmentName(long namespace, long pid, long startTicks, UUID random) {
    private static final Pattern FORM =
            Pattern.compile("ferro-(\\d{1,18})-(\\d{1,18})-(\\d{1,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

    static SegmentName of(ProcessIdentity maker, UUID random) {
        return new SegmentName(maker.namespace(), maker.pid(), maker.startTicks(), random);
    }

    /** Parses a name; empty if the text is not the name of a segment. */
    static Optional<SegmentName> parse(String text) {
        Matcher parts = FORM.matcher(text);
        return parts.matches()
                ? Optional.of(new SegmentName(
                        Long.parseLong(parts.group(1)),
                        Long.parseLong(parts.group(2)),
                        Long.parseLong(parts.group(3)),
                        UUID.fromString(parts.group(4))))
                : Optional.empty();
    }

    @Override
    public String toString() {
        return "ferro-" + namespace + "-" + pid + "-" + startTicks + "-" + random;
    }
}
