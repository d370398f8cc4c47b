package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.SeededHandshakes;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The handshake, the listener that guards it and the slots of a group under seeds: pieces of any size, delays,
 * connections cut after any byte, ranks that dial twice, and strangers. {@code -Dferro.seed=N} replays one.
 */
@Timeout(120)
public class SeededHandshakesTest {
    private static final GroupSpec SPEC = GroupSpec.of("g", 1, 3, Ranks.LONG);
    private static Ranks ranks;
    private static TcpPort port;

    @BeforeAll
    static void bind() {
        ranks = Ranks.onLoopback();
        port = TcpPort.use(SPEC, ranks.context(SPEC, Map.of()), System.nanoTime() + Ranks.LONG.toNanos());
    }

    @AfterAll
    static void close() {
        ranks.close();
    }

    /** Returns the seed to replay, or the first ones. */
    public static LongStream seeds(int count) {
        return Settings.SEED
                .find(SystemContext.ofProcess())
                .map(LongStream::of)
                .orElseGet(() -> LongStream.rangeClosed(1, count));
    }

    @Test
    @DisplayName("row 24, row 25, row 27: whoever dials, both sides agree or fail in time, and no stranger gets a slot")
    void bothSidesAgreeOrFailInTimeWhicheverSideConnects() {
        seeds(500).forEach(seed -> new SeededHandshakes(seed, port).run());
    }

    @Test
    void bothSidesWithTlsAgreeOrFailInTimeWhicheverSideConnects() {
        TlsPolicy tls = TlsPolicy.of(TlsPolicy.TlsMode.ON, "job", "rank/0");
        seeds(60).forEach(seed -> new SeededHandshakes(seed, port, tls).run());
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        Set<Long> traces = new HashSet<>();
        for (long seed = 1; seed <= 20; seed++) {
            long trace = new SeededHandshakes(seed, port).run();
            assertEquals(trace, new SeededHandshakes(seed, port).run(), "seed " + seed);
            traces.add(trace);
        }
        assertEquals(20, traces.size(), "traces of 20 seeds");
    }
}
