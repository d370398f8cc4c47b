package ferro.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.TestContext;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FallbackDecisionTest {
    private static final String PROPERTY = "ferro.gpu.fallback";
    private static final String VARIABLE = "FERRO_ENABLE_GPU_FALLBACK";
    private static final String ALIAS = "FERROTORCH_ENABLE_GPU_FALLBACK";

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "0", "false", "FALSE", "False", "no", "No", "NO", "off", "Off", "OFF", " 0 "})
    @DisplayName("T16 0-25 decision 1: values that mean no")
    void theseMeanNo(String value) {
        for (String name : new String[] {PROPERTY, VARIABLE, ALIAS}) {
            assertFalse(FallbackDecision.of(new TestContext().with(name, value)).isOpen(), name + "=" + value);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "true", "yes", "on", "2", "nope"})
    @DisplayName("0-06 0-25 decision 1: anything else means yes")
    void anythingElseMeansYes(String value) {
        for (String name : new String[] {PROPERTY, VARIABLE, ALIAS}) {
            assertEquals(
                    new FallbackDecision(true, name), FallbackDecision.of(new TestContext().with(name, value)), name);
        }
    }

    @Test
    @DisplayName("0-02: where nothing is set, the gate is closed")
    void nothingSetMeansNo() {
        assertEquals(new FallbackDecision(false, null), FallbackDecision.of(new TestContext()));
    }

    @Test
    @DisplayName(
            "0-06 0-25 decision 1: the first that is set at all decides, even by 0: property, variable, older name")
    void theFirstThatIsSetDecides() {
        TestContext context = new TestContext().with(ALIAS, "1");
        assertEquals(new FallbackDecision(true, ALIAS), FallbackDecision.of(context));

        context.with(VARIABLE, "0");
        assertEquals(new FallbackDecision(false, VARIABLE), FallbackDecision.of(context));

        context.with(PROPERTY, "1");
        assertEquals(new FallbackDecision(true, PROPERTY), FallbackDecision.of(context));

        context.with(PROPERTY, "").with(VARIABLE, "1");
        assertEquals(new FallbackDecision(false, PROPERTY), FallbackDecision.of(context));
    }

    @Test
    void theVariableOfThePropertyOpensTheGate() {
        assertTrue(FallbackDecision.of(new TestContext().with("FERRO_GPU_FALLBACK", "1"))
                .isOpen());
    }
}
