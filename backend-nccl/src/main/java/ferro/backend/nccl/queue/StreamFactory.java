package ferro.backend.nccl.queue;

import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.device.CudaStream;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Creates streams, also with runtimes that may refuse to create a stream. */
public final class StreamFactory {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private StreamFactory() {}

    /**
     * Creates a new stream. If the runtime refuses, logs a warning and returns the default stream. Communication then
     * works, but does not overlap with computation.
     */
    public static CudaStream orDefault(int device) {
        try {
            return CudaStream.create(device);
        } catch (CudaException e) {
            LOG.log(
                    Level.WARNING,
                    "cannot create a stream on device {0}: calls use the default stream, so communication overlaps with"
                            + " nothing: {1}",
                    device,
                    e.getMessage());
            return CudaStream.ofDefault(device);
        }
    }
}
