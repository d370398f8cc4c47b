package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedRanksSnippetsTest {
    @Test
    void ranksAddTheirNumbers() {
        // @start region="run"
        SimulatedBackend.run(3, group -> {
            float[] gradient = {group.rank() + 1, 10};
            group.allReduce(gradient, ReduceOp.SUM);
            assertArrayEquals(new float[] {6, 30}, gradient);
        });
        // @end
    }

    @Test
    void ranksReturnTheirResults() {
        // @start region="runAll"
        List<Float> sums = SimulatedBackend.runAll(3, group -> {
            float[] number = {group.rank()};
            group.allReduce(number, ReduceOp.SUM);
            return number[0];
        });
        assertEquals(List.of(3f, 3f, 3f), sums);
        // @end
    }

    @Test
    void aKilledRankFailsTheCallsOfTheOthers() {
        // @start region="kill"
        SimulatedBackend.run(3, group -> {
            if (group.rank() == 2) {
                SimulatedBackend.of(group).kill(2);
                return;
            }
            FerroException failure = assertThrows(FerroException.class, group::barrier);
            assertEquals(Code.PEER_LOST, failure.code());
        });
        // @end
    }
}
