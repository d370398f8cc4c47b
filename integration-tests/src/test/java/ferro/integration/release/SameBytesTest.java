package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.Checkout;
import ferro.integration.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A second build of the staged release and of the archives in another folder, signed by a key of this test. */
@Tag("long")
@Timeout(600)
class SameBytesTest {
    private static final int JDK = 25;
    private static final String KEY = "ferro-test";

    @TempDir
    private Path folder;

    /** Below the system's folder for temporary files: the path of a socket has at most 108 characters. */
    private Path keys;

    @BeforeEach
    void makeAKey() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gpg")), "no gpg");
        keys = Files.createTempDirectory("keys");
        gpg("--quick-generate-key", KEY, "ed25519", "sign", "never");
    }

    @AfterEach
    void endTheAgent() throws Exception {
        if (keys != null) {
            Commands.run(folder, Map.of("GNUPGHOME", keys.toString()), List.of("gpgconf", "--kill", "gpg-agent"));
        }
    }

    @Test
    void twoBuildsInTwoFoldersHaveEqualBytesAndValidSignatures() throws Exception {
        Staging first = Staging.ofProperty();
        Path jdk = Jdks.assumed(JDK);
        Path copy = Checkout.copy(Checkout.ROOT, folder.resolve("copy"));
        Maven maven = Maven.without(Checkout.group(), folder.resolve("repository"));

        maven.run(
                jdk,
                copy,
                Map.of("GNUPGHOME", keys.toString()),
                "verify",
                "-Prelease,djl,lightgbm,spark,lightgbm-spark",
                "-Dferro.quick",
                "-Dmaven.test.skip",
                "-Dgpg.keyname=" + KEY);

        Staging second = new Staging(copy.resolve("target/staging"));
        assertEquals(List.of(), different(first.files(), second.files()));
        List<Path> signed = new ArrayList<>(second.published());
        for (String end : List.of(".tar.gz", ".zip")) {
            Path archive = Distribution.archive(second, end);
            assertEquals(-1, Files.mismatch(Distribution.archive(first, end), archive), archive::toString);
            signed.add(archive);
        }
        for (Path file : signed) {
            gpg("--verify", file + ".asc", file.toString());
        }
    }

    /** Returns the files that are not in both, or not with the same bytes; signatures aside. */
    private static List<String> different(SortedMap<String, Path> first, SortedMap<String, Path> second)
            throws IOException {
        TreeSet<String> names = new TreeSet<>(first.keySet());
        names.addAll(second.keySet());
        names.removeIf(name -> name.contains(".asc"));
        assertTrue(names.size() > 100, names::toString);
        List<String> different = new ArrayList<>();
        for (String name : names) {
            boolean isInBoth = first.containsKey(name) && second.containsKey(name);
            if (!isInBoth || Files.mismatch(first.get(name), second.get(name)) >= 0) {
                different.add(name);
            }
        }
        return different;
    }

    private void gpg(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("gpg", "--batch", "--quiet", "--passphrase", ""));
        command.addAll(List.of(arguments));
        Commands.run(folder, Map.of("GNUPGHOME", keys.toString()), command);
    }
}
