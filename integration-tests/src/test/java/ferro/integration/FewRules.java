package ferro.integration;

import ferro.tck.Rule;
import java.util.Set;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs a few rules of the contract, those in which the medium shows most; all with {@code -Pdrill}. For a medium whose every
 * part has tests of its own: the whole contract takes half a minute.
 */
final class FewRules implements ExecutionCondition {
    /**
     * Every kind; memory of a group; calls in place; messages that nobody takes, or that do not come; recordings; parts that
     * close; calls that differ, and their texts; memory after a failure; threads after a close.
     */
    private static final Set<Integer> FEW = Set.of(110, 115, 121, 212, 217, 218, 330, 409, 501, 507, 530, 608);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        boolean runs = System.getProperty("drill.rounds") != null
                || context.getTestMethod()
                        .map(method -> method.getAnnotation(Rule.class))
                        .map(rule -> FEW.contains(rule.value()))
                        .orElse(true);
        return runs
                ? ConditionEvaluationResult.enabled("one of " + FEW + ", or all are asked for")
                : ConditionEvaluationResult.disabled("not one of " + FEW + ": -Pdrill runs it");
    }
}
