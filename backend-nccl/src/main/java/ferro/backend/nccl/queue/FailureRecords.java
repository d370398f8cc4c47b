package ferro.backend.nccl.queue;

import ferro.FerroException.Code;
import ferro.Store;
import ferro.control.failure.Failure;
import ferro.control.wire.RankLists;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Records in the store by which the ranks of a group tell one another about failures, since NCCL has no channel for it:
 * why a rank has ended the group, that it has left, how far it has come, and which call it is waiting in.
 *
 * <p>A rank writes its progress and reads the records of others only while an operation of its own takes longer than
 * {@link #patienceNanos}. Without a failure or a slow operation the store is never read before the close, but for one
 * request at the beginning ({@link #compareWhenAsked}). Keys for a group of any age: {@code ended}, {@code call},
 * {@code compare}, {@code calls/<rank>}, {@code at/<rank>} and {@code left/<n>} of each rank ({@link LeaveLog}),
 * {@code over} and {@code heard}, which count ranks, and {@code over/all} and {@code heard/all}.
 *
 * <p>All of this runs on one thread of its own, which exists only while it has work. So a store that does not answer
 * blocks no other thread.
 */
public final class FailureRecords {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Longer than collectives usually take, far shorter than a deadline. */
    private static final long LONGEST_PATIENCE_NANOS = 250_000_000;
    /** Part of a short deadline after which an operation counts as slow. */
    private static final int PART_OF_DEADLINE = 8;

    private static final Duration LEAVE_BOUND = Duration.ofSeconds(1);
    /** Longest delay of an abort by the store. A store normally answers in about a millisecond. */
    private static final Duration VERDICT_BOUND = Duration.ofSeconds(1);

    /** Longest wait for the calls of the other ranks. A rank normally answers in some milliseconds. */
    private static final Duration COMPARE_BOUND = Duration.ofMillis(500);

    private static final long IDLE_MILLIS = 500;
    /** A value that is never stored: comparing with it reads a value without waiting for one. */
    private static final byte[] NEVER = ("never " + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);

    private final Store store;
    private final String base;
    private final CommIdentity identity;
    private final LeaveLog leaveLog;
    private final ThreadPoolExecutor thread;
    /** The one thread of the pool, or the previous one. */
    private volatile Thread recordsThread;

    private final AtomicBoolean asking = new AtomicBoolean();
    /** Publishes the calls of this rank; null after the close. */
    private final AtomicReference<Runnable> answer = new AtomicReference<>();
    /** True if another half of the group reports failures to the ranks as well; then a record says the same. */
    private volatile boolean controlled;
    /** Open once this rank's own record of the failure is in the store, or could not be written. */
    private final CountDownLatch told = new CountDownLatch(1);
    /** Used only by the notes thread and by the code with which the watchdog submits to it. */
    private long announced;

    /**
     * Opens the records of a group.
     *
     * @param store store of the records
     * @param base  prefix of the keys, of this group alone
     * @param identity own rank
     */
    public FailureRecords(Store store, String base, CommIdentity identity) {
        this.store = store;
        this.base = base;
        this.identity = identity;
        leaveLog = new LeaveLog(store, base, identity);
        thread = new ThreadPoolExecutor(1, 1, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread made = new Thread(task, identity.threadName("notes"));
            made.setDaemon(true);
            recordsThread = made;
            return made;
        });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Returns how long an operation may take before the records of others are read. */
    long patienceNanos(NcclWork work) {
        return Math.min(LONGEST_PATIENCE_NANOS, work.deadline().lengthMillis() * 1_000_000 / PART_OF_DEADLINE);
    }

    /** Notes that another half of the group reports failures to the ranks. */
    void controlled() {
        controlled = true;
    }

    /** Returns the log of the ranks that have left. */
    public LeaveLog leaveLog() {
        return leaveLog;
    }

    /** Returns whether another half of the group reports failures to the ranks. */
    public boolean isControlled() {
        return controlled;
    }

    /**
     * Records the first failure in the store; a record that is there already stays. On the notes thread itself the
     * record is written when this returns, since the next task of that thread may take long.
     */
    void tell(Failure why) {
        int self = identity.rank();
        boolean asItIs = why.code() == Code.TIMED_OUT
                || why.code() == Code.MISMATCH
                || why.code() == Code.PEER_LOST
                || isOfOthers(why)
                || controlled && why.code() != Code.INTERRUPTED;
        Failure record = asItIs
                ? why
                : identity.failure(
                        Code.ABORTED, Set.of(self), "rank " + self + " ended the group: " + why.text(), null);
        later(
                () -> {
                    store.compareAndSet(key("ended"), null, NcclFailures.encoded(record));
                    if (why.code() == Code.MISMATCH) {
                        // ranks whose calls have succeeded, and which are in no call now, look at the record then
                        store.set(key("compare"), text(Integer.toString(self)));
                    }
                },
                told);
    }

    /**
     * Waits a little until the record of {@link #tell} is written. An abort comes after it: NCCL reports at once to the
     * other ranks that a rank has aborted, and they read here which rank and why.
     */
    void awaitTold() {
        Deadline.after(VERDICT_BOUND, System::nanoTime).awaitQuietly(told);
    }

    /**
     * Returns the cause of a failure that names no rank: the record of the rank that began it, if there is one,
     * otherwise the failure itself. Waits a little for the store. Not on the notes thread.
     *
     * @param oldest operation that the failure ends, or null
     */
    Failure judged(Failure why, NcclWork oldest) {
        if (!isOfOthers(why)) {
            return why;
        }
        AtomicReference<Failure> verdict = new AtomicReference<>(why);
        CountDownLatch looked = new CountDownLatch(1);
        later(() -> ended(oldest).filter(told -> !isOfOthers(told)).ifPresent(verdict::set), looked);
        Deadline.after(VERDICT_BOUND, System::nanoTime).awaitQuietly(looked);
        return verdict.get();
    }

    /**
     * Records that the calls of this rank have ended with the failure of the group, unless another half of the group
     * knows it.
     */
    void heardFailure() {
        if (!controlled) {
            later(() -> countIn("heard"));
        }
    }

    /** Waits until the calls of all ranks have ended with the failure of the group. Not on the notes thread. */
    public void awaitAllHeardFailure(Deadline bound) {
        CountDownLatch all = new CountDownLatch(1);
        later(() -> store.when(key("heard/all")).thenRun(all::countDown));
        bound.awaitQuietly(all);
    }

    /**
     * Makes this rank publish its last calls when another rank asks for them because NCCL has refused data. NCCL may have
     * let the calls of this rank succeed, so that nothing else tells it; the failure that the other rank records then ends
     * this rank too. This is one request in the life of the group.
     */
    void compareWhenAsked(RecentCalls calls, Consumer<Failure> ends) {
        answer.set(() -> later(() -> {
            publish(calls);
            store.when(key("ended"))
                    .thenAccept(record -> later(() ->
                            NcclFailures.decoded(record, identity.worldSize()).ifPresent(ends)));
        }));
        // the store may outlive the group, and keeps what it is given here
        AtomicReference<Runnable> kept = answer;
        quietly(() -> store.when(key("compare")).thenRun(() -> answer(kept.get())));
    }

    private static void answer(Runnable answer) {
        if (answer != null) {
            answer.run();
        }
    }

    private void publish(RecentCalls calls) {
        store.set(key("calls/" + identity.rank()), calls.encoded());
    }

    /**
     * Asks all ranks for their last calls, and compares them. Waits a little for the answers; a rank that does not answer is
     * left out. Not on the notes thread.
     *
     * @param calls calls of this rank
     * @return the mismatch, if calls of ranks differ
     */
    Optional<Failure> differingCalls(RecentCalls calls) {
        Map<Integer, byte[]> known = new ConcurrentHashMap<>();
        known.put(identity.rank(), calls.encoded());
        CountDownLatch missing = new CountDownLatch(identity.worldSize() - 1);
        quietly(() -> {
            publish(calls);
            store.set(key("compare"), text(Integer.toString(identity.rank())));
            for (int rank = 0; rank < identity.worldSize(); rank++) {
                int from = rank;
                if (from == identity.rank()) {
                    continue;
                }
                store.when(key("calls/" + from)).thenAccept(encoded -> {
                    known.put(from, encoded);
                    missing.countDown();
                });
            }
        });
        Deadline.after(COMPARE_BOUND, System::nanoTime).awaitQuietly(missing);
        return RecentCalls.firstDifference(known, identity);
    }

    /** Increments a counter. The last rank to do so writes a key that can be waited for. */
    private void countIn(String name) {
        if (store.add(key(name), 1) == identity.worldSize()) {
            store.set(key(name + "/all"), text("1"));
        }
    }

    /**
     * Returns whether the failure is that another rank is lost and NCCL does not say which. The rank that gets this
     * failure is not to blame.
     */
    private static boolean isOfOthers(Failure why) {
        return why.code() == Code.NATIVE && why.culprits().isEmpty();
    }

    /** Records that this rank makes no more calls. Waits a little, so that the following close comes after it. */
    void recordLeave(LeaveRecord own) {
        CountDownLatch said = new CountDownLatch(1);
        later(() -> leaveLog.say(own), said);
        Deadline.after(LEAVE_BOUND, System::nanoTime).awaitQuietly(said);
    }

    /**
     * Follows the goodbyes of the other ranks. Nothing waits meanwhile, and nothing is read twice.
     *
     * @param enough whether the goodbyes that are needed are there
     * @param orEnd  whether the failure of the group also ends it
     * @return completes with true when they are there and with false when the group has failed on some rank; never
     *     completes if the store goes away before
     */
    public CompletableFuture<Boolean> follow(BooleanSupplier enough, boolean orEnd) {
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        later(() -> {
            if (orEnd) {
                store.when(key("ended")).thenRun(() -> over.complete(false));
            }
            next(over, enough);
        });
        return over;
    }

    private void next(CompletableFuture<Boolean> over, BooleanSupplier enough) {
        leaveLog.look();
        if (enough.getAsBoolean()) {
            over.complete(true);
        } else {
            store.when(leaveLog.nextKey()).thenRun(() -> later(() -> next(over, enough)));
        }
    }

    /**
     * Records that this rank has heard all goodbyes and does not need the store any more.
     *
     * @param asked open once it is recorded, or cannot be
     * @return completes when all ranks have recorded it; for the rank that serves the store
     */
    public CompletableFuture<Boolean> heardAll(CountDownLatch asked) {
        CompletableFuture<Boolean> all = new CompletableFuture<>();
        later(
                () -> {
                    store.when(key("over/all")).thenRun(() -> all.complete(true));
                    countIn("over");
                },
                asked);
        return all;
    }

    /**
     * Reads the records if the operation is slow, and writes one. Does nothing while an earlier call is still in
     * progress.
     */
    void whilePending(NcclWork oldest, Consumer<Failure> ends) {
        if (oldest.deadline().elapsedNanos() < patienceNanos(oldest) || !asking.compareAndSet(false, true)) {
            return;
        }
        later(() -> {
            try {
                ended(oldest).ifPresent(ends);
                if (!oldest.title().isMessage() && announced < oldest.sequence()) {
                    announced = oldest.sequence();
                    announce(oldest).ifPresent(ends);
                }
            } finally {
                asking.set(false);
            }
        });
    }

    /** Returns why the operation cannot end: the group has failed, or a rank has left without making it. */
    private Optional<Failure> ended(NcclWork oldest) {
        byte[] record = peek("ended");
        if (record != null) {
            return NcclFailures.decoded(record, identity.worldSize());
        }
        if (oldest == null) {
            return Optional.empty();
        }
        leaveLog.look();
        return leaveLog.failureOf(oldest).filter(failure -> !oldest.isDone());
    }

    /** Records the call of the first slow rank. The others compare their call with it. */
    private Optional<Failure> announce(NcclWork work) {
        store.set(key("at/" + identity.rank()), text(Long.toString(work.sequence())));
        byte[] mine = text(
                work.sequence() + "\n" + identity.rank() + "\n" + work.title().print());
        byte[] there = store.compareAndSet(key("call"), null, mine);
        while (!Arrays.equals(there, mine)) {
            String[] theirs = fields(there);
            long sequence = Long.parseLong(theirs[0]);
            if (sequence == work.sequence()) {
                return theirs[2].equals(work.title().print()) ? Optional.empty() : Optional.of(mismatch(work, theirs));
            }
            if (sequence > work.sequence()) {
                return Optional.empty();
            }
            there = store.compareAndSet(key("call"), there, mine);
        }
        return Optional.empty();
    }

    private Failure mismatch(NcclWork work, String[] theirs) {
        String text = "ranks made different calls as seq " + theirs[0] + ": rank " + theirs[1] + " calls " + theirs[2]
                + ", rank " + identity.rank() + " calls " + work.title().print();
        return identity.failure(Code.MISMATCH, RankLists.numbers(theirs[1] + "," + identity.rank()), text, null);
    }

    /**
     * Finds the ranks that an operation waits for.
     *
     * @param oldest operation
     * @param told   gets the ranks that the store knows of, if it answers
     */
    void absentees(NcclWork oldest, Consumer<Waited> told) {
        if (oldest.title().isMessage()) {
            told.accept(Waited.of(oldest, Set.of(oldest.title().peer())));
            return;
        }
        later(() -> {
            leaveLog.look();
            Set<Integer> absent = new TreeSet<>();
            for (int rank = 0; rank < identity.worldSize(); rank++) {
                if (rank != identity.rank() && !hasCalled(rank, oldest)) {
                    absent.add(rank);
                }
            }
            told.accept(Waited.of(oldest, absent));
        });
    }

    /** Returns whether a rank has made the call. A rank that has left after this call has made it. */
    private boolean hasCalled(int rank, NcclWork work) {
        byte[] at = peek("at/" + rank);
        return at != null && Long.parseLong(new String(at, StandardCharsets.UTF_8)) >= work.sequence()
                || leaveLog.of(rank)
                        .filter(left -> left.covers(work, identity.rank()))
                        .isPresent();
    }

    /** Ends the thread as soon as it is idle. */
    public void close() {
        answer.set(null);
        thread.shutdown();
    }

    private byte[] peek(String name) {
        return peek(store, key(name));
    }

    /** Reads a value without waiting; null if there is none. */
    public static byte[] peek(Store store, String key) {
        return store.compareAndSet(key, NEVER, NEVER);
    }

    private String key(String name) {
        return base + "/" + name;
    }

    /** Runs a task later, if ever, or now on the notes thread, and opens the latch then. */
    private void later(Runnable task, CountDownLatch done) {
        Runnable telling = () -> {
            try {
                quietly(task);
            } finally {
                done.countDown();
            }
        };
        if (Thread.currentThread() == recordsThread) {
            telling.run();
        } else if (thread.isShutdown()) {
            done.countDown();
        } else {
            thread.execute(telling);
        }
    }

    private void later(Runnable task) {
        if (thread.isShutdown()) {
            return;
        }
        thread.execute(() -> quietly(task));
    }

    private void quietly(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException gone) {
            // the other ranks then get the failure at their own deadline
            LOG.log(Level.DEBUG, "the ranks of " + identity + " cannot exchange records of failures", gone);
        }
    }

    private static String[] fields(byte[] record) {
        return new String(record, StandardCharsets.UTF_8).split("\n", 3);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
