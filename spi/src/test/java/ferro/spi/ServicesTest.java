package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ServicesTest {
    private static final String PROVIDER = "ferro.backend.shm.ShmMemoryProvider";
    private static final List<String> NAMES = List.of("unreadable", "unlinked", "near", "far");

    private final List<String> broken = new ArrayList<>();

    @Test
    void aBrokenServiceDoesNotHideOthers() {
        List<String> seen = new ArrayList<>();

        Services.each(ServicesTest::services, name -> seen.add(linked(name)), error -> broken.add(error.getMessage()));

        assertEquals(List.of("near", "far"), seen);
        assertEquals(List.of("unreadable", "unlinked"), broken);
    }

    @Test
    void servicesAfterTheFirstAnswerAreNotAsked() {
        List<String> asked = new ArrayList<>();

        Optional<Integer> length = Services.first(
                NAMES,
                name -> {
                    asked.add(name);
                    return name.equals("near") ? Optional.of(name.length()) : Optional.empty();
                },
                error -> broken.add(error.getMessage()));

        assertEquals(Optional.of(4), length);
        assertEquals(List.of("unreadable", "unlinked", "near"), asked);
    }

    @Test
    void withoutAWorkingServiceThereIsNoAnswer() {
        assertEquals(
                Optional.empty(),
                Services.first(ServicesTest::services, name -> Optional.empty(), error -> broken.add("one")));
        assertEquals(List.of("one"), broken);
    }

    @Test
    void anExceptionThatAServiceThrowsIsPassedOn() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Services.each(
                        NAMES,
                        name -> {
                            throw new IllegalArgumentException("a setting of " + name);
                        },
                        error -> broken.add(error.getMessage())));
    }

    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aClassLoaderThatAlwaysFailsIsSkipped() {
        ClassLoader failing = new ClassLoader(getClass().getClassLoader()) {
            @Override
            public Enumeration<URL> getResources(String name) throws IOException {
                throw new IOException("no files of " + name);
            }
        };
        Thread thread = Thread.currentThread();
        ClassLoader former = thread.getContextClassLoader();
        thread.setContextClassLoader(failing);
        try {
            Services.each(Services.of(StoreProvider.class), each -> {}, error -> broken.add(ServiceErrors.root(error)));
        } finally {
            thread.setContextClassLoader(former);
        }

        assertEquals(
                1, broken.stream().filter(text -> text.contains("no files of")).count(), broken::toString);
    }

    private static String linked(String name) {
        if (name.equals("unlinked")) {
            throw new NoClassDefFoundError(name);
        }
        return name;
    }

    /** As a loader does it, for which a service that cannot be read is passed already when it is told. */
    private static Iterator<String> services() {
        Iterator<String> names = NAMES.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return names.hasNext();
            }

            @Override
            public String next() {
                String name = names.next();
                if (name.equals("unreadable")) {
                    throw new ServiceConfigurationError(name);
                }
                return name;
            }
        };
    }

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
    void theLinkageErrorOfAProviderIsTheCause() {
        LinkageError missing = new NoClassDefFoundError("a/B");

        List<ServiceLoader.Provider<SharedMemoryProvider>> found =
                BuiltInProviders.of(SharedMemoryProvider.class, failing(missing));

        ServiceConfigurationError failure = assertThrows(ServiceConfigurationError.class, found.get(0)::type);
        assertSame(missing, failure.getCause());
        assertEquals(PROVIDER + " cannot be loaded", failure.getMessage());
        assertEquals(1, found.size());
    }

    @Test
    void theFirstErrorIsTheCauseAndTheOthersAreSuppressed() {
        ServiceErrors errors = new ServiceErrors();
        Error first = new ServiceConfigurationError("not made", new NoClassDefFoundError("a/B"));
        Error second = new NoSuchMethodError("c()");

        errors.add(first);
        errors.add(second);
        errors.add(first);

        assertSame(first, errors.cause());
        assertArrayEquals(new Throwable[] {second}, first.getSuppressed());
        assertEquals(
                List.of(
                        "(broken: java.lang.NoClassDefFoundError: a/B)",
                        "(broken: java.lang.NoSuchMethodError: c())",
                        "(broken: java.lang.NoClassDefFoundError: a/B)"),
                errors.texts());
    }

    @Test
    void withoutAnErrorTheCauseIsNull() {
        ServiceErrors errors = new ServiceErrors();
        assertNull(errors.cause());
        assertEquals(List.of(), errors.texts());
    }
}
