package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The limits that SECURITY.md names against those of the code, and the tests that it names. */
class SecurityPageTest {
    private static final Path CHECKOUT = Path.of("..");

    private final String page =
            Files.readString(CHECKOUT.resolve("SECURITY.md")).replaceAll("\\s+", " ");

    SecurityPageTest() throws IOException {}

    @Test
    void limitsOfUnauthenticatedPeersAreThoseOnThePage() {
        assertEquals(5_000, TcpListener.HANDSHAKE_MILLIS, "what the page calls five seconds");
        says("does not finish its handshake is dropped after five seconds");
        says("At most " + TcpListener.FEWEST_PENDING
                + " connections are in their handshake at a time. If the largest group"
                + " has more than " + TcpListener.FEWEST_PENDING / TcpListener.PENDING_PER_RANK
                + " ranks, the limit is "
                + TcpListener.PENDING_PER_RANK + " for each of its ranks");
    }

    @Test
    void secretsHaveTheLengthsOnThePage() {
        says("Without a secret of at least " + SecretFile.LEAST_RANDOM_BYTES + " random bytes");
        says("creates a secret file: " + SecretFile.FRESH_BYTES + " random bytes, mode 0600");
    }

    @Test
    void unauthenticatedPeersCauseOnlyTheLogLinesOnThePage() {
        assertEquals(TimeUnit.MINUTES.toNanos(1), UnauthenticatedPeerLog.QUIET_NANOS, "what the page calls a minute");
        says("Each rank logs at most one line a minute for each of three kinds");
    }

    /** The JDK's engine counts by itself, as its security properties say; they write the figure as the page does. */
    @Test
    void keysChangeAfterTheNumberOfBytesOnThePage() {
        String figure = "2^37";
        assertEquals(
                1L << 37,
                Settings.TLS_KEY_BYTES.read(Settings.TLS_KEY_BYTES.fallback().orElseThrow()));
        String limits = Security.getProperty("jdk.tls.keyLimits");
        assertTrue(limits.startsWith("AES/GCM/NoPadding KeyUpdate " + figure + ","), limits);
        says("keys of a data connection change after " + figure + " bytes");
        says("OpenSSL's engine counts `" + Settings.TLS_KEY_BYTES.name() + "`");
    }

    @Test
    void theCipherIsTheOneOnThePage() {
        says("The JDK's engine uses only one cipher: " + TlsPair.CIPHER);
    }

    @Test
    void everyTestOnThePageExists() throws IOException {
        Map<String, String> sources = sources();
        List<MatchResult> named = Pattern.compile("`(\\w+Test)(?:#(\\w+))?`")
                .matcher(page)
                .results()
                .toList();
        List<String> absent = named.stream()
                .filter(test -> !sources.getOrDefault(test.group(1), "")
                        .contains(test.group(2) == null ? "class " + test.group(1) : "void " + test.group(2) + "("))
                .map(MatchResult::group)
                .toList();

        assertEquals(List.of(), absent);
        assertTrue(named.size() > 50, named.size() + " tests are named");
    }

    /** Returns the sources of all tests by their names; of modules at work beside this one nothing else is looked at. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> modules = Files.list(CHECKOUT)) {
            for (Path tests : modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    for (Path file : files.filter(path -> path.toString().endsWith("Test.java"))
                            .toList()) {
                        sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                    }
                }
            }
        }
        return sources;
    }

    private void says(String sentence) {
        assertTrue(page.contains(sentence), () -> "SECURITY.md does not say: " + sentence);
    }
}
