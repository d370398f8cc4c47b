package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.lightgbm.ffi.LightGbmLibrary;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlockExchangeTest {
    /** Equal, nearly equal, again smaller, with one block that is much longer, and with empty blocks. */
    private static final List<long[]> LENGTHS = List.of(
            new long[] {8, 8, 8},
            new long[] {900, 1000, 1024},
            new long[] {30, 28, 32},
            new long[] {8, 4000, 16},
            new long[] {0, 8, 0},
            new long[] {0, 0, 0});

    @Test
    void eachRankReceivesItsBlockOfAllRanks() {
        SimulatedBackend.run(3, group -> {
            LightGbmLibrary.load();
            BlockExchange exchange = new BlockExchange(group);
            for (long[] lengths : LENGTHS) {
                int own = (int) lengths[group.rank()];
                exchange.run(blocks(group.rank(), lengths), lengths);

                for (int from = 0; from < 3; from++) {
                    HostTensor sent = blocks(from, lengths);
                    int begin = (int) Arrays.stream(lengths).limit(group.rank()).sum();
                    byte[] expected = new byte[own];
                    sent.copyTo(begin, expected, 0, own);
                    byte[] found = new byte[own];
                    if (own > 0) {
                        LightGbmLibrary.view(exchange.address(from), own).get(found);
                    }
                    assertEquals(Arrays.toString(expected), Arrays.toString(found), Arrays.toString(lengths));
                }
                byte[] first = new byte[own];
                exchange.received().get(0, first);
                byte[] ofRankZero = new byte[own];
                blocks(0, lengths)
                        .copyTo(Arrays.stream(lengths).limit(group.rank()).sum(), ofRankZero, 0, own);
                assertEquals(Arrays.toString(ofRankZero), Arrays.toString(first));
            }
        });
    }

    private static HostTensor blocks(int rank, long[] lengths) {
        HostTensor blocks =
                HostTensor.allocate(DataType.UINT8, Arrays.stream(lengths).sum());
        for (int at = 0; at < blocks.elementCount(); at++) {
            blocks.setByte(at, (byte) (1 + 31 * rank + 7 * at));
        }
        return blocks;
    }
}
