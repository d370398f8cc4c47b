package ferro.collectives;

import ferro.Collective;
import ferro.HostTensor;
import ferro.collectives.JoinedCalls.Batch;
import ferro.collectives.reduce.Copies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs the calls of a coalesced block to their end: all are queued before the first is waited for. */
final class CoalescedBlock {
    private final CollectiveLane lane;
    private final Planner planner;
    private final int worldSize;
    private final Copies copies = new Copies();

    CoalescedBlock(CollectiveLane lane, Planner planner, int worldSize) {
        this.lane = lane;
        this.planner = planner;
        this.worldSize = worldSize;
    }

    void run(List<Collective> calls, Duration timeout, boolean noMessages) {
        // whatever is wrong with one of them is wrong before anything moves
        calls.forEach(planner::prepare);
        List<Batch> batches = new JoinedCalls(planner, worldSize, calls).batches();
        if (batches.size() == 1 && batches.get(0).isJoined()) {
            Batch batch = batches.get(0);
            HostTensor all = batch.joined(copies);
            lane.run(prepared(batch), all, all, timeout, noMessages);
            batch.spread(copies);
            return;
        }
        List<PendingWork> pending = new ArrayList<>(batches.size());
        for (Batch batch : batches) {
            pending.add(batch.isJoined() ? submitJoined(batch, timeout) : lane.submit(batch.calls.get(0), timeout));
        }
        for (int i = 0; i < pending.size(); i++) {
            pending.get(i).await();
            if (batches.get(i).isJoined()) {
                batches.get(i).spread(copies);
            }
        }
    }

    private PendingWork submitJoined(Batch batch, Duration timeout) {
        HostTensor all = batch.joined(copies);
        return lane.submit(prepared(batch), all, all, timeout);
    }

    private Prepared prepared(Batch batch) {
        return planner.prepareJoined(batch.type(), batch.first().op(), batch.lengths());
    }
}
