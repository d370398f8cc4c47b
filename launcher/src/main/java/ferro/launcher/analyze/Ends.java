package ferro.launcher.analyze;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

/**
 * How the processes of ranks ended, as their launcher saw it. A rank that is killed or ends by itself may leave no
 * recording, and a recording does not contain an exit code. Immutable.
 *
 * @param byRank           how a rank ended; a rank whose end was not seen is absent
 * @param stopped          ranks that were told to end because another one had failed
 * @param stoppedWallNanos when they were told, in nanoseconds since 1970; {@link Long#MAX_VALUE} if none was
 */
public record Ends(Map<Integer, ProcessEnd> byRank, Set<Integer> stopped, long stoppedWallNanos) {
    /** No end was seen, as when recordings are read on their own. */
    public static final Ends UNSEEN = new Ends(Map.of(), Set.of(), Long.MAX_VALUE);

    /**
     * Copies the map and the set.
     *
     * @param byRank           how a rank ended
     * @param stopped          ranks that were told to end
     * @param stoppedWallNanos when they were told
     */
    public Ends {
        byRank = Map.copyOf(byRank);
        stopped = Set.copyOf(stopped);
    }

    /** How a process ended. */
    public enum EndKind {
        /** By an exception of its own, not by a reported failure of a group. */
        THREW,
        /** By exit code 0. */
        WELL,
        /** By a signal that the launcher did not send. */
        SIGNAL,
        /** By another exit code, which may be the consequence of a failed group. */
        CODE,
        /** By the launcher, because of another rank. */
        STOPPED,
        /** By the launcher, after a signal had suspended the process. */
        HALTED,
        /** On another host, where its recording is: its absence here means nothing. The text is the place. */
        ELSEWHERE
    }

    /**
     * How one process ended.
     *
     * @param kind in which way
     * @param text what it did, as in "it threw ..."
     */
    public record ProcessEnd(EndKind kind, String text) {
        /** Returns what it did while the others were in their calls. */
        String at(CallsOfOthers others, Pronoun pronoun) {
            if (kind != EndKind.WELL) {
                return said(pronoun) + others.after(", while ", "was in", "were in");
            }
            return said(pronoun)
                    + (others.isEmpty()
                            ? " before the others had finished"
                            : others.after(" before ", "had finished", "had finished"));
        }

        /** Returns the exception that it threw, as its text has it. */
        String thrown() {
            return text.substring("it threw ".length());
        }

        /** Returns what it did. The words of an exception are the program's and stay as they are. */
        String said(Pronoun pronoun) {
            int own = kind == EndKind.THREW ? Math.min(text.length(), "it".length()) : text.length();
            return pronoun.say(text.substring(0, own)) + text.substring(own);
        }

        /** Whether the process ended abnormally, and not because the launcher ended it. */
        boolean bad() {
            return kind == EndKind.THREW || kind == EndKind.SIGNAL || kind == EndKind.CODE;
        }

        /** Whether it says why other ranks lost this one, so that the reasons that they guess add nothing. */
        boolean isCause() {
            return bad() || kind == EndKind.WELL || kind == EndKind.HALTED;
        }

        /** Whether the end is not the consequence of a failed group. */
        boolean cameFirst() {
            return kind == EndKind.THREW || kind == EndKind.WELL || kind == EndKind.SIGNAL;
        }
    }

    /**
     * Whether a failure that was seen at some time of the wall clock is only a consequence of the launcher stopping ranks.
     */
    boolean broughtAbout(Collection<Integer> culprits, long wallNanos) {
        return wallNanos > stoppedWallNanos && !culprits.isEmpty() && stopped.containsAll(culprits);
    }
}
