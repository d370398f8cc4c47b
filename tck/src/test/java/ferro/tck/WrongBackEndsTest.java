package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.commons.support.AnnotationSupport.isAnnotated;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The kit itself: each wrong back end must be caught by the rule it breaks. */
@Tag("long")
class WrongBackEndsTest {
    static Stream<Arguments> wrongBackEnds() {
        return Stream.of(results(), manners(), devices()).flatMap(each -> each);
    }

    private static Stream<Arguments> results() {
        return Stream.of(
                Arguments.of(WrongResults.TakesTheLargestForTheSum.class, 101),
                Arguments.of(WrongResults.ForgetsToDivide.class, 101),
                Arguments.of(WrongResults.AveragesASumThatWraps.class, 101),
                Arguments.of(WrongResults.RoundsAveragesDown.class, 101),
                Arguments.of(WrongResults.ReturnsBeforeTheDataArrives.class, 101),
                Arguments.of(WrongResults.WritesPastTheEnd.class, 101),
                Arguments.of(WrongResults.RefusesWhatItDoesNotDeclare.class, 101),
                Arguments.of(WrongTypes.ComparesUnsignedAsSigned.class, 101),
                Arguments.of(WrongTypes.AddsHalvesAsIntegers.class, 101),
                Arguments.of(WrongTypes.TakesOneHalfForTheOther.class, 110),
                Arguments.of(WrongResults.DropsTheLastElement.class, 102),
                Arguments.of(WrongResults.WritesWhereItIsNotTheRoot.class, 103),
                Arguments.of(WrongResults.SkipsTheBarrier.class, 109),
                Arguments.of(WrongResults.RoundsDifferentlyOnOneRank.class, 111),
                Arguments.of(WrongResults.SkipsUnequalParts.class, 116),
                Arguments.of(WrongResults.SkipsSubmittedUnequalParts.class, 116),
                Arguments.of(WrongResults.TakesAUsersCodeForTheSum.class, 118),
                Arguments.of(WrongResults.TakesAUsersCodeForAnyType.class, 119),
                Arguments.of(WrongResults.MultipliesByTheFraction.class, 122),
                Arguments.of(WrongResults.MultipliesTheSum.class, 123),
                Arguments.of(WrongResults.ReducesAndScattersInAnotherOrder.class, 124),
                Arguments.of(WrongResults.TakesRecordsForBytes.class, 125),
                Arguments.of(WrongResults.DropsPartsOfRecords.class, 126),
                Arguments.of(WrongResults.ForgetsThePartsOfOthers.class, 126),
                Arguments.of(WrongResults.ScansTheRanksAfterItToo.class, 127),
                Arguments.of(WrongResults.LeavesRankZeroOut.class, 128),
                Arguments.of(WrongResults.ScansAUsersCodeAsMaximum.class, 129),
                Arguments.of(WrongResults.TakesAnOrderedOpForAnyOther.class, 130),
                Arguments.of(WrongResults.TakesAnyRootForTheFirstRank.class, 603));
    }

    private static Stream<Arguments> manners() {
        return Stream.of(
                Arguments.of(WrongManners.GivesTheSameMemoryTwice.class, 115),
                Arguments.of(WrongManners.CopiesOperandsThatOverlap.class, 120),
                Arguments.of(WrongManners.RefusesAResultInsideItsOperand.class, 121),
                Arguments.of(WrongManners.SwapsMessagesInPairs.class, 202),
                Arguments.of(WrongManners.TakesAMessageOfAnotherLength.class, 206),
                Arguments.of(WrongManners.DeliversMessagesOfAnotherTag.class, 211),
                Arguments.of(WrongManners.KeepsEveryMessage.class, 212),
                Arguments.of(WrongManners.SaysThatItGaveUpOnTheNextRank.class, 217),
                Arguments.of(WrongManners.CountsFromZero.class, 303),
                Arguments.of(WrongManners.AbortsWhenPolled.class, 304),
                Arguments.of(WrongManners.LosesTheBroadcastsOfABlock.class, 312),
                Arguments.of(WrongManners.ScansABlockInclusively.class, 312),
                Arguments.of(WrongManners.SaysThatABlockHasEnded.class, 313),
                Arguments.of(WrongManners.CountsAReceiveAsASend.class, 331),
                Arguments.of(WrongManners.CountsFailedCalls.class, 331),
                Arguments.of(WrongManners.CountsCallsInFlight.class, 331),
                Arguments.of(WrongManners.SwallowsMismatches.class, 501),
                Arguments.of(WrongManners.LetsDataLandBeforeItPolls.class, 501),
                Arguments.of(WrongManners.ForgetsTheInterrupt.class, 503),
                Arguments.of(WrongManners.RecoversFromFailures.class, 506),
                Arguments.of(WrongManners.ForgetsLabels.class, 517),
                Arguments.of(WrongManners.ForgetsLabels.class, 518),
                Arguments.of(WrongManners.TakesCallsAfterClose.class, 602),
                Arguments.of(WrongManners.LeavesAThreadBehind.class, 608),
                Arguments.of(WrongManners.TakesAwayWhatALeaverHasSent.class, 610));
    }

    private static Stream<Arguments> devices() {
        return Stream.of(
                Arguments.of(WrongDevices.ForgetsTheCopyBack.class, 101),
                Arguments.of(WrongDevices.OverwritesItsInput.class, 101),
                Arguments.of(WrongDevices.DoesNotWaitForTheCopyOut.class, 101),
                Arguments.of(WrongDevices.DoesNotWaitForTheCopyBack.class, 101),
                Arguments.of(WrongDevices.CopiesBackOnEveryRank.class, 103));
    }

    @DisplayName("T5 and the kit: what breaks a rule is caught by it")
    @ParameterizedTest(name = "{0} breaks rule {1}")
    @MethodSource("wrongBackEnds")
    void isCaughtByTheRuleItBreaks(Class<? extends BackendContract> wrong, int rule) {
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(firstOf(wrong, testOf(rule)))
                .execute()
                .testEvents();

        assertTrue(tests.started().count() > 0, "rule " + rule + " did not run");
        assertTrue(
                tests.failed().count() > 0,
                () -> "rule " + rule + " lets " + wrong.getSimpleName() + " pass: "
                        + tests.finished().count() + " tests ended well");
    }

    /** Up to three ranks are enough to catch any of them; all sizes would take most of this module's time. */
    private static DiscoverySelector firstOf(Class<?> wrong, Method test) {
        MethodSelector all = selectMethod(wrong, test);
        return isAnnotated(test, ParameterizedTest.class) ? selectIteration(all, 0, 1, 2) : all;
    }

    private static Method testOf(int rule) {
        return Arrays.stream(BackendContract.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class)
                        && method.getAnnotation(Rule.class).value() == rule)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no test has rule " + rule));
    }
}
