package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
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
    void aBinarySecretIsReadUnchanged() throws IOException {
        Path file = file("rw-------", 0xFF, 0x85, 0xC3, 0x00, 0x1C);

        assertArrayEquals(new byte[] {(byte) 0xFF, (byte) 0x85, (byte) 0xC3, 0x00, 0x1C}, SecretFile.read(file));
    }

    @Test
    void spacesTabsAndLineEndsAtTheEndAreNotPartOfASecret() throws IOException {
        Path file = file("rw-------", ' ', 'k', ' ', 'y', '\t', ' ', '\r', '\n');

        assertArrayEquals(new byte[] {' ', 'k', ' ', 'y'}, SecretFile.read(file));
    }

    @Test
    void filesThatCannotBeASecretAreNamedWithoutTheirContent() throws IOException {
        String open = refused(file("rw-r--r--", 'c', 'a', 'n', 'a', 'r', 'y'));

        assertTrue(open.contains("GROUP_READ") && open.contains("0600"), open);
        assertFalse(open.contains("canary"), open);
        assertTrue(refused(file("rw-------", '\n', ' ')).endsWith("besides white space: need at least 1"));
        assertTrue(
                refused(file("rw-------", new int[SecretFile.MOST_BYTES + 1])).contains("has 4097 bytes"));
        assertTrue(refused(folder.resolve("none")).contains("cannot be read"), refused(folder.resolve("none")));
    }

    @Test
    void theFileOfAnotherUserIsRefusedNamingBoth() throws IOException {
        Path file = file("rw-------", 'c', 'a', 'n', 'a', 'r', 'y');
        int owner = (Integer) Files.getAttribute(file, "unix:uid");

        String text = refused(file, new ProcessUser(owner + 3, Set.of()));

        assertTrue(text.contains("belongs to user " + owner + ", and this process is user " + (owner + 3)), text);
        assertTrue(text.contains("fsGroup") && !text.contains("canary"), text);
    }

    @Test
    void aSecretOfRootIsReadableOnlyByMembersOfItsGroup() throws IOException {
        Path file = file("r--r-----", 'k', 'e', 'y');
        assumeTrue(Files.getAttribute(file, "unix:uid").equals(0), "needs root");
        Files.setAttribute(file, "unix:gid", 4711);
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        assertArrayEquals(new byte[] {'k', 'e', 'y'}, SecretFile.read(link, new ProcessUser(1000, Set.of(7, 4711))));
        assertArrayEquals(new byte[] {'k', 'e', 'y'}, SecretFile.read(link, new ProcessUser(0, Set.of(0, 4711))));
        assertTrue(refused(link, new ProcessUser(1000, Set.of(7))).contains("[GROUP_READ]"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
        assertTrue(refused(link, new ProcessUser(1000, Set.of(7, 4711))).contains("[GROUP_WRITE]"));
        Files.setAttribute(file, "unix:gid", 0);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertTrue(refused(link, new ProcessUser(0, Set.of(0))).contains("rw-r-----, need rw-------"));
    }

    @Test
    void usersAndGroupsAreReadFromTheKernel() throws IOException {
        ProcessUser read = ProcessUser.of(
                List.of("Name:\tjava", "Uid:\t1\t2\t3\t4294967294", "Gid:\t5\t6\t7\t8", "Groups:\t9 10 "));

        assertEquals(new ProcessUser(-2, Set.of(8, 9, 10)), read);
        assertEquals(
                Set.of(8),
                ProcessUser.of(List.of("Uid:\t1\t1\t1\t1", "Gid:\t8\t8\t8\t8", "Groups:\t"))
                        .groups());
        assertEquals(
                Files.getAttribute(file("rw-------", 1), "unix:uid"),
                ProcessUser.ofProcess().uid());
    }

    @Test
    void aNewSecretFileIsPrivateAndOverwritesNothing() throws IOException {
        Path made = folder.resolve("made");

        SecretFile.create(made);

        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
        assertEquals(32, SecretFile.randomBytes(SecretFile.read(made)));
        String before = Files.readString(made);
        assertThrows(FileAlreadyExistsException.class, () -> SecretFile.create(made));
        assertEquals(before, Files.readString(made));
    }

    @Test
    void twoHexadecimalDigitsAreOneRandomByte() {
        assertEquals(
                16, SecretFile.randomBytes("0123456789abcdefABCDEF0123456789".getBytes(StandardCharsets.US_ASCII)));
        assertEquals(3, SecretFile.randomBytes(new byte[] {'a', 'b', 'x'}));
        assertEquals(2, SecretFile.randomBytes(new byte[] {-1, -61}));
    }

    private static String refused(Path file, ProcessUser user) {
        return assertThrows(IOException.class, () -> SecretFile.read(file, user))
                .getMessage();
    }
}
