package ferro.spark.task;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import ferro.spark.internals.SparkApiAccess;
import ferro.spark.rendezvous.AttemptRendezvous;
import ferro.spark.rendezvous.DriverStoreClient;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.BarrierTaskContext;

/**
 * The opening of a rank's context. The context uses the store of the driver or the store of rank 0. The ranks exchange
 * the address of rank 0's store through Spark's barrier.
 */
final class RankContextOpener {
    private static final String NONE = "-";

    private final BarrierTaskContext task;
    private final RankSettings settings;
    private final Optional<AssignedGpu> gpu;
    private final JoinOptions options;

    private RankContextOpener(BarrierTaskContext task, AttemptRendezvous store, RankSettings settings) {
        this.task = task;
        this.settings = settings;
        gpu = AssignedGpu.of(task);
        options = RankJoinOptions.options(task, store, settings, gpu);
    }

    /** Opens the context with which a task joins its group. */
    static SystemContext opened(
            BarrierTaskContext task, AttemptRendezvous store, RankSettings settings, DriverStoreClient line) {
        RankContextOpener rendezvous = new RankContextOpener(task, store, settings);
        if (store.isDriver()) {
            rendezvous.gpu.ifPresent(one -> one.claim(line, task, rendezvous.host(task.partitionId())));
            return SystemContext.of(rendezvous.options.storeAt(store.endpoint()));
        }
        return task.partitionId() == 0 ? rendezvous.serving() : rendezvous.finding();
    }

    private SystemContext serving() {
        SystemContext context = SystemContext.of(options.serveStore(host(0), settings.ports()));
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

    /** Sends the store address and the device of this rank to all ranks. Returns the store address of rank 0. */
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

    /**
     * Exchanges a message with all tasks on another thread, with a deadline. Spark's own wait takes up to a year and
     * swallows interrupts. Spark checks each second whether the task has been killed.
     */
    private String[] awaited(String message) {
        FutureTask<String[]> gathering = new FutureTask<>(() -> task.allGather(message));
        Thread waiting = new Thread(gathering, "ferro-spark-meeting-" + task.partitionId());
        waiting.setDaemon(true);
        waiting.start();
        try {
            return gathering.get(settings.timeoutMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            SparkApiAccess.endBarrier(task, "the timeout of ferro for finding the other ranks has passed");
            throw failure(
                    Code.RENDEZVOUS,
                    "not all " + task.getTaskInfos().length + " tasks reached Spark's barrier within "
                            + settings.timeoutMillis()
                            + " ms: check which tasks have not started (.timeout sets the time)",
                    late);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
            SparkApiAccess.endBarrier(task, "the task was interrupted");
            throw failure(Code.INTERRUPTED, "the task was interrupted at Spark's barrier", asked);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException known) {
                // rethrow the same exception: Spark recognises its own kill of the task by the exception type
                throw known;
            }
            throw failure(Code.RENDEZVOUS, "Spark's barrier failed: " + failed.getCause(), failed.getCause());
        }
    }

    private FerroException failure(Code code, String text, Throwable cause) {
        return new FerroException(
                code,
                Where.of("stage" + task.stageId() + "." + task.stageAttemptNumber(), task.partitionId()),
                "rank " + task.partitionId() + " of stage " + task.stageId() + "." + task.stageAttemptNumber()
                        + " cannot find the other ranks through rank 0: " + text,
                cause);
    }

    private String host(int rank) {
        return LocalRank.host(task.getTaskInfos()[rank]);
    }
}
