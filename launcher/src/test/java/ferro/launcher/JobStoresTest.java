package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.backend.tcp.TcpStoreClient;
import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.store.EndedRanks;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.rank.ChildProcessGuard;
import ferro.launcher.rank.JobEvent;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class JobStoresTest {
    private static final RestartLimit SOME = new RestartLimit(3, Optional.empty());
    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    private Path temporary;

    private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();
    private final BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();

    @AutoClose
    private JobFolder folder;

    @BeforeEach
    void make() throws Exception {
        folder = JobFolder.create(ChildProcessGuard.find(ProgramFinder.of(Map.of())), Optional.empty(), Map.of());
    }

    private static TcpStoreClient client(RankStore store, NamedSecret key) throws Exception {
        InetSocketAddress at =
                new InetSocketAddress(store.endpoint().host(), store.endpoint().port());
        return TcpStoreClient.open(StoreAddress.of(at, key.id(), SecretFile.read(key.secretFile()), 1), LONG);
    }

    @Test
    void theStoreOfTheNextGenerationKeepsThePortAndRefusesOldRanks() throws Exception {
        JobSpec spec = JobSpec.onThisHost(2).restarting(SOME);
        JobSecrets keys = JobSecrets.of(spec, Map.of(), folder);
        try (JobStores stores = new JobStores(spec, keys, notes::add)) {
            stores.open(0, events);
            RankStore first = stores.ofRanks(List.of());
            client(first, keys.ofRanks(0)).close();

            stores.open(1, events);

            RankStore second = stores.ofRanks(List.of());
            assertEquals(first.endpoint(), second.endpoint());
            client(second, keys.ofRanks(1)).close();
            for (int late = 0; late < 2; late++) {
                FerroException refused = assertThrows(FerroException.class, () -> client(second, keys.ofRanks(0)));
                assertEquals(FerroException.Code.RENDEZVOUS, refused.code());
            }
            assertEquals(
                    "refused a process of generation 0 at 127.0.0.1: generation 1 runs now; more such processes are only counted",
                    notes.poll(20, TimeUnit.SECONDS));
            stores.printRefused();
            assertEquals(
                    "2 connections of processes of other generations were refused", notes.poll(20, TimeUnit.SECONDS));
            assertEquals(List.of(), List.copyOf(notes));
        }
    }

    @Test
    void aPortThatAnotherProcessHasTakenIsReplaced() throws Exception {
        JobSpec spec = JobSpec.onThisHost(2).restarting(SOME);
        JobSecrets keys = JobSecrets.of(spec, Map.of(), folder);
        try (ServerSocket taken = new ServerSocket(0)) {
            RankStore store = named("127.0.0.1").forRanks(taken.getLocalPort(), keys.ofRanks(0), 2, events);
            assertTrue(store.endpoint().port() != taken.getLocalPort());
            store.close();
        }
    }

    @Test
    void theStoreOfALaterGenerationNeedsNoNameService() throws Exception {
        JobSpec spec = JobSpec.onThisHost(2).restarting(SOME);
        JobSecrets keys = JobSecrets.of(spec, Map.of(), folder);
        try (RankStore store = named("node-0.invalid").forRanks(0, keys.ofRanks(1), 2, events)) {
            assertEquals("node-0.invalid", store.endpoint().host());
            Endpoint served = new Endpoint("127.0.0.1", store.endpoint().port());
            client(new RankStore(served), keys.ofRanks(1)).close();
        }
    }

    /** A store at a host that had this address when the job began. */
    private static RankStore named(String host) {
        return new RankStore(new Endpoint(host, 1), List.of(InetAddress.getLoopbackAddress()), Optional.empty());
    }

    /** A firewall has a rule for this port. */
    @Test
    void aGenerationAfterATakenPortUsesThePlannedPortAgain() throws Exception {
        Path secret = temporary.resolve("secret");
        SecretFile.create(secret);
        ServerSocket taken = withFreePortBefore();
        int port = taken.getLocalPort();
        JobSpec spec = several(new Endpoint("127.0.0.1", port - 1), secret, 0);
        try (JobStores stores = new JobStores(spec, JobSecrets.of(spec, Map.of(), folder), notes::add)) {
            try (taken) {
                stores.open(0, events);
                assertNotEquals(port, stores.ranksPort());
            }

            stores.open(1, events);

            assertEquals(port, stores.ranksPort());
        }
    }

    private static ServerSocket withFreePortBefore() throws IOException {
        while (true) {
            try (ServerSocket free = new ServerSocket(0)) {
                return new ServerSocket(free.getLocalPort() + 1);
            } catch (BindException taken) {
                // another pair of ports
                continue;
            }
        }
    }

    @Test
    void theLaunchersStoreStaysAndEndsOfRanksReachTheirGeneration() throws Exception {
        Path secret = temporary.resolve("secret");
        SecretFile.create(secret);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        JobSpec spec = several(new Endpoint("127.0.0.1", port), secret, 0);
        JobSecrets keys = JobSecrets.of(spec, Map.of(), folder);
        try (JobStores stores = new JobStores(spec, keys, notes::add)) {
            stores.open(0, events);
            Endpoint launchers = stores.meetingPoint();
            try (TcpStoreClient launcher = client(new RankStore(launchers), keys.ofJob())) {
                stores.open(1, events);
                byte[] late = EndedRanks.value(RankEnd.of(16, "h", 1));
                byte[] end = EndedRanks.value(RankEnd.of(17, "h", 7));
                launcher.store().set("@nodes/end/3", late);
                launcher.store().set("@nodes/generation/1/end/3", end);

                try (TcpStoreClient rank = client(stores.ofRanks(List.of()), keys.ofRanks(1))) {
                    assertEquals(new String(end), new String(rank.store().get(EndedRanks.key(3), LONG)));
                }
            }
            assertEquals(launchers, stores.meetingPoint());
            LauncherEntry zero =
                    new LauncherEntry(0, "h", "127.0.0.1", 2, 2, "1", "", "", 7, "", "3", stores.ranksPort());
            JobSpec other = several(launchers, secret, 1);
            try (JobStores there = new JobStores(other, keys, notes::add)) {
                there.open(1, events);
                assertEquals(
                        stores.ofRanks(List.of()).endpoint(),
                        there.ofRanks(List.of(zero)).endpoint());
            }
        }
    }

    private static JobSpec several(Endpoint master, Path secret, int node) {
        return JobSpec.of(new Placement(2, 2, node), Optional.of(master), Optional.of(secret))
                .restarting(SOME);
    }
}
