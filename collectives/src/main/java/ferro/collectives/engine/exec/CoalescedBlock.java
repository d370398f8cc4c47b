package ferro.collectives.engine.exec;

import ferro.Collective;
import ferro.collectives.engine.exec.FusedCalls.FusedBatch;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.progress.PendingWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The submission of the calls of a coalesced block. Small calls are joined. */
public final class CoalescedBlock {
    private final OperationQueue queue;
    private final Planner planner;
    private final int worldSize;

    /** Makes a block whose calls are added to a queue. */
    public CoalescedBlock(OperationQueue queue, Planner planner, int worldSize) {
        this.queue = queue;
        this.planner = planner;
        this.worldSize = worldSize;
    }

    /** Queues the calls and returns their handles. */
    public List<PendingWork> submit(List<Collective> calls, List<String> labels, Duration timeout) {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(labels, "labels");
        Objects.requireNonNull(timeout, "timeout");
        if (labels.size() != calls.size()) {
            throw new IllegalArgumentException(
                    "coalesced: found " + labels.size() + " labels, need one for each of " + calls.size() + " calls");
        }
        // checks every call before any data moves
        for (int i = 0; i < calls.size(); i++) {
            planner.prepare(calls.get(i), labels.get(i));
        }
        List<FusedBatch> batches = new FusedCalls(planner, worldSize, calls, labels).batches();
        batches.stream().filter(FusedBatch::isJoined).forEach(FusedBatch::buffer);
        List<PendingWork> pending = new ArrayList<>();
        for (FusedBatch batch : batches) {
            pending.add(
                    batch.isJoined()
                            ? queue.submit(prepared(batch), batch.buffer(), batch.buffer(), timeout, batch)
                            : queue.submit(batch.calls.get(0), batch.labels.get(0), timeout));
        }
        return pending;
    }

    private Prepared prepared(FusedBatch batch) {
        return planner.prepareJoined(
                batch.type(), batch.first().op(), batch.lengths(), batch.labels.toArray(new String[0]));
    }
}
