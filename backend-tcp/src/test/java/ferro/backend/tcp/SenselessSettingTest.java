package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings of the engine that make no sense: refused before the group is made, on a rank that the others wait for. */
@Timeout(60)
class SenselessSettingTest {
    @ParameterizedTest
    @CsvSource({
        "ferro.segment, need a size such as 64KiB",
        "ferro.message.buffer, need a size such as 16MiB",
        "ferro.algorithm, need kind=algorithm",
        "ferro.heartbeat.interval, need a time such as 200ms",
        "FERRO_LOCAL_CORES, need a number of cores"
    })
    void anInvalidSettingFailsTheJoinOfAllRanks(String name, String need) {
        for (int senseless = 0; senseless < 2; senseless++) {
            try (TcpJob job = new TcpJob(2, Ranks.LONG, Map.of())) {
                CompletableFuture<ProcessGroup> other = job.joining("world", 1 - senseless, job.context());
                CompletableFuture<ProcessGroup> one =
                        job.joining("world", senseless, job.context(Map.of(name, "soon")));

                IllegalArgumentException refused = assertInstanceOf(IllegalArgumentException.class, failure(one));
                FerroException told = assertInstanceOf(FerroException.class, failure(other));

                assertEquals(Code.RENDEZVOUS, told.code(), told.getMessage());
                for (String part : List.of(name, "soon", need)) {
                    assertTrue(refused.getMessage().contains(part), refused.getMessage());
                    assertTrue(told.getMessage().contains(part), told.getMessage());
                }
                assertTrue(told.getMessage().contains("rank " + senseless + " of \"world\""), told.getMessage());
            }
        }
    }

    private static Throwable failure(CompletableFuture<ProcessGroup> joining) {
        return assertThrows(CompletionException.class, () -> Ranks.result(joining))
                .getCause();
    }
}
