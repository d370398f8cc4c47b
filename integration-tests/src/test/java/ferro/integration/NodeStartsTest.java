package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** How jobs of two hosts begin, or do not: no rank starts on either, and both say why. */
@Timeout(120)
class NodeStartsTest {
    @TempDir
    private static Path folder;

    @RegisterExtension
    static final TwoNodes hosts = new TwoNodes();

    @Test
    @DisplayName(
            "row 42, row 44: a late node is waited for, and joins; another -n and --nodes are refused on both, with both values")
    @Tag("long")
    void aLateNodeIsWaitedForAndDifferentNumbersAreRefused() throws Exception {
        TwoNodes.Job good = hosts.job();
        TwoNodes.Job ranks = hosts.job();
        TwoNodes.Job more = hosts.job();
        List<HostProcess> first = List.of(
                good.node(0, "-n2", "--", "true"),
                ranks.node(0, "-n2", "--", "true"),
                more.node(0, "-n2", "--", "true"));
        for (HostProcess one : first) {
            String line = one.errLine("waiting for node 1 of 2: ");
            assertTrue(line.contains(" run --nodes 2 --node-rank 1 --master 10.77.0.1:295"), line);
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

    @Tag("long")
    @Test
    @DisplayName("row 42: a secret that differs ends both nodes, which say whose it is")
    void aDifferentSecretEndsBothNodesWithinTwoSeconds() throws Exception {
        Path wrong = NamespaceHosts.secret(folder, "wrong", "fedcba9876543210fedcba9876543210");
        TwoNodes.Job job = hosts.job();
        HostProcess first = job.node(0, "-n1", "--", "true");
        HostProcess other = job.withSecret(wrong).node(1, "-n1", "--", "true");

        assertBothEnd(first, other);
        first.assertErr("the secret of node 1 (10.77.0.2) differs from the secret of " + TwoNodes.NODE_0);
        assertTrue(
                first.errText()
                        .lines()
                        .anyMatch(line -> line.startsWith("ferro: refused a connection from ")
                                && line.contains("--secret-file of ferro run")),
                first::toString);
        assertFalse(first.errText().contains("UnauthenticatedPeerLog"), first::toString);
        other.assertErr(
                "the secret of node 1 (host host-b) differs from the secret of node 0 at " + job.master() + ":");
    }

    @Test
    @DisplayName("row 44: a node that does not come is named at the deadline of joining, a master on loopback at once")
    void aMissingNodeIsNamedAtTheDeadlineAndALoopbackMasterAtOnce() throws Exception {
        Map<String, String> soon = Map.of("FERRO_JOIN_TIMEOUT", "3s");
        TwoNodes.Job job = hosts.job();
        TwoNodes.Job nobody = hosts.job();
        HostProcess first = job.node(0, soon, "-n1", "--", "true");
        HostProcess alone = nobody.node(1, soon, "-n1", "--", "true");
        HostProcess itself = job.withMaster("127.0.0.1:29400").node(1, soon, "-n1", "--", "true");

        assertEquals(2, itself.exitCode(), itself::toString);
        itself.assertErr("--master 127.0.0.1:29400 is this host, but no process serves");
        assertEquals(1, first.exitCode(), first::toString);
        first.assertErr("ferro: node 1 of 2 did not connect within 3000 ms: check that ferro run");
        first.assertErr("a --master that leads to " + TwoNodes.NODE_0);
        assertEquals(1, alone.exitCode(), alone::toString);
        alone.assertErr("ferro: node 0 of 2 is missing: cannot connect to the store at " + nobody.master()
                + " that the launcher of node 0 serves");
    }

    @Test
    @DisplayName("row 43: a node whose program cannot be built, found or understood ends the other, which says why")
    @Tag("long")
    void aNodeThatCannotStartItsRanksEndsTheOtherWithItsReason() throws Exception {
        Path source = Files.writeString(folder.resolve("Broken.java"), "class Broken { int x = ; }");
        TwoNodes.Job build = hosts.job();
        TwoNodes.Job absent = hosts.job();
        TwoNodes.Job misread = hosts.job();
        TwoNodes.Job unknown = hosts.job();
        HostProcess building = build.node(0, "-n1", "--", "true");
        HostProcess waiting = absent.node(1, "-n1", "--", "true");
        HostProcess reading = misread.node(0, "-n1", "--", "true");
        HostProcess knowing = unknown.node(0, "-n1", "--", "true");
        building.errLine("waiting for node 1");
        knowing.errLine("waiting for node 1");
        reading.errLine("waiting for node 1");

        assertRefused(
                TwoNodes.NODE_1 + " cannot start its ranks: " + source + " does not compile:",
                building,
                build.node(1, "-n1", source.toString()));
        assertRefused(
                TwoNodes.NODE_0 + " cannot start its ranks: main class \"no.such.Main\" not found in ",
                waiting,
                absent.node(0, "-n1", "no.such.Main"));
        assertRefused(
                TwoNodes.NODE_1 + " cannot start its ranks: --grace soon: need a time",
                reading,
                misread.node(1, "-n1", "--grace", "soon", "--", "true"));
        HostProcess parsing = unknown.node(1, "-n1", "--graze", "3s", "--", "true");
        assertBothEnd(knowing, parsing);
        parsing.assertErr("ferro run: Unknown option: '--graze'");
        knowing.assertErr(TwoNodes.NODE_1 + " cannot start its ranks: Unknown option: '--graze'");
    }

    @Tag("long")
    @Test
    @DisplayName("row 43: a command that cannot be executed on one node ends both with the same box")
    void aCommandThatCannotRunOnOneNodeIsReportedOnBoth() throws Exception {
        Path program = Files.writeString(folder.resolve("program"), "#!/no/such/interpreter\n");
        assertTrue(program.toFile().setExecutable(true));
        TwoNodes.Job job = hosts.job();
        HostProcess first = job.node(0, "-n1", "--", "sh", "-c", "sleep 1000");
        // without setsid and perl nothing stands between the launcher and the program
        HostProcess second = job.node(1, Map.of("PATH", folder.toString()), "-n1", "--", "program");

        for (HostProcess one : List.of(first, second)) {
            assertEquals(1, one.exitCode(), one::toString);
            String box = LauncherRun.box(one);
            assertTrue(box.contains("| ferro: node 1 is lost: its launcher could not start its ranks: "), box);
            assertTrue(box.contains("Cannot run program"), box);
            assertTrue(box.contains("\n| " + TwoNodes.NODE_1 + ", rank 1, "), box);
        }
        assertEquals(LauncherRun.box(first), LauncherRun.box(second));
    }

    @Test
    @DisplayName("row 42: another job and another version are refused with both values, and the job goes on waiting")
    @Tag("long")
    void anotherJobOrVersionIsRefusedAndTheJobStillWaits() throws Exception {
        TwoNodes.Job job = hosts.job();
        HostProcess first = job.node(0, "-n1", "--", "true");
        first.errLine("waiting for node 1");

        HostProcess other = job.node(1, Map.of("FERRO_JOB_ID", "mine"), "-n1", "--", "true");
        assertEquals(2, other.exitCode(), other::toString);
        String both =
                "this is job \"default\", you belong to job \"mine\": give every job its own port or FERRO_JOB_ID";
        other.assertErr(both);
        first.errLine(" refused a launcher of node 1 at 10.77.0.2 while");

        // all that a version has to begin with: magic, version, length
        String[] at = job.master().split(":");
        HostProcess old = hosts.hosts()
                .start(
                        1,
                        "bash",
                        "-c",
                        "exec 3<>/dev/tcp/" + at[0] + "/" + at[1]
                                + " && printf '\\xF3ferro\\r\\n\\0\\3\\0\\x45' >&3 && tail -c +5 <&3");
        assertEquals(0, old.exitCode(), old::toString);
        String versions = "is spoken here, yours is 3: run one version of ferro on all ranks";
        assertTrue(old.outLines().toString().contains(versions), old::toString);
        first.errLine(" refused a process at 10.77.0.2 while");

        HostProcess second = job.node(1, "-n1", "--", "true");
        assertEquals(0, second.exitCode(), second::toString);
        assertEquals(0, first.exitCode(), first::toString);
        first.assertErr(both);
        first.assertErr(versions);
    }

    @Test
    @DisplayName("row 45: a signal to one launcher before ranks run ends all that wait")
    @Tag("long")
    void aSignalBeforeRanksRunEndsAllWaitingLaunchers() throws Exception {
        List<HostProcess> nodes = hosts.job().withNodes(3).start("-n1", "--", "true");
        nodes.get(1).errLine("is running and waits for other nodes");

        TwoSeconds ending = TwoSeconds.start("two nodes that wait for a third, one of which is sent a signal");
        nodes.get(1).signal("TERM");

        HostProcess.assertEnd(143, nodes);
        ending.check();
        for (HostProcess one : nodes) {
            String why = "ferro: " + TwoNodes.NODE_1 + " was ended by signal TERM before a rank was started";
            one.assertErr(why);
        }
    }

    /** The second ends the first, with its exit code and within the time that is promised. */
    private static void assertBothEnd(HostProcess first, HostProcess second) throws Exception {
        assertEquals(2, second.exitCode(), second::toString);
        TwoSeconds ending = TwoSeconds.start("two nodes, one of which is refused");
        assertEquals(2, first.exitCode(), first::toString);
        ending.check();
    }

    private static void assertRefused(String why, HostProcess first, HostProcess second) throws Exception {
        assertBothEnd(first, second);
        for (HostProcess one : List.of(first, second)) {
            one.assertErr("ferro run: " + why);
        }
    }
}
