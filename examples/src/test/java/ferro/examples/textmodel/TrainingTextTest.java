package ferro.examples.textmodel;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingTextTest {
    @TempDir
    private Path folder;

    @Test
    void aFolderGivesItsTextFilesInTheOrderOfTheirNames() throws IOException {
        write("b/second.java", "B");
        write("a.md", "A");
        write("c.xml", "C");
        write("picture.png", "no");
        write("target/built.java", "no");
        write(".git/config.txt", "no");
        write("binary.txt", "no\0");

        TrainingText source = TrainingText.read(folder);

        assertEquals("ABC", text(source));
        assertEquals(3, source.fileCount());
    }

    @Test
    void aFileIsReadWhateverItsName() throws IOException {
        write("poem", "roses");

        assertEquals("roses", text(TrainingText.read(folder.resolve("poem"))));
    }

    @Test
    void fourBlanksAreOneTab() throws IOException {
        write("code.java", "if (a) {\n        b = c;");

        assertEquals("if (a) {\n\t\tb = c;", text(TrainingText.read(folder)));
    }

    @Test
    void aMissingPathIsNamed() {
        assertUnreadable("nowhere: there is no such file", folder.resolve("nowhere"));
    }

    @Test
    void aFolderWithoutTextIsRefused() throws IOException {
        write("blank.md", " \n");
        write("picture.png", "no");

        assertUnreadable("found no text", folder);
    }

    @Test
    void aBinaryFileIsRefused() throws IOException {
        write("program", "\u007FELF\0\0");

        assertUnreadable("found no text", folder.resolve("program"));
    }

    @Test
    void controlCharactersGetNoSymbol() {
        assertArrayEquals(
                new byte[] {1, 0, 0}, TrainingText.of("a\u001B\u0007", 1).symbols());
    }

    @Test
    void onlyTheMostFrequentCharactersGetASymbol() {
        StringBuilder text = new StringBuilder("\u4E00\u4E62\u4E63");
        for (int i = 0; i < 300; i++) {
            text.append(Character.toString((char) (0x4E00 + i)).repeat(300 - i));
        }
        TrainingText source = TrainingText.of(text.toString(), 1);

        assertEquals(100, source.characters().length());
        assertArrayEquals(new byte[] {1, 99, 0}, Arrays.copyOf(source.symbols(), 3));
    }

    private static String text(TrainingText source) {
        StringBuilder text = new StringBuilder();
        for (byte symbol : source.symbols()) {
            text.append(source.characters().charAt(symbol));
        }
        return text.toString();
    }

    private static void assertUnreadable(String expected, Path path) {
        assertRefused(IllegalArgumentException.class, () -> TrainingText.read(path), expected);
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
