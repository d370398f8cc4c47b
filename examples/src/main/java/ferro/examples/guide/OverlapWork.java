package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.math.BigInteger;

/** Computes while an all-reduce runs. */
final class OverlapWork {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] gradient = {group.rank() + 1, 0.5f};
            Work sum = group.allReduceAsync(gradient, ReduceOp.SUM); // returns at once
            BigInteger prime = new BigInteger("1".repeat(300)).nextProbablePrime(); // takes a while
            sum.await(); // before this line, the program must not use the array
            System.out.println("sum " + gradient[0] + ", a prime ends in " + prime.mod(BigInteger.valueOf(1000)));
        }
    }
}
