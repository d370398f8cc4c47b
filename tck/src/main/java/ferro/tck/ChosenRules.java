package ferro.tck;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A condition of JUnit that asks {@link BackendContract#runs} for each rule. */
final class ChosenRules implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<Integer> rule = context.getTestMethod()
                .map(method -> method.getAnnotation(Rule.class))
                .map(Rule::value);
        if (rule.isEmpty()) {
            return ConditionEvaluationResult.enabled("no rule");
        }
        boolean runs = context.getTestInstance()
                .filter(BackendContract.class::isInstance)
                .map(test -> ((BackendContract) test).runs(rule.get()))
                .orElse(true);
        return runs
                ? ConditionEvaluationResult.enabled("rule " + rule.get())
                : ConditionEvaluationResult.disabled("another test runs rule " + rule.get());
    }
}
