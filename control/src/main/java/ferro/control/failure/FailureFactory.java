package ferro.control.failure;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.RankEnd;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * Creates the failures of a group. If a rank aborts a group, the group fails on all ranks. The text that the other
 * ranks receive has the class, the message and the first frames of the exception and of its causes. In the texts of all
 * failures, {@code self} is the name of this rank ({@link Machines#named(int)}).
 */
public final class FailureFactory {
    private static final int FRAMES = 6;
    private static final int CAUSES = 3;

    private FailureFactory() {}

    /** Creates the failure of a group that this rank aborts. */
    public static Failure failure(GroupSpec group, String self, Throwable cause) {
        if (cause instanceof FerroException known && (isOfThisEnd(known.where(), group) || isOwnLack(known, group))) {
            return adopted(known);
        }
        String text = self + " aborted the group: " + of(cause);
        return new Failure(Code.ABORTED, group.rank(), -1, Set.of(group.rank()), text, cause);
    }

    /**
     * Creates the failure for an exception inside the engine. The whole group fails, because the other ranks would wait
     * if the exception reached only one caller.
     */
    public static Failure inside(GroupSpec group, String self, Throwable broken) {
        Set<Integer> blamed = Set.of(group.rank());
        if (broken instanceof FerroException known) {
            return new Failure(known.code(), group.rank(), -1, blamed, known.getMessage(), known);
        }
        boolean memory = broken instanceof OutOfMemoryError;
        String text = self + (memory ? lacking(broken.getMessage()) : reason(broken));
        return new Failure(memory ? Code.RESOURCE : Code.ABORTED, group.rank(), -1, blamed, text, broken);
    }

    /** Describes an exception. The JDK has no special exception for an access to memory whose arena is closed. */
    private static String reason(Throwable broken) {
        StackTraceElement[] trace = broken.getStackTrace();
        boolean isFreed = broken instanceof IllegalStateException
                && trace.length > 0
                && trace[0].getClassName().startsWith("jdk.internal.foreign.");
        return isFreed
                ? " accessed memory of a tensor that was freed during a call (" + broken.getMessage()
                        + "): close an arena only after the calls on its tensors have ended"
                : " failed with an exception: " + broken;
    }

    /**
     * Describes what is lacking according to an OutOfMemoryError. If a thread cannot be created, pthread_create(3)
     * reports EAGAIN.
     */
    private static String lacking(String text) {
        return text != null && text.contains("native thread")
                ? " cannot start a thread: Resource temporarily unavailable (EAGAIN; " + text
                        + "): raise the limit of threads (ulimit -u, pids.max of the control group) or free " + "memory"
                : " ran out of memory: " + text;
    }

    /** Creates the exception for a blocking call in a seeded simulation. */
    public static IllegalStateException wouldBlock(GroupSpec group, String what, String instead) {
        return new IllegalStateException(what + " on group \"" + group.name() + "\" rank " + group.rank()
                + " would block, and a seeded simulation runs all ranks on one thread" + instead);
    }

    /** Creates the failure of a group that a rank closes before its operations have ended. */
    public static Failure closedTooEarly(GroupSpec group, String self, Duration timeout) {
        String text = self + " closed the group with operations that did not end "
                + (Thread.currentThread().isInterrupted()
                        ? "before its thread was interrupted"
                        : "within " + Deadlines.millis(timeout) + " ms");
        return new Failure(Code.ABORTED, group.rank(), -1, Set.of(group.rank()), text, null);
    }

    /** Creates the failure of a group for a rank whose JVM exits during a call. */
    public static Failure exits(int rank, String self, String call) {
        String text = "the JVM exits while " + self + " is in " + call
                + ": its main method has returned, or the program has called System.exit";
        return new Failure(Code.ABORTED, rank, -1, Set.of(rank), text, null);
    }

    /** Creates the exception for a call on a closed group. */
    public static IllegalStateException closed(GroupSpec group, String call) {
        return new IllegalStateException(
                call + " on group \"" + group.name() + "\" rank " + group.rank() + ": the group is closed");
    }

    /**
     * Creates the exception for a call that is refused because the JVM exits. Before the refusal, this rank has left
     * the group, or has sent the other ranks the reason for the failure.
     */
    public static FerroException refusedAtExit(GroupSpec group, String self, String call) {
        Where where = Where.of(group.name(), group.rank()).blaming(group.rank());
        String text = call + " on group \"" + group.name() + "\" " + self
                + ": the JVM exits, and this rank takes part in no further call";
        return new FerroException(Code.ABORTED, where, text);
    }

    /** Creates the failure of a group for a rank whose JVM is ended by a signal. */
    public static Failure endedBySignal(int rank, String self, String signal, String call, long ended) {
        String where =
                call.isEmpty() ? ended == 0 ? " before its first collective" : " after seq " + ended : " in " + call;
        String text = self + " was ended by shutdown (" + signal + ")" + where;
        return new Failure(Code.ABORTED, rank, -1, Set.of(rank), text, null);
    }

    /** Creates the failure of a call whose thread was interrupted. */
    public static Failure interrupted(GroupSpec group, String self, String call, long sequence) {
        String text = self + " was interrupted in " + call + (sequence < 0 ? "" : " seq " + sequence);
        return new Failure(Code.INTERRUPTED, group.rank(), sequence, Set.of(), text, null);
    }

    /**
     * Returns whether another rank aborted the group. During the bootstrap, an abort of another rank shows that the
     * other rank has found all ranks, has created the group, and has failed.
     */
    public static boolean isAbortOfAnother(GroupSpec group, Failure failure) {
        return failure != null && failure.code() == Code.ABORTED && failure.origin() != group.rank();
    }

    /**
     * Creates the exception for a group that could not be created because its ranks could not find out which ranks
     * share memory. For a joined group, the text of a timeout names the setting for a longer join timeout.
     */
    public static FerroException notMet(GroupSpec group, String self, Throwable failure, boolean joined) {
        String text = "cannot make group \"" + group.name() + "\" on " + self
                + ": finding the ranks that share memory failed: " + failure.getMessage();
        boolean late = failure instanceof FerroException timed && timed.code() == Code.TIMED_OUT;
        if (late && joined && !text.contains(Settings.JOIN_TIMEOUT.name())) {
            text += " (" + Settings.JOIN_TIMEOUT.name() + " sets the time)";
        }
        if (failure instanceof FerroException known) {
            return new FerroException(known.code(), known.where(), text, known);
        }
        Code code = failure instanceof OutOfMemoryError ? Code.RESOURCE : Code.ABORTED;
        return new FerroException(code, Where.of(group.name(), group.rank()), text, failure);
    }

    /**
     * Creates the exception for a failure of the group outside any call, with the ends of dead ranks. The message does
     * not contain the ends of ranks, because a message may become the text of another failure, which is sent to all
     * ranks.
     *
     * @param ends how each dead rank ended, by rank; the map has no entry for a rank whose end is unknown
     */
    public static FerroException exception(GroupSpec group, String self, Failure failure, Map<Integer, RankEnd> ends) {
        Where where = Where.of(group.name(), group.rank())
                .blaming(failure.culprits())
                .during("", failure.sequence())
                .ended(ends);
        String text = outsideCalls(group.name(), self) + ": " + failure.text();
        return new FerroException(failure.code(), where, text, failure.cause());
    }

    /** Returns the start of a message about a failed group on a rank that is not in a call. */
    public static String outsideCalls(String group, String self) {
        return "group \"" + group + "\" has failed, as " + self + " reports";
    }

    /**
     * Returns whether an exception comes from the part of this group that moves data on another medium and has the same
     * name. The cause of an exception from the part on the other medium is also the cause of the failure of this group.
     */
    private static boolean isOfThisEnd(Where where, GroupSpec group) {
        return where.rank() == group.rank() && where.group().equals(group.name());
    }

    /** Returns whether an exception reports that any part of this rank lacks memory, descriptors or threads. */
    private static boolean isOwnLack(FerroException cause, GroupSpec group) {
        return cause.code() == Code.RESOURCE
                && cause.where().rank() == group.rank()
                && cause.where().culprits().equals(Set.of(group.rank()));
    }

    /** Returns the failure of the group's part on the other medium, whose sequence number is only in the text. */
    private static Failure adopted(FerroException cause) {
        Where where = cause.where();
        boolean interrupted = cause.code() == Code.INTERRUPTED;
        return new Failure(
                interrupted ? Code.ABORTED : cause.code(),
                where.rank(),
                -1,
                interrupted ? Set.of(where.rank()) : where.culprits(),
                cause.getMessage(),
                cause);
    }

    /** Describes an exception and its causes. {@link Failure} cuts a text that is too long for a message. */
    private static String of(Throwable thrown) {
        if (thrown == null) {
            return "no cause given";
        }
        StringBuilder text = new StringBuilder();
        Throwable cause = thrown;
        for (int depth = 0; cause != null && depth < CAUSES; depth++) {
            text.append(depth == 0 ? "" : "\n  caused by ").append(cause);
            StackTraceElement[] frames = cause.getStackTrace();
            for (int i = 0; i < Math.min(FRAMES, frames.length); i++) {
                text.append("\n    at ").append(frames[i]);
            }
            cause = cause.getCause();
        }
        return text.toString();
    }
}
