package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.Codec;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the ranks leave behind in {@code ferro.recorder.dir}. */
@Timeout(60)
class FlightRecordTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(400);

    @TempDir
    private Path folder;

    private static Work allReduce(SimulatedBackend rank, Duration timeout) {
        return rank.submit(Collective.allReduce(HostTensor.of(new float[] {2, 3, 5, 7}), ReduceOp.SUM), timeout);
    }

    private static void assertHas(String record, String... parts) {
        for (String part : parts) {
            assertTrue(record.contains(part), record);
        }
    }

    @Test
    void everyRankWritesItsRecordIfOneRankIsMissing() throws Exception {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(3, Map.of("ferro.recorder.dir", folder.toString()));
        List<Work> first = new ArrayList<>();
        ranks.forEach(rank -> first.add(allReduce(rank, LONG)));
        first.forEach(Work::await);
        Work letter = ranks.get(0).submit(Message.send(HostTensor.of(new byte[100]), 1, 7), LONG);
        ranks.get(1)
                .submit(Message.recv(HostTensor.of(new byte[100]), 0, 7), LONG)
                .await();
        letter.await();

        // rank 1 is never there
        List<Work> second = List.of(allReduce(ranks.get(0), SHORT), allReduce(ranks.get(2), LONG));
        for (Work work : second) {
            assertEquals(
                    Code.TIMED_OUT,
                    assertThrows(FerroException.class, work::await).code());
        }
        ranks.forEach(SimulatedBackend::close);

        for (int rank = 0; rank < 3; rank++) {
            String record = Files.readString(folder.resolve("ferro-default-rank" + rank + ".json"));
            assertHas(
                    record,
                    "{\"name\":\"simulated\",\"rank\":" + rank + ",\"ranks\":[0,1,2],\"worldSize\":3,"
                            + "\"failure\":{\"code\":\"TIMED_OUT\",\"culprits\":[1",
                    "\"sequence\":1,\"kind\":\"allReduce\",\"text\":\"allReduce f32[4] sum by ",
                    "\"state\":\"done\",\"code\":null,");
            boolean wasThere = rank != 1;
            assertEquals(wasThere, record.contains("\"state\":\"failed\",\"code\":\"TIMED_OUT\""), record);
            assertEquals(wasThere, record.contains("\"sequence\":2,\"kind\":\"allReduce\""), record);
        }
        assertTrue(Files.readString(folder.resolve("ferro-default-rank1.json"))
                .contains("{\"group\":\"simulated\",\"sequence\":-1,\"kind\":\"recv\",\"text\":"
                        + "\"recv from rank 0 tag 7\",\"bytes\":100,"));
    }

    @Test
    void aRecordOnRequestHasTheCallInFlight() throws Exception {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(2);
        try (ProcessGroup group = ProcessGroup.of(ranks.get(1))) {
            Work letter = ranks.get(1).submit(Message.recv(HostTensor.of(new byte[100]), 0, 7), LONG);

            Path file = group.writeFlightRecord(folder);

            assertEquals(folder.resolve("ferro-default-rank1.json"), file);
            String record = Files.readString(file);
            assertHas(record, "\"reason\":\"asked for by the program\"", "\"kind\":\"recv\"", "\"waitingFor\":[0]");
            ranks.get(0)
                    .submit(Message.send(HostTensor.of(new byte[100]), 1, 7), LONG)
                    .await();
            letter.await();
        }
        ranks.get(0).close();
    }

    @Test
    void aProbeOrMatchWithoutAMessageIsNotRecorded() {
        SimulatedBackend.run(1, group -> {
            group.allReduce(new float[] {2, 3}, ReduceOp.SUM);
            // more than the recorder keeps
            for (int number = 0; number < 5000; number++) {
                assertEquals(Optional.empty(), group.probeNow(ProcessGroup.ANY_SOURCE, 7));
                assertEquals(Optional.empty(), group.matchNow(0, 8));
            }
            String before = Files.readString(group.writeFlightRecord(folder));
            assertTrue(before.contains("\"kind\":\"allReduce\""), before);
            assertFalse(before.contains("\"kind\":\"probe\"") || before.contains("\"kind\":\"match\""), before);

            group.send(new byte[1], 0, 7);
            assertEquals(
                    0, group.probeNow(ProcessGroup.ANY_SOURCE, 7).orElseThrow().source());
            group.matchNow(0, 7).orElseThrow().recv(HostTensor.of(new byte[1]));

            String after = Files.readString(group.writeFlightRecord(folder));
            assertTrue(after.contains("\"kind\":\"probe\",\"text\":\"probe from any rank tag 7\""), after);
            assertTrue(after.contains("\"kind\":\"match\",\"text\":\"match from rank 0 tag 7\""), after);
            assertFalse(after.contains("\"state\":\"queued\"") || after.contains("\"state\":\"running\""), after);
        });
    }

    @Test
    void aWaitingProbeIsRecorded() throws Exception {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(2);
        try (ProcessGroup group = ProcessGroup.of(ranks.get(1))) {
            Work probe = ranks.get(1).submit(Message.probe(0, 7), LONG);
            for (int turn = 0; turn < 2; turn++) {
                assertFalse(probe.await(Duration.ofMillis(1)), "probe of a message that nobody has sent");
            }

            String record = Files.readString(group.writeFlightRecord(folder));

            assertEquals(2, record.split("\"kind\":\"probe\",\"text\":\"probe from rank 0 tag 7\"").length, record);
            assertHas(record, "\"state\":\"running\"", "\"waitingFor\":[0]");
            ranks.get(0)
                    .submit(Message.send(HostTensor.of(new byte[100]), 1, 7), LONG)
                    .await();
            probe.await();
            group.recv(new byte[100], 0, 7);
        }
        ranks.get(0).close();
    }

    @Test
    void theRecordHasCallsAndMessagesWithTheirLabels() {
        SimulatedBackend.run(1, group -> {
            ProcessGroup labelled = group.labelled("dense2.weight");
            labelled.allReduce(new float[] {2, 3}, ReduceOp.SUM);
            labelled.allReduceAsync(HostTensor.of(new float[] {2, 3, 5}), ReduceOp.SUM)
                    .await();
            labelled.send(new byte[1], 0, 7);
            group.recv(new byte[1], 0, 7);

            String record = Files.readString(group.writeFlightRecord(folder));

            String call = "\"kind\":\"allReduce\",\"text\":\"allReduce \\\"dense2.weight\\\" f32";
            assertHas(
                    record,
                    "\"sequence\":1," + call + "[2] sum by ",
                    "\"sequence\":2," + call + "[3] sum by ",
                    "\"text\":\"send \\\"dense2.weight\\\" to rank 0 tag 7\"",
                    "\"text\":\"recv from rank 0 tag 7\"");
        });
    }

    @Test
    void collectivesOfAnObjectCallHaveItsNameAsLabelByDefault() {
        SimulatedBackend.run(1, group -> {
            group.objects(Codec.utf8()).gather("a", 0);
            group.labelled("hosts").objects(Codec.utf8()).gather("b", 0);

            String record = Files.readString(group.writeFlightRecord(folder));

            assertHas(
                    record,
                    "\"sequence\":1,\"kind\":\"allGather\",\"text\":\"allGather \\\"call on objects\\\"",
                    "\"sequence\":2,\"kind\":\"gather\",\"text\":\"gather \\\"call on objects\\\"",
                    "\"sequence\":3,\"kind\":\"allGather\",\"text\":\"allGather \\\"hosts\\\"");
        });
    }

    @Test
    void anUnwritableFolderIsRefusedBeforeABackendIsOpened() throws Exception {
        Path below = Files.writeString(folder.resolve("file"), "no folder").resolve("below");
        GroupSpec spec = GroupSpec.of("world", 0, 1, SHORT);
        // the back end does not exist either, but that is looked at later
        SystemContext context =
                SystemContext.of(Map.of("ferro.recorder.dir", below.toString(), "ferro.backend", "nonesuch"));

        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Groups.join(spec, context));

        assertTrue(
                refused.getMessage().contains("ferro.recorder.dir=" + below + " cannot be written"),
                refused::getMessage);
    }
}
