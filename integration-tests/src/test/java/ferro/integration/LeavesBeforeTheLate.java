package ferro.integration;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.util.Arrays;

/**
 * Three ranks. Rank 0 broadcasts, sends to rank 1, and closes its groups. Rank 2 prints a line when its group with rank 0
 * has ended. Rank 1 begins its calls only after a line of input.
 */
final class LeavesBeforeTheLate {
    static final int MESSAGES = 5;
    private static final int ELEMENTS = 4_000;
    private static final int NEVER_SENT = 99;

    private LeavesBeforeTheLate() {}

    public static void main(String[] arguments) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println("links: " + group.linkReport());
            if (group.rank() == 1) {
                late(group);
                return;
            }
            try (ProcessGroup pair = group.newGroup(0, 2)) {
                if (group.rank() == 0) {
                    first(group);
                } else {
                    listen(group, pair);
                }
            }
        }
    }

    /** Closes the group before the pair: a rank that knows the end of the pair may know the end of the group. */
    private static void first(ProcessGroup group) {
        group.broadcast(filled(3), 0);
        for (int message = 0; message < MESSAGES; message++) {
            group.send(HostTensor.of(filled(message)), 1, message);
        }
        group.close();
    }

    private static void listen(ProcessGroup group, ProcessGroup pair) {
        group.broadcast(new float[ELEMENTS], 0);
        try {
            pair.recv(new float[1], 0, NEVER_SENT);
        } catch (FerroException left) {
            System.out.println("heard: " + left.getMessage());
        }
    }

    private static void late(ProcessGroup group) throws IOException {
        System.in.read();
        float[] data = new float[ELEMENTS];
        group.broadcast(data, 0);
        System.out.println("broadcast: " + sum(data));
        for (int message = 0; message < MESSAGES; message++) {
            group.recv(data, 0, message);
            System.out.println("message " + message + ": " + sum(data));
        }
        try {
            group.allReduce(data, ReduceOp.SUM);
        } catch (FerroException failure) {
            System.out.println("then: " + failure.code() + " " + failure.getMessage());
        }
    }

    private static float[] filled(int value) {
        float[] data = new float[ELEMENTS];
        Arrays.fill(data, value);
        return data;
    }

    private static long sum(float[] data) {
        long sum = 0;
        for (float value : data) {
            sum += (long) value;
        }
        return sum;
    }
}
