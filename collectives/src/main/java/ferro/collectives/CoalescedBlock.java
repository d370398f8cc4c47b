package ferro.collectives;

import ferro.Collective;
import ferro.collectives.JoinedCalls.Batch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Queues the calls of a coalesced block, small ones joined. */
final class CoalescedBlock {
    private final OperationQueue queue;
    private final Planner planner;
    private final int worldSize;

    CoalescedBlock(OperationQueue queue, Planner planner, int worldSize) {
        this.queue = queue;
        this.planner = planner;
        this.worldSize = worldSize;
    }

    /** Queues them; returns their handles. */
    List<PendingWork> submit(List<Collective> calls, Duration timeout) {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(timeout, "timeout");
        // whatever is wrong with one of them is wrong before anything moves
        calls.forEach(planner::prepare);
        List<Batch> batches = new JoinedCalls(planner, worldSize, calls).batches();
        batches.stream().filter(Batch::isJoined).forEach(Batch::room);
        List<PendingWork> pending = new ArrayList<>();
        for (Batch batch : batches) {
            pending.add(
                    batch.isJoined()
                            ? queue.submit(prepared(batch), batch.room(), batch.room(), timeout, batch)
                            : queue.submit(batch.calls.get(0), timeout));
        }
        return pending;
    }

    private Prepared prepared(Batch batch) {
        return planner.prepareJoined(batch.type(), batch.first().op(), batch.lengths());
    }
}
