package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.ReduceOp;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The front door down to the sockets. */
@Timeout(60)
class TcpGroupTest {
    @Test
    void twoGroupsOfOneRankShareItsPortAndTheSecondOutlivesTheFirst() throws IOException {
        int port = Sockets.freePort();
        Map<String, String> settings = new HashMap<>();
        settings.put("ferro.backend", "tcp");
        settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + port);
        List<CompletableFuture<Integer>> ranks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            int own = rank;
            Map<String, String> ownSettings = new HashMap<>(settings);
            ownSettings.put("ferro.rank", Integer.toString(rank));
            ranks.add(Threads.start(() -> bothGroups(own, ownSettings)));
        }
        for (CompletableFuture<Integer> rank : ranks) {
            assertEquals(7, Ranks.result(rank));
        }
        assertEquals(List.of(), Sockets.listening(port));
    }

    private static int bothGroups(int rank, Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            ProcessGroup first = Groups.join(GroupSpec.of("first", rank, 2, Ranks.LONG), context);
            try (ProcessGroup second = Groups.join(GroupSpec.of("second", 1 - rank, 2, Ranks.LONG), context)) {
                first.barrier();
                first.close();
                int[] data = {3 + rank};
                second.allReduce(data, ReduceOp.SUM);
                return data[0];
            }
        }
    }
}
