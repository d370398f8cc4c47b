package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.stream.IntStream;

/** Two threads of each rank, each with a group of its own. */
final class TwoThreads {
    public static void main(String[] arguments) throws InterruptedException {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] all = IntStream.range(0, group.worldSize()).toArray();
            try (ProcessGroup forSums = group.newGroup(all); // the same order on all ranks
                    ProcessGroup forMaxima = group.newGroup(all)) {
                int[] sum = {group.rank() + 1};
                int[] maximum = {group.rank() + 1};
                Thread other = new Thread(() -> forMaxima.allReduce(maximum, ReduceOp.MAX));
                other.start();
                forSums.allReduce(sum, ReduceOp.SUM);
                other.join();
                System.out.println("sum " + sum[0] + ", maximum " + maximum[0]);
            }
        }
    }
}
