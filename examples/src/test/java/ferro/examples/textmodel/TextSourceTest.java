package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextSourceTest {
    @TempDir
    private Path folder;

    @Test
    void folderGivesItsTextFilesInTheOrderOfTheirNames() throws IOException {
        write("b/second.java", "B");
        write("a.md", "A");
        write("c.xml", "C");
        write("picture.png", "no");
        write("target/built.java", "no");
        write(".git/config.txt", "no");
        write("binary.txt", "no\0");

        TextSource source = TextSource.read(folder);

        assertEquals(new TextSource("ABC", 3), source);
    }

    @Test
    void fileIsReadWhateverItsName() throws IOException {
        write("poem", "roses");

        assertEquals("roses", TextSource.read(folder.resolve("poem")).text());
    }

    @Test
    void fourBlanksAreOneTab() throws IOException {
        write("code.java", "if (a) {\n        b = c;");

        assertEquals("if (a) {\n\t\tb = c;", TextSource.read(folder).text());
    }

    @Test
    void missingPathIsNamed() {
        String message = messageOf(folder.resolve("nowhere"));

        assertTrue(message.contains("nowhere: there is no such file"), message);
    }

    @Test
    void folderWithoutTextIsRefused() throws IOException {
        write("blank.md", " \n");
        write("picture.png", "no");

        String message = messageOf(folder);

        assertTrue(message.contains("found no text in 1 files"), message);
    }

    @Test
    void binaryFileIsRefused() throws IOException {
        write("program", "\u007FELF\0\0");

        String message = messageOf(folder.resolve("program"));

        assertTrue(message.contains("found no text"), message);
    }

    private static String messageOf(Path path) {
        return assertThrows(UsageException.class, () -> TextSource.read(path)).getMessage();
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
