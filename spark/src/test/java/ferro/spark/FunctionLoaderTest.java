package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.spark.rank.RankFunction;
import ferro.spark.rank.SparkRank;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.Iterator;
import org.junit.jupiter.api.Test;
import scala.Function2;
import scala.runtime.AbstractFunction2;

/** Tests of functions whose class loader differs from the thread's, as in a notebook or a plug-in. */
public class FunctionLoaderTest {
    public static final class LoadedResult implements Serializable {
        private static final long serialVersionUID = 1L;
        private final int rank;

        LoadedResult(int rank) {
            this.rank = rank;
        }

        @Override
        public String toString() {
            return "of rank " + rank;
        }
    }

    public static final class LoadedFunction implements RankFunction<Integer, Object> {
        private static final long serialVersionUID = 1L;

        @Override
        public Object run(SparkRank rank, Iterator<Integer> rows) {
            return new LoadedResult(rank.group().rank());
        }
    }

    public static final class LoadedScalaFunction
            extends AbstractFunction2<SparkRank, scala.collection.Iterator<Integer>, Object> implements Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public Object apply(SparkRank rank, scala.collection.Iterator<Integer> rows) {
            return new LoadedResult(rank.group().rank());
        }
    }

    /** A class loader that defines only these classes itself. */
    private static final class OwnLoader extends ClassLoader {
        OwnLoader() {
            super(FunctionLoaderTest.class.getClassLoader());
        }

        @Override
        protected synchronized Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.contains("FunctionLoaderTest$Loaded")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known == null ? defined(name) : known;
        }

        private Class<?> defined(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }

    private final ClassLoader own = new OwnLoader();

    private Object loaded(Class<?> type) throws ReflectiveOperationException {
        return own.loadClass(type.getName()).getConstructor().newInstance();
    }

    private void checkLoaded(Object result) {
        assertEquals("of rank 0", result.toString());
        assertSame(own, result.getClass().getClassLoader());
    }

    @Test
    @SuppressWarnings("unchecked")
    void aResultHasTheClassOfTheFunctionsLoader() throws Exception {
        RankFunction<Integer, Object> function = (RankFunction<Integer, Object>) loaded(LoadedFunction.class);

        checkLoaded(SharedSpark.ferro().run(SharedSpark.rows(), function));
    }

    @Test
    @SuppressWarnings("unchecked")
    void aResultHasTheClassOfTheScalaFunctionsLoader() throws Exception {
        Function2<SparkRank, scala.collection.Iterator<Integer>, Object> function =
                (Function2<SparkRank, scala.collection.Iterator<Integer>, Object>) loaded(LoadedScalaFunction.class);

        checkLoaded(SharedSpark.ferro().run(SharedSpark.rows().rdd(), function));
        checkLoaded(
                SharedSpark.ferro().runAll(SharedSpark.rows().rdd(), function).get(0));
    }
}
