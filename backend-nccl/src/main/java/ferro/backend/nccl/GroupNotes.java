package ferro.backend.nccl;

import ferro.FerroException.Code;
import ferro.Store;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * What the ranks of a group leave for one another in the store, since NCCL has no lane for it: why a rank has ended the
 * group, that it has closed, how far it has come, and which call it is waiting in.
 *
 * <p>A rank writes how far it has come, and reads what others wrote, only while an operation of its own takes longer than
 * {@link #patienceNanos}: where all is well the store is never asked. Four keys for a group of any age: {@code ended},
 * {@code call}, and {@code at/<rank>} of each rank.
 *
 * <p>All of it happens on one thread of its own, which is there only while it has something to do: a store that does not
 * answer holds up nobody.
 */
final class GroupNotes {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Longer than collectives usually take, far shorter than a deadline. */
    private static final long LONGEST_PATIENCE_NANOS = 250_000_000;
    /** Part of a short deadline after which an operation counts as slow. */
    private static final int PART_OF_DEADLINE = 8;

    private static final Duration GOODBYE_BOUND = Duration.ofSeconds(1);
    /** A store answers in a millisecond or so; one that does not holds up an abort no longer than this. */
    private static final Duration VERDICT_BOUND = Duration.ofSeconds(1);

    private static final long IDLE_MILLIS = 500;
    private static final String CLOSED = "CLOSED";
    /** Never stored: comparing with it reads a value without waiting for one. */
    private static final byte[] NEVER = ("never " + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);

    private final Store store;
    private final String base;
    private final CommPlace place;
    private final ThreadPoolExecutor thread;
    /** The one thread of the pool, or the one before it. */
    private volatile Thread notesThread;

    private final AtomicBoolean asking = new AtomicBoolean();
    /** Whether another half of the group tells the ranks as well; then a note says the same. */
    private volatile boolean controlled;
    /** Open once this rank's own word of the failure has been left, or could not be. */
    private final CountDownLatch told = new CountDownLatch(1);
    /** Only the notes thread and the watchdog's hand-over to it touch it. */
    private long announced;

    /**
     * Opens the notes of a group.
     *
     * @param store where
     * @param base  start of the keys, of this group alone
     * @param place own rank
     */
    GroupNotes(Store store, String base, CommPlace place) {
        this.store = store;
        this.base = base;
        this.place = place;
        thread = new ThreadPoolExecutor(1, 1, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread made = new Thread(task, place.threadName("notes"));
            made.setDaemon(true);
            notesThread = made;
            return made;
        });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Returns how long an operation may take before others are asked. */
    long patienceNanos(NcclWork work) {
        return Math.min(LONGEST_PATIENCE_NANOS, work.deadline().lengthMillis() * 1_000_000 / PART_OF_DEADLINE);
    }

    /** Says that another half of the group tells the ranks of failures. */
    void controlled() {
        controlled = true;
    }

    /**
     * Leaves word of the first failure; a note that is there already stays, unless it only says that a rank has closed. Where
     * the notes thread itself has found it, the word is left when this returns: what that thread has to do next may take long.
     */
    void tell(GroupFailure why) {
        String self = Integer.toString(place.rank());
        boolean asItIs = why.code() == Code.TIMED_OUT
                || why.code() == Code.MISMATCH
                || why.code() == Code.PEER_LOST
                || isOfOthers(why)
                || controlled && why.code() != Code.INTERRUPTED;
        GroupFailure note = asItIs
                ? new GroupFailure(why.code(), why.culprits(), why.text(), null)
                : new GroupFailure(Code.ABORTED, self, "rank " + self + " ended the group: " + why.text(), null);
        Runnable leave = () -> {
            byte[] there = store.compareAndSet(key("ended"), null, note.encoded());
            if (isClosedNote(there)) {
                store.compareAndSet(key("ended"), there, note.encoded());
            }
        };
        later(leave, told);
    }

    /**
     * Waits a little until the word of {@link #tell} is there. An abort comes after it: NCCL tells the others at once that
     * somebody has aborted, and they look here for who and why.
     */
    void awaitTold() {
        Deadline.after(VERDICT_BOUND, System::nanoTime).awaitQuietly(told);
    }

    /**
     * Returns what a failure is that names nobody: what the rank that began it has left here, if it has; else itself. Waits a
     * little for the store; not on the notes thread.
     *
     * @param oldest operation that the failure ends, or null
     */
    GroupFailure judged(GroupFailure why, NcclWork oldest) {
        if (!isOfOthers(why)) {
            return why;
        }
        AtomicReference<GroupFailure> verdict = new AtomicReference<>(why);
        CountDownLatch looked = new CountDownLatch(1);
        later(() -> ended(oldest).filter(told -> !isOfOthers(told)).ifPresent(verdict::set), looked);
        Deadline.after(VERDICT_BOUND, System::nanoTime).awaitQuietly(looked);
        return verdict.get();
    }

    /** Somebody else has gone, and NCCL does not say who: the rank that hears it is not to blame. */
    private static boolean isOfOthers(GroupFailure why) {
        return why.code() == Code.NATIVE && why.culprits().isEmpty();
    }

    /** Leaves word that this rank makes no call after this one; waits a little, so that a store that closes next has it. */
    void goodbye(long lastSequence) {
        CountDownLatch said = new CountDownLatch(1);
        byte[] note = text(CLOSED + "\n" + place.rank() + "\n" + lastSequence);
        Runnable say = () -> {
            byte[] there = store.compareAndSet(key("ended"), null, note);
            if (isClosedNote(there) && closedAfter(there) > lastSequence) {
                store.compareAndSet(key("ended"), there, note);
            }
        };
        later(say, said);
        Deadline.after(GOODBYE_BOUND, System::nanoTime).awaitQuietly(said);
    }

    /** Looks at the notes if the operation is slow, and leaves one; not while an earlier look is still under way. */
    void whilePending(NcclWork oldest, Consumer<GroupFailure> ends) {
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

    private Optional<GroupFailure> ended(NcclWork oldest) {
        byte[] note = peek("ended");
        if (note == null) {
            return Optional.empty();
        }
        if (!isClosedNote(note)) {
            return GroupFailure.decoded(note, place.worldSize());
        }
        // a rank that closed after this operation has done its part of it
        boolean before = oldest != null && (oldest.title().isMessage() || closedAfter(note) < oldest.sequence());
        String rank = fields(note)[1];
        return before && !rank.equals(Integer.toString(place.rank()))
                ? Optional.of(new GroupFailure(
                        Code.PEER_LOST, rank, "rank " + rank + " has closed its end of the group", null))
                : Optional.empty();
    }

    /** The first slow rank leaves its call, the others compare theirs with it. */
    private Optional<GroupFailure> announce(NcclWork work) {
        store.set(key("at/" + place.rank()), text(Long.toString(work.sequence())));
        byte[] mine =
                text(work.sequence() + "\n" + place.rank() + "\n" + work.title().print());
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

    private GroupFailure mismatch(NcclWork work, String[] theirs) {
        String text = "ranks made different calls as seq " + theirs[0] + ": rank " + theirs[1] + " calls " + theirs[2]
                + ", rank " + place.rank() + " calls " + work.title().print();
        return new GroupFailure(Code.MISMATCH, theirs[1] + "," + place.rank(), text, null);
    }

    /**
     * Finds out whom an operation waits for.
     *
     * @param oldest operation
     * @param told   gets what the store knows, if it answers
     */
    void absentees(NcclWork oldest, Consumer<Waited> told) {
        if (oldest.title().isMessage()) {
            told.accept(Waited.of(oldest, Set.of(oldest.title().peer())));
            return;
        }
        later(() -> {
            Set<Integer> absent = new TreeSet<>();
            for (int rank = 0; rank < place.worldSize(); rank++) {
                byte[] at = rank == place.rank() ? null : peek("at/" + rank);
                boolean here = rank == place.rank()
                        || at != null && Long.parseLong(new String(at, StandardCharsets.UTF_8)) >= oldest.sequence();
                if (!here) {
                    absent.add(rank);
                }
            }
            told.accept(Waited.of(oldest, absent));
        });
    }

    /** Ends the thread as soon as it has nothing to do. */
    void close() {
        thread.shutdown();
    }

    private byte[] peek(String name) {
        return peek(store, key(name));
    }

    /** Reads without waiting; null if there is nothing. */
    static byte[] peek(Store store, String key) {
        return store.compareAndSet(key, NEVER, NEVER);
    }

    private String key(String name) {
        return base + "/" + name;
    }

    /** Does it later, or now if this is the notes thread, if ever, and opens the latch then. */
    private void later(Runnable task, CountDownLatch done) {
        Runnable telling = () -> {
            try {
                quietly(task);
            } finally {
                done.countDown();
            }
        };
        if (Thread.currentThread() == notesThread) {
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
            // the other ranks then learn it at their own deadline
            LOG.log(Level.DEBUG, "no notes between the ranks of " + place, gone);
        }
    }

    private static boolean isClosedNote(byte[] note) {
        return note != null && new String(note, StandardCharsets.UTF_8).startsWith(CLOSED + "\n");
    }

    private static long closedAfter(byte[] note) {
        return Long.parseLong(fields(note)[2]);
    }

    private static String[] fields(byte[] note) {
        return new String(note, StandardCharsets.UTF_8).split("\n", 3);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
