package ferro.launcher.analyze;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

/**
 * How the processes of ranks ended, as whoever started them saw it: a rank that is killed or ends by itself may leave no
 * recording, and a recording says nothing of an exit code. Immutable.
 *
 * @param byRank           what was seen of a rank; one that nobody saw end is not there
 * @param stopped          ranks that were told to end because another one had failed
 * @param stoppedWallNanos when, in nanoseconds since 1970; {@link Long#MAX_VALUE} if none was
 */
public record Ends(Map<Integer, End> byRank, Set<Integer> stopped, long stoppedWallNanos) {
    /** Where nobody has seen anything, as when recordings are read on their own. */
    public static final Ends UNSEEN = new Ends(Map.of(), Set.of(), Long.MAX_VALUE);

    /**
     * Copies what it is given.
     *
     * @param byRank           what was seen of a rank
     * @param stopped          ranks that were told to end
     * @param stoppedWallNanos when
     */
    public Ends {
        byRank = Map.copyOf(byRank);
        stopped = Set.copyOf(stopped);
    }

    /** How a process ended. */
    public enum Kind {
        /** By an exception of its own, which is no failure of a group that it was told. */
        THREW,
        /** By exit code 0. */
        WELL,
        /** By a signal that the launcher did not send. */
        SIGNAL,
        /** By another exit code, which may be the consequence of a failed group. */
        CODE,
        /** By the launcher, because of another rank. */
        STOPPED,
        /** On another host, where its recording is: that there is none here says nothing. The text is the place. */
        ELSEWHERE
    }

    /**
     * How one process ended.
     *
     * @param kind in which way
     * @param text what it did, as in "it threw ..."
     */
    public record End(Kind kind, String text) {
        /** Says what it did while the others were in a call, whose name may be empty. */
        String at(String call, Pronoun pronoun) {
            if (kind == Kind.WELL) {
                return said(pronoun) + " before the others had finished" + (call.isEmpty() ? "" : " " + call);
            }
            return said(pronoun) + (call.isEmpty() ? "" : ", while the others were in " + call);
        }

        /** Says what it did; an exception is in the words of the program, which stay as they are. */
        String said(Pronoun pronoun) {
            int own = kind == Kind.THREW ? Math.min(text.length(), "it".length()) : text.length();
            return pronoun.say(text.substring(0, own)) + text.substring(own);
        }

        /** Whether the process ended as no rank should, and not because the launcher ended it. */
        boolean bad() {
            return kind == Kind.THREW || kind == Kind.SIGNAL || kind == Kind.CODE;
        }

        /** Whether nothing that a group failed with brought it about. */
        boolean cameFirst() {
            return kind == Kind.THREW || kind == Kind.WELL || kind == Kind.SIGNAL;
        }
    }

    /** Whether a failure that was seen at some time, on the wall clock, is but what the launcher itself brought about. */
    boolean broughtAbout(Collection<Integer> culprits, long wallNanos) {
        return wallNanos > stoppedWallNanos && !culprits.isEmpty() && stopped.containsAll(culprits);
    }
}
