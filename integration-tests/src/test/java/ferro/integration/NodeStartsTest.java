package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How jobs of two hosts begin, or do not: no rank starts on either, and both say why. */
@Timeout(120)
class NodeStartsTest {
    private static final Duration PROMISED = Duration.ofSeconds(2);

    @TempDir
    private static Path folder;

    private static TwoNodes hosts;

    @BeforeAll
    static void makeHosts() throws Exception {
        hosts = TwoNodes.joined(folder, Family.IPV4);
    }

    @AfterAll
    static void endHosts() throws Exception {
        if (hosts != null) {
            hosts.close();
        }
    }

    @Test
    void nodeThatComesLateIsWaitedForAndItsNumbersMustBeThoseOfTheOther() throws Exception {
        TwoNodes.Job good = hosts.job();
        TwoNodes.Job ranks = hosts.job();
        TwoNodes.Job more = hosts.job();
        List<HostProcess> first = List.of(
                good.node(0, "-n2", "--", "true"),
                ranks.node(0, "-n2", "--", "true"),
                more.node(0, "-n2", "--", "true"));
        for (HostProcess one : first) {
            one.errLine("waiting for node 1 of 2: ./ferro run --nodes 2 --node-rank 1 --master 10.77.0.1:295");
        }

        HostProcess second = good.node(1, "-n2", "--", "true");
        assertRefused(
                "-n differs: 2 on " + TwoNodes.NODE_0 + ", 3 on " + TwoNodes.NODE_1,
                first.get(1),
                ranks.node(1, "-n3", "--", "true"));
        assertRefused(
                "--nodes differs: 2 on " + TwoNodes.NODE_0 + ", 3 on " + TwoNodes.NODE_1,
                first.get(2),
                more.withNodes(3).node(1, "-n2", "--", "true"));
        assertEquals(0, second.exitCode(), second::toString);
        assertEquals(0, first.get(0).exitCode(), first.get(0)::toString);
    }

    @Test
    void secretThatDiffersEndsBothNodesWithinTwoSeconds() throws Exception {
        Path wrong = NamespaceHosts.secret(folder, "wrong", "fedcba9876543210fedcba9876543210");
        TwoNodes.Job job = hosts.job();
        HostProcess first = job.node(0, "-n1", "--", "true");
        HostProcess other = job.withSecret(wrong).node(1, "-n1", "--", "true");

        assertEquals(2, other.exitCode(), other::toString);
        assertEquals(2, first.exitCode(PROMISED), first::toString);
        assertTrue(
                first.errText().contains("the secret of node 1 (10.77.0.2) is not that of " + TwoNodes.NODE_0),
                first::toString);
        assertTrue(
                other.errText()
                        .contains("the secret of node 1 (host host-b) is not that of node 0 at " + job.master() + ":"),
                other::toString);
    }

    @Test
    void nodeThatIsMissingIsNamedByTheOtherAtTheDeadlineAndALoopbackMasterAtOnce() throws Exception {
        Map<String, String> soon = Map.of("FERRO_JOIN_TIMEOUT", "3s");
        TwoNodes.Job job = hosts.job();
        TwoNodes.Job nobody = hosts.job();
        HostProcess first = job.node(0, soon, "-n1", "--", "true");
        HostProcess alone = nobody.node(1, soon, "-n1", "--", "true");
        HostProcess itself = job.withMaster("127.0.0.1:29400").node(1, soon, "-n1", "--", "true");

        assertEquals(2, itself.exitCode(), itself::toString);
        assertTrue(itself.errText().contains("--master 127.0.0.1:29400 is this host itself"), itself::toString);
        assertEquals(1, first.exitCode(), first::toString);
        assertTrue(
                first.errText().contains("ferro: node 1 of 2 did not come before the deadline: is ./ferro run"),
                first::toString);
        assertTrue(first.errText().contains("a --master that leads to " + TwoNodes.NODE_0), first::toString);
        assertEquals(1, alone.exitCode(), alone::toString);
        assertTrue(
                alone.errText()
                        .contains("ferro: node 0 of 2 is missing: cannot connect to the store at " + nobody.master()
                                + " that the launcher of node 0 serves"),
                alone::toString);
    }

    /** The same on both, and the second ends the first within the time that is promised. */
    private static void assertRefused(String why, HostProcess first, HostProcess second) throws Exception {
        assertEquals(2, second.exitCode(), second::toString);
        assertEquals(2, first.exitCode(PROMISED), first::toString);
        for (HostProcess one : List.of(first, second)) {
            assertTrue(one.errText().contains("ferro run: " + why), one::toString);
        }
    }
}
