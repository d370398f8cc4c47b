package ferro.control.failure;

import ferro.FerroException.Code;
import ferro.control.wire.FieldCodec;
import ferro.control.wire.FieldWriter;
import java.util.Set;
import java.util.TreeSet;

/**
 * The cause of a group's failure, in a form on which ranks can agree. {@link #merged} gives the same result for any
 * number of causes, in any order and any number of times.
 *
 * @param code     kind of the failure
 * @param origin   rank that detected the failure first, according to this rank
 * @param sequence operation in which the failure was detected, -1 if none
 * @param culprits ranks to blame, ascending and immutable; empty if unknown
 * @param text     text for people: what failed, where, what was expected and found, and what to do
 * @param cause    first exception on this rank, or null
 * @param known    for MISMATCH, number of ranks whose calls were compared. For PEER_LOST, number of ranks whose end the
 *     text describes. For TIMED_OUT, 1 if no rank is to blame because data moves. Otherwise 0
 */
public record Failure(
        Code code, int origin, long sequence, Set<Integer> culprits, String text, Throwable cause, int known) {
    /** The longest text, in bytes of UTF-8. A control message holds a text of this length. */
    static final int TEXT_MOST = 2800;

    /** An empty failure. {@link #through} of this failure reads a failure from a message. */
    public static final Failure NONE = new Failure(Code.ABORTED, 0, -1, Set.of(), "", null);

    /**
     * Creates a failure. Culprits and text are cut to the length that a message can hold, so that every rank has the
     * same culprits and the same text.
     *
     * @param code     kind of the failure
     * @param origin   rank that detected the failure first, according to this rank
     * @param sequence operation in which the failure was detected, -1 if none
     * @param culprits ranks to blame, ascending and immutable; empty if unknown
     * @param text     text for people
     * @param cause    first exception on this rank, or null
     * @param known    number whose meaning depends on the code, as for the component of this record
     */
    public Failure {
        culprits = FieldWriter.cutRanks(culprits);
        text = FieldWriter.cut(text, TEXT_MOST);
    }

    /**
     * Creates a failure of a single rank, for which no calls were compared.
     *
     * @param code     kind of the failure
     * @param origin   rank that detected the failure first, according to this rank
     * @param sequence operation in which the failure was detected, -1 if none
     * @param culprits ranks to blame, empty if unknown
     * @param text     text for people
     * @param cause    first exception on this rank, or null
     */
    public Failure(Code code, int origin, long sequence, Set<Integer> culprits, String text, Throwable cause) {
        this(code, origin, sequence, culprits, text, cause, 0);
    }

    /**
     * Passes the fields of this failure to a message reader or writer. The exception on this rank is not part of the
     * message.
     *
     * @param fields reader or writer of the message
     * @return failure from the values that {@code fields} returns, without an exception on this rank
     */
    public Failure through(FieldCodec fields) {
        int from = fields.rank("origin", origin);
        long at = fields.int64("sequence", sequence);
        Code kind = fields.code("code", ControlMessage.CODES, code);
        int number = fields.count("known", known);
        Set<Integer> blamed = fields.ranks("culprits", FieldWriter.RANKS_MOST, culprits);
        return new Failure(kind, from, at, blamed, fields.text("text", TEXT_MOST, text), null, number);
    }

    /** {@return the failure for the other ranks: for an interrupt, an abort that blames this rank} */
    public Failure asSeenByOthers() {
        return code == Code.INTERRUPTED
                ? new Failure(Code.ABORTED, origin, sequence, Set.of(origin), text, null)
                : this;
    }

    /** Returns whether another failure has the same code, culprits and value of {@code known}. The texts may differ. */
    boolean saysAs(Failure other) {
        return code == other.code && culprits.equals(other.culprits) && known == other.known;
    }

    /**
     * Returns whether a rank forwards this failure, which is the merge of the failure {@code known} and another
     * failure. If only the text of a loss has changed, the loss is not forwarded, because each rank that has detected
     * the loss notifies all ranks. If only the text of a failure of another kind has changed, the failure is forwarded
     * if the pair (sequence, origin) of the new text is lower.
     *
     * @param known failure of this rank before the merge
     * @return whether this rank has to notify the other ranks
     */
    boolean isNewsAfter(Failure known) {
        boolean isEarlier = sequence < known.sequence || sequence == known.sequence && origin < known.origin;
        return !saysAs(known) || !isLoss() && isEarlier;
    }

    /** {@return whether this failure is PEER_LOST or PARTITION, a loss that several ranks detect independently} */
    public boolean isLoss() {
        return code == Code.PEER_LOST || code == Code.PARTITION;
    }

    /** Returns whether this failure is a timeout for which no rank is to blame, because data still moves. */
    public boolean isOnlySlow() {
        return code == Code.TIMED_OUT && known > 0;
    }

    /**
     * Returns whether the other ranks have received the given failure in place of this failure.
     *
     * @param agreed failure of the group
     * @return whether this failure is an interrupt, and {@code agreed} is the abort that the other ranks received in
     *     its place
     */
    public boolean isToldAs(Failure agreed) {
        return code == Code.INTERRUPTED && agreed.code == Code.ABORTED && agreed.origin == origin;
    }

    /**
     * Merges two causes into the cause on which ranks agree. The result is the graver cause, by code, then by sequence,
     * then by origin. The culprits of the merged cause are all ranks to blame for the code of this cause.
     *
     * <p>If calls were compared, only the cause with the earliest difference counts. If several causes have the
     * earliest difference, the cause with the most compared calls counts. The calls of two ranks alone do not show
     * which of the two ranks is to blame. Of several causes with equally many compared calls, only one cause counts,
     * with its culprits and its list of calls.
     *
     * <p>Of several losses, the text that describes the end of the most ranks is kept. Of several timeouts, a text that
     * blames a rank is kept, if any text blames a rank.
     *
     * @param other cause that this rank or another rank has detected
     * @return this object if the other cause changes nothing
     */
    public Failure merged(Failure other) {
        if (other.code != code) {
            return other.code.gravity() < code.gravity() ? other : this;
        }
        int order = comparedBefore(other);
        Failure first = order < 0 || order == 0 && precedes(other) ? this : other;
        if (code == Code.MISMATCH && first.known > 0) {
            return first;
        }
        Set<Integer> blamed = new TreeSet<>(culprits);
        blamed.addAll(other.culprits);
        return first == this && blamed.equals(culprits)
                ? this
                : new Failure(code, first.origin, first.sequence, blamed, first.text, first.cause, first.known);
    }

    private int comparedBefore(Failure other) {
        if (code == Code.TIMED_OUT) {
            int blames = Boolean.compare(culprits.isEmpty(), other.culprits.isEmpty());
            return blames != 0 ? blames : Integer.compare(other.known, known);
        }
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
}
