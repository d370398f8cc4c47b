package ferro.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExpandTest {
    private static final String SUMS = """
            ## of numbers
            #table type  name  box      half
            #            int   Integer  -
            #            char  Integer  (char)
            #table op  title  value
            #          Sum    a + b
            #          Or     a | b
            #for type
            #file ${name}/${box}.java
            #for op
            ${name} ${title} = ${half}(${value(x[i], y)});
            #end
            #if half
            half
            #else
            whole
            #end
            #end
            """;

    private static Expander expander;

    @TempDir
    Path folder;

    @BeforeAll
    static void compile(@TempDir Path classes) {
        expander = new Expander(classes);
    }

    private void expand(String text) throws IOException {
        expander.expand(Files.writeString(folder.resolve("sums.template"), text), folder.resolve("made"));
    }

    private String refused(String text) {
        return assertThrows(IllegalArgumentException.class, () -> expand(text)).getMessage();
    }

    private void assertMade(String file, String text) throws IOException {
        assertEquals(
                "// Made from sums.template by Expand.java: change that, not this file.\n" + text,
                Files.readString(folder.resolve("made").resolve(file)));
    }

    @Test
    void aFileIsMadeForEachRowWithItsCells() throws IOException {
        expand(SUMS);
        assertMade("int/Integer.java", "int Sum = (x[i] + y);\nint Or = (x[i] | y);\nwhole\n");
        assertMade("char/Integer.java", "char Sum = (char)(x[i] + y);\nchar Or = (char)(x[i] | y);\nhalf\n");
    }

    @Test
    void aCellMayHaveItsOwnLineAndContainOtherCells() throws IOException {
        String rows = """
                #row call
                #  name  sum
                #  does  Adds.
                #
                #        Twice: ${name}
                #row call
                #  name  none
                #row sum
                #  more  only this
                #file Calls.java
                #for call
                 * ${name} ${does}
                #for ${name}?
                ${more}
                #end
                #end
                """;
        expand(rows);
        assertMade("Calls.java", " * sum Adds.\n *\n * Twice: sum\nonly this\n * none\n");
        refused(rows.replace("#        Twice", "#      Twice"));
    }

    @Test
    void aPageGivesTheOrderOfRowsAndMoreCells() throws IOException {
        String rows = """
                #table setting  name  form
                #               a.b   TEXT
                #               C     FLAG
                #page setting page.md
                #file Settings.java
                #for setting
                ${name} ${form} ${default} ${meaning}
                #end
                """;
        Path page = Files.writeString(folder.resolve("page.md"), """
                # A page
                | property | variable | default | meaning |
                |---|---|---|---|
                | | `C` | none | whether `it` is |
                | `a.b` | `A_B` | `5s` | A time ([more](x.md)). |
                """);
        expand(rows);
        assertMade("Settings.java", "C FLAG none Whether {@code it} is.\na.b TEXT 5s A time.\n");
        refused(rows.replace("#               C     FLAG\n", ""));
        String right = Files.readString(page);
        for (String wrong : List.of("| 5s |", "| `none |", "| `\"` |", "| `*/` |", "| |")) {
            Files.writeString(page, right.replace("| `5s` |", wrong));
            assertTrue(refused(rows).contains("need a default in backticks, none or empty"), wrong);
        }
        Files.writeString(page, right.replaceAll(".*A_B.*\n", ""));
        refused(rows);
    }

    @Test
    void aFileIsWrittenOnlyIfItsTextHasChanged() throws IOException {
        Path made = folder.resolve("made/int/Integer.java");
        expand(SUMS);
        FileTime past = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(made, past);
        expand(SUMS);
        assertEquals(past, Files.getLastModifiedTime(made));

        expand(SUMS.replace("whole", "all"));
        assertTrue(Files.readString(made).endsWith("\nall\n"));
    }

    @Test
    void aFileThatIsNoLongerInTheTemplateIsDeleted() throws IOException {
        Path own = folder.resolve("made/int/Own.java");
        expand(SUMS);
        Files.writeString(own, "class Own {}\n");
        Path old = Files.writeString(folder.resolve("made/Old.java"), "// Made from gone.template by Expand.java\n");
        expand(SUMS.replace("#            int   Integer  -\n", ""));
        assertFalse(Files.exists(folder.resolve("made/int/Integer.java")));
        assertTrue(Files.exists(folder.resolve("made/char/Integer.java")));
        assertTrue(Files.exists(own));
        assertFalse(Files.exists(old), "of a template that is gone");
    }

    @Test
    void anErrorInATemplateIsReportedWithItsLine() throws IOException {
        assertEquals(
                "11: no column colour here: there are [box, half, name, title, value]", wrong("${half}", "${colour}"));
        assertEquals("10: no table ops above: there are [op, type]", wrong("#for op\n", "#for ops\n"));
        assertEquals("4: expected [name, box, half], found [char, Integer]", wrong("Integer  (char)", "Integer"));
        assertEquals("8: no #end for #for type", wrong("whole\n#end\n#end\n", "whole\n#end\n"));
        assertEquals("13: no such directive: #iff half", wrong("#if half", "#iff half"));
        assertEquals("9: text before the first #file: ${name}/${box}.java", wrong("#file ", ""));
    }

    /** Returns what is said about a template with one thing changed, without its path. */
    private String wrong(String part, String instead) throws IOException {
        String said = refused(SUMS.replace(part, instead));
        String file = folder.resolve("sums.template") + ":";
        assertTrue(said.startsWith(file), said);
        return said.substring(file.length());
    }
}
