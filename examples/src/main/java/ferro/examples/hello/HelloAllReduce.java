package ferro.examples.hello;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Adds up one number per rank: {@code ./ferro run -n 4 ferro.examples.hello.HelloAllReduce}. */
public final class HelloAllReduce {
    private HelloAllReduce() {}

    /**
     * Joins, reduces, prints.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] numbers = {group.rank() + 1};
            group.allReduce(numbers, ReduceOp.SUM);
            System.out.printf("rank %d of %d: the sum is %.0f%n", group.rank(), group.worldSize(), numbers[0]);
        }
    }
}
