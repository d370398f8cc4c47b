package ferro.examples.device;

import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.PrintStream;
import java.util.Arrays;

/**
 * The common part of both device programs. The program joins the group and prints the result. If there is no device,
 * the program prints one line instead of a stack trace.
 */
final class DeviceRunner {
    private static final int MISUSED = 2;

    private DeviceRunner() {}

    /** The computation of one rank. */
    interface RankComputation {
        float[] run(ProcessGroup group, SystemContext context, int elements);
    }

    /**
     * Runs one rank.
     *
     * @return exit code: 0 on success, 2 if settings are wrong or device tensors are not supported; later failures are
     *     thrown
     */
    static int run(String what, RankComputation part, int elements, PrintStream out, PrintStream err) {
        try (SystemContext context = SystemContext.ofProcess();
                ProcessGroup group = ProcessGroup.join()) {
            float[] result = part.run(group, context, elements);
            out.printf(
                    "rank %d of %d: the %s of %d elements begins with %s%n",
                    group.rank(), group.worldSize(), what, result.length, Arrays.toString(Arrays.copyOf(result, 3)));
            return 0;
        } catch (UnsupportedOperationException | IllegalArgumentException cannot) {
            err.println(cannot.getMessage()
                    + "; this program needs a GPU on every rank and --backend nccl; without NCCL, set"
                    + " FERRO_ENABLE_GPU_FALLBACK=1 to copy through host memory; ./ferro doctor shows what is missing");
            err.flush();
            return MISUSED;
        }
    }
}
