package ferro.dispatch;

import ferro.DeviceTensor;
import ferro.Work;
import java.util.Objects;

/**
 * A pending call with its fresh result.
 *
 * @param tensor tensor of the result, which the caller must not use before the work is done; null if this rank gets no
 *     result (not the root of a reduce or gather). It is freed automatically if the work fails, else by
 *     {@link GpuCollectives#free}
 * @param work   handle of the call
 */
public record FreshResult(DeviceTensor tensor, Work work) {
    /**
     * Refuses null for the work.
     *
     * @param tensor tensor of the result, which the caller must not use before the work is done; null if this rank gets no
     *     result
     * @param work   handle of the call
     */
    public FreshResult {
        Objects.requireNonNull(work, "work");
    }

    /**
     * Waits for the end.
     *
     * @return the tensor, which may be read from any stream; null if this rank gets no result
     * @throws ferro.FerroException if the call failed; the tensor is freed then
     */
    public DeviceTensor await() {
        work.await();
        return tensor;
    }
}
