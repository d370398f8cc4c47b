package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** The examples of the pages metrics and debug, run. */
public class MetricsSnippetsTest {
    // @start region="jmx"
    public interface CallsMXBean {
        long getCalls();

        long getBytes();

        double getSeconds();
    }

    record Calls(ProcessGroup group) implements CallsMXBean {
        private CallCounters.Totals all() {
            return group.counters().all();
        }

        @Override
        public long getCalls() {
            return all().calls();
        }

        @Override
        public long getBytes() {
            return all().bytes();
        }

        @Override
        public double getSeconds() {
            return all().time().toNanos() / 1e9;
        }
    }

    static void publish(ProcessGroup group) throws JMException {
        ObjectName name = new ObjectName("ferro:type=Calls,rank=" + group.rank());
        ManagementFactory.getPlatformMBeanServer().registerMBean(new Calls(group), name);
    }
    // @end

    @Test
    void countersAreAttributesOfABean() throws JMException {
        SimulatedBackend.run(2, group -> {
            publish(group);
            group.allReduce(new int[] {3, group.rank()}, ReduceOp.MAX);
        });
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (int rank = 0; rank < 2; rank++) {
            ObjectName name = new ObjectName("ferro:type=Calls,rank=" + rank);
            assertEquals(1L, server.getAttribute(name, "Calls"));
            assertEquals(8L, server.getAttribute(name, "Bytes"));
            assertTrue((double) server.getAttribute(name, "Seconds") > 0);
            server.unregisterMBean(name);
        }
    }

    @Test
    void ranksOfOneJvmHaveNoTimeoutInADebugger() {
        CountDownLatch never = new CountDownLatch(1);
        // @start region="debug"
        SimulatedBackend.run(3, Map.of("ferro.debug", "true"), group -> {
            int[] sum = {group.rank() + 1};
            group.allReduce(sum, ReduceOp.SUM); // a breakpoint here stops each rank in turn
            assertEquals(6, sum[0]);
        });
        // @end
        Map<String, String> settings = Map.of("ferro.debug", "true", "ferro.timeout", "50ms");
        SimulatedBackend.run(2, settings, group -> {
            if (group.rank() == 1) {
                assertEquals(false, never.await(200, TimeUnit.MILLISECONDS));
            }
            group.barrier();
        });
    }
}
