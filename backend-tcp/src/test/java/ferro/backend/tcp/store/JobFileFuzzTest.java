package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import ferro.FerroException;
import ferro.FerroException.Where;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as the content of a job file. */
class JobFileFuzzTest {
    private static final String SECRET = "00112233445566778899aabbccddeeff";

    @TempDir
    Path folder;

    static Stream<byte[]> files() {
        return Stream.of("-", SECRET)
                .map(secret -> "ferro job file, version 1\nhost node0\nport 29500\nsecret " + secret + "\n")
                .map(text -> text.getBytes(StandardCharsets.US_ASCII));
    }

    @MethodSource("files")
    @FuzzTest(maxDuration = "1m")
    void anyJobFileIsReadOrRefusedWithoutItsSecret(byte[] bytes) throws IOException {
        Path file = folder.resolve("job");
        Files.write(file, bytes);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try {
            new JobAddressFile(folder, "job")
                    .read(Where.of("world", 1))
                    .ifPresent(read -> assertTrue(read.host() != null));
        } catch (FerroException refused) {
            assertTrue(!refused.getMessage().contains(SECRET), refused.getMessage());
        }
    }
}
