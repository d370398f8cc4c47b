package ferro.spark.internals;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class ScalaConverterTest {
    /** A type whose method fails as a method of Spark may. */
    public static final class FailingMethod {
        private final Error failure;

        FailingMethod(Error failure) {
            this.failure = failure;
        }

        /** Throws the error. */
        public Object stages() {
            throw failure;
        }
    }

    @Test
    void anErrorInAMethodOfSparkIsThrownUnchanged() {
        Error deep = new StackOverflowError("deep");

        Error thrown = assertThrows(
                Error.class, () -> ScalaConverter.elements(FailingMethod.class, "stages", new FailingMethod(deep)));

        assertSame(deep, thrown);
    }
}
