package ferro.backend.simulated;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Seeds that once showed a fault of ferro, each with what it was. A change of {@link Program} draws other programs for them:
 * they stay worth their millisecond all the same.
 */
class SeedsThatFailedTest {
    @ParameterizedTest
    @CsvSource({
        "26, a rank that had stood still judged its deadline before it read its inbox",
        "443, the end of a link was blamed before the abort was read by a rank that had stood still",
        "273, a circle of ranks that wait for each other round a cut was blamed as a whole",
        "2002, a routine question sent just before the judgement made all ranks look silent",
        "8557, the same with another algorithm",
        "9477, the same beside a broken link",
        "3985, ranks that waited behind one with queued calls were blamed beside the silent one",
        "4021, the same in a scatter",
        "5007, the same in a barrier",
        "9843, the same in a broadcast",
        "873, the timer that waits for the reason of a broken link was late and did not read first",
        "4420, the same with two ranks",
        "10580, a rank that stood still twice",
    })
    void holdsNow(long seed, String whatItWas) {
        FaultyRun.run(seed);
    }
}
