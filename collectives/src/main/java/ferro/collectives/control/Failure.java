package ferro.collectives.control;

import ferro.FerroException.Code;
import java.util.Arrays;
import java.util.List;

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
 * @param known    of how many ranks the calls were compared; 0 where the cause is another
 */
public record Failure(Code code, int origin, long sequence, String culprits, String text, Throwable cause, int known) {
    /** Longest text, in bytes of UTF-8: what a control message takes. */
    static final int TEXT_MOST = 2800;

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
     * Makes a failure; culprits and text are cut to what travels, so that every rank knows the same. What is no rank is left
     * out of the culprits.
     *
     * @param code     kind
     * @param origin   rank that saw it first, as far as this rank knows
     * @param sequence operation in which it was seen, -1 if none
     * @param culprits ranks to blame, ascending, comma-separated, empty if unknown
     * @param text     for people
     * @param cause    first cause on this rank, or null
     * @param known    of how many ranks the calls were compared; 0 where the cause is another
     */
    public Failure {
        culprits = FieldWriter.cutRanks(Names.ascending(culprits));
        text = FieldWriter.cut(text, TEXT_MOST);
    }

    /**
     * Makes a failure for which no calls were compared.
     *
     * @param code     kind
     * @param origin   rank that saw it first, as far as this rank knows
     * @param sequence operation in which it was seen, -1 if none
     * @param culprits ranks to blame, comma-separated, empty if unknown
     * @param text     for people
     * @param cause    first cause on this rank, or null
     */
    public Failure(Code code, int origin, long sequence, String culprits, String text, Throwable cause) {
        this(code, origin, sequence, culprits, text, cause, 0);
    }

    /**
     * Returns the ranks to blame.
     *
     * @return ranks, ascending
     */
    public List<Integer> blamed() {
        return Arrays.stream(culprits.split(","))
                .filter(rank -> !rank.isEmpty())
                .map(Integer::valueOf)
                .toList();
    }

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

    /** Returns whether another says the same, be it in other words. */
    boolean blamesAs(Failure other) {
        return code == other.code && culprits.equals(other.culprits);
    }

    /**
     * Returns whether the others were told of this as that.
     *
     * @param agreed what the group fails with
     * @return whether it is an interrupt, and that the abort that it means for the others
     */
    public boolean isToldAs(Failure agreed) {
        return code == Code.INTERRUPTED && agreed.code == Code.ABORTED && agreed.origin == origin;
    }

    /**
     * Returns what two ranks that know of two causes agree on: the graver one (by code, then by sequence, then by origin), and
     * all ranks to blame for that code. Where calls were compared, the earliest difference and whoever knew most of them is
     * right alone: two ranks that differ cannot tell by themselves which of them is the odd one.
     *
     * @param other cause
     * @return this object if it changes nothing here
     */
    public Failure merged(Failure other) {
        if (other.code != code) {
            return gravity(other.code) < gravity(code) ? other : this;
        }
        int order = comparedBefore(other);
        if (order != 0) {
            return order < 0 ? this : other;
        }
        String blamed = culprits.equals(other.culprits) ? culprits : Names.ascending(culprits + "," + other.culprits);
        Failure first = precedes(other) ? this : other;
        return first == this && blamed.equals(culprits)
                ? this
                : new Failure(code, first.origin, first.sequence, blamed, first.text, first.cause, known);
    }

    private int comparedBefore(Failure other) {
        if (known == 0 || other.known == 0 || sequence == other.sequence) {
            return Integer.compare(other.known, known);
        }
        return Long.compare(sequence, other.sequence);
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
}
