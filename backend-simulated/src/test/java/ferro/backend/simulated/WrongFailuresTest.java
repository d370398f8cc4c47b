package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import ferro.tck.BackendContract;
import ferro.tck.Rule;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The kit again: what needs a control lane to be wrong, as failures and parts do, must be caught by the rule it breaks. */
@Tag("long")
class WrongFailuresTest {
    static Stream<Arguments> wrongFailures() {
        return Stream.of(
                Arguments.of(WrongReceives.ReturnsThePreviousStatus.class, 220),
                Arguments.of(WrongReceives.WritesBehindTheMessage.class, 220),
                Arguments.of(WrongReceives.ReturnsThePreviousStatus.class, 222),
                Arguments.of(WrongReceives.PostsAnyRankLate.class, 223),
                Arguments.of(WrongReceives.StaysWithOneRank.class, 224),
                Arguments.of(WrongReceives.BlamesAllCandidates.class, 226),
                Arguments.of(WrongReceives.CancelsAfterTheMatch.class, 228),
                Arguments.of(WrongReceives.TakesProbedMessages.class, 229),
                Arguments.of(WrongReceives.LosesMatchedMessages.class, 230),
                Arguments.of(WrongReceives.DescribesThePreviousMessage.class, 229),
                Arguments.of(WrongReceives.ReceivesAMatchedMessageTwice.class, 230),
                Arguments.of(WrongReceives.SendsWithoutAReceive.class, 232),
                Arguments.of(WrongFailures.SwapsTwoRanksOfALargePart.class, 413),
                Arguments.of(WrongFailures.AbortsAlone.class, 504),
                Arguments.of(WrongFailures.BlamesNobody.class, 502),
                Arguments.of(WrongFailures.BlamesItsNeighbour.class, 514),
                Arguments.of(WrongFailures.ForgetsItsFirstCause.class, 512),
                Arguments.of(WrongFailures.BlamesWhoAbortsLater.class, 516),
                Arguments.of(WrongFailures.TakesItsParentAlong.class, 515),
                Arguments.of(WrongFailures.WritesAfterItsFailure.class, 507),
                Arguments.of(WrongFailures.TellsTwice.class, 513),
                Arguments.of(WrongFailures.TellsOnTheThreadOfTheCall.class, 513));
    }

    @DisplayName("the kit: what breaks a rule about failures is caught by it")
    @ParameterizedTest(name = "{0} breaks rule {1}")
    @MethodSource("wrongFailures")
    void isCaughtByTheRuleItBreaks(Class<? extends BackendContract> wrong, int rule) {
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(wrong, testOf(rule)))
                .execute()
                .testEvents();

        assertTrue(tests.started().count() > 0, "rule " + rule + " did not run");
        assertTrue(
                tests.failed().count() > 0,
                () -> "rule " + rule + " lets " + wrong.getSimpleName() + " pass: "
                        + tests.finished().count() + " tests ended well");
    }

    private static Method testOf(int rule) {
        return Arrays.stream(BackendContract.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class)
                        && method.getAnnotation(Rule.class).value() == rule)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no test has rule " + rule));
    }
}
