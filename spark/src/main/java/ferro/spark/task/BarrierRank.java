package ferro.spark.task;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spark.failure.RankFailure;
import ferro.spark.meeting.DriverLine;
import ferro.spark.meeting.StorePlace;
import ferro.spark.rank.RankFunction;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.util.LongAccumulator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * The function of a barrier task: one rank, from joining to its result as bytes.
 *
 * @param <T> type of the rows
 * @param <R> type of the result
 */
public final class BarrierRank<T, R> extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<byte[]>>
        implements Serializable {
    private static final long serialVersionUID = 1L;
    /** Longest wait of a rank that others have failed, so that Spark hears of their tasks first. */
    private static final long VICTIM_MILLIS = 2_000;

    private final StorePlace store;
    private final RankSettings settings;
    private final RankFunction<T, R> function;
    private final LongAccumulator steps;

    /** Makes the function at the driver. */
    public BarrierRank(StorePlace store, RankSettings settings, RankFunction<T, R> function, LongAccumulator steps) {
        this.store = store;
        this.settings = settings;
        this.function = function;
        this.steps = steps;
    }

    @Override
    @SuppressWarnings("try")
    public scala.collection.Iterator<byte[]> apply(scala.collection.Iterator<T> rows) {
        BarrierTaskContext task = BarrierTaskContext.get();
        CountDownLatch killed = new CountDownLatch(1);
        try (DriverLine line = new DriverLine(store, task.partitionId());
                SystemContext context = SystemContext.of(RankJoin.options(task, store, settings, line));
                KillWatch watch = KillWatch.over(task, reason -> {
                    context.abort(new InterruptedException("Spark killed " + text(task) + ": " + reason));
                    killed.countDown();
                })) {
            R result = run(task, context, line, CollectionConverters.asJava(rows), killed);
            boolean travels = settings.resultAtAll() || task.partitionId() == 0;
            Iterator<byte[]> one = Collections.singletonList(serialized(travels ? result : null)).iterator();
            return CollectionConverters.asScala(one);
        }
    }

    private R run(
            BarrierTaskContext task, SystemContext context, DriverLine line, Iterator<T> rows, CountDownLatch killed) {
        try {
            ProcessGroup group = context.join();
            JoinedRank rank = new JoinedRank(group, store.generation(), line, settings.checkpoints(), steps);
            R result = function.run(rank, rows);
            group.close();
            return result;
        } catch (Throwable failure) {
            context.abort(failure);
            line.failed(RankFailure.of(task.partitionId(), failure, new byte[0]));
            if (isVictim(failure, task.partitionId())) {
                await(killed);
            }
            // as it is: Spark knows a failed fetch, and the user its exception, by the type
            throw BarrierRank.<RuntimeException>unwrapped(failure);
        }
    }

    /** A failure of ferro that does not blame this rank is the fault of another one. */
    private static boolean isVictim(Throwable failure, int rank) {
        return failure instanceof FerroException ofFerro
                && !("," + ofFerro.where().culprits() + ",").contains("," + rank + ",");
    }

    /** Spark kills the other tasks of the stage once it has heard of the task at fault. */
    private static void await(CountDownLatch killed) {
        try {
            boolean heard = killed.await(VICTIM_MILLIS, TimeUnit.MILLISECONDS);
            System.getLogger("ferro.spark")
                    .log(System.Logger.Level.DEBUG, heard ? "Spark has killed this task" : "Spark kills nothing");
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unwrapped(Throwable failure) throws E {
        throw (E) failure;
    }

    private static String text(BarrierTaskContext task) {
        return "task " + task.taskAttemptId() + " of stage " + task.stageId() + "." + task.stageAttemptNumber();
    }

    /** By Spark's serializer, so that whatever travels in an RDD travels here; as bytes, which need no registration. */
    private static byte[] serialized(Object result) {
        ByteBuffer buffer =
                SparkEnv.get().serializer().newInstance().serialize(result, ClassTag$.MODULE$.apply(Object.class));
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
