package ferro.dispatch;

import ferro.DeviceTensor;
import ferro.Work;
import java.util.Objects;

/**
 * A fresh result under way.
 *
 * @param tensor where it will be, not to be touched before the work is done; null where this rank gets no result (off the
 *     root of a reduce or gather); freed by itself if the work fails, else by {@link GpuCollectives#free}
 * @param work   handle of the call
 */
public record FreshResult(DeviceTensor tensor, Work work) {
    /**
     * Refuses null for the work.
     *
     * @param tensor where it will be, not to be touched before the work is done; null where this rank gets no result (off the
     * @param work   handle of the call
     */
    public FreshResult {
        Objects.requireNonNull(work, "work");
    }

    /**
     * Waits for the end.
     *
     * @return the tensor, ready to be read from any stream; null where this rank gets no result
     * @throws ferro.FerroException if the call failed; the tensor is freed then
     */
    public DeviceTensor await() {
        work.await();
        return tensor;
    }
}
