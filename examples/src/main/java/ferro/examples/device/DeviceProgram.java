package ferro.examples.device;

import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.PrintStream;
import java.util.Arrays;

/** The frame of both programs: joining, printing, and one line in place of a trace if there is no device. */
final class DeviceProgram {
    private static final int MISUSED = 2;

    private DeviceProgram() {}

    /** The computation of one rank. */
    interface ProgramPart {
        float[] run(ProcessGroup group, SystemContext context, int elements);
    }

    /**
     * Runs one rank.
     *
     * @return exit code: 0 done, 2 wrong settings or no way for device tensors here; later failures are thrown
     */
    static int run(String what, ProgramPart part, int elements, PrintStream out, PrintStream err) {
        try (SystemContext context = SystemContext.ofProcess();
                ProcessGroup group = ProcessGroup.join()) {
            float[] result = part.run(group, context, elements);
            out.printf(
                    "rank %d of %d: the %s of %d elements begins with %s%n",
                    group.rank(), group.worldSize(), what, result.length, Arrays.toString(Arrays.copyOf(result, 3)));
            return 0;
        } catch (UnsupportedOperationException | IllegalArgumentException cannot) {
            err.println(cannot.getMessage() + "; this program needs a GPU on every rank, and --backend nccl or, through"
                    + " host memory, FERRO_ENABLE_GPU_FALLBACK=1: ./ferro doctor says what is missing");
            err.flush();
            return MISUSED;
        }
    }
}
