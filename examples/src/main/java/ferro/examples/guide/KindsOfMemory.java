package ferro.examples.guide;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Calls on an array, a part of an array and a direct buffer. */
final class KindsOfMemory {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] array = {1, 2, 3, 4};
            group.allReduce(array, ReduceOp.SUM); // the array itself: no copy of the program
            group.allReduce(HostTensor.of(DataType.INT32, array, 1, 2), ReduceOp.SUM); // elements 1 and 2
            ByteBuffer bytes = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
            bytes.putInt(0, 5).putInt(4, 6);
            group.allReduce(HostTensor.of(DataType.INT32, bytes), ReduceOp.SUM);
            System.out.println(Arrays.toString(array) + ", buffer " + bytes.getInt(0) + " " + bytes.getInt(4));
        }
    }
}
