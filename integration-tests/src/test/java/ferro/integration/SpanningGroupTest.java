package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.group.ProcessGroup;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups that span hosts: shared memory inside each, sockets between them. */
@Timeout(120)
class SpanningGroupTest {
    @ParameterizedTest
    @CsvSource({
        "a a b b, 'ranks 0-1, 2-3 share memory'",
        "a b a b a, 'ranks 0-2, 0-4, 1-3, 2-4 share memory'",
        "a b c c, 'ranks 2-3 share memory'"
    })
    void ranksOfAHostShareMemoryAndAllGetWhatAPlainLoopMakes(String hosts, String report) {
        try (InProcessRanks ranks = InProcessRanks.onHosts(hosts.split(" "))) {
            for (ProcessGroup group : ranks.groups) {
                String links = ((CollectiveBackend) group.backend()).linkReport();
                assertTrue(links.contains(report), links);
                assertTrue(links.contains("do not share memory: hosts are (a) and (b)"), links);
            }
            ranks.all(SpansHosts::tryEverything).forEach(ended -> assertNull(ended.failure()));
        }
    }
}
