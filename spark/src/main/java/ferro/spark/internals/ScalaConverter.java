package ferro.spark.internals;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;

/**
 * Conversions of Scala's collections. Scala 2.12 and Scala 2.13 have every type and method that this class uses, so the
 * compiled class runs with both.
 *
 * <p>Methods of Spark that return a {@code Seq} are called by name. Their compiled form names
 * {@code scala.collection.Seq} with Scala 2.12, and {@code scala.collection.immutable.Seq} with Scala 2.13.
 */
public final class ScalaConverter {
    private ScalaConverter() {}

    /** The rows of a partition, as a Java iterator. */
    private record RowIterator<T>(scala.collection.Iterator<T> rows) implements Iterator<T> {
        @Override
        public boolean hasNext() {
            return rows.hasNext();
        }

        @Override
        public T next() {
            return rows.next();
        }
    }

    /** Returns the rows of a partition as a Java iterator. */
    public static <T> Iterator<T> rows(scala.collection.Iterator<T> rows) {
        return new RowIterator<>(rows);
    }

    /** Returns the Scala iterator of rows that {@link #rows} has returned. */
    public static <T> scala.collection.Iterator<T> scalaRows(Iterator<T> rows) {
        return ((RowIterator<T>) rows).rows();
    }

    /** Returns an iterator with one element. */
    public static <T> scala.collection.Iterator<T> single(T element) {
        return scala.collection.Iterator$.MODULE$.single(element);
    }

    /** Returns the dependencies of an RDD. */
    public static List<Dependency<?>> dependencies(RDD<?> rdd) {
        List<Dependency<?>> all = new ArrayList<>();
        elements(RDD.class, "dependencies", rdd).forEachRemaining(one -> all.add((Dependency<?>) one));
        return all;
    }

    /** Returns the stages of a job that starts. */
    public static List<StageInfo> stages(SparkListenerJobStart start) {
        List<StageInfo> all = new ArrayList<>();
        elements(SparkListenerJobStart.class, "stageInfos", start).forEachRemaining(one -> all.add((StageInfo) one));
        return all;
    }

    /**
     * Returns the elements of the {@code Seq} that a method of Spark returns. An unchecked exception or error of the
     * method passes unchanged.
     */
    static Iterator<?> elements(Class<?> type, String method, Object target) {
        try {
            Object found = type.getMethod(method).invoke(target);
            return rows(((scala.collection.Seq<?>) found).iterator());
        } catch (NoSuchMethodException | IllegalAccessException changed) {
            throw new IllegalStateException("this Spark has no " + type.getName() + "." + method + "()", changed);
        } catch (InvocationTargetException failed) {
            throw unchecked(type.getName() + "." + method + "()", failed.getCause());
        }
    }

    /** Returns the exception to throw for the failure of a call by reflection. An error is thrown as it is. */
    static RuntimeException unchecked(String call, Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException known
                ? known
                : new IllegalStateException(call + " failed: " + failure, failure);
    }
}
