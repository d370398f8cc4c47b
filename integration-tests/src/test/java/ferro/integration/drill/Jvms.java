package ferro.integration.drill;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The processes of a test class. In CI those that have outlived a fault serve the next job; in the drill every job has new ones,
 * as the first failure of a process runs code that was never run before, and that is what users see.
 */
final class Jvms implements AutoCloseable {
    private final List<RankJvm> idle = new ArrayList<>();
    private final List<RankJvm> all = new ArrayList<>();

    RankJvm take(int heapMiB) throws IOException {
        if (heapMiB == Drill.SMALL_HEAP_MIB && !idle.isEmpty()) {
            return idle.remove(0);
        }
        RankJvm started = RankJvm.start(heapMiB);
        all.add(started);
        return started;
    }

    /** Takes processes back and ends those that are of no more use. */
    void giveBack(List<RankJvm> ranks) {
        for (RankJvm rank : ranks) {
            if (Drill.reusesProcesses() && rank.heapMiB() == Drill.SMALL_HEAP_MIB && closes(rank)) {
                idle.add(rank);
            } else {
                rank.end();
                all.remove(rank);
            }
        }
    }

    private static boolean closes(RankJvm rank) {
        try {
            rank.tell(Line.of("close"));
            rank.await("closed");
            return true;
        } catch (IOException | AssertionError gone) {
            return false;
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Ends all. */
    @Override
    public void close() {
        for (Iterator<RankJvm> each = all.iterator(); each.hasNext(); ) {
            each.next().end();
            each.remove();
        }
    }
}
