package ferro.training.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class UpdateRuleTest {
    /** As in the documentation of torch.optim.SGD, Adam and AdamW. */
    @Test
    void defaultsAreThoseOfPyTorch() {
        assertEquals(new SgdRule(0.001, 0, 0, 0, false), UpdateRule.sgd());
        assertEquals(new AdamRule(false, new AdamRule.Constants(0.001, 0.9, 0.999, 1e-8, 0)), UpdateRule.adam());
        assertEquals(new AdamRule(true, new AdamRule.Constants(0.001, 0.9, 0.999, 1e-8, 0.01)), UpdateRule.adamW());
    }

    @Test
    void stateHasTheNamesOfPyTorch() {
        assertEquals(List.of(), UpdateRule.sgd().stateNames());
        assertEquals(
                List.of("momentum_buffer"), UpdateRule.sgd().withMomentum(0.9).stateNames());
        assertEquals(List.of("exp_avg", "exp_avg_sq"), UpdateRule.adam().stateNames());
        assertEquals(List.of("exp_avg", "exp_avg_sq"), UpdateRule.adamW().stateNames());
    }

    @Test
    void settingsListAllConstants() {
        SgdRule sgd = UpdateRule.sgd()
                .withRate(0.1)
                .withMomentum(0.9)
                .withDampening(0.5)
                .withWeightDecay(0.25);
        assertEquals(
                "{rule=sgd, rate=0.1, momentum=0.9, dampening=0.5, weightDecay=0.25, nesterov=false}",
                sgd.settings().toString());
        assertEquals("true", sgd.withNesterov(0.8).settings().get("nesterov"));
        assertEquals(
                "{rule=adam, rate=0.1, beta1=0.8, beta2=0.95, epsilon=1.0E-6, weightDecay=0.25}",
                UpdateRule.adam()
                        .withRate(0.1)
                        .withBetas(0.8, 0.95)
                        .withEpsilon(1e-6)
                        .withWeightDecay(0.25)
                        .settings()
                        .toString());
        assertEquals("adamw", UpdateRule.adamW().settings().get("rule"));
    }

    @Test
    void invalidConstantsAreRefused() {
        assertRefused(
                "sgd: rate must be finite and at least 0, found -1.0",
                () -> UpdateRule.sgd().withRate(-1));
        assertRefused(
                "sgd: momentum must be finite and at least 0, found NaN",
                () -> UpdateRule.sgd().withMomentum(Double.NaN));
        assertRefused(
                "found momentum 0.0 and dampening 0.0", () -> UpdateRule.sgd().withNesterov(0));
        assertRefused(
                "found momentum 0.9 and dampening 0.1",
                () -> UpdateRule.sgd().withNesterov(0.9).withDampening(0.1));
        assertRefused(
                "adam: beta1 must be at least 0 and less than 1, found 1.0",
                () -> UpdateRule.adam().withBetas(1, 0.9));
        assertRefused(
                "adamw: beta2 must be at least 0 and less than 1, found NaN",
                () -> UpdateRule.adamW().withBetas(0, Double.NaN));
        assertRefused(
                "adam: epsilon must be finite and at least 0, found -1.0",
                () -> UpdateRule.adam().withEpsilon(-1));
        assertRefused(
                "weight decay must be finite and at least 0, found Infinity",
                () -> UpdateRule.adamW().withWeightDecay(Double.POSITIVE_INFINITY));
    }

    private static void assertRefused(String text, Executable making) {
        String message = assertThrows(IllegalArgumentException.class, making).getMessage();
        assertTrue(message.contains(text), message);
    }
}
