package ferro.backend.simulated;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.recorder.ProgramFrames;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One run of {@link SimulatedBackend#runAll}. A run has one thread for each rank, records failures in the order in
 * which they happen, and ends all ranks. Each object is used for one run.
 *
 * @param <T> type of the results
 */
final class SimulatedRun<T> {
    /** Time that is added to the timeout, so that a call that begins with the run and times out ends before the run. */
    private static final long SLACK_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Time that other ranks may still run after the first failure, and after an interrupt. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * Time that calls may take to end after an abort. A rank that still runs {@code ABORT_NANOS} after an abort is not
     * in a call.
     */
    private static final long ABORT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final int DEEPEST_CAUSE = 20;

    private final SimulatedBackend.ResultBody<T> body;
    private final List<RankThread> ranks = new ArrayList<>();
    private final Duration timeout;
    /** Failures that may be the first failure, in the order in which they happened. */
    private final List<BodyFailure> failures = new ArrayList<>();
    /** Failures that this object has caused by an abort or an interrupt. */
    private final List<BodyFailure> consequences = new ArrayList<>();

    private boolean stopping;

    /** A rank and its thread. */
    private final class RankThread {
        private final SimulatedBackend backend;
        private final SystemContext context;
        private final Thread thread;
        private T result;
        private boolean ended;

        RankThread(SimulatedBackend backend, Map<String, String> settings) {
            this.backend = backend;
            context = SystemContext.of(settings);
            String name = "ferro-" + SimulatedBackend.NAME + "-" + backend.rank() + "-body";
            thread = new Thread(() -> run(this, body), name);
            thread.setDaemon(true);
            backend.whenKilled(() -> killed(this));
        }

        int rank() {
            return backend.rank();
        }

        /** Returns whether the run still waits for this rank. */
        boolean runs() {
            return !ended && !backend.isKilled();
        }
    }

    private record BodyFailure(int rank, Throwable thrown) {
        /** Returns the FerroException among the causes if this exception is a failure of the group of all ranks. */
        Optional<FerroException> ofFerro() {
            Throwable cause = thrown;
            for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
                if (cause instanceof FerroException found) {
                    return Optional.of(found).filter(one -> one.where().group().equals(SimulatedBackend.NAME));
                }
                cause = cause.getCause();
            }
            return Optional.empty();
        }

        boolean blames(int other) {
            return ofFerro().map(one -> one.where().culprits().contains(other)).orElse(false);
        }

        /**
         * Returns the ranks that wait for each other in a cycle with this rank, or no ranks. A timeout blames its own
         * rank only in a cycle of waits.
         */
        Set<Integer> cycle() {
            return ofFerro()
                    .filter(one -> one.code() == Code.TIMED_OUT)
                    .map(one -> one.where().culprits())
                    .filter(culprits -> culprits.size() > 1 && culprits.contains(rank))
                    .orElse(Set.of());
        }
    }

    SimulatedRun(List<SimulatedBackend> backends, Map<String, String> settings, SimulatedBackend.ResultBody<T> body) {
        this.body = body;
        timeout = backends.get(0).timeout();
        for (SimulatedBackend backend : backends) {
            ranks.add(new RankThread(backend, settings));
        }
    }

    /** Runs all ranks to their ends. Returns the results, or throws the first failure. */
    List<T> results() {
        long deadline = System.nanoTime() + Deadlines.nanos(timeout) + SLACK_NANOS;
        ranks.forEach(this::start);
        try {
            if (!await(deadline, true)) {
                if (failures().isEmpty()) {
                    abortHanging();
                } else if (!await(System.nanoTime() + GRACE_NANOS, false)) {
                    hang(running());
                }
            }
            end();
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
        return resultsOrFailure();
    }

    private void start(RankThread rank) {
        try {
            rank.thread.start();
        } catch (OutOfMemoryError noThread) {
            // the failure of this rank ends the ranks that have started
            run(rank, group -> {
                throw noThread;
            });
        }
    }

    private void run(RankThread own, SimulatedBackend.ResultBody<T> code) {
        try {
            ProcessGroup group = Groups.of(own.backend, own.context);
            own.result = code.apply(group);
            group.close();
        } catch (Throwable failure) {
            // record the failure before the abort, so that no consequence of the failure comes first
            failed(own, failure);
            own.context.abort(failure);
        } finally {
            close(own);
        }
    }

    /** Closes the context of a rank and marks the rank as ended, even if the close fails. */
    private void close(RankThread own) {
        try {
            closeContext(own);
        } finally {
            ended(own);
        }
    }

    private synchronized void failed(RankThread own, Throwable failure) {
        if (!own.backend.isKilled()) {
            (stopping ? consequences : failures).add(new BodyFailure(own.rank(), failure));
            notifyAll();
        }
    }

    private synchronized void ended(RankThread own) {
        own.ended = true;
        notifyAll();
    }

    private void killed(RankThread rank) {
        rank.context.abort(new IllegalStateException(SimulatedBackend.killedText(rank.rank())));
        rank.thread.interrupt();
        synchronized (this) {
            notifyAll();
        }
    }

    private synchronized List<BodyFailure> failures() {
        return List.copyOf(failures);
    }

    private synchronized List<RankThread> running() {
        return ranks.stream().filter(RankThread::runs).toList();
    }

    /** Waits until no rank runs. Returns false at the deadline, and if {@code orFailure}, after a failure. */
    private synchronized boolean await(long deadline, boolean orFailure) throws InterruptedException {
        while (ranks.stream().anyMatch(RankThread::runs)) {
            long left = deadline - System.nanoTime();
            if (left <= 0 || orFailure && !failures.isEmpty()) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /**
     * Ends the calls of all ranks at the deadline. A rank that still runs afterwards is not in a call, and is reported
     * as hanging.
     */
    private void abortHanging() throws InterruptedException {
        List<RankThread> late = running();
        synchronized (this) {
            stopping = true;
        }
        List<BodyFailure> stacks = late.stream().map(this::late).toList();
        stacks.forEach(stack -> ranks.get(stack.rank()).context.abort(stack.thrown()));
        await(System.nanoTime() + ABORT_NANOS, false);
        List<Integer> hanging = running().stream().map(RankThread::rank).toList();
        synchronized (this) {
            stacks.stream()
                    .filter(stack -> hanging.isEmpty() || hanging.contains(stack.rank()))
                    .forEach(failures::add);
        }
    }

    private synchronized void hang(List<RankThread> hanging) {
        stopping = true;
        hanging.forEach(rank -> failures.add(late(rank)));
    }

    /** Returns the failure of a rank that has not ended. The failure has the stack of the rank's thread. */
    private BodyFailure late(RankThread rank) {
        StackTraceElement[] stack = rank.thread.getStackTrace();
        FerroException failure = new FerroException(
                Code.TIMED_OUT,
                Where.of(SimulatedBackend.NAME, rank.rank()).blaming(rank.rank()),
                "rank " + rank.rank() + " of \"" + SimulatedBackend.NAME + "\" has not ended"
                        + (failures().isEmpty()
                                ? " within " + Deadlines.millis(timeout)
                                        + " ms, the timeout of the group: set ferro.timeout if its code needs more time"
                                : " after another rank had failed")
                        + "; its thread was at " + userFrame(stack));
        failure.setStackTrace(stack);
        return new BodyFailure(rank.rank(), failure);
    }

    /**
     * Describes the line of the program that a thread executes. The line is in the top frame that belongs neither to
     * ferro nor to the JDK.
     *
     * @param stack frames of the thread of a rank, the top frame first
     * @return for example {@code Train.step(Train.java:88), in java.lang.Thread.sleep}
     */
    static String userFrame(StackTraceElement[] stack) {
        if (stack.length == 0) {
            return "its end";
        }
        int user = 0;
        while (user < stack.length && !ProgramFrames.isOfTheProgram(stack[user])) {
            user++;
        }
        if (user == stack.length) {
            user = bodyOf(stack);
        }
        StackTraceElement line = stack[user];
        String source = line.isNativeMethod() ? "native" : line.getFileName() + ":" + line.getLineNumber();
        return method(line) + "(" + source + ")" + (user == 0 ? "" : ", in " + method(stack[user - 1]));
    }

    /** Returns whether a frame belongs to the object of a lambda expression. Some JVMs show such frames. */
    private static boolean isHidden(StackTraceElement frame) {
        return frame.getClassName().contains("$$Lambda");
    }

    /** Returns the frame of the rank's code that {@link SimulatedRun} calls; without such a frame, the top frame. */
    private static int bodyOf(StackTraceElement[] stack) {
        int caller = stack.length - 1;
        while (caller > 0 && !isCaller(stack[caller])) {
            caller--;
        }
        while (caller > 0 && (isCaller(stack[caller]) || isHidden(stack[caller]))) {
            caller--;
        }
        return caller;
    }

    private static boolean isCaller(StackTraceElement frame) {
        return frame.getClassName().equals(SimulatedRun.class.getName())
                || frame.getClassName().equals(SimulatedBackend.class.getName());
    }

    private static String method(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }

    /**
     * Interrupts the ranks that still run, and waits for a bounded time until all threads end. Closes the group of a
     * rank whose thread does not end.
     */
    private void end() throws InterruptedException {
        synchronized (this) {
            stopping = true;
        }
        notEnded().forEach(rank -> rank.thread.interrupt());
        long deadline = System.nanoTime() + GRACE_NANOS;
        for (RankThread rank : ranks) {
            rank.thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
        }
        notEnded().forEach(this::closeContext);
    }

    /** Closes the context of a rank. A failure of the close counts as a failure of the rank. */
    private void closeContext(RankThread rank) {
        try {
            rank.context.close();
        } catch (RuntimeException | Error failure) {
            failed(rank, failure);
        }
    }

    private synchronized List<RankThread> notEnded() {
        return ranks.stream().filter(rank -> !rank.ended).toList();
    }

    private FerroException interrupted(InterruptedException interrupted) {
        FerroException failure = new FerroException(
                Code.INTERRUPTED,
                Where.of(SimulatedBackend.NAME, -1),
                "the thread that waits for " + ranks.size() + " simulated ranks was interrupted: the ranks are aborted",
                interrupted);
        ranks.forEach(rank -> rank.context.abort(failure));
        try {
            end();
        } catch (InterruptedException again) {
            failure.addSuppressed(again);
        }
        Thread.currentThread().interrupt();
        return failure;
    }

    private synchronized List<T> resultsOrFailure() {
        if (!failures.isEmpty()) {
            throw described();
        }
        return ranks.stream().map(rank -> rank.result).toList();
    }

    private AssertionError described() {
        BodyFailure first = failures.get(0);
        BodyFailure cause = failures.stream()
                .filter(one -> !first.blames(first.rank()) && first.blames(one.rank()))
                .findFirst()
                .orElse(first);
        AssertionError error = new AssertionError(text(first, cause), cause.thrown());
        Stream.concat(failures.stream(), consequences.stream())
                .map(BodyFailure::thrown)
                .filter(other -> other != cause.thrown())
                .forEach(error::addSuppressed);
        return error;
    }

    private String text(BodyFailure first, BodyFailure cause) {
        String failedFirst = "rank " + first.rank() + " failed first: " + first.thrown();
        if (!cause.cycle().isEmpty()) {
            String cycle = cause.cycle().stream().map(String::valueOf).collect(Collectors.joining(", "));
            return "ranks " + cycle + " of " + ranks.size() + " wait for each other; " + failedFirst;
        }
        String rank = "rank " + cause.rank() + " of " + ranks.size();
        return cause == first
                ? rank + " failed first: " + first.thrown()
                : rank + " is to blame: " + cause.thrown() + "; " + failedFirst;
    }
}
