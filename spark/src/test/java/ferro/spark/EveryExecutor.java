package ferro.spark;

import ferro.spark.internals.ScalaConverter;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * The task of a barrier stage. All tasks of the stage run at once. If there are as many rows as slots, the task runs on
 * every executor.
 */
final class EveryExecutor extends AbstractFunction1<Iterator<Integer>, Iterator<String>> implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final ClassTag<String> TEXT = ClassTag$.MODULE$.apply(String.class);

    private final Fact fact;

    /** A function that collects facts about the process of a task. */
    interface Fact extends Serializable {
        String take() throws IOException;
    }

    private EveryExecutor(Fact fact) {
        this.fact = fact;
    }

    static List<String> fact(JavaRDD<Integer> rows, Fact fact) {
        return JavaRDD.fromRDD(rows.rdd().barrier().mapPartitions(new EveryExecutor(fact), false, TEXT), TEXT)
                .collect();
    }

    @Override
    public Iterator<String> apply(Iterator<Integer> rows) {
        try {
            return ScalaConverter.single(fact.take());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
