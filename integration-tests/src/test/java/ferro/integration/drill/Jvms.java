package ferro.integration.drill;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The processes of a test class. Those that have outlived a fault may serve the next job: in CI as any rank, in the whole drill
 * only where a job says so, as the first failure of a process runs code that was never run before, and that is what users see.
 */
final class Jvms implements BeforeAllCallback, AfterAllCallback {
    /** More would be no job's. */
    private static final int MOST_IDLE = DrillJob.WORLD_SIZE;

    private final List<RankJvm> idle = new ArrayList<>();
    private final List<RankJvm> all = new ArrayList<>();

    /** Returns one that may have lived before. */
    RankJvm take(int heapMiB) throws IOException {
        return heapMiB == Drill.SMALL_HEAP_MIB && !idle.isEmpty() ? idle.remove(0) : start(heapMiB);
    }

    /** Returns one whose first failure is still to come; in CI, where it is not looked at so closely, any. */
    RankJvm takeNew() throws IOException {
        return Drill.whole() ? start(Drill.SMALL_HEAP_MIB) : take(Drill.SMALL_HEAP_MIB);
    }

    RankJvm start(int heapMiB) throws IOException {
        RankJvm started = RankJvm.start(heapMiB);
        all.add(started);
        return started;
    }

    /** Takes processes back and ends those that are of no more use. */
    void giveBack(List<RankJvm> ranks) {
        for (RankJvm rank : ranks) {
            if (idle.size() < MOST_IDLE && rank.heapMiB() == Drill.SMALL_HEAP_MIB && closes(rank)) {
                idle.add(rank);
            } else {
                rank.close();
                all.remove(rank);
            }
        }
    }

    private static boolean closes(RankJvm rank) {
        try {
            rank.tell(Line.of("close"));
            rank.awaitTag("closed");
            return true;
        } catch (IOException | AssertionError gone) {
            return false;
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        Measured.begin(context.getRequiredTestClass());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        for (Iterator<RankJvm> each = all.iterator(); each.hasNext(); ) {
            each.next().close();
            each.remove();
        }
    }
}
