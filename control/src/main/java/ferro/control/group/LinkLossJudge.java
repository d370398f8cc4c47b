package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.control.failure.Machines;
import ferro.control.wire.RankSetFormat;
import java.util.BitSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The decisions about which rank is to blame for the end of a link. A decision is made a little after the end of the
 * link, because the message that explains the end may still be in flight. Timers of the context make the decisions, so
 * that no decision needs a thread that makes progress. Thread-safe.
 */
final class LinkLossJudge {
    /** The wait for the control message that explains the end of a data link and may arrive after this end. */
    private static final long BROKEN_NANOS = 50_000_000L;
    /** The largest number of checks for the answer of a rank before the rank is judged without an answer. */
    private static final int LOOKS_MOST = 20;
    /** If a timer is later than this delay, this process was paused and read no messages. */
    private static final long STOOD_STILL_NANOS = 20_000_000L;

    private final StatusInquiry inquiry;
    private final AgreedFailure failure;
    private final Timers timers;
    private final GracefulExits exits;
    private final Machines machines;
    private final Runnable wake;
    private final BitSet brokenLinks = new BitSet();
    private final BitSet toldAbort = new BitSet();

    LinkLossJudge(FailureContext tools, GracefulExits exits, Machines machines) {
        this.inquiry = tools.inquiry();
        this.failure = tools.failure();
        this.timers = tools.timers();
        this.wake = tools.wake();
        this.exits = exits;
        this.machines = machines;
    }

    /** Records that a rank has sent a failure. Later ends of links to that rank are consequences of the failure. */
    synchronized void toldAbort(int peer) {
        toldAbort.set(peer);
    }

    synchronized boolean hasToldAbort(int peer) {
        return toldAbort.get(peer);
    }

    /** Wakes the waiting thread of this rank, because the message that the thread waits for may never come. */
    void wake() {
        wake.run();
    }

    void broken(int peer, FerroException cause) {
        if (exits.has(peer)) {
            blameLeaver(peer, cause);
            return;
        }
        synchronized (this) {
            // the links for messages and for collectives may end for different reasons
            int link = 2 * peer + (isOfMessages(cause) ? 1 : 0);
            if (brokenLinks.get(link)) {
                return;
            }
            brokenLinks.set(link);
        }
        BitSet concerned = machines.sharing(peer, rank -> true);
        concerned.set(peer);
        long ask = inquiry.ask(null, concerned);
        // the first answer of the rank explains why its link ended; a dead rank is known by the end of its control
        // connection
        BooleanSupplier said = () -> exits.has(peer) || inquiry.hasAnswered(peer, ask);
        afterWord(said, () -> blameLink(peer, cause, ask), BROKEN_NANOS);
    }

    private static boolean isOfMessages(FerroException cause) {
        return cause.where().sequence() < 0;
    }

    private void blameLink(int peer, FerroException cause, long ask) {
        if (exits.has(peer)) {
            blameLeaver(peer, cause);
        } else if (cause.code() == Code.PEER_LOST && inquiry.hasAnswered(peer, ask)) {
            String text = cause.getMessage() + "; " + machines.named(peer)
                    + " answers on its control connection: the link broke, not the rank";
            failure.failUnlessFailed(of(peer, Code.PARTITION, text, cause));
        } else {
            blameUnanswering(peer, cause, ask);
        }
    }

    /** Blames a rank that is silent while its link ends, or all ranks of its machine if all these ranks are silent. */
    private void blameUnanswering(int peer, FerroException cause, long ask) {
        BitSet machine = machines.sharing(peer, rank -> !inquiry.hasAnswered(rank, ask));
        if (machine.isEmpty()) {
            failure.failUnlessFailed(of(peer, cause.code(), cause.getMessage(), cause));
        } else {
            String text = machines.silence(machine) + "; " + cause.getMessage();
            failure.failUnlessFailed(
                    new Failure(cause.code(), failure.self(), -1, RankSetFormat.numbers(machine), text, cause));
        }
    }

    /**
     * Handles the end of the link of a rank that has left. Blames the rank only if its data for a collective has not
     * arrived. {@link MessageCounts} shows whether messages of the rank were lost.
     */
    private void blameLeaver(int peer, FerroException cause) {
        long sequence = cause.where().sequence();
        if (isOfMessages(cause)) {
            exits.endOfMessages(peer);
            wake.run();
        } else if (sequence > 0 && sequence <= exits.leavers().of(peer).lastSequence() && !exits.differs(peer)) {
            String text = exits.leavers().text(peer) + ", but some of its data for seq " + sequence + " never arrived: "
                    + cause.getMessage();
            failure.failUnlessFailed(of(peer, cause.code(), text, cause));
        }
    }

    /**
     * Runs a task after the inboxes were read for some time. If the timer is late, the threads that read the inboxes
     * were probably paused as well, so the task waits once more.
     */
    void afterReading(Runnable task, long nanos) {
        long due = timers.nanoTime() + nanos;
        timers.later(
                () -> {
                    if (timers.nanoTime() - due > STOOD_STILL_NANOS) {
                        timers.later(task, nanos);
                    } else {
                        task.run();
                    }
                },
                nanos);
    }

    /** Runs a task when an answer has come, or after {@link #LOOKS_MOST} checks, one every {@code nanos}. */
    void afterWord(BooleanSupplier hasCome, Runnable task, long nanos) {
        look(1, hasCome, task, nanos);
    }

    private void look(int number, BooleanSupplier hasCome, Runnable task, long nanos) {
        afterReading(
                () -> {
                    if (number < LOOKS_MOST && !hasCome.getAsBoolean()) {
                        look(number + 1, hasCome, task, nanos);
                    } else {
                        task.run();
                    }
                },
                nanos);
    }

    private Failure of(int peer, Code code, String text, FerroException cause) {
        return new Failure(code, failure.self(), -1, Set.of(peer), text, cause);
    }
}
