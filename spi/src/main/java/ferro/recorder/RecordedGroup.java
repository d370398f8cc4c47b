package ferro.recorder;

import ferro.FerroException.Code;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * The view of a group that a {@link FlightRecorder} reads when it writes a file. Any thread may call the methods of a
 * view. No method may wait.
 */
public interface RecordedGroup {
    /** {@return why the group has failed; null while the group works} */
    Failed failure();

    /** {@return the identity of this group in its job, the same on all ranks of the group; 0 without an identity} */
    default long identity() {
        return 0;
    }

    /** {@return the status of the rank in this group, which may be slightly old} */
    RecordedStatus status();

    /**
     * {@return the stacks of the threads of this rank in calls of groups and of the thread that joined; empty if
     * unknown}
     */
    default List<ThreadStack> stacks() {
        return List.of();
    }

    /** The failure of a group. */
    final class Failed {
        private final Code code;
        private final int origin;
        private final long sequence;
        private final Set<Integer> culprits;
        private final int known;
        private final String text;

        private Failed(Code code, int origin, long sequence, Set<Integer> culprits, int known, String text) {
            this.code = Objects.requireNonNull(code, "code");
            this.origin = origin;
            this.sequence = sequence;
            this.culprits = culprits;
            this.known = known;
            this.text = Objects.requireNonNull(text, "text");
        }

        /**
         * Creates the failure of a group.
         *
         * @param code kind of failure
         * @param origin rank of the group that detected the failure first
         * @param sequence number of the operation in which the failure was detected, -1 if none
         * @param culprits ranks of the group to blame, empty if unknown
         * @param known number by which {@code ferro analyze} decides which of several failures counts, 0 without such a
         *     number
         * @param text description for people
         * @return failure
         */
        public static Failed of(
                Code code, int origin, long sequence, Collection<Integer> culprits, int known, String text) {
            Set<Integer> ascending = new TreeSet<>(Objects.requireNonNull(culprits, "culprits"));
            return new Failed(code, origin, sequence, Collections.unmodifiableSet(ascending), known, text);
        }

        /** {@return the kind of failure} */
        public Code code() {
            return code;
        }

        /** {@return the rank of the group that detected the failure first} */
        public int origin() {
            return origin;
        }

        /** {@return the number of the operation in which the failure was detected, -1 if none} */
        public long sequence() {
            return sequence;
        }

        /** {@return the ranks of the group to blame, ascending and immutable; empty if unknown} */
        public Set<Integer> culprits() {
            return culprits;
        }

        /** {@return the number by which {@code ferro analyze} decides which of several failures counts} */
        public int known() {
            return known;
        }

        /** {@return the description for people} */
        public String text() {
            return text;
        }

        @Override
        public String toString() {
            return "Failed[code=" + code + ", origin=" + origin + ", sequence=" + sequence + ", culprits=" + culprits
                    + ", known=" + known + ", text=" + text + "]";
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Failed that && values().equals(that.values());
        }

        @Override
        public int hashCode() {
            return values().hashCode();
        }

        private List<Object> values() {
            return List.of(code, origin, sequence, culprits, known, text);
        }
    }

    /**
     * The status of a rank in a group.
     *
     * @param sequence   number of the running operation, 0 if no operation runs
     * @param progress   progress of the operation as text for people; empty if unknown
     * @param waitingFor ranks of the group that the operation waits for, ascending and immutable; empty if none
     */
    record RecordedStatus(long sequence, String progress, Set<Integer> waitingFor) {
        /** Status of a rank without a running operation. */
        public static final RecordedStatus IDLE = new RecordedStatus(0, "", Set.of());

        /**
         * Creates a status, with a copy of the ranks.
         *
         * @param sequence   number of the running operation, 0 if no operation runs
         * @param progress   progress of the operation as text for people; empty if unknown
         * @param waitingFor ranks of the group that the operation waits for, empty if none
         */
        public RecordedStatus {
            Objects.requireNonNull(progress, "progress");
            waitingFor = Collections.unmodifiableSet(new TreeSet<>(Objects.requireNonNull(waitingFor, "waitingFor")));
        }
    }
}
