package ferro.collectives;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.shared.AreaLayout;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlannerTest {
    private static final int RANKS = 64;
    private final Planner planner =
            new Planner(new GroupSpec("many", 3, RANKS, Duration.ofSeconds(1)), 5, SystemContext.of(Map.of()));

    PlannerTest() {
        planner.share(AreaLayout.within(16 << 10));
    }

    @Test
    void longProgramsAreNotKept() {
        Collective small = allReduce(1 << 10);
        Collective large = allReduce(2 << 20);

        assertSame(planner.prepare(small), planner.prepare(small));
        assertNotNull(planner.prepare(large).program);
        assertNotSame(planner.prepare(large), planner.prepare(large));
    }

    @Test
    void operationsWhoseProgramWouldBeTooLongGoOverLinks() {
        assertNull(planner.prepare(allReduce(32 << 20)).program);
    }

    private static Collective allReduce(int bytes) {
        HostTensor data = HostTensor.of(new float[bytes / Float.BYTES]);
        return new Collective.AllReduce(data, data, ReduceOp.SUM);
    }
}
