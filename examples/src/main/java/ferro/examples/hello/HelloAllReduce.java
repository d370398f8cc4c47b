package ferro.examples.hello;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A program that sums a number per rank. Run it with {@code ./ferro run -n 4 ferro.examples.hello.HelloAllReduce}. */
public final class HelloAllReduce {
    private HelloAllReduce() {}

    /**
     * Joins the group, sums one number over all ranks, and prints the sum.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] numbers = {group.rank() + 1};
            group.allReduce(numbers, ReduceOp.SUM);
            System.out.printf("rank %d of %d: the sum is %.0f%n", group.rank(), group.worldSize(), numbers[0]);
        }
    }
}
