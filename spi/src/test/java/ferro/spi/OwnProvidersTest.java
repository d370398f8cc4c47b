package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class OwnProvidersTest {
    private static final String PROVIDER = "ferro.backend.shm.ShmMemoryProvider";

    /** As where a part of ferro is there, but a class that it extends is not. */
    private static ClassLoader failing(LinkageError failure) {
        return new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (name.equals(PROVIDER)) {
                    throw failure;
                }
                throw new ClassNotFoundException(name);
            }
        };
    }

    @Test
    void theErrorOfAProviderThatCannotBeLinkedIsTheCause() {
        LinkageError missing = new NoClassDefFoundError("a/B");

        Iterator<ServiceLoader.Provider<SharedMemoryProvider>> found =
                OwnProviders.of(SharedMemoryProvider.class, failing(missing));

        ServiceConfigurationError failure = assertThrows(ServiceConfigurationError.class, found::next);
        assertSame(missing, failure.getCause());
        assertEquals(PROVIDER + " cannot be loaded", failure.getMessage());
        assertFalse(found.hasNext());
    }
}
