package ferro.spark;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/** The task of a barrier stage, whose tasks run all at once: with as many rows as slots it runs on every executor. */
final class EveryExecutor extends AbstractFunction1<Iterator<Integer>, Iterator<String>> implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final ClassTag<String> TEXT = ClassTag$.MODULE$.apply(String.class);

    private final Look look;

    /** What a task finds out about its process. */
    interface Look extends Serializable {
        String take() throws IOException;
    }

    private EveryExecutor(Look look) {
        this.look = look;
    }

    /** Returns what is found in the process of each row. */
    static List<String> look(JavaRDD<Integer> rows, Look look) {
        return JavaRDD.fromRDD(rows.rdd().barrier().mapPartitions(new EveryExecutor(look), false, TEXT), TEXT)
                .collect();
    }

    @Override
    public Iterator<String> apply(Iterator<Integer> rows) {
        try {
            return CollectionConverters.asScala(List.of(look.take()).iterator());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
