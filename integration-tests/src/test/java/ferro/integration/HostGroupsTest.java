package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HostGroupsTest {
    private static final String[] HOSTS = {"b", "a", "b", "c", "a", "b"};
    private static final int[][] MEMBERS = {{0, 2, 5}, {1, 4}, {0, 2, 5}, {3}, {1, 4}, {0, 2, 5}};
    private static final int[] LEADERS = {0, 1, 3};

    @Test
    void ranksSumByHostAndTheHostsByTheirLowestRanks() {
        try (Ranks ranks = Ranks.onHosts(HOSTS)) {
            ranks.each(group -> {
                int[] sum = {group.rank() + 1};
                try (ProcessGroup host = group.splitByHost()) {
                    assertArrayEquals(MEMBERS[group.rank()], members(host, group.rank()));
                    host.allReduce(sum, ReduceOp.SUM);
                }
                Optional<ProcessGroup> hosts = group.hosts();
                assertEquals(MEMBERS[group.rank()][0] == group.rank(), hosts.isPresent());
                hosts.ifPresent(leaders -> {
                    try (leaders) {
                        assertArrayEquals(LEADERS, members(leaders, group.rank()));
                        leaders.allReduce(sum, ReduceOp.SUM);
                        assertEquals(21, sum[0]);
                    }
                });
            });
        }
    }

    /** Returns the ranks in the parent of the members of a group, in the order of the group. */
    private static int[] members(ProcessGroup group, int rank) {
        int[] all = new int[group.worldSize()];
        group.allGather(new int[] {rank}, all);
        return all;
    }
}
