package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One way to read a secret for all who need it. */
class SecretFileTest {
    @TempDir
    private Path folder;

    private Path file(String mode, int... bytes) throws IOException {
        byte[] content = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            content[i] = (byte) bytes[i];
        }
        Path file = Files.write(folder.resolve("secret"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private static String refused(Path file) {
        return assertThrows(IOException.class, () -> SecretFile.read(file)).getMessage();
    }

    @Test
    void bytesThatAreNoTextStayAsTheyAre() throws IOException {
        Path file = file("rw-------", 0xFF, 0x85, 0xC3, 0x00, 0x1C);

        assertArrayEquals(new byte[] {(byte) 0xFF, (byte) 0x85, (byte) 0xC3, 0x00, 0x1C}, SecretFile.read(file));
    }

    @Test
    void spacesTabsAndLineEndsAtTheEndAreNoPartOfIt() throws IOException {
        Path file = file("rw-------", ' ', 'k', ' ', 'y', '\t', ' ', '\r', '\n');

        assertArrayEquals(new byte[] {' ', 'k', ' ', 'y'}, SecretFile.read(file));
    }

    @Test
    void filesThatCannotBeASecretAreNamedWithoutTheirContent() throws IOException {
        String open = refused(file("rw-r--r--", 'c', 'a', 'n', 'a', 'r', 'y'));

        assertTrue(open.contains("GROUP_READ") && open.contains("0600"), open);
        assertFalse(open.contains("canary"), open);
        assertTrue(refused(file("rw-------", '\n', ' ')).endsWith("beside white space: need at least 1"));
        assertTrue(
                refused(file("rw-------", new int[SecretFile.MOST_BYTES + 1])).contains("has 4097 bytes"));
        assertTrue(refused(folder.resolve("none")).contains("cannot be read"), refused(folder.resolve("none")));
    }
}
