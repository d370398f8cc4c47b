package ferro.backend.tcp.store;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.group.SystemContext;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks of mpirun, Slurm and the like: whether they meet by a job file, and how. */
@Timeout(60)
class JobFileRendezvousTest extends RanksOfMpirun {
    private static final Where WHERE = Where.of("world", 0);

    private CompletableFuture<TcpMesh> join(int rank, int size, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(mpirun(rank, size));
        settings.put("ferro.join.timeout", "20s");
        settings.putAll(more);
        GroupSpec spec = GroupSpec.of("world", rank, size, Ranks.LONG);
        JoiningContext context = new JoiningContext(settings, spec);
        open.add(context);
        return join(spec, context);
    }

    private Path file() {
        return folder.resolve("key");
    }

    private static void awaitGone(Path file) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int look = 0; look < 2_000 && Files.exists(file); look++) {
            never.await(5, TimeUnit.MILLISECONDS);
        }
        assertFalse(Files.exists(file), file + " is still there");
    }

    @Test
    void ranksOfMpirunJoinByAJobFileThatIsRemovedAfterwards() throws Exception {
        CompletableFuture<TcpMesh> last = join(2, 3, Map.of());
        CompletableFuture<TcpMesh> second = join(1, 3, Map.of());
        Threads.awaitInside(StoreConnector.class, "pause", 2);
        assertFalse(Files.exists(file()));

        assertEquals(0, Ranks.result(join(0, 3, Map.of())).rank());
        assertEquals(1, Ranks.result(second).rank());
        assertEquals(2, Ranks.result(last).rank());
        awaitGone(file());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void anOldJobFileIsReadAgainUntilRankZeroWritesItsOwn() throws Exception {
        byte[] other = "of an earlier start".getBytes();
        try (TcpStoreServer stranger = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "key", 2, other)) {
            JobFileContent stale =
                    new JobFileContent("127.0.0.1", stranger.port(), Optional.of(Secret.of(SecretFile.fresh())));
            new JobAddressFile(folder, "key").write(stale, WHERE);
            CompletableFuture<TcpMesh> second = join(1, 2, Map.of());
            Threads.awaitInside(StoreConnector.class, "pause", 1); // refused, and all classes are read
            FerroException refused = Ranks.failure(join(1, 2, Map.of("ferro.join.timeout", "1500ms")));
            assertTrue(refused.getMessage().contains("the proof is wrong"), refused.getMessage());

            assertEquals(0, Ranks.result(join(0, 2, Map.of())).rank());
            assertEquals(1, Ranks.result(second).rank());
        }
    }

    @Test
    void aJobFileWithoutAListeningStoreIsReadAgain() throws Exception {
        JobFileContent stale =
                new JobFileContent("127.0.0.1", Sockets.freePort(), Optional.of(Secret.of(SecretFile.fresh())));
        new JobAddressFile(folder, "key").write(stale, WHERE);
        CompletableFuture<TcpMesh> second = join(1, 2, Map.of());
        FerroException refused = Ranks.failure(join(1, 2, Map.of("ferro.join.timeout", "700ms")));

        assertEquals(0, Ranks.result(join(0, 2, Map.of())).rank());
        assertEquals(1, Ranks.result(second).rank());
        String text = refused.getMessage();
        assertTrue(text.contains(file() + " names 127.0.0.1:" + stale.port() + ", where rank 0 of this job"), text);
    }

    @Test
    void withoutRankZeroTheOthersNameTheMissingJobFile() {
        FerroException failure = Ranks.failure(join(1, 3, Map.of("ferro.join.timeout", "300ms")));

        assertEquals(Set.of(0), failure.where().culprits());
        Ranks.assertSays(
                failure,
                Code.RENDEZVOUS,
                "rank 0 is missing, rank 0 has written no job file " + file(),
                "it writes the file there once it has bound its port",
                "FERRO_JOB_DIR",
                "ferro.join.timeout");
    }

    @Test
    void rankZeroRemovesItsJobFileIfItsJoinFails() throws Exception {
        // the first join of a process reads its classes, which may take longer than the one that is tried here has
        List<CompletableFuture<TcpMesh>> before = List.of(join(1, 2, Map.of()), join(0, 2, Map.of()));
        before.stream().map(Ranks::result).toList().forEach(TcpMesh::close);
        FerroException failure = Ranks.failure(join(0, 2, Map.of("ferro.join.timeout", "300ms")));

        assertTrue(failure.getMessage().contains("missing: [1] of 2"), failure.getMessage());
        awaitGone(file());
    }

    @Test
    void aGroupIsJoinedAgainByANewJobFile() throws Exception {
        for (int round = 0; round < 2; round++) {
            List<CompletableFuture<TcpMesh>> joining = List.of(join(1, 2, Map.of()), join(0, 2, Map.of()));
            List<TcpMesh> meshes = joining.stream().map(Ranks::result).toList();
            awaitGone(file());
            meshes.forEach(TcpMesh::close);
        }
    }

    private static Rendezvous point(int port, boolean serves) {
        return new Rendezvous("127.0.0.1", port, serves, Rendezvous.RANK_ZERO, Optional.empty());
    }

    @Test
    void aRankThatConnectsRightAfterThePortIsBoundReachesTheStore() {
        GroupSpec group = GroupSpec.of("one", 0, 2, Ranks.LONG);
        GroupSpec late = GroupSpec.of("one", 1, 2, Ranks.LONG);
        try (SystemContext rankZero = SystemContext.of(Map.of());
                SystemContext rankOne = SystemContext.of(Map.of())) {
            long deadline = rankZero.nanoTime() + Ranks.LONG.toNanos();
            TcpPort.serving(
                    point(0, true),
                    group,
                    new ForwardingContext(rankZero) {
                        @Override
                        public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> opener) {
                            T port = super.shared(type, opener);
                            Rendezvous known = point(((TcpPort) port).bound().getPort(), false);
                            try (Store store = StoreConnector.open(known, late, rankOne)) {
                                store.set("one/1/card/1", new byte[] {7});
                            }
                            return port;
                        }
                    },
                    deadline);
            TcpPort port = rankZero.find(TcpPort.class).orElseThrow();
            Rendezvous known = point(port.bound().getPort(), true);
            try (Store store = StoreConnector.open(known, group, rankZero)) {
                store.set("one/1/card/0", new byte[] {7});
                Ranks.result(port.allJoined("one").toCompletableFuture());
            }
            rankZero.release(TcpPort.class);
        }
    }

    @Test
    void theJobFileOfAGroupStaysWhenAnotherGroupIsComplete() {
        try (SystemContext context = SystemContext.of(Map.of())) {
            long deadline = context.nanoTime() + Ranks.LONG.toNanos();
            GroupSpec one = GroupSpec.of("one", 0, 2, Ranks.LONG);
            GroupSpec two = GroupSpec.of("two", 0, 2, Ranks.LONG);
            Rendezvous any = point(0, true);
            TcpPort port = TcpPort.serving(any, one, context, deadline);
            CompletableFuture<Void> first = port.allJoined("one").toCompletableFuture();
            TcpPort.serving(any, two, context, deadline);
            CompletableFuture<Void> second = port.allJoined("two").toCompletableFuture();
            Rendezvous here = point(port.bound().getPort(), true);
            try (Store store = StoreConnector.open(here, two, context)) {
                store.set("two/1/card/0", new byte[] {7});
                store.set("two/1/card/1", new byte[] {7});
                Ranks.result(second);
                assertFalse(first.isDone());
                store.set("one/1/card/0", new byte[] {7});
                store.set("one/1/card/1", new byte[] {7});
                Ranks.result(first);
            }
            context.release(TcpPort.class);
            context.release(TcpPort.class);
        }
    }

    private Optional<JobFileRendezvous> found(String variables) {
        Map<String, String> settings = new HashMap<>();
        settings.put("ferro.job.dir", "");
        for (String pair : variables.split(" ")) {
            int at = pair.indexOf('=');
            settings.put(pair.substring(0, at), pair.substring(at + 1));
        }
        settings.put("HOME", folder.toString());
        settings.remove("ferro.job.dir", "");
        try (SystemContext context = SystemContext.of(settings)) {
            return JobFileRendezvous.find(GroupSpec.of("world", 0, 4, Ranks.LONG), context);
        }
    }

    private static final String STEP = "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=1"
            + " SLURM_STEP_NODELIST=a[01-02] SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=";
    private static final String PLAIN = "RANK=0 WORLD_SIZE=4";
    private static final String POD = "JOB_COMPLETION_INDEX=0 FERRO_WORLD_SIZE=4";
    private static final String MPI = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0"
            + " PMIX_NAMESPACE=x OMPI_COMM_WORLD_LOCAL_SIZE=";

    @ParameterizedTest
    @CsvSource({
        "plain, MASTER_ADDR=192.0.2.1 MASTER_PORT=7, false",
        "plain, MASTER_ADDR=127.0.0.1 MASTER_PORT=7, false",
        "plain, FERRO_JOB_ID=x, false",
        "plain, FERRO_JOB_ID=x FERRO_JOB_DIR=/tmp, true",
        "plain, FERRO_STORE_SERVED=1 MASTER_ADDR=192.0.2.1 MASTER_PORT=7, false",
        "mpi1, FERRO_SECRET_FILE=/x, true",
        "mpi1, MASTER_ADDR=127.0.0.1 MASTER_PORT=7, false",
        "mpi1, MASTER_ADDR=192.0.2.1 MASTER_PORT=7, true",
        "mpi1, MASTER_ADDR= MASTER_PORT=7, true",
        "mpi1, MASTER_ADDR=192.0.2.1 MASTER_PORT=7 FERRO_SECRET_FILE=/x, false",
        "step2, FERRO_RESTARTS=0, true",
        "step2, FERRO_SECRET_FILE=/x, false",
        "step4, FERRO_SECRET_FILE=/x, true",
        "pod, MASTER_ADDR=192.0.2.1 MASTER_PORT=7, false",
        "pod, FERRO_JOB_ID=x FERRO_JOB_DIR=/tmp, true",
    })
    void aJobFileIsUsedOnlyIfPortOrSecretIsUnknown(String who, String more, boolean byFile) {
        Map<String, String> families =
                Map.of("plain", PLAIN, "pod", POD, "mpi1", MPI + 1, "step2", STEP + "2(x2)", "step4", STEP + "4");

        assertEquals(byFile, found(families.get(who) + " " + more).isPresent());
    }

    @Test
    void theLauncherDeterminesTheJobFileAndTheHostOfRankZero() {
        JobFileRendezvous spread = found(STEP + "2(x2)").orElseThrow();
        assertEquals(folder.resolve(".ferro/jobs/7.1.0"), spread.file().path());
        assertEquals(Optional.of("a01"), spread.host());
        assertFalse(spread.allLocal());
        assertTrue(spread.secretWritten());

        JobFileRendezvous local =
                found(STEP + "4 FERRO_JOB_DIR=/tmp FERRO_SECRET_FILE=/x").orElseThrow();
        assertEquals(Path.of("/tmp/7.1.0"), local.file().path());
        assertTrue(local.allLocal());
        assertFalse(local.secretWritten());
        try (SystemContext none = SystemContext.of(Map.of());
                SystemContext bound = SystemContext.of(Map.of("ferro.tcp.bind", "192.0.2.9"))) {
            assertEquals("127.0.0.1", local.own(none, WHERE).host());
            assertEquals("192.0.2.9", spread.own(bound, WHERE).host());
        }
    }

    @Test
    void podsWithoutASecretFailBeforeTheyWait() {
        assertRefused(IllegalArgumentException.class, () -> found(POD), "MASTER_ADDR");
    }

    @Test
    void theErrorForAMissingStoreAddressNamesTheWaysThatWork() {
        try (SystemContext none = SystemContext.of(Map.of("ferro.rank", "1", "ferro.world.size", "2"));
                SystemContext half = SystemContext.of(
                        Map.of("ferro.rank", "1", "ferro.world.size", "2", "MASTER_ADDR", "127.0.0.1"))) {
            GroupSpec group = GroupSpec.of("world", 1, 2, Ranks.LONG);
            String ways = " of the store; set the variables MASTER_ADDR and MASTER_PORT, or"
                    + " -Dferro.rendezvous=tcp://HOST:PORT, or call JoinOptions.storeAt or serveStore";

            assertEquals(
                    "MASTER_ADDR is not set: need a host name or address" + ways,
                    assertThrows(IllegalArgumentException.class, () -> Rendezvous.env(group, none))
                            .getMessage());
            assertEquals(
                    "MASTER_PORT is not set: need a port" + ways,
                    assertThrows(IllegalArgumentException.class, () -> Rendezvous.env(group, half))
                            .getMessage());
        }
    }

    @Test
    void ranksWithoutACommonKeyFailWithTheSettingToUse() {
        String hydra = "PMI_RANK=0 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2";

        assertRefused(IllegalArgumentException.class, () -> found(hydra), "set FERRO_JOB_ID");
    }

    @Test
    void aSingleRankNeedsNoJobFile() {
        Path absent = folder.resolve("absent");

        assertEquals(
                0,
                Ranks.result(join(0, 1, Map.of("ferro.job.dir", absent.toString())))
                        .rank());

        assertFalse(Files.exists(absent));
    }

    @Test
    void aJobFolderWithARelativeOrHomelessPathIsRefused() {
        String relative = assertThrows(IllegalArgumentException.class, () -> found(MPI + "4 FERRO_JOB_DIR=jobs"))
                .getMessage();
        assertTrue(relative.startsWith("ferro.job.dir=jobs: need an absolute path"), relative);

        assertRefused(
                FerroException.class,
                () -> JobFolderFinder.of(SystemContext.of(Map.of("HOME", "?")), false, WHERE),
                "this user has no home folder",
                "FERRO_JOB_DIR");
    }

    @Test
    void aJoinTakesTenMinutesByDefaultUnderACluster() {
        Map<String, String> cluster = new HashMap<>(mpirun(0, 4));
        cluster.put("ferro.timeout", "3s");
        GroupSpec explicit = GroupSpec.of("world", 0, 4, Duration.ofSeconds(7));
        try (SystemContext mpi = SystemContext.of(cluster)) {
            assertEquals(Duration.ofMinutes(10), mpi.joinTimeout());
            assertEquals(Duration.ofMinutes(10), Deadlines.ofJoin(mpi.spec(), mpi));
            assertEquals(Duration.ofSeconds(7), Deadlines.ofJoin(explicit, mpi));
        }
        cluster.put("ferro.join.timeout", "5s");
        try (SystemContext mpi = SystemContext.of(cluster)) {
            assertEquals(Duration.ofSeconds(5), mpi.joinTimeout());
            assertEquals(Duration.ofSeconds(5), Deadlines.ofJoin(mpi.spec(), mpi));
            assertEquals(Duration.ofSeconds(5), Deadlines.ofJoin(explicit, mpi));
        }
    }
}
