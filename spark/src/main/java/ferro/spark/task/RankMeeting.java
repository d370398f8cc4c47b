package ferro.spark.task;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import ferro.spark.internals.SparkInternals;
import ferro.spark.meeting.DriverLine;
import ferro.spark.meeting.StorePlace;
import ferro.spi.PortRange;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.BarrierTaskContext;

/** Opens the context of a rank at the store of the driver, or at that of rank 0, whose address Spark's barrier tells. */
final class RankMeeting {
    private static final String NONE = "-";

    private final BarrierTaskContext task;
    private final RankSettings settings;
    private final Optional<GpuAddress> gpu;
    private final JoinOptions options;

    private RankMeeting(BarrierTaskContext task, StorePlace store, RankSettings settings) {
        this.task = task;
        this.settings = settings;
        gpu = GpuAddress.of(task);
        options = RankJoin.options(task, store, settings, gpu);
    }

    /** Opens the context in which a task joins. */
    static SystemContext opened(BarrierTaskContext task, StorePlace store, RankSettings settings, DriverLine line) {
        RankMeeting meeting = new RankMeeting(task, store, settings);
        if (store.isDriver()) {
            meeting.gpu.ifPresent(one -> one.claim(line, task, meeting.host(task.partitionId())));
            return SystemContext.of(meeting.options.storeAt(store.endpoint()));
        }
        return task.partitionId() == 0 ? meeting.serving() : meeting.finding();
    }

    private SystemContext serving() {
        SystemContext context = SystemContext.of(options.serveStore(host(0), PortRange.of(settings.ports())));
        try {
            gathered(context.storeEndpoint());
            return context;
        } catch (RuntimeException | Error failure) {
            context.close();
            throw failure;
        }
    }

    private SystemContext finding() {
        return SystemContext.of(options.storeAt(gathered(NONE)));
    }

    /** Tells all ranks the address and the device of this one; returns the address of the store of rank 0. */
    private String gathered(String endpoint) {
        int rank = task.partitionId();
        String device = gpu.map(one -> one.on(host(rank))).orElse(NONE);
        String[] all = awaited(endpoint + " " + device);
        List<String> devices = Arrays.stream(all)
                .map(one -> one.substring(one.indexOf(' ') + 1))
                .toList();
        gpu.ifPresent(one -> one.compare(devices, rank, host(rank)));
        return all[0].substring(0, all[0].indexOf(' '));
    }

    /** Spark's own wait takes up to a year and swallows interrupts; it looks each second whether the task is killed. */
    private String[] awaited(String message) {
        FutureTask<String[]> gathering = new FutureTask<>(() -> task.allGather(message));
        Thread waiting = new Thread(gathering, "ferro-spark-meeting-" + task.partitionId());
        waiting.setDaemon(true);
        waiting.start();
        try {
            return gathering.get(settings.timeoutMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            SparkInternals.endBarrier(task, "ferro's deadline for meeting has passed");
            throw failure(
                    Code.RENDEZVOUS,
                    "not all " + task.getTaskInfos().length + " tasks have come to Spark's barrier within "
                            + settings.timeoutMillis() + " ms: see which have not started (.timeout sets the time)",
                    late);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
            SparkInternals.endBarrier(task, "the task was interrupted");
            throw failure(Code.INTERRUPTED, "interrupted at Spark's barrier", asked);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException known) {
                // as it is: Spark knows by the type that it has killed the task
                throw known;
            }
            throw failure(Code.RENDEZVOUS, "Spark's barrier failed: " + failed.getCause(), failed.getCause());
        }
    }

    private FerroException failure(Code code, String text, Throwable cause) {
        return new FerroException(
                code,
                Where.outside("stage" + task.stageId() + "." + task.stageAttemptNumber(), task.partitionId()),
                "meeting at rank 0 as rank " + task.partitionId() + " of stage " + task.stageId() + "."
                        + task.stageAttemptNumber() + " failed: " + text,
                cause);
    }

    private String host(int rank) {
        return HostPlace.host(task.getTaskInfos()[rank]);
    }
}
