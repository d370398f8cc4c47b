package org.example.starter;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Sums the gradients of all ranks. */
public final class Main {
    private Main() {}

    /** Joins the group that the launcher describes, and prints the sum. */
    public static void main(String[] args) {
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println(
                    "rank " + group.rank() + " of " + group.worldSize() + " has " + Arrays.toString(sum(group)));
        }
    }

    /** Returns the sum of the gradients of all ranks. */
    static float[] sum(ProcessGroup group) {
        float[] gradient = {group.rank() + 1f, 10f * (group.rank() + 1)};
        group.allReduce(gradient, ReduceOp.SUM);
        return gradient;
    }
}
