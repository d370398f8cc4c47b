package ferro.collectives;

import ferro.Collective;
import ferro.collectives.JoinedCalls.Batch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Runs the calls of a coalesced block to their end: all are queued before the first is waited for. */
final class CoalescedBlock {
    private final CollectiveLane lane;
    private final Planner planner;
    private final int worldSize;

    CoalescedBlock(CollectiveLane lane, Planner planner, int worldSize) {
        this.lane = lane;
        this.planner = planner;
        this.worldSize = worldSize;
    }

    void run(List<Collective> calls, Duration timeout) {
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
                            ? lane.submit(prepared(batch), batch.room(), batch.room(), timeout, batch)
                            : lane.submit(batch.calls.get(0), timeout));
        }
        pending.forEach(PendingWork::await);
    }

    private Prepared prepared(Batch batch) {
        return planner.prepareJoined(batch.type(), batch.first().op(), batch.lengths());
    }
}
