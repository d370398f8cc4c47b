package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.spi.GroupSpec;
import ferro.spi.StoreProvider;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreProvidersTest {
    private static final GroupSpec GROUP = GroupSpec.of("world", 1, 3, Duration.ofSeconds(5));

    @Test
    void aProviderThatCannotBeLoadedIsTheCauseOfTheMissingStore(@TempDir Path folder) throws Exception {
        Path entries = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(entries.resolve(StoreProvider.class.getName()), "no.such.Provider");
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader withBroken =
                        new URLClassLoader(new URL[] {folder.toUri().toURL()}, before);
                SystemContext context = SystemContext.of(Map.of("ferro.rendezvous", "other://here"))) {
            Thread.currentThread().setContextClassLoader(withBroken);

            FerroException failure = assertThrows(
                    FerroException.class,
                    () -> JoiningContext.ask(GROUP, context, (provider, address) -> provider.scheme()));

            assertEquals(Code.RENDEZVOUS, failure.code());
            assertInstanceOf(ServiceConfigurationError.class, failure.getCause());
            String text = failure.getMessage();
            assertTrue(text.contains("no store for ferro.rendezvous=other://here; there are stores for "), text);
            assertTrue(text.contains("(broken: java.util.ServiceConfigurationError: "), text);
            assertTrue(text.contains("no.such.Provider"), text);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
