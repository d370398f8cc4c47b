package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;

class BrokenServicesTest {
    private final BrokenServices broken = new BrokenServices();

    @Test
    void theFirstErrorIsTheCauseAndHasTheOthers() {
        Error first = new ServiceConfigurationError("not made", new NoClassDefFoundError("a/B"));
        Error second = new NoSuchMethodError("c()");

        broken.add(first);
        broken.add(second);
        broken.add(first);

        assertSame(first, broken.cause());
        assertArrayEquals(new Throwable[] {second}, first.getSuppressed());
        assertEquals(
                List.of(
                        "(broken: java.lang.NoClassDefFoundError: a/B)",
                        "(broken: java.lang.NoSuchMethodError: c())",
                        "(broken: java.lang.NoClassDefFoundError: a/B)"),
                broken.texts());
    }

    @Test
    void withoutAnErrorThereIsNoCause() {
        assertNull(broken.cause());
        assertEquals(List.of(), broken.texts());
    }
}
