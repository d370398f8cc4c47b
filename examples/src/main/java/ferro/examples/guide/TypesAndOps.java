package ferro.examples.guide;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Overflow, averages, unsigned numbers and NaN. */
final class TypesAndOps {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            boolean first = group.rank() == 0;
            byte[] sum = {(byte) (first ? 100 : 50)};
            group.allReduce(sum, ReduceOp.SUM);
            int[] average = {first ? -3 : -4};
            group.allReduce(average, ReduceOp.AVG);
            byte[] signed = {(byte) (first ? 200 : 100)};
            byte[] unsigned = signed.clone();
            group.allReduce(signed, ReduceOp.MAX);
            group.allReduce(HostTensor.of(DataType.UINT8, unsigned, 0, 1), ReduceOp.MAX);
            double[] largest = {first ? Double.NaN : 7};
            group.allReduce(largest, ReduceOp.MAX);
            System.out.println("sum " + sum[0] + ", average " + average[0] + ", signed maximum " + signed[0]
                    + ", unsigned maximum " + (unsigned[0] & 0xff) + ", with NaN " + largest[0]);
        }
    }
}
