package ferro.collectives.control;

import ferro.FerroException.Code;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Why a group has failed, in a form that ranks can agree on: {@link #merged} of any number of causes, in any order and any
 * number of times, is the same.
 *
 * @param code     kind
 * @param origin   rank that saw it first, as far as this rank knows
 * @param sequence operation in which it was seen, -1 if none
 * @param culprits ranks to blame, ascending, comma-separated, empty if unknown
 * @param text     for people: what failed, where, expected and found, the way out
 * @param cause    first cause on this rank, or null
 */
public record Failure(Code code, int origin, long sequence, String culprits, String text, Throwable cause) {
    /** From what is a cause of others to what others cause: the first of these is what the survivors agree on. */
    private static final List<Code> GRAVEST_FIRST = List.of(
            Code.PEER_LOST,
            Code.NATIVE,
            Code.RESOURCE,
            Code.PROTOCOL,
            Code.MISMATCH,
            Code.PARTITION,
            Code.TIMED_OUT,
            Code.INTERRUPTED,
            Code.ABORTED);

    /**
     * Returns what the other ranks are told: an interrupt here is an abort there, with this rank to blame.
     *
     * @return failure to send
     */
    Failure asSeenByOthers() {
        if (code == Code.INTERRUPTED) {
            return new Failure(Code.ABORTED, origin, sequence, Integer.toString(origin), text, null);
        }
        return this;
    }

    /**
     * Returns what two ranks that know of two causes agree on: the graver one (by code, then by sequence, then by origin), and
     * all ranks to blame for that code.
     *
     * @param other cause
     * @return this object if it changes nothing here
     */
    public Failure merged(Failure other) {
        if (other.code != code) {
            return gravity(other.code) < gravity(code) ? other : this;
        }
        String blamed = union(culprits, other.culprits);
        Failure first = precedes(other) ? this : other;
        return first == this && blamed.equals(culprits)
                ? this
                : new Failure(code, first.origin, first.sequence, blamed, first.text, first.cause);
    }

    private boolean precedes(Failure other) {
        if (sequence != other.sequence) {
            return sequence < other.sequence;
        }
        return origin != other.origin ? origin < other.origin : text.compareTo(other.text) <= 0;
    }

    private static int gravity(Code code) {
        int place = GRAVEST_FIRST.indexOf(code);
        return place < 0 ? GRAVEST_FIRST.size() + code.ordinal() : place;
    }

    private static String union(String one, String two) {
        if (one.equals(two)) {
            return one;
        }
        return Stream.of(one, two)
                .flatMap(ranks -> Arrays.stream(ranks.split(",")))
                .filter(rank -> !rank.isEmpty())
                .map(Integer::valueOf)
                .sorted()
                .distinct()
                .map(String::valueOf)
                .collect(Collectors.joining(","));
    }
}
