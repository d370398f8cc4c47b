package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A rank that adds up without end, says what ended it and how soon, and then stays until its input ends. */
final class SumsUntilAFailure {
    private static final int WARM_UP = 300;
    private static final int ELEMENTS = 1024;

    private SumsUntilAFailure() {}

    public static void main(String[] arguments) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            long last = System.nanoTime();
            try {
                float[] data = new float[ELEMENTS];
                for (int call = 0; ; call++) {
                    group.allReduce(data, ReduceOp.SUM);
                    last = System.nanoTime();
                    if (call == WARM_UP) {
                        System.out.println("going");
                    }
                }
            } catch (FerroException failure) {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last);
                System.out.println("failed " + failure.code() + " of rank "
                        + failure.where().culprits());
                System.out.println(millis);
                System.out.println(failure.getMessage());
                System.in.read();
            }
        }
    }
}
