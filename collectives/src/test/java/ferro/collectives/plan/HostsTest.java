package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HostsTest {
    @Test
    @DisplayName("of 1,000 ranks on 125 hosts only ranks of one host are compared")
    void onlyRanksOfOneHostAreCompared() {
        int[] numbers = new int[1000];
        for (int rank = 0; rank < numbers.length; rank++) {
            numbers[rank] = rank / 8;
        }
        AtomicInteger compared = new AtomicInteger();
        Optional<Hosts> hosts = Hosts.of(numbers, (a, b) -> {
            compared.incrementAndGet();
            return a / 8 == b / 8;
        });

        assertEquals(
                Hosts.of(1000, (a, b) -> a / 8 == b / 8).orElseThrow().toString(),
                hosts.orElseThrow().toString());
        assertTrue(compared.get() <= 8 * 1000, compared + " comparisons");
    }

    @Test
    void ranksOfOneNumberMayBeSeveralHosts() {
        Hosts hosts = Hosts.of(new int[] {5, 5, 5, 7, 5}, (a, b) -> a % 2 == b % 2 && a != 3 && b != 3)
                .orElseThrow();

        assertEquals("[[0, 2, 4], [1], [3]]", hosts.toString());
    }
}
