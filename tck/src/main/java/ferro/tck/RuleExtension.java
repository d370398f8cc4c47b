package ferro.tck;

import ferro.group.ProcessGroup;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.platform.commons.support.ReflectionSupport;

/** The JUnit extension of the rules. The extension chooses the rules, the numbers of ranks and the ranks that run. */
final class RuleExtension
        implements ExecutionCondition, TestTemplateInvocationContextProvider, BeforeTestExecutionCallback {
    /** Skips a rule for which {@link BackendContract#runs} returns false. */
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        int rule = rule(context).value();
        boolean runs = !(context.getRequiredTestInstance() instanceof BackendContract test) || test.runs(rule);
        return runs
                ? ConditionEvaluationResult.enabled("rule " + rule)
                : ConditionEvaluationResult.disabled("another test runs rule " + rule);
    }

    private static Rule rule(ExtensionContext context) {
        return context.getRequiredTestMethod().getAnnotation(Rule.class);
    }

    /** Skips a rule that needs a feature that the back end refuses. */
    @Override
    public void beforeTestExecution(ExtensionContext context) {
        ((TestedBackend) context.getRequiredTestInstance()).needs(rule(context).needs());
    }

    /**
     * Returns whether this extension provides the arguments of the rule, because the rule has no other source of
     * arguments.
     */
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return !context.getRequiredTestMethod().isAnnotationPresent(ParameterizedTest.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        Method test = context.getRequiredTestMethod();
        boolean hasSizes = takesAGroup(test) || Arrays.equals(test.getParameterTypes(), new Class<?>[] {int.class});
        Rule rule = rule(context);
        return IntStream.of(hasSizes ? rule.ranks() : new int[1]).mapToObj(ranks -> new RuleRun(rule.value(), ranks));
    }

    private static boolean takesAGroup(Method test) {
        return Arrays.equals(test.getParameterTypes(), new Class<?>[] {ProcessGroup.class});
    }

    /** Runs a rule for a number of ranks, either on every rank of a fresh group or once. */
    static void run(TestedBackend subject, Method test, int worldSize) {
        if (takesAGroup(test)) {
            subject.eachRank(worldSize, group -> ReflectionSupport.invokeMethod(test, subject, group));
        } else {
            ReflectionSupport.invokeMethod(test, subject, worldSize);
        }
    }

    /** One run of a rule's test. {@code worldSize} is the number of ranks, or 0 if the rule makes its own groups. */
    private record RuleRun(int rule, int worldSize)
            implements TestTemplateInvocationContext, ParameterResolver, InvocationInterceptor {
        @Override
        public String getDisplayName(int invocation) {
            return "rule " + rule + (worldSize == 0 ? "" : ", " + worldSize + " ranks");
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return worldSize == 0 ? List.of() : List.of(this);
        }

        /**
         * Returns whether a parameter belongs to the test of the rule, and not to a method that runs before or after
         * the test.
         */
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getDeclaringExecutable().equals(context.getRequiredTestMethod());
        }

        /** Returns the number of ranks, or null for a group, because {@link #run} gives each rank its group. */
        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == int.class ? worldSize : null;
        }

        @Override
        public void interceptTestTemplateMethod(
                Invocation<Void> invocation, ReflectiveInvocationContext<Method> test, ExtensionContext context) {
            invocation.skip();
            run((TestedBackend) context.getRequiredTestInstance(), test.getExecutable(), worldSize);
        }
    }
}
