package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.lightgbm.ffi.LightGbmLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of what the other ranks get when a rank dies during a call of LightGBM: a failure, and never a model. */
class FailedCallTest {
    private static final String BINARY = SampleRows.parameters("binary");
    private static final int DEAD = 1;

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aRankThatDiesBeforeAnIterationIsNamedAndNoModelIsReadable(int iteration) {
        SimulatedBackend.run(3, group -> {
            SampleRows rows = SampleRows.of("binary", 900, group.rank(), group.worldSize());
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, BINARY);
                LightGbmBooster booster = network.booster(data, BINARY);
                while (booster.iterations() < iteration) {
                    booster.update();
                }
                if (group.rank() == DEAD) {
                    SimulatedBackend.of(group).kill(DEAD);
                    return;
                }

                FerroException failure = assertThrows(FerroException.class, booster::update);

                assertEquals(Code.PEER_LOST, failure.code());
                assertEquals(Set.of(DEAD), failure.where().culprits());
                assertTrue(
                        failure.getMessage()
                                .contains("LightGBM iteration " + iteration + " on rank " + group.rank()
                                        + " of 3, host " + LocalHostName.read() + ", no model: "),
                        failure.getMessage());
                for (Runnable read : reads(booster, data, rows)) {
                    FerroException again = assertThrows(FerroException.class, read::run);
                    assertEquals(failure.getMessage(), again.getMessage());
                }
            }
        });
    }

    private static Runnable[] reads(LightGbmBooster booster, LightGbmDataset data, SampleRows rows) {
        return new Runnable[] {
            booster::modelString,
            () -> booster.modelString(1),
            () -> booster.predict(HostTensor.of(rows.values)),
            booster::update,
            () -> booster.metrics(0),
            () -> data.validation(rows.values, rows.labels)
        };
    }

    /** The exchange of the bins fails. Random sizes would make LightGBM allocate gigabytes. */
    @Test
    void aRankThatDiesBeforeTheDataSetIsNamed() {
        SimulatedBackend.run(3, group -> {
            SampleRows rows = SampleRows.of("binary", 900, group.rank(), group.worldSize());
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                if (group.rank() == DEAD) {
                    SimulatedBackend.of(group).kill(DEAD);
                    return;
                }
                FerroException failure = assertThrows(
                        FerroException.class,
                        () -> network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, BINARY));
                assertEquals(Set.of(DEAD), failure.where().culprits());
                assertTrue(failure.getMessage().contains("LightGBM data set on rank "), failure.getMessage());
            }
        });
    }

    @Test
    void aFailedCallbackWritesZerosAndKeepsTheFirstFailure() {
        try (ProcessGroup group =
                ProcessGroup.of(SimulatedBackend.createGroup(1).get(0))) {
            NetworkCallbacks callbacks = new NetworkCallbacks(group);
            ByteBuffer memory = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
            long address = LightGbmLibrary.address(memory);
            memory.putInt(0, 0).putInt(4, 16);
            for (int at = 8; at < 64; at++) {
                memory.put(at, (byte) 77);
            }

            // two blocks for a group of one rank
            callbacks.allGather.call(address + 8, 16, address, address + 4, 2, address + 24, 16);
            Throwable first = callbacks.failure();
            callbacks.reduceScatter.call(address + 8, 16, 8, address, address + 4, 1, address + 40, 16, 0);

            assertTrue(first.getMessage().contains("passes 2 blocks to 1 ranks"), first.getMessage());
            assertEquals(first, callbacks.failure());
            assertEquals(
                    first.getMessage(), group.failure().orElseThrow().getCause().getMessage());
            for (int at = 8; at < 64; at++) {
                assertEquals(at < 24 || at >= 56 ? 77 : 0, memory.get(at), "byte " + at);
            }
        }
    }
}
