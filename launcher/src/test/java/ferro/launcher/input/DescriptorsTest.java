package ferro.launcher.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** How many files and sockets a job needs. */
class DescriptorsTest {
    @Test
    void aJobThatNeedsMoreIsRefusedWithBothNumbersAndTheWayOut() {
        Descriptors few = new Descriptors(OptionalLong.of(64));

        few.check(new Placement(5, 1, 0));
        String said = assertThrows(BadInputException.class, () -> few.check(new Placement(8, 1, 0)))
                .getMessage();

        assertEquals(
                "a job of 8 ranks, 8 of them on this host, needs about 76 open files in a process, and may have 64: raise the"
                        + " limit (ulimit -n 1024), or start fewer ranks",
                said);
        String many = assertThrows(BadInputException.class, () -> few.check(new Placement(1, 4096, 7)))
                .getMessage();
        assertTrue(many.contains("needs about 8242 open files"), many);
        assertTrue(many.contains("ulimit -n 32768"), many);
    }

    @Test
    void withoutALimitNothingIsRefused() {
        new Descriptors(OptionalLong.empty()).check(new Placement(4096, 1, 0));
        assertEquals("no limit known", new Descriptors(OptionalLong.empty()).text());
    }

    @Test
    void theDoctorSaysForHowManyRanksItIsEnough() {
        assertEquals(
                "at most 1024 in a process, enough for about 245 ranks on this host (ulimit -n)",
                new Descriptors(OptionalLong.of(1024)).text());
        assertTrue(new Descriptors(OptionalLong.of(20)).text().contains("enough for about 0 ranks"));
        assertTrue(Descriptors.ofThisProcess().limit().isPresent(), "Linux says it");
    }
}
