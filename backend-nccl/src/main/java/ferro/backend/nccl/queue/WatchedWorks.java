package ferro.backend.nccl.queue;

import ferro.control.failure.Diagnosis;
import ferro.control.group.CallWatch;
import ferro.control.group.GracefulExits;
import ferro.control.group.TimeoutProbe;
import ferro.spi.CallHeader;
import java.util.BitSet;

/** What the watch on the calls of a queue ({@link CallWatch}) learns of them. NCCL does not say whom a call waits for. */
final class WatchedWorks implements CallWatch.WatchedCalls<NcclWork> {
    private final CommControl control;

    WatchedWorks(CommControl control) {
        this.control = control;
    }

    @Override
    public CallHeader header(NcclWork work) {
        return work.title().isMessage() ? null : control.headerOf(work);
    }

    @Override
    public long begunNanos(NcclWork work) {
        return work.deadline().startNanos();
    }

    @Override
    public long deadlineNanos(NcclWork work) {
        return work.deadline().endNanos();
    }

    @Override
    public BitSet waitingFor(NcclWork work) {
        BitSet peers = new BitSet();
        if (work.title().isMessage() && work.title().peer() >= 0) {
            peers.set(work.title().peer());
        }
        return peers;
    }

    /** A rank that has called is not to blame. */
    @Override
    public Diagnosis.Blame judge(TimeoutProbe asked, NcclWork work) {
        if (!control.knowsOthers()) {
            return new Diagnosis.Blame(
                    new BitSet(), "another rank is late, gone, or made another call, which is not known here", false);
        }
        long begun = work.deadline().startNanos();
        if (work.title().isMessage()) {
            BitSet peer = new BitSet();
            peer.set(work.title().peer());
            Diagnosis.Blame verdict = asked.waiting(begun, peer, work.title().print(), 0);
            // a goodbye may have been the answer to the last question: then the leave is the cause
            refuseToWaitForLeaver(work);
            return verdict;
        }
        Diagnosis.Blame verdict = asked.collective(work.sequence(), begun, new BitSet(), 0);
        return verdict.culprits().isEmpty()
                ? new Diagnosis.Blame(new BitSet(), "all ranks have called it; " + verdict.text(), false)
                : verdict;
    }

    @Override
    public String describe(NcclWork running, NcclWork late) {
        return late.print() + (late == running ? "" : ", which is queued behind " + running.print());
    }

    @Override
    public String alone() {
        return "";
    }

    /** Ends the group if a rank has left without its part of a message, because it will never make it. */
    void refuseToWaitForLeaver(NcclWork message) {
        GracefulExits exits = control.group().exits();
        int peer = message.title().peer();
        if (peer < 0) {
            return;
        }
        exits.follow(peer);
        if (!exits.has(peer)) {
            return;
        }
        boolean receives = message.title().operation() == NcclOperation.RECV;
        long made = receives ? exits.sentBy(peer) : exits.takenBy(peer);
        if (message.number() > made) {
            exits.fail(
                    peer,
                    "it has " + (receives ? "sent " : "taken ") + made + " messages "
                            + (receives ? "to" : "from") + " this rank, and this call is for message "
                            + message.number() + " (" + message.title().print() + ")");
        }
    }
}
