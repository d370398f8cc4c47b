package ferro.examples.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A unit test of code that uses a group, as docs/guide/unit-tests.md shows it. */
class MeanTest {
    /** The code under test: the mean of the numbers of all ranks. */
    static double mean(ProcessGroup group, double... own) {
        double[] totals = {own.length, Arrays.stream(own).sum()};
        group.allReduce(totals, ReduceOp.SUM);
        return totals[1] / totals[0];
    }

    @Test
    void theMeanIsTheSameOnAllRanks() {
        List<Double> means = SimulatedBackend.runAll(3, group -> mean(group, group.rank(), 10));
        assertEquals(List.of(5.5, 5.5, 5.5), means);
    }

    @Test
    void someRanksMayHaveNoNumbers() {
        SimulatedBackend.run(3, group -> {
            double[] own = group.rank() == 1 ? new double[] {4, 8} : new double[0];
            assertEquals(6, mean(group, own));
        });
    }

    @Test
    void aLostRankIsNamed() {
        SimulatedBackend.run(3, group -> {
            if (group.rank() == 2) {
                SimulatedBackend.of(group).kill(2); // as kill -9 ends a process
                return;
            }
            FerroException failure = assertThrows(FerroException.class, () -> mean(group, 7));
            assertEquals(Code.PEER_LOST, failure.code());
            assertEquals(Set.of(2), failure.where().culprits());
        });
    }
}
