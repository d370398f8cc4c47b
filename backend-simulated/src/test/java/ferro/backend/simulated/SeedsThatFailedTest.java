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
        "436, a routine question sent just before the judgement made all ranks look silent",
        "682, the same with three ranks",
        "1452, the same beside a broken link",
        "1529, a rank that waited behind one with queued calls was blamed beside the silent one",
        "1578, the same where a rank stood still from the beginning",
        "4965, the same with eight ranks",
        "8739, a rank that had stood still judged its deadline before it took the data that was there",
        "13603, a run ended just after a rank had died",
        "13694, a run ended while ranks were making a group",
        "18361, the same as 13603",
        "542, ranks that had left were blamed for not answering",
        "575, the end of a leaver's link overtook what it had sent to a rank that stood still",
        "1477, a rank waited for a leaver to say that it has taken nothing",
        "9905, the same as 542 and 1477",
        "39254, a rank that had stood still changed what the others had agreed on long before",
        "60325, a rank that had made the call and waited for one outside of the group was blamed for one that had not",
        "69726, the same as 60325",
        "80345, a rank that stood still when the bound of its close was due was taken for one that leaks",
        "300587, a rank that had stood still blamed one that had left for a message that was under way",
    })
    void aSeedThatOnceFailedPasses(long seed, String whatItWas) {
        FaultyRun.run(seed);
    }
}
