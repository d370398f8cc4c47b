package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A rank that adds up without end and leaves its JVM as soon as that fails: nothing is closed. */
final class ExitsAtItsFailure {
    private static final int WARM_UP = 50;
    private static final int ELEMENTS = 1024;

    private ExitsAtItsFailure() {}

    public static void main(String[] arguments) {
        ProcessGroup group = ProcessGroup.join();
        try {
            float[] data = new float[ELEMENTS];
            for (int call = 0; ; call++) {
                group.allReduce(data, ReduceOp.SUM);
                if (call == WARM_UP) {
                    System.out.println("going");
                }
            }
        } catch (FerroException failure) {
            System.exit(3);
        }
    }
}
