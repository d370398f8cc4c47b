package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.net.TlsPolicy.TlsSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsSettingsTest {
    @Test
    void aKeyThatEveryUserCanReadCausesAWarning(@TempDir Path folder) throws Exception {
        Path key = Files.writeString(folder.resolve("rank.key"), "a key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals(Optional.empty(), TlsSettings.openToAll(key));

        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals(
                Optional.of("every user of this host can read the key " + key + " (rw-r--r--): chmod 600 " + key),
                TlsSettings.openToAll(key));
    }
}
