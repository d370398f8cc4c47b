package ferro.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The rule of docs/contract.md that a test checks. Each rule is checked by one test of {@link BackendContract}.
 *
 * <p>A test with a parameter of type {@link ferro.group.ProcessGroup} runs on every rank of a fresh group, for each
 * number of {@link #ranks}. A test with one parameter of type {@code int} runs once for each number of {@link #ranks},
 * unless the test has a source of values.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RuleExtension.class)
@SuppressWarnings("exports") // only JUnit uses the extension
public @interface Rule {
    /** {@return the number of the rule in docs/contract.md} */
    int value();

    /** {@return the numbers of ranks with which the rule is checked; odd numbers and powers of two by default} */
    int[] ranks() default {1, 2, 3, 4, 5, 7, 8};

    /**
     * {@return the features that the rule needs} If a back end declares that it refuses one of them, the rule is
     * skipped.
     */
    String[] needs() default {};

    /**
     * {@return whether the rule can be checked by ranks that share only their group, such as ranks in separate
     * processes} {@link RankContract} runs such rules.
     */
    boolean apart() default false;
}
