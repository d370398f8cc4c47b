package ferro.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SlurmListTest {
    @Test
    void theFirstHostIsReadFromEveryNotation() {
        Map.of(
                        "a[01-03,7],b2", "a01",
                        "b2,a[01-03]", "b2",
                        "single", "single",
                        "rack[0-1]n[07,09]-ib", "rack0n07-ib",
                        "x[9,1-3]", "x9",
                        "node-[001-128]", "node-001",
                        "bgl[000x133]", "bgl000")
                .forEach((list, first) -> assertEquals(first, SlurmTask.firstHost("LIST", list), list));
    }

    @Test
    void anInvalidHostListIsNamedWithItsVariable() {
        for (String list : List.of("a[01-03", "a]1", "a[]", "a[-3]", ",b", "")) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> SlurmTask.firstHost("LIST", list), list);
            assertTrue(refused.getMessage().startsWith("LIST=" + list + ": "), refused.getMessage());
        }
        for (String list : List.of("4(x2", "four", "4,,3", "4(y2)", "")) {
            assertThrows(IllegalArgumentException.class, () -> SlurmTask.perNode("LIST", list), list);
        }
    }

    @Test
    void tasksPerNodeAreReadFromTheShortNotation() {
        assertEquals(List.of(4, 4, 3), SlurmTask.perNode("LIST", "4(x2),3"));
        assertEquals(List.of(1), SlurmTask.perNode("LIST", "1"));
        assertEquals(List.of(2, 16, 16, 16), SlurmTask.perNode("LIST", "2,16(x3)"));
    }
}
