package ferro.spark.task;

import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spark.internals.ScalaConverter;
import ferro.spark.rank.RankFunction;
import ferro.spark.rendezvous.AttemptRendezvous;
import ferro.spark.rendezvous.DriverStoreClient;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.LongAccumulator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * The function of a barrier task. The function joins the group as one rank, runs the user's function, and returns the
 * serialized result.
 *
 * @param <T> type of the rows
 * @param <R> type of the result
 */
public final class BarrierTaskFunction<T, R>
        extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<byte[]>>
        implements Serializable {
    private static final long serialVersionUID = 1L;
    private final AttemptRendezvous store;
    private final RankSettings settings;
    private final RankFunction<T, R> function;
    private final LongAccumulator steps;

    /** Creates the function. The driver calls this constructor. */
    public BarrierTaskFunction(
            AttemptRendezvous store, RankSettings settings, RankFunction<T, R> function, LongAccumulator steps) {
        this.store = store;
        this.settings = settings;
        this.function = function;
        this.steps = steps;
    }

    @Override
    public scala.collection.Iterator<byte[]> apply(scala.collection.Iterator<T> rows) {
        // BarrierTaskContext.get() starts a thread of Spark 3.5 that keeps an application on local[n] running
        BarrierTaskContext task = (BarrierTaskContext) TaskContext.get();
        try (DriverStoreClient line = new DriverStoreClient(store, task.stageAttemptNumber(), task.partitionId());
                RankFailureHandler end = RankFailureHandler.of(task, line)) {
            try {
                R result = run(task, line, ScalaConverter.rows(rows), end);
                boolean travels = settings.resultAtAll() || task.partitionId() == 0;
                return ScalaConverter.single(serialized(travels ? result : null));
            } catch (Throwable failure) {
                end.failed(failure);
                // rethrow the same exception: Spark and the user recognise a failure by the type of its exception
                throw BarrierTaskFunction.<RuntimeException>unwrapped(failure);
            }
        }
    }

    private R run(BarrierTaskContext task, DriverStoreClient line, Iterator<T> rows, RankFailureHandler end)
            throws Exception {
        try (SystemContext context = RankContextOpener.opened(task, store, settings, line)) {
            end.over(context);
            ProcessGroup group = null;
            try {
                group = context.join();
                R result = function.run(
                        new JoinedRank(group, store.generation(), line, settings.checkpoints(), steps), rows);
                group.close();
                return result;
            } catch (Throwable failure) {
                end.failed(context, Optional.ofNullable(group).flatMap(ProcessGroup::failure), failure);
                throw failure;
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unwrapped(Throwable failure) throws E {
        throw (E) failure;
    }

    /**
     * Serializes a result with Spark's serializer, so that every type that an RDD can hold can be a result. The type of
     * the bytes needs no registration with Kryo.
     */
    private static byte[] serialized(Object result) {
        ByteBuffer buffer =
                SparkEnv.get().serializer().newInstance().serialize(result, ClassTag$.MODULE$.apply(Object.class));
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
